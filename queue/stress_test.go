package queue_test

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/warrenmq/warren/keratin/vfs"
	"github.com/warrenmq/warren/queue"
)

// TestManyAtOnce has publishers, consumers that settle, requeue, cancel and come back, gets and snapshots at work on
// the same queues, on the storage engine. In the end every message has been settled exactly once.
func TestManyAtOnce(t *testing.T) {
	const publishers, messages = 3, 2000
	w := openOnDisk(t, vfs.NewMem())
	queues := []queue.QueueDeclare{{Name: "a", Durable: true}, {Name: "b"}}
	for _, d := range queues {
		if _, err := w.s.DeclareQueue(d); err != nil {
			t.Fatal(err)
		}
		if err := w.s.BindQueue(d.Name, "amq.fanout", "", nil); err != nil {
			t.Fatal(err)
		}
	}
	var publishing, consuming sync.WaitGroup
	var settled [2]tallied
	done := make(chan struct{})
	for i := range publishers {
		publishing.Go(func() { publishMany(t, w.s, i, messages) })
	}
	for i, d := range queues {
		for n := range 2 {
			consuming.Go(func() { consumeMany(t, w.s, d.Name, uint64(n), &settled[i], done) })
		}
	}
	publishing.Wait()
	for i := range settled {
		settled[i].wait(publishers * messages)
	}
	close(done)
	consuming.Wait()
	for i, d := range queues {
		if s, _ := w.b.Queue("/", d.Name); s.Totals.Ready+s.Unacked+s.ReadyBytes+s.UnackedBytes != 0 || s.Consumers != 0 {
			t.Errorf("queue %s in the end: %+v", d.Name, s)
		}
		settled[i].check(t, d.Name, publishers, messages)
	}
	c := w.b.Counters()
	if c.Publish != publishers*messages || c.Confirm != c.Publish || c.Ack+c.GetNoAck != 2*c.Publish {
		t.Errorf("counted %+v", c)
	}
}

// tallied is how often each message was settled.
type tallied struct {
	mu   sync.Mutex
	seen map[string]int
	more chan struct{}
}

func (x *tallied) add(body string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.seen == nil {
		x.seen = map[string]int{}
	}
	x.seen[body]++
	if x.more != nil {
		close(x.more)
		x.more = nil
	}
}

func (x *tallied) wait(n int) {
	for {
		x.mu.Lock()
		if len(x.seen) >= n {
			x.mu.Unlock()
			return
		}
		more := make(chan struct{})
		x.more = more
		x.mu.Unlock()
		<-more
	}
}

func (x *tallied) check(t *testing.T, name string, publishers, messages int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for p := range publishers {
		for n := range messages {
			if got := x.seen[fmt.Sprint(p, " ", n)]; got != 1 {
				t.Errorf("queue %s: message %d of publisher %d was settled %d times", name, n, p, got)
			}
		}
	}
}

func publishMany(t *testing.T, s *queue.Session, id, messages int) {
	p := s.NewPublisher()
	all := make(chan struct{})
	c := queue.NewConfirms(func(upTo uint64, _, nack bool) {
		if nack {
			t.Error("nack")
		}
		if upTo == uint64(messages) {
			close(all)
		}
	})
	for n := range messages {
		m := persistent("", fmt.Sprint(id, " ", n))
		m.Exchange = []byte("amq.fanout")
		m.Persistent = n%3 > 0
		if _, err := p.Publish(m, c, uint64(n+1)); err != nil {
			t.Error(err)
		}
		if n%17 == 0 {
			p.Flush()
		}
	}
	p.Flush()
	<-all
}

// inbox is a sink that hands what it gets to a goroutine, as far as there is room.
type inbox struct {
	messages chan message
	refused  atomic.Bool
}

type message struct {
	body   string
	offset queue.Offset
}

func (s *inbox) Deliver(_ *queue.Consumer, d *queue.Delivery) bool {
	select {
	case s.messages <- message{string(d.Body), d.Offset}:
		return true
	default:
		s.refused.Store(true)
		return false
	}
}

func (s *inbox) Cancelled(*queue.Consumer) {}

// consumeMany consumes in several turns. What it has not settled at the end of a turn goes back.
func consumeMany(t *testing.T, s *queue.Session, name string, seed uint64, x *tallied, done chan struct{}) {
	rng := rand.New(rand.NewPCG(seed, 2))
	for {
		in := &inbox{messages: make(chan message, 20)}
		c, err := s.Consume(queue.ConsumeOptions{Queue: name}, in)
		if err != nil {
			t.Error(err)
			return
		}
		c.Start()
		stop := consumeTurn(rng, s, c, in, x, done)
		c.Cancel()
		c.Queue().Requeue(drainInbox(in))
		s.Commit()
		if stop {
			return
		}
		var d queue.Delivery
		if ok, _, err := s.Get(name, true, &d); err != nil {
			t.Error(err)
		} else if ok {
			x.add(string(d.Body))
		}
	}
}

func consumeTurn(rng *rand.Rand, s *queue.Session, c *queue.Consumer, in *inbox, x *tallied, done chan struct{}) (stop bool) {
	for range 50 {
		select {
		case <-done:
			return true
		case m := <-in.messages:
			if rng.IntN(10) == 0 {
				c.Queue().Requeue([]queue.Offset{m.offset})
			} else {
				x.add(m.body)
				c.Queue().Settle([]queue.Offset{m.offset})
			}
			s.Commit()
		}
		if in.refused.Swap(false) {
			c.Resume()
		}
	}
	return false
}

func drainInbox(in *inbox) (offsets []queue.Offset) {
	for {
		select {
		case m := <-in.messages:
			offsets = append(offsets, m.offset)
		default:
			return offsets
		}
	}
}
