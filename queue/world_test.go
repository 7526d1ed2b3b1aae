package queue_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"go.uber.org/zap/zaptest"

	"github.com/warrenmq/warren/keratin"
	"github.com/warrenmq/warren/queue"
	"github.com/warrenmq/warren/queue/memlog"
)

// mem makes a memlog.Store a queue.LogStore.
type mem struct{ *memlog.Store }

func (m mem) OpenLog(id keratin.LogID, o keratin.LogOptions, owner keratin.Owner) (queue.Log, keratin.Recovered, error) {
	return m.Store.OpenLog(id, o, owner)
}

// world is a broker on logs in memory, and a session of its guest.
type world struct {
	t     testing.TB
	store *memlog.Store
	b     *queue.Broker
	s     *queue.Session
	p     *queue.Publisher
}

func newWorld(t testing.TB) *world { return newWorldOn(t, memlog.New(memlog.Options{})) }

func newWorldOn(t testing.TB, store *memlog.Store) *world {
	t.Helper()
	b, err := queue.Open(queue.Options{Store: mem{store}, Log: zaptest.NewLogger(t)})
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, store: store, b: b}
	w.s = w.session()
	w.p = w.s.NewPublisher()
	return w
}

// restart ends the broker and opens it again on what is left.
func (w *world) restart(loss memlog.Loss) {
	w.t.Helper()
	if loss == memlog.Nothing {
		w.s.Close()
		if err := w.b.Close(); err != nil {
			w.t.Fatal(err)
		}
	}
	*w = *newWorldOn(w.t, w.store.Reopen(loss))
}

func (w *world) session() *queue.Session {
	w.t.Helper()
	u, err := w.b.Authenticate("guest", "guest", true)
	if err != nil {
		w.t.Fatal(err)
	}
	s, err := w.b.Connect(u, "/", "test")
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

func (w *world) declare(d queue.QueueDeclare) queue.QueueInfo {
	w.t.Helper()
	i, err := w.s.DeclareQueue(d)
	if err != nil {
		w.t.Fatal(err)
	}
	return i
}

// publish sends persistent messages to the default exchange.
func (w *world) publish(key string, bodies ...string) {
	w.t.Helper()
	for _, body := range bodies {
		m := queue.Message{RoutingKey: []byte(key), Body: []byte(body), Persistent: true}
		if _, err := w.p.Publish(&m, nil, 0); err != nil {
			w.t.Fatal(err)
		}
	}
	w.p.Flush()
}

// size returns a queue's ready and unacked messages.
func (w *world) size(name string) string {
	w.t.Helper()
	s, ok := w.b.Queue("/", name)
	if !ok {
		return "none"
	}
	return fmt.Sprintf("%d ready, %d unacked", s.Ready, s.Unacked)
}

func (w *world) wantSize(name, want string) {
	w.t.Helper()
	if got := w.size(name); got != want {
		w.t.Errorf("queue %s: %s; want %s", name, got, want)
	}
}

// drain gets everything from a queue, without acknowledgement; redelivered ones with a '!'.
func (w *world) drain(name string) string {
	w.t.Helper()
	var got []string
	for {
		var d queue.Delivery
		ok, _, err := w.s.Get(name, true, &d)
		if err != nil {
			w.t.Fatal(err)
		}
		if !ok {
			return strings.Join(got, " ")
		}
		got = append(got, shown(&d))
	}
}

func shown(d *queue.Delivery) string {
	if d.Redelivered {
		return string(d.Body) + "!"
	}
	return string(d.Body)
}

// sink is a consumer's end with room for a number of messages.
type sink struct {
	mu        sync.Mutex
	room      int
	refused   bool
	cancelled bool
	got       []string
	offsets   []queue.Offset
}

func (s *sink) Deliver(c *queue.Consumer, d *queue.Delivery) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.room == 0 {
		s.refused = true
		return false
	}
	s.room--
	s.got = append(s.got, shown(d))
	s.offsets = append(s.offsets, d.Offset)
	return true
}

func (s *sink) Cancelled(*queue.Consumer) {
	s.mu.Lock()
	s.cancelled = true
	s.mu.Unlock()
}

func (s *sink) add(room int) {
	s.mu.Lock()
	s.room += room
	s.mu.Unlock()
}

// take returns what has come since the last call, and the offsets.
func (s *sink) take() (string, []queue.Offset) {
	s.mu.Lock()
	defer s.mu.Unlock()
	got, offsets := strings.Join(s.got, " "), s.offsets
	s.got, s.offsets = nil, nil
	return got, offsets
}

func (s *sink) want(t testing.TB, want string) []queue.Offset {
	t.Helper()
	got, offsets := s.take()
	if got != want {
		t.Errorf("delivered %q, want %q", got, want)
	}
	return offsets
}

// consume starts a consumer with room for some messages.
func (w *world) consume(o queue.ConsumeOptions, room int) (*queue.Consumer, *sink) {
	w.t.Helper()
	s := &sink{room: room}
	c, err := w.s.Consume(o, s)
	if err != nil {
		w.t.Fatal(err)
	}
	c.Start()
	return c, s
}

// wantError checks an error's kind and text.
func wantError(t testing.TB, err error, kind queue.Kind, text string) {
	t.Helper()
	var e *queue.Error
	if !errors.As(err, &e) || e.Kind != kind || e.Text != text {
		t.Errorf("error is %v, want kind %d: %s", err, kind, text)
	}
}
