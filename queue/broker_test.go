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

func TestPublishGetInOrder(t *testing.T) {
	w := newWorld(t)
	w.declare(queue.QueueDeclare{Name: "q", Durable: true})
	w.publish("q", "a", "b", "c")
	w.wantSize("q", "3 ready, 0 unacked")
	var d queue.Delivery
	ok, left, err := w.s.Get("q", false, &d)
	if !ok || left != 2 || err != nil || string(d.Body) != "a" || string(d.RoutingKey) != "q" || len(d.Exchange) != 0 {
		t.Fatalf("got %v, %d left, %v: %+v", ok, left, err, d)
	}
	w.wantSize("q", "2 ready, 1 unacked")
	d.Queue.Requeue([]queue.Offset{d.Offset})
	w.s.Commit()
	if got := w.drain("q"); got != "a! b c" {
		t.Errorf("drained %q", got)
	}
	w.wantSize("q", "0 ready, 0 unacked")
}

func TestConsumersTakeTurns(t *testing.T) {
	w := newWorld(t)
	w.declare(queue.QueueDeclare{Name: "q", Durable: true})
	_, a := w.consume(queue.ConsumeOptions{Queue: "q", Tag: "a"}, 10)
	_, b := w.consume(queue.ConsumeOptions{Queue: "q", Tag: "b"}, 1)
	w.publish("q", "1", "2", "3", "4")
	a.want(t, "1 3 4")
	b.want(t, "2")
}

func TestRefusedMessageStaysAndComesWithResume(t *testing.T) {
	w := newWorld(t)
	w.declare(queue.QueueDeclare{Name: "q", Durable: true})
	c, a := w.consume(queue.ConsumeOptions{Queue: "q"}, 1)
	w.publish("q", "1", "2", "3")
	a.want(t, "1")
	w.wantSize("q", "2 ready, 1 unacked")
	a.add(2)
	c.Resume()
	a.want(t, "2 3")
	w.wantSize("q", "0 ready, 3 unacked")
}

func TestRequeueGoesToTheOriginalPosition(t *testing.T) {
	w := newWorld(t)
	w.declare(queue.QueueDeclare{Name: "q", Durable: true})
	w.publish("q", "1", "2", "3", "4", "5")
	c, a := w.consume(queue.ConsumeOptions{Queue: "q"}, 3)
	offsets := a.want(t, "1 2 3")
	c.Queue().Requeue([]queue.Offset{offsets[2], offsets[0]})
	a.add(2)
	c.Resume()
	a.want(t, "1! 3!")
	c.Cancel()
	c.Queue().Requeue(offsets)
	if got := w.drain("q"); got != "1! 2! 3! 4 5" {
		t.Errorf("drained %q", got)
	}
}

func TestSettledDoNotComeBack(t *testing.T) {
	for _, loss := range []memlog.Loss{memlog.Nothing, memlog.Staged, memlog.Written} {
		t.Run(fmt.Sprint(loss), func(t *testing.T) {
			w := newWorld(t)
			w.declare(queue.QueueDeclare{Name: "q", Durable: true})
			w.publish("q", "1", "2", "3", "4", "5", "6")
			c, a := w.consume(queue.ConsumeOptions{Queue: "q"}, 4)
			offsets := a.want(t, "1 2 3 4")
			c.Queue().Settle([]queue.Offset{offsets[3], offsets[1]})
			w.s.Commit()
			c.Cancel()
			w.restart(loss)
			want := "1! 3! 5! 6!"
			if loss == memlog.Nothing {
				want = "1! 3! 5 6"
			}
			if got := w.drain("q"); got != want {
				t.Errorf("drained %q, want %q", got, want)
			}
			w.restart(memlog.Written)
			w.wantSize("q", "0 ready, 0 unacked")
		})
	}
}

