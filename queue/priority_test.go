package queue_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap/zaptest"

	"github.com/warrenmq/warren/keratin"
	"github.com/warrenmq/warren/keratin/vfs"
	"github.com/warrenmq/warren/queue"
	"github.com/warrenmq/warren/queue/memlog"
)

// ranked is a message with a priority and, unless that is empty, an expiration.
func ranked(key, body string, priority byte, ms string) *queue.Message {
	m := persistent(key, body)
	m.Properties = []byte{8, 0, priority}
	if ms != "" {
		m.Properties = append([]byte{9, 0, priority, byte(len(ms))}, ms...)
	}
	return m
}

// rank sends messages to q whose priorities are the first letter of their bodies; those with a '-' have none.
func (w *world) rank(bodies ...string) {
	w.t.Helper()
	for _, body := range bodies {
		if body[0] == '-' {
			w.send(persistent("q", body))
		} else {
			w.send(ranked("q", body, body[0]-'0', ""))
		}
	}
}

func (w *world) declareRanked(durable bool, more args) {
	w.t.Helper()
	a := args{"x-max-priority": int32(5)}
	for k, v := range more {
		a[k] = v
	}
	w.declare(queue.QueueDeclare{Name: "q", Durable: durable, Args: a})
}

func (w *world) wantDrained(name, want string) {
	w.t.Helper()
	if got := w.drain(name); got != want {
		w.t.Errorf("drained %q, want %q", got, want)
	}
}

func TestHigherPriorityFirst(t *testing.T) {
	for _, durable := range []bool{true, false} {
		w := newWorld(t)
		w.declareRanked(durable, nil)
		w.rank("1a", "-b", "5c", "9d", "0e", "5f", "1g")
		w.wantSize("q", "7 ready, 0 unacked")
		w.wantDrained("q", "5c 9d 5f 1a 1g -b 0e")
		w.wantSize("q", "0 ready, 0 unacked")
		w.rank("1a", "5c")
		_, a := w.consume(queue.ConsumeOptions{Queue: "q", NoAck: true}, 10)
		w.rank("0d")
		a.want(t, "5c 1a 0d")
	}
}

func TestNoPrioritiesWithoutTheArgument(t *testing.T) {
	w := newWorld(t)
	w.declare(queue.QueueDeclare{Name: "q", Args: args{"x-max-priority": int32(0)}})
	w.rank("1a", "-b", "5c")
	w.wantDrained("q", "1a -b 5c")
}

func TestRequeueIntoItsPriority(t *testing.T) {
	w := newWorld(t)
	w.declareRanked(true, nil)
	w.rank("1a", "1b", "5c", "5d", "5e")
	c, a := w.consume(queue.ConsumeOptions{Queue: "q"}, 4)
	offsets := a.want(t, "5c 5d 5e 1a")
	w.wantSize("q", "1 ready, 4 unacked")
	c.Cancel()
	c.Queue().Requeue(offsets[1:])
	w.rank("5f", "0g")
	w.wantSize("q", "6 ready, 1 unacked")
	c.Queue().Settle(offsets[:1])
	w.wantDrained("q", "5d! 5e! 5f 1a! 1b 0g")
}

func TestPriorityAfterARestart(t *testing.T) {
	for name, loss := range map[string]memlog.Loss{"clean": memlog.Nothing, "killed": memlog.Staged, "power lost": memlog.Written} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.declareRanked(true, nil)
			w.rank("1a", "5b", "-c", "3d")
			w.store.Checkpoint()
			w.rank("5e", "-f", "9g", "1h")
			_, a := w.consume(queue.ConsumeOptions{Queue: "q", NoAck: true}, 1)
			a.want(t, "5b")
			_, a = w.consume(queue.ConsumeOptions{Queue: "q"}, 1)
			a.want(t, "5e")
			w.store.Sync()
			w.restart(loss)
			w.wantSize("q", "7 ready, 0 unacked")
			w.rank("4i")
			if loss == memlog.Nothing {
				w.wantDrained("q", "5e! 9g 4i 3d 1a 1h -c -f")
			} else {
				w.wantDrained("q", "5e! 9g! 4i 3d! 1a! 1h! -c! -f!")
			}
			w.restart(loss)
			w.wantSize("q", "0 ready, 0 unacked")
		})
	}
}

