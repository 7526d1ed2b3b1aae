package queue_test

import (
	"errors"
	"fmt"
	"reflect"
	"sync"
	"testing"

	"github.com/warrenmq/warren/queue"
	"github.com/warrenmq/warren/queue/memlog"
)

// report is what a channel's confirms have reported.
type report []string

func (r *report) confirms() *queue.Confirms {
	return queue.NewConfirms(func(upTo uint64, multiple, nack bool) {
		s := fmt.Sprint(upTo)
		if multiple {
			s += "+"
		}
		if nack {
			s += "-"
		}
		*r = append(*r, s)
	})
}

func (r *report) want(t *testing.T, want ...string) {
	t.Helper()
	if len(want) == 0 && len(*r) == 0 {
		return
	}
	if !reflect.DeepEqual([]string(*r), want) {
		t.Errorf("reported %q, want %q", *r, want)
	}
}

func persistent(key, body string) *queue.Message {
	return &queue.Message{RoutingKey: []byte(key), Body: []byte(body), Persistent: true}
}

func transient(key, body string) *queue.Message {
	return &queue.Message{RoutingKey: []byte(key), Body: []byte(body)}
}

func TestConfirmFollowsTheGate(t *testing.T) {
	w := newWorldOn(t, memlog.New(memlog.Options{}))
	w.declare(queue.QueueDeclare{Name: "durable", Durable: true})
	w.declare(queue.QueueDeclare{Name: "buffered", Durable: true, Args: map[string]any{"x-durability": "buffered"}})
	w.declare(queue.QueueDeclare{Name: "transient"})
	w.store.SetManualSync(true)
	for _, x := range []struct {
		m       *queue.Message
		written []string
	}{
		{persistent("durable", "x"), nil},
		{transient("durable", "x"), []string{"1"}},
		{persistent("buffered", "x"), []string{"1"}},
		{persistent("transient", "x"), []string{"1"}},
	} {
		var r report
		if _, err := w.p.Publish(x.m, r.confirms(), 1); err != nil {
			t.Fatal(err)
		}
		r.want(t)
		w.p.Flush()
		r.want(t, x.written...)
		w.store.Sync()
		r.want(t, "1")
	}
	if c := w.b.Counters(); c.Publish != 4 || c.Confirm != 4 {
		t.Errorf("counted %+v", c)
	}
}

func TestConfirmsAreAPrefix(t *testing.T) {
	w := newWorld(t)
	w.declare(queue.QueueDeclare{Name: "durable", Durable: true})
	w.declare(queue.QueueDeclare{Name: "transient"})
	w.store.SetManualSync(true)
	var r report
	c := r.confirms()
	for i, m := range []*queue.Message{
		transient("transient", "1"), transient("transient", "2"), persistent("durable", "3"),
		transient("transient", "4"), transient("durable", "5"), persistent("durable", "6"),
	} {
		if _, err := w.p.Publish(m, c, uint64(i+1)); err != nil {
			t.Fatal(err)
		}
	}
	w.p.Flush()
	r.want(t, "2+")
	w.store.Sync()
	r.want(t, "2+", "5+", "6")
	if got := w.drain("durable"); got != "3 5 6" {
		t.Errorf("drained %q", got)
	}
	if n := c.Outstanding(); n != 0 {
		t.Errorf("%d outstanding", n)
	}
}

func TestConfirmWaitsForAllQueues(t *testing.T) {
	w := newWorld(t)
	for _, name := range []string{"a", "b"} {
		w.declare(queue.QueueDeclare{Name: name, Durable: name == "b"})
		if err := w.s.BindQueue(name, "amq.fanout", "", nil); err != nil {
			t.Fatal(err)
		}
	}
	w.store.SetManualSync(true)
	var r report
	m := persistent("", "x")
	m.Exchange = []byte("amq.fanout")
	if _, err := w.p.Publish(m, r.confirms(), 1); err != nil {
		t.Fatal(err)
	}
	w.p.Flush()
	r.want(t)
	w.store.Sync()
	r.want(t, "1")
	w.wantSize("a", "1 ready, 0 unacked")
	w.wantSize("b", "1 ready, 0 unacked")
}

func TestUnroutableIsConfirmedWithFlush(t *testing.T) {
	w := newWorld(t)
	w.declare(queue.QueueDeclare{Name: "q"})
	var r report
	c := r.confirms()
	for i, key := range []string{"q", "nowhere", "q"} {
		m := persistent(key, "x")
		m.Mandatory = true
		if routed, err := w.p.Publish(m, c, uint64(i+1)); err != nil || routed != (key == "q") {
			t.Errorf("routed %v, %v", routed, err)
		}
	}
	w.store.Commit()
	r.want(t)
	w.p.Flush()
	last := r[len(r)-1]
	if last != "3+" && last != "3" {
		t.Errorf("reported %q", r)
	}
	if _, err := w.p.Publish(persistent("nowhere", ""), nil, 0); err != nil {
		t.Fatal(err)
	}
	w.p.Flush()
	if got := w.b.Counters(); got.ReturnUnroutable != 1 || got.DropUnroutable != 1 || got.Publish != 4 || got.Confirm != 3 {
		t.Errorf("counted %+v", got)
	}
}