func TestSnapshotAndReplayGiveTheSame(t *testing.T) {
	w := newWorld(t)
	w.declare(queue.QueueDeclare{Name: "q", Durable: true})
	w.publish("q", "1", "2", "3")
	_, a := w.consume(queue.ConsumeOptions{Queue: "q"}, 2)
	offsets := a.want(t, "1 2")
	w.store.Checkpoint()
	q, _ := w.b.Queue("/", "q")
	if q.Ready != 1 || q.ReadyBytes != 1 || q.Unacked != 2 || q.UnackedBytes != 2 {
		t.Errorf("totals %+v", q.Totals)
	}
	c, _ := w.consume(queue.ConsumeOptions{Queue: "q"}, 0)
	c.Queue().Settle(offsets[1:])
	w.publish("q", "4")
	w.restart(memlog.Staged)
	if got := w.drain("q"); got != "1! 3! 4!" {
		t.Errorf("drained %q", got)
	}
}

func TestTransientQueueIsGoneAfterRestart(t *testing.T) {
	w := newWorld(t)
	w.declare(queue.QueueDeclare{Name: "durable", Durable: true})
	w.declare(queue.QueueDeclare{Name: "transient"})
	w.publish("transient", "1", "2")
	if got := w.drain("transient"); got != "1 2" {
		t.Errorf("drained %q", got)
	}
	w.restart(memlog.Nothing)
	w.wantSize("transient", "none")
	w.wantSize("durable", "0 ready, 0 unacked")
	if n := len(w.store.Logs()); n != 2 { // the catalog's and the durable queue's
		t.Errorf("%d logs are left", n)
	}
}

func TestDeletedQueuesLogIsSwept(t *testing.T) {
	store := memlog.New(memlog.Options{})
	if _, _, err := store.OpenLog(77, keratin.LogOptions{}, nil); err != nil {
		t.Fatal(err)
	}
	newWorldOn(t, store)
	for _, id := range store.Logs() {
		if id == 77 {
			t.Error("the log of a queue that nobody knows is still there")
		}
	}
}

func TestExclusiveQueue(t *testing.T) {
	w := newWorld(t)
	i := w.declare(queue.QueueDeclare{Exclusive: true})
	if !strings.HasPrefix(i.Name, "amq.gen-") || len(i.Name) != len("amq.gen-")+22 {
		t.Errorf("server-named queue is %q", i.Name)
	}
	other := w.session()
	locked := "cannot obtain exclusive access to locked queue '" + i.Name + "' in vhost '/'. It could be originally " +
		"declared on another connection or the exclusive property value does not match that of the original declaration."
	_, err := other.Consume(queue.ConsumeOptions{Queue: i.Name}, &sink{})
	wantError(t, err, queue.ResourceLocked, locked)
	_, _, err = other.Get(i.Name, true, &queue.Delivery{})
	wantError(t, err, queue.ResourceLocked, locked)
	_, err = other.PurgeQueue(i.Name)
	wantError(t, err, queue.ResourceLocked, locked)
	_, err = other.DeleteQueue(i.Name, false, false)
	wantError(t, err, queue.ResourceLocked, locked)
	_, err = other.DeclareQueue(queue.QueueDeclare{Name: i.Name, Passive: true})
	wantError(t, err, queue.ResourceLocked, locked)
	wantError(t, other.BindQueue(i.Name, "amq.fanout", "", nil), queue.ResourceLocked, locked)
	w.s.Close()
	w.wantSize(i.Name, "none")
}

func TestAutoDeleteQueue(t *testing.T) {
	w := newWorld(t)
	w.declare(queue.QueueDeclare{Name: "q", AutoDelete: true})
	w.wantSize("q", "0 ready, 0 unacked")
	a, _ := w.consume(queue.ConsumeOptions{Queue: "q"}, 1)
	b, _ := w.consume(queue.ConsumeOptions{Queue: "q"}, 1)
	a.Cancel()
	a.Cancel()
	w.wantSize("q", "0 ready, 0 unacked")
	b.Cancel()
	w.wantSize("q", "none")
	_, err := w.s.Consume(queue.ConsumeOptions{Queue: "q"}, &sink{})
	wantError(t, err, queue.NotFound, "no queue 'q' in vhost '/'")
}

