package queue_test

import (
	"strings"
	"testing"

	"github.com/warrenmq/warren/queue"
	"github.com/warrenmq/warren/queue/memlog"
)

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

// TestSettleAfterDelete: what becomes of a delivery of a queue that has been deleted meanwhile is of no consequence.
func TestSettleAfterDelete(t *testing.T) {
	for name, settle := range map[string]func(*queue.Queue, []queue.Offset){
		"ack": (*queue.Queue).Settle, "reject": (*queue.Queue).Reject, "requeue": (*queue.Queue).Requeue,
	} {
		w := newWorld(t)
		w.declare(queue.QueueDeclare{Name: "q", Durable: true, Args: map[string]any{"x-dead-letter-exchange": ""}})
		w.publish("q", "one", "two", "three")
		var one, two queue.Delivery
		for _, d := range []*queue.Delivery{&one, &two} {
			if found, _, err := w.s.Get("q", false, d); !found || err != nil {
				t.Fatal(found, err)
			}
		}
		if _, err := w.s.DeleteQueue("q", false, false); err != nil {
			t.Fatal(err)
		}
		settle(one.Queue, []queue.Offset{two.Offset, one.Offset})
		w.s.Commit()
		w.wantSize("q", "none")
		w.declare(queue.QueueDeclare{Name: "q", Durable: true})
		if w.wantSize("q", "0 ready, 0 unacked"); t.Failed() {
			t.Errorf("after %s", name)
		}
	}
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