func TestPublishRefusals(t *testing.T) {
	w := newWorld(t)
	if err := w.s.DeclareExchange(queue.ExchangeDeclare{Name: "in", Type: "direct", Internal: true}); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]*queue.Error{
		"nope": {Kind: queue.NotFound, Text: "no exchange 'nope' in vhost '/'"},
		"in":   {Kind: queue.AccessRefused, Text: "cannot publish to internal exchange 'in' in vhost '/'"},
	} {
		m := &queue.Message{Exchange: []byte(name)}
		for range 2 {
			_, err := w.p.Publish(m, nil, 0)
			wantError(t, err, want.Kind, want.Text)
			wantError(t, w.p.Check(m), want.Kind, want.Text)
		}
	}
	// The cache of refusals is void when the exchange comes.
	if err := w.s.DeclareExchange(queue.ExchangeDeclare{Name: "nope", Type: "direct"}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.p.Publish(&queue.Message{Exchange: []byte("nope")}, nil, 0); err != nil {
		t.Error(err)
	}
}

func TestRoutesFollowBindings(t *testing.T) {
	w := newWorld(t)
	w.declare(queue.QueueDeclare{Name: "q"})
	m := &queue.Message{Exchange: []byte("amq.topic"), RoutingKey: []byte("a.b")}
	publish := func(want bool) {
		t.Helper()
		if routed, err := w.p.Publish(m, nil, 0); routed != want || err != nil {
			t.Errorf("routed %v, %v", routed, err)
		}
		w.p.Flush()
	}
	publish(false)
	if err := w.s.BindQueue("q", "amq.topic", "a.*", nil); err != nil {
		t.Fatal(err)
	}
	publish(true)
	publish(true)
	if err := w.s.UnbindQueue("q", "amq.topic", "a.*", nil); err != nil {
		t.Fatal(err)
	}
	publish(false)
	if err := w.s.BindExchange("amq.fanout", "amq.topic", "#", nil); err != nil {
		t.Fatal(err)
	}
	publish(false)
	if err := w.s.BindQueue("q", "amq.fanout", "", nil); err != nil {
		t.Fatal(err)
	}
	publish(true)
	w.wantSize("q", "3 ready, 0 unacked")
}

func TestHeadersExchangeIsNotCached(t *testing.T) {
	w := newWorld(t)
	w.declare(queue.QueueDeclare{Name: "q"})
	if err := w.s.BindQueue("q", "amq.headers", "", map[string]any{"k": "v"}); err != nil {
		t.Fatal(err)
	}
	for _, v := range []string{"v", "w", "v"} {
		m := &queue.Message{Exchange: []byte("amq.headers"), Headers: func() map[string]any { return map[string]any{"k": v} }}
		if routed, err := w.p.Publish(m, nil, 0); routed != (v == "v") || err != nil {
			t.Errorf("header %s: routed %v, %v", v, routed, err)
		}
	}
}

func TestAlternateExchangeComesAndGoes(t *testing.T) {
	w := newWorld(t)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(w.s.DeclareExchange(queue.ExchangeDeclare{Name: "x", Type: "direct", Args: map[string]any{"alternate-exchange": "alt"}}))
	w.declare(queue.QueueDeclare{Name: "q"})
	m := &queue.Message{Exchange: []byte("x")}
	publish := func(want bool) {
		t.Helper()
		if routed, err := w.p.Publish(m, nil, 0); routed != want || err != nil {
			t.Errorf("routed %v, %v", routed, err)
		}
	}
	publish(false)
	must(w.s.DeclareExchange(queue.ExchangeDeclare{Name: "alt", Type: "fanout"}))
	must(w.s.BindQueue("q", "alt", "", nil))
	publish(true)
	must(w.s.DeleteExchange("alt", false))
	publish(false)
}

func TestMoreKeysReachEachQueueOnce(t *testing.T) {
	w := newWorld(t)
	w.declare(queue.QueueDeclare{Name: "a"})
	w.declare(queue.QueueDeclare{Name: "b"})
	m := persistent("a", "x")
	m.MoreKeys = [][]byte{[]byte("b"), []byte("a")}
	if _, err := w.p.Publish(m, nil, 0); err != nil {
		t.Fatal(err)
	}
	w.p.Flush()
	w.wantSize("a", "1 ready, 0 unacked")
	w.wantSize("b", "1 ready, 0 unacked")
}