func TestAutoDeleteExchange(t *testing.T) {
	w := newWorld(t)
	if err := w.s.DeclareExchange(queue.ExchangeDeclare{Name: "x", Type: "fanout", AutoDelete: true}); err != nil {
		t.Fatal(err)
	}
	w.declare(queue.QueueDeclare{Name: "q"})
	if err := w.s.BindQueue("q", "x", "", nil); err != nil {
		t.Fatal(err)
	}
	if _, err := w.s.DeleteQueue("q", false, false); err != nil {
		t.Fatal(err)
	}
	err := w.s.DeclareExchange(queue.ExchangeDeclare{Name: "x", Passive: true})
	wantError(t, err, queue.NotFound, "no exchange 'x' in vhost '/'")
}

func TestDeleteQueueCancelsConsumers(t *testing.T) {
	w := newWorld(t)
	w.declare(queue.QueueDeclare{Name: "q", Durable: true})
	c, a := w.consume(queue.ConsumeOptions{Queue: "q"}, 1)
	w.publish("q", "1", "2", "3")
	_, err := w.s.DeleteQueue("q", true, false)
	wantError(t, err, queue.PreconditionFailed, "queue 'q' in vhost '/' in use")
	_, err = w.s.DeleteQueue("q", false, true)
	wantError(t, err, queue.PreconditionFailed, "queue 'q' in vhost '/' not empty")
	n, err := w.s.DeleteQueue("q", false, false)
	if n != 2 || err != nil || !a.cancelled {
		t.Errorf("deleted %d, %v; consumer cancelled: %v", n, err, a.cancelled)
	}
	c.Queue().Settle([]queue.Offset{0})
	c.Queue().Requeue([]queue.Offset{0})
	c.Resume()
	c.Cancel()
	if n, err := w.s.DeleteQueue("q", false, false); n != 0 || err != nil {
		t.Errorf("deleting again: %d, %v", n, err)
	}
	w.declare(queue.QueueDeclare{Name: "q", Durable: true})
	w.publish("q", "new")
	if got := w.drain("q"); got != "new" {
		t.Errorf("drained %q", got)
	}
}

func TestPurge(t *testing.T) {
	w := newWorld(t)
	w.declare(queue.QueueDeclare{Name: "q", Durable: true})
	w.publish("q", "1", "2", "3")
	_, a := w.consume(queue.ConsumeOptions{Queue: "q"}, 1)
	a.want(t, "1")
	if n, err := w.s.PurgeQueue("q"); n != 2 || err != nil {
		t.Errorf("purged %d, %v", n, err)
	}
	w.wantSize("q", "0 ready, 1 unacked")
	w.restart(memlog.Staged)
	if got := w.drain("q"); got != "1!" {
		t.Errorf("drained %q", got)
	}
}

func TestExclusiveConsumer(t *testing.T) {
	w := newWorld(t)
	w.declare(queue.QueueDeclare{Name: "q"})
	c, _ := w.consume(queue.ConsumeOptions{Queue: "q", Exclusive: true}, 1)
	_, err := w.s.Consume(queue.ConsumeOptions{Queue: "q"}, &sink{})
	wantError(t, err, queue.AccessRefused, "queue 'q' in vhost '/' in exclusive use")
	c.Cancel()
	w.consume(queue.ConsumeOptions{Queue: "q"}, 1)
	_, err = w.s.Consume(queue.ConsumeOptions{Queue: "q", Exclusive: true}, &sink{})
	wantError(t, err, queue.AccessRefused, "queue 'q' in vhost '/' in exclusive use")
}

func TestConsumerPriority(t *testing.T) {
	w := newWorld(t)
	w.declare(queue.QueueDeclare{Name: "q"})
	_, low := w.consume(queue.ConsumeOptions{Queue: "q"}, 10)
	_, high := w.consume(queue.ConsumeOptions{Queue: "q", Args: map[string]any{"x-priority": int32(5)}}, 2)
	w.publish("q", "1", "2", "3")
	high.want(t, "1 2")
	low.want(t, "3")
	_, err := w.s.Consume(queue.ConsumeOptions{Queue: "q", Args: map[string]any{"x-priority": "5"}}, &sink{})
	wantError(t, err, queue.PreconditionFailed,
		`invalid arg 'x-priority' for queue 'q' in vhost '/': "expected integer, got longstr"`)
}