func TestMaxLengthDropsTheHighestPriority(t *testing.T) {
	w := newWorld(t)
	w.declareRanked(true, args{
		"x-max-length": int32(3), "x-dead-letter-exchange": "", "x-dead-letter-routing-key": "dead",
	})
	w.declare(queue.QueueDeclare{Name: "dead", Args: args{"x-max-priority": int32(9)}})
	w.rank("1a", "5b", "5c", "0d", "3e")
	w.wantSize("q", "3 ready, 0 unacked")
	w.wantDrained("q", "3e 1a 0d")
	w.rank("1a", "1b", "1c", "5d")
	w.wantDrained("q", "1a 1b 1c")
	w.wantDrained("dead", "5b 5c 5d")
}

func TestEveryPriorityExpires(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.declareRanked(true, nil)
		w.send(ranked("q", "5a", 5, ""), ranked("q", "5b", 5, "10"), ranked("q", "3c", 3, "200"), ranked("q", "3d", 3, ""),
			ranked("q", "1e", 1, "100"), ranked("q", "1f", 1, "300"))
		for _, step := range []struct {
			after time.Duration
			size  string
		}{
			{99, "6 ready, 0 unacked"}, {1, "5 ready, 0 unacked"}, {99, "5 ready, 0 unacked"}, {1, "4 ready, 0 unacked"},
			{99, "4 ready, 0 unacked"}, {1, "3 ready, 0 unacked"},
		} {
			time.Sleep(step.after * time.Millisecond)
			synctest.Wait()
			w.wantSize("q", step.size)
		}
		w.wantDrained("q", "5a 3d")
	})
}

func TestPurgeAllPriorities(t *testing.T) {
	w := newWorld(t)
	w.declareRanked(true, nil)
	w.rank("1a", "5b", "-c", "3d")
	_, a := w.consume(queue.ConsumeOptions{Queue: "q"}, 1)
	a.want(t, "5b")
	if n, err := w.s.PurgeQueue("q"); n != 3 || err != nil {
		t.Errorf("purged %d, %v", n, err)
	}
	w.wantSize("q", "0 ready, 1 unacked")
	w.rank("0e")
	w.restart(memlog.Staged)
	w.wantDrained("q", "5b! 0e!")
}

func TestDeadLettersKeepTheirPriority(t *testing.T) {
	w := newWorld(t)
	w.declare(queue.QueueDeclare{Name: "from", Args: args{"x-dead-letter-exchange": "", "x-dead-letter-routing-key": "q"}})
	w.declareRanked(true, nil)
	w.send(ranked("from", "1a", 1, ""), ranked("from", "5b", 5, ""))
	c, a := w.consume(queue.ConsumeOptions{Queue: "from"}, 2)
	c.Queue().Reject(a.want(t, "1a 5b"))
	w.s.Commit()
	w.wantDrained("q", "5b 1a")
}

// lagging is a store that writes late.
type lagging struct {
	mem
	held   bool   // Commit does nothing
	before func() // called once before a queue is told what has been written
}

func (s *lagging) Commit() {
	if !s.held {
		s.mem.Commit()
	}
}

func (s *lagging) OpenLog(id keratin.LogID, o keratin.LogOptions, owner keratin.Owner) (queue.Log, keratin.Recovered, error) {
	return s.mem.OpenLog(id, o, &laggingOwner{owner, s})
}

type laggingOwner struct {
	keratin.Owner
	s *lagging
}

func (o *laggingOwner) Written(upTo keratin.Frontier) {
	if f := o.s.before; f != nil {
		o.s.before = nil
		f()
	}
	o.Owner.Written(upTo)
}