func TestPoisonedLogNacksAndDeletedQueueAcks(t *testing.T) {
	w := newWorld(t)
	w.declare(queue.QueueDeclare{Name: "bad", Durable: true})
	w.declare(queue.QueueDeclare{Name: "gone", Durable: true})
	w.store.SetManualSync(true)
	var r report
	c := r.confirms()
	for i, key := range []string{"bad", "gone"} {
		if _, err := w.p.Publish(persistent(key, "x"), c, uint64(i+1)); err != nil {
			t.Fatal(err)
		}
	}
	w.p.Flush()
	w.store.SetManualSync(false)
	if _, err := w.s.DeleteQueue("gone", false, false); err != nil {
		t.Fatal(err)
	}
	r.want(t)
	w.store.Log(2).Fail(errors.New("the disk is gone")) // the first queue's
	r.want(t, "1-", "2")
	if _, err := w.p.Publish(persistent("bad", "x"), c, 3); err != nil {
		t.Fatal(err)
	}
	w.p.Flush()
	r.want(t, "1-", "2", "3-")
	q, _ := w.b.Queue("/", "bad")
	if q.Failed == nil {
		t.Error("a queue with a poisoned log does not say so")
	}
	_, err := w.s.PurgeQueue("bad")
	wantError(t, err, queue.NotFound, "queue 'bad' in vhost '/' is out of service: its log has failed")
}

// TestGetSeesWhatIsOnItsWay publishes while another goroutine holds the right to commit: get has to wait for it.
func TestGetSeesWhatIsOnItsWay(t *testing.T) {
	w := newWorld(t)
	w.declare(queue.QueueDeclare{Name: "q"})
	w.declare(queue.QueueDeclare{Name: "busy"})
	hold, held := make(chan struct{}), make(chan struct{})
	c, err := w.s.Consume(queue.ConsumeOptions{Queue: "busy", NoAck: true}, slow{held, hold})
	if err != nil {
		t.Fatal(err)
	}
	c.Start()
	other := w.session().NewPublisher()
	done := make(chan struct{})
	go func() {
		defer close(done)
		if _, err := other.Publish(persistent("busy", "x"), nil, 0); err != nil {
			t.Error(err)
		}
		other.Flush()
	}()
	<-held
	w.publish("q", "1")
	w.wantSize("q", "1 ready, 0 unacked")
	go func() { hold <- struct{}{} }()
	var d queue.Delivery
	if ok, _, err := w.s.Get("q", true, &d); !ok || err != nil || string(d.Body) != "1" {
		t.Errorf("got %v, %v", ok, err)
	}
	<-done
}

// slow is a sink that holds up the committing goroutine.
type slow struct{ held, hold chan struct{} }

func (s slow) Deliver(*queue.Consumer, *queue.Delivery) bool {
	s.held <- struct{}{}
	<-s.hold
	return true
}
func (s slow) Cancelled(*queue.Consumer) {}

// TestHotPathAllocates pins what a message costs on its way from Publish to Settle, in batches of a hundred.
func TestHotPathAllocates(t *testing.T) {
	w := newWorld(t)
	w.declare(queue.QueueDeclare{Name: "q", Durable: true})
	a := &counting{}
	c, err := w.s.Consume(queue.ConsumeOptions{Queue: "q"}, a)
	if err != nil {
		t.Fatal(err)
	}
	c.Start()
	confirmed := uint64(0)
	confirms := queue.NewConfirms(func(upTo uint64, _, _ bool) { confirmed = upTo })
	m := persistent("q", string(make([]byte, 100)))
	seq := uint64(0)
	const batch = 100
	way := func() {
		for range batch {
			seq++
			if _, err := w.p.Publish(m, confirms, seq); err != nil {
				t.Fatal(err)
			}
		}
		w.p.Flush()
		c.Queue().Settle(a.take())
		w.s.Commit()
	}
	for range 10 {
		way()
	}
	n := testing.AllocsPerRun(100, way)
	if per := n / batch; per > 0.1 {
		t.Errorf("%v allocations per message", per)
	}
	if confirmed != seq || a.n != int(seq) {
		t.Errorf("%d published, %d confirmed, %d delivered", seq, confirmed, a.n)
	}
	w.wantSize("q", "0 ready, 0 unacked")
}

// counting is a sink that takes everything.
type counting struct {
	mu      sync.Mutex
	n       int
	offsets []queue.Offset
	taken   []queue.Offset
}

func (s *counting) Deliver(_ *queue.Consumer, d *queue.Delivery) bool {
	s.mu.Lock()
	s.n++
	s.offsets = append(s.offsets, d.Offset)
	s.mu.Unlock()
	return true
}
func (s *counting) Cancelled(*queue.Consumer) {}

// take returns what has come since the last call. The slice is valid until the next one.
func (s *counting) take() []queue.Offset {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.taken, s.offsets = s.offsets, s.taken[:0]
	return s.taken
}
