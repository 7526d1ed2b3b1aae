package main

import (
	"math/rand/v2"
	"testing"
	"time"

	amqp091 "github.com/rabbitmq/amqp091-go"

	"github.com/warrenmq/warren/compat/torture/history"
)

const second = time.Second

// scene is an epoch of one publisher that was cut after ten seconds, with a window of one.
type scene struct {
	*epoch
	p *publisher
}

func newScene() *scene {
	e := newEpoch(0, nil)
	e.cutoff, e.window = 10*second, second
	s := &scene{epoch: e}
	s.p = e.addPublisher(1, nil, 1, false, rand.New(rand.NewPCG(1, 1)))
	return s
}

// publish records a message confirmed at that time, 0 for never.
func (s *scene) publish(to route, confirmed time.Duration) id {
	seq := s.p.sending(to)
	s.p.confirmed[seq] = confirmed
	return id{s.p.id, seq}
}

func (s *scene) consumer(queue string, kind int, draining bool) *consumer {
	number, list := s.number, &s.consumers
	if draining {
		number, list = s.number+1, &s.drains
	}
	c := &consumer{queue: queue, record: s.history[kind].NewSession(queue, number, draining)}
	*list = append(*list, c)
	return c
}

func (c *consumer) saw(m id, redelivered bool) *seen {
	c.record.Delivered(m.publisher, m.seq, redelivered, "")
	c.seen = append(c.seen, seen{id: m})
	return &c.seen[len(c.seen)-1]
}

var (
	toDurable  = route{key: "d", durable: []string{"d"}}
	toBuffered = route{key: "b", buffered: []string{"b"}}
	toBoth     = route{exchange: "x", durable: []string{"d"}, buffered: []string{"b"}}
)

// demand checks that there are exactly these violations.
func demand(t *testing.T, f *finding, want map[history.Class]int) {
	t.Helper()
	for _, class := range classes {
		if f.violations[class] != want[class] {
			t.Errorf("%s: %d, want %d; %v", class, f.violations[class], want[class], f.examples)
		}
	}
}

func TestWhatIsOwed(t *testing.T) {
	for _, c := range []struct {
		name      string
		to        route
		confirmed time.Duration
		lost      int
	}{
		{"durable, before the cut", toDurable, 10*second - 1, 1},
		{"durable, as the cut began", toDurable, 10 * second, 0},
		{"durable, never confirmed", toDurable, 0, 0},
		{"buffered, before the window", toBuffered, 9*second - 1, 1},
		{"buffered, within the window", toBuffered, 9 * second, 0},
		{"both, before the window", toBoth, 8 * second, 2},
		{"both, within the window", toBoth, 9 * second, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScene()
			s.publish(c.to, c.confirmed)
			demand(t, s.check(nil), map[history.Class]int{history.Lost: c.lost})
		})
	}
}

func TestAgeOfLosses(t *testing.T) {
	s := newScene()
	s.publish(toBuffered, 9*second+second/4)
	s.publish(toBuffered, 9*second+second/2)
	f := s.check(nil)
	demand(t, f, nil)
	if f.withinLost != 2 || f.oldestLost != 3*second/4 {
		t.Errorf("%d lost within the window, the oldest %v before the cut", f.withinLost, f.oldestLost)
	}
}

func TestVanished(t *testing.T) {
	s := newScene()
	held, acked, kept := s.publish(toDurable, second), s.publish(toDurable, second), s.publish(toDurable, second)
	late := s.publish(toDurable, 0)
	c := s.consumer("d", durable, false)
	c.saw(held, false)
	c.saw(acked, false).acked = true
	c.saw(kept, false)
	c.saw(late, false)
	s.consumer("d", durable, true).saw(kept, true)
	demand(t, s.check(nil), map[history.Class]int{vanished: 1})
}

func TestPhantom(t *testing.T) {
	s := newScene()
	old, young := s.publish(toDurable, second), s.publish(toDurable, second)
	c, drain := s.consumer("d", durable, false), s.consumer("d", durable, true)
	for i, m := range []id{old, young} {
		d := c.saw(m, false)
		d.acked, d.settled = true, []time.Duration{9*second - 1, 9 * second}[i]
		drain.saw(m, true)
	}
	demand(t, s.check(nil), map[history.Class]int{phantom: 1})
}

// What a drain has acknowledged may be there after the next cut if that came soon, and else not.
func TestPhantomOfTheDrainBefore(t *testing.T) {
	for _, c := range []struct {
		settled time.Duration
		want    int
	}{{2*second - 1, 1}, {2 * second, 0}} {
		first := newScene()
		m := first.publish(toDurable, second)
		d := first.consumer("d", durable, true).saw(m, true)
		d.acked, d.settled = true, c.settled
		demand(t, first.check(nil), nil)

		e := newEpoch(2, []*epoch{first.epoch})
		e.start, e.cutoff, e.window = first.start.Add(second), 2*second, second
		second := &scene{epoch: e}
		second.consumer("d", durable, true).saw(m, true)
		demand(t, e.check(first.epoch), map[history.Class]int{phantom: c.want})
	}
}

func TestGone(t *testing.T) {
	s := newScene()
	s.p.declared = []newQueue{{"before", 10*second - 1}, {"after", 10 * second}, {"never", 0}, {"there", second}}
	s.gone = []string{"before", "after", "never", durableQueues[0]}
	demand(t, s.check(nil), map[history.Class]int{gone: 2})
}

func TestInvented(t *testing.T) {
	s := newScene()
	s.consumer("d", durable, true).saw(id{7, 0}, true)
	demand(t, s.check(nil), map[history.Class]int{history.Unexpected: 1})
}

func TestMessage(t *testing.T) {
	p := makeMessage(3, 9, 100)
	d := amqp091.Delivery{Body: p.Body, ContentType: p.ContentType, DeliveryMode: p.DeliveryMode, Headers: p.Headers}
	if m, corrupt := readMessage(&d); m != (id{3, 9}) || corrupt != "" {
		t.Fatalf("read %v, %q", m, corrupt)
	}
	for i := range d.Body {
		d.Body[i] ^= 1
		if _, corrupt := readMessage(&d); corrupt == "" {
			t.Errorf("a flip in byte %d goes unnoticed", i)
		}
		d.Body[i] ^= 1
	}
}