func newLaggingWorld(t *testing.T) (*world, *lagging) {
	t.Helper()
	s := &lagging{mem: mem{memlog.New(memlog.Options{})}}
	b, err := queue.Open(queue.Options{Store: s, Log: zaptest.NewLogger(t)})
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, store: s.Store, b: b}
	w.s = w.session()
	w.p = w.s.NewPublisher()
	return w, s
}

// TestGetSeesAHigherPriorityOnItsWay checks that what has been published before is got before what is less urgent,
// although it is not written yet.
func TestGetSeesAHigherPriorityOnItsWay(t *testing.T) {
	w, s := newLaggingWorld(t)
	w.declareRanked(true, nil)
	w.rank("1a")
	s.held = true
	w.rank("5b")
	s.held = false
	w.wantDrained("q", "5b 1a")
}

// TestMaxLengthWaitsForAHigherPriority checks that nothing less urgent is dropped because what should be is not written.
func TestMaxLengthWaitsForAHigherPriority(t *testing.T) {
	w, s := newLaggingWorld(t)
	w.declareRanked(true, args{"x-max-length": int32(2)})
	other := w.s.NewPublisher()
	s.before = func() {
		for _, body := range []string{"5c", "5d"} {
			if _, err := other.Publish(ranked("q", body, 5, ""), nil, 0); err != nil {
				t.Error(err)
			}
		}
		other.Flush()
	}
	w.send(ranked("q", "1a", 1, ""), ranked("q", "1b", 1, ""))
	w.wantDrained("q", "1a 1b")
}

// TestPriorityBeyondABlock moves more messages than a state keeps in one piece, in batches, through all priorities.
func TestPriorityBeyondABlock(t *testing.T) {
	w := newWorld(t)
	w.declare(queue.QueueDeclare{Name: "q", Durable: true, Args: args{"x-max-priority": uint8(255)}})
	var want [256]string
	for i := range 2000 {
		body, p := string(rune('a'+i%26)), byte(i*37)
		want[255-p] += body
		if _, err := w.p.Publish(ranked("q", body, p, ""), nil, 0); err != nil {
			t.Fatal(err)
		}
		if i%300 == 0 {
			w.p.Flush()
		}
	}
	w.p.Flush()
	w.restart(memlog.Nothing)
	if got := strings.ReplaceAll(w.drain("q"), " ", ""); got != strings.Join(want[:], "") {
		t.Errorf("drained %q", got)
	}
}

// TestPriorityOnDisk keeps the order through clean stops and a power loss of the storage engine.
func TestPriorityOnDisk(t *testing.T) {
	fs := vfs.NewMem()
	body, want := 0, [3][]string{}
	for round := range 4 {
		w := openOnDisk(t, fs)
		if _, err := w.s.DeclareQueue(queue.QueueDeclare{
			Name: "q", Durable: true, Args: args{"x-max-priority": int32(2)},
		}); err != nil {
			t.Fatal(err)
		}
		for range 500 {
			body++
			text, p := fmt.Sprint(body), body*7%3
			want[p] = append(want[p], text)
			if _, err := w.p.Publish(ranked("q", text, byte(p), ""), nil, 0); err != nil {
				t.Fatal(err)
			}
		}
		w.p.Flush()
		for range 300 {
			p := 2
			for len(want[p]) == 0 {
				p--
			}
			var d queue.Delivery
			if ok, _, err := w.s.Get("q", true, &d); !ok || err != nil || string(d.Body) != want[p][0] {
				t.Fatalf("round %d: got %q, %v, %v; want %q", round, d.Body, ok, err, want[p][0])
			}
			want[p] = want[p][1:]
		}
		if round%2 == 0 {
			if err := w.b.Close(); err != nil {
				t.Fatal(err)
			}
			if err := w.store.Close(); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if err := w.store.Sync(); err != nil {
			t.Fatal(err)
		}
		fs = fs.Crash(rand.New(rand.NewPCG(1, 1)), 50)
		w.store.Abandon()
	}
}