func TestPermissions(t *testing.T) {
	w := newWorld(t)
	hash, hashing := queue.HashPassword("secret")
	if _, err := w.b.PutUser(queue.UserRecord{Name: "u", PasswordHash: hash, Hashing: hashing}); err != nil {
		t.Fatal(err)
	}
	u, err := w.b.Authenticate("u", "secret", false)
	if err != nil {
		t.Fatal(err)
	}
	_, err = w.b.Connect(u, "/", "c")
	wantError(t, err, queue.NotAllowed, "access to vhost '/' refused for user 'u'")
	_, err = w.b.Connect(u, "nope", "c")
	wantError(t, err, queue.NotAllowed, "vhost nope not found")
	set := func(c, wr, r string) {
		if _, err := w.b.SetPermissions(queue.Permission{User: "u", VHost: "/", Configure: c, Write: wr, Read: r}); err != nil {
			t.Fatal(err)
		}
	}
	set("^mine", "^amq.default$", "")
	s, err := w.b.Connect(u, "/", "c")
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.DeclareQueue(queue.QueueDeclare{Name: "yours"})
	wantError(t, err, queue.AccessRefused, "configure access to queue 'yours' in vhost '/' refused for user 'u'")
	if _, err := s.DeclareQueue(queue.QueueDeclare{Name: "mine"}); err != nil {
		t.Error(err)
	}
	_, _, err = s.Get("mine", true, &queue.Delivery{})
	wantError(t, err, queue.AccessRefused, "read access to queue 'mine' in vhost '/' refused for user 'u'")
	p := s.NewPublisher()
	m := queue.Message{RoutingKey: []byte("mine")}
	if routed, err := p.Publish(&m, nil, 0); !routed || err != nil {
		t.Errorf("routed %v, %v", routed, err)
	}
	set("", "", "")
	_, err = p.Publish(&m, nil, 0)
	wantError(t, err, queue.AccessRefused, "write access to exchange 'amq.default' in vhost '/' refused for user 'u'")
	p.Flush()
	w.wantSize("mine", "1 ready, 0 unacked")
	_, err = w.b.Authenticate("u", "wrong", true)
	wantError(t, err, queue.AccessRefused, "user 'u' - invalid credentials")
	_, err = w.b.Authenticate("guest", "guest", false)
	wantError(t, err, queue.AccessRefused, "user 'guest' can only connect via localhost")
}

func TestDeletedVHostEndsItsSessions(t *testing.T) {
	w := newWorld(t)
	if _, err := w.b.PutVHost(queue.VHostRecord{Name: "v"}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.b.SetPermissions(queue.Permission{User: "guest", VHost: "v", Configure: ".*", Write: ".*", Read: ".*"}); err != nil {
		t.Fatal(err)
	}
	s, err := w.b.Connect(w.s.User(), "v", "c")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.DeclareQueue(queue.QueueDeclare{Name: "q", Durable: true}); err != nil {
		t.Fatal(err)
	}
	a := &sink{}
	if _, err := s.Consume(queue.ConsumeOptions{Queue: "q"}, a); err != nil {
		t.Fatal(err)
	}
	var ended *queue.Error
	s.OnEnd(func(e *queue.Error) { ended = e })
	if err := w.b.DeleteVHost("v"); err != nil {
		t.Fatal(err)
	}
	wantError(t, ended, queue.ConnectionForced, "vhost 'v' is deleted")
	if !a.cancelled {
		t.Error("the consumer was not cancelled")
	}
	s.Close()
	if len(w.b.VHosts()) != 1 {
		t.Errorf("%d vhosts", len(w.b.VHosts()))
	}
}
