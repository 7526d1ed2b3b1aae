package history

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// script makes up a history in a few words, so that each test shows the whole story of its fault.
type script struct {
	t          *testing.T
	h          *History
	publishers map[uint32]*Publisher
	epoch      int
}

func newScript(t *testing.T) *script {
	return &script{t: t, h: New(), publishers: map[uint32]*Publisher{}}
}

// publish publishes the next message of publisher 1 to queues.
func (s *script) publish(o Outcome, queues ...string) uint32 { return s.publishAs(1, o, queues...) }

func (s *script) publishAs(id uint32, o Outcome, queues ...string) uint32 {
	if s.publishers[id] == nil {
		s.publishers[id] = s.h.NewPublisher(id, s.epoch)
	}
	seq := s.publishers[id].Sending(queues)
	s.publishers[id].Settle(seq, o)
	return seq
}

func (s *script) consume(queue string) *Session { return s.h.NewSession(queue, s.epoch, false) }
func (s *script) drain(queue string) *Session   { return s.h.NewSession(queue, s.epoch, true) }
func (s *script) kill()                         { s.epoch++ }

// get delivers messages of publisher 1, unflagged.
func (s *Session) get(seqs ...uint32) *Session {
	for _, seq := range seqs {
		s.Delivered(1, seq, false, "")
	}
	return s
}

// again delivers messages of publisher 1, flagged.
func (s *Session) again(seqs ...uint32) *Session {
	for _, seq := range seqs {
		s.Delivered(1, seq, true, "")
	}
	return s
}

// ack acknowledges everything that is held.
func (s *Session) ack() *Session {
	for i := range s.deliveries {
		if s.deliveries[i].fate == held {
			s.Acking(i)
		}
	}
	return s
}

// want checks that exactly these violations are found.
func (s *script) want(want map[Class]int) Report {
	s.t.Helper()
	r := s.h.Check()
	for _, class := range Classes {
		if r.Violations[class] != want[class] {
			s.t.Errorf("%s: %d violations, want %d: %v", class, r.Violations[class], want[class], r.Examples[class])
		}
	}
	return r
}

func TestFaultlessRun(t *testing.T) {
	s := newScript(t)
	for range 4 {
		s.publish(OK, "a", "b")
	}
	s.publish(Unknown, "a") // 4: arrives
	s.publish(Unknown, "a") // 5: does not
	s.publish(Nack, "a")    // 6: does not
	a, b := s.consume("a"), s.consume("b")
	a.get(0, 1).ack().Synced()
	b.get(0)
	s.kill()
	s.consume("b").again(0, 1).get(2).ack()
	s.kill()
	s.drain("a").get(2, 3, 4).ack().Synced()
	s.drain("b").again(0, 1, 2).get(3).ack().Synced()
	r := s.want(nil)
	if r.Published != 7 || r.Confirmed != 4 || r.Unknown != 2 || r.Nacked != 1 || r.Recovered != 1 {
		t.Errorf("counts: %+v", r)
	}
	if r.Deliveries != 13 || r.Again != 4 || r.AcksUndone != 3 {
		t.Errorf("deliveries %d, again %d, acks undone %d; want 13, 4, 3", r.Deliveries, r.Again, r.AcksUndone)
	}
}

func TestLostIsFoundAndPlaced(t *testing.T) {
	for place, arrive := range map[string][]uint32{
		"at the start": {1, 2}, "in the middle": {0, 2}, "at the end": {0, 1}, "with all others": {},
	} {
		t.Run(place, func(t *testing.T) {
			s := newScript(t)
			for range 3 {
				s.publish(OK, "a")
			}
			s.kill()
			s.drain("a").get(arrive...)
			r := s.want(map[Class]int{Lost: 3 - len(arrive)})
			if !strings.Contains(r.Examples[Lost][0], place) {
				t.Errorf("%q does not say %q", r.Examples[Lost][0], place)
			}
		})
	}
}

func TestLostFromOneQueueOfFanout(t *testing.T) {
	s := newScript(t)
	s.publish(OK, "a", "b")
	s.drain("a").get(0)
	s.want(map[Class]int{Lost: 1})
}

func TestUnexpected(t *testing.T) {
	for name, deliver := range map[string]func(*script){
		"of nobody":          func(s *script) { s.consume("a").Delivered(7, 0, false, "") },
		"beyond the last":    func(s *script) { s.consume("a").get(1) },
		"in another queue":   func(s *script) { s.consume("b").get(0) },
		"with other bytes":   func(s *script) { s.consume("a").Delivered(1, 0, true, "checksum of the body") },
		"before it was sent": func(s *script) { s.publishers[1].Epoch = 3; s.consume("a").get(0) },
	} {
		t.Run(name, func(t *testing.T) {
			s := newScript(t)
			s.publish(Unknown, "a")
			deliver(s)
			s.want(map[Class]int{Unexpected: 1})
		})
	}
}

// A message that arrives with the wrong bytes has not arrived: if it was confirmed, it is lost as well.
func TestCorruptIsLostToo(t *testing.T) {
	s := newScript(t)
	s.publish(OK, "a")
	s.consume("a").Delivered(1, 0, false, "checksum of the body")
	s.want(map[Class]int{Unexpected: 1, Lost: 1})
}

func TestDuplicate(t *testing.T) {
	t.Run("unflagged after a kill", func(t *testing.T) {
		s := newScript(t)
		s.publish(OK, "a")
		s.consume("a").get(0)
		s.kill()
		s.drain("a").get(0)
		s.want(map[Class]int{Duplicate: 1, Order: 1}) // it also goes back behind what the epoch before had seen
	})
	t.Run("held by two consumers at once", func(t *testing.T) {
		s := newScript(t)
		s.publish(OK, "a")
		s.consume("a").get(0)
		s.consume("a").again(0)
		s.want(map[Class]int{Duplicate: 1})
	})
	t.Run("acknowledged and still again", func(t *testing.T) {
		s := newScript(t)
		s.publish(OK, "a")
		s.consume("a").get(0).ack().again(0)
		s.want(map[Class]int{Duplicate: 1})
	})
	t.Run("twice in one drain", func(t *testing.T) {
		s := newScript(t)
		s.publish(OK, "a")
		s.drain("a").get(0).again(0)
		s.want(map[Class]int{Duplicate: 1})
	})
	t.Run("given back is none", func(t *testing.T) {
		s := newScript(t)
		s.publish(OK, "a")
		first := s.consume("a").get(0)
		first.Requeueing(0)
		s.consume("a").again(0).ack()
		s.want(nil)
	})
	t.Run("left to the drain is none", func(t *testing.T) {
		s := newScript(t)
		s.publish(OK, "a")
		s.consume("a").get(0)
		s.drain("a").again(0).ack()
		s.want(nil)
	})
}

func TestPhantom(t *testing.T) {
	s := newScript(t)
	s.publish(OK, "a") // 0: acknowledged, reply seen
	s.publish(OK, "a") // 1: acknowledged, no reply seen
	c := s.consume("a").get(0).ack()
	c.Synced()
	c.get(1).ack()
	s.kill()
	s.drain("a").again(0, 1)
	if r := s.want(map[Class]int{Phantom: 1}); r.AcksUndone != 1 {
		t.Errorf("acks undone %d, want 1", r.AcksUndone)
	}
}

// Settling must not stop at a delivery that is still held, nor forget it.
func TestSyncedPassesOverHeld(t *testing.T) {
	s := newScript(t)
	for range 3 {
		s.publish(OK, "a")
	}
	c := s.consume("a").get(0, 1)
	c.Acking(1)
	c.Synced() // settles 1; 0 is held
	c.get(2)
	c.Acking(0)
	c.Acking(2)
	c.Synced()
	s.kill()
	s.drain("a").again(0, 1, 2)
	s.want(map[Class]int{Phantom: 3})
}

// A message stays settled even if it comes back more than once.
func TestPhantomEveryTime(t *testing.T) {
	s := newScript(t)
	s.publish(OK, "a")
	s.consume("a").get(0).ack().Synced()
	for range 2 {
		s.kill()
		s.drain("a").again(0)
	}
	s.want(map[Class]int{Phantom: 2})
}

func TestOrder(t *testing.T) {
	t.Run("within a session", func(t *testing.T) {
		s := newScript(t)
		for range 3 {
			s.publish(OK, "a")
		}
		s.consume("a").get(0, 2, 1)
		s.want(map[Class]int{Order: 1})
	})
	t.Run("against an earlier epoch", func(t *testing.T) {
		s := newScript(t)
		for range 2 {
			s.publish(OK, "a")
		}
		s.consume("a").get(1)
		s.kill()
		s.consume("a").get(0)
		s.want(map[Class]int{Order: 1})
	})
	t.Run("of a drain, flagged or not", func(t *testing.T) {
		s := newScript(t)
		for range 3 {
			s.publish(OK, "a")
		}
		s.drain("a").again(0, 2, 1)
		s.want(map[Class]int{Order: 1})
	})
	t.Run("free between sessions, publishers and queues", func(t *testing.T) {
		s := newScript(t)
		for range 2 {
			s.publish(OK, "a", "b")
			s.publishAs(2, OK, "a")
		}
		one, two, b := s.consume("a"), s.consume("a"), s.consume("b")
		one.get(1)
		two.get(0)
		two.Delivered(2, 0, false, "")
		one.Delivered(2, 1, false, "")
		b.get(0, 1)
		s.want(nil)
	})
	t.Run("free for what was given back", func(t *testing.T) {
		s := newScript(t)
		for range 2 {
			s.publish(OK, "a")
		}
		c := s.consume("a").get(0, 1)
		c.Requeueing(0)
		c.again(0).ack()
		s.want(nil)
	})
}

func TestAddSumsAndBoundsExamples(t *testing.T) {
	var sum Report
	for range 3 {
		s := newScript(t)
		for range maxExamples - 1 {
			s.publish(OK, "a")
		}
		sum.Add(s.h.Check())
	}
	if n := 3 * (maxExamples - 1); sum.Published != n || sum.Violations[Lost] != n || sum.Violated() != n {
		t.Errorf("sum %+v, want %d published and lost", sum, n)
	}
	if len(sum.Examples[Lost]) != maxExamples {
		t.Errorf("%d examples, want %d", len(sum.Examples[Lost]), maxExamples)
	}
}

func TestConfirmed(t *testing.T) {
	s := newScript(t)
	for _, o := range []Outcome{OK, Unknown, Nack, OK} {
		s.publish(o, "a")
	}
	if n := s.publishers[1].Confirmed(); n != 2 {
		t.Errorf("%d confirmed, want 2", n)
	}
}

// Whatever single message is taken out of a faultless run, the check says which one is gone.
func TestEveryLossIsNamed(t *testing.T) {
	const n = 20
	for gone := range uint32(n) {
		s := newScript(t)
		var rest []uint32
		for seq := range uint32(n) {
			s.publish(OK, "a")
			if seq != gone {
				rest = append(rest, seq)
			}
		}
		s.drain("a").get(slices.Sorted(slices.Values(rest))...)
		r := s.want(map[Class]int{Lost: 1})
		if want := fmt.Sprintf("message %d of publisher 1 ", gone); !strings.Contains(r.Examples[Lost][0], want) {
			t.Errorf("%q does not name %q", r.Examples[Lost][0], want)
		}
	}
}
