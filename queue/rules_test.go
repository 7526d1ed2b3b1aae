package queue_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/warrenmq/warren/queue"
	"github.com/warrenmq/warren/queue/header"
	"github.com/warrenmq/warren/queue/memlog"
)

type args = map[string]any

// expiring is a message with an expiration property.
func expiring(key, body, ms string) *queue.Message {
	m := persistent(key, body)
	m.Properties = append([]byte{1, 0, byte(len(ms))}, ms...)
	return m
}

func (w *world) send(messages ...*queue.Message) {
	w.t.Helper()
	for _, m := range messages {
		if _, err := w.p.Publish(m, nil, 0); err != nil {
			w.t.Fatal(err)
		}
	}
	w.p.Flush()
}

// inBubble runs a test with fake time. The broker is closed in the end, or its timers would go on.
func inBubble(t *testing.T, test func(t *testing.T, w *world)) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		test(t, w)
		if err := w.b.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestMessagesExpire(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.declare(queue.QueueDeclare{Name: "q", Durable: true, Args: args{"x-message-ttl": int32(1000)}})
		w.declare(queue.QueueDeclare{Name: "plain", Durable: true})
		w.send(persistent("q", "queue's"), expiring("q", "own", "500"), expiring("q", "longer", "5000"))
		w.send(expiring("plain", "own", "2000"), persistent("plain", "for ever"))
		time.Sleep(999 * time.Millisecond)
		w.wantSize("q", "3 ready, 0 unacked") // only the head is looked at
		time.Sleep(time.Millisecond)
		synctest.Wait()
		w.wantSize("q", "0 ready, 0 unacked")
		w.wantSize("plain", "2 ready, 0 unacked")
		time.Sleep(time.Second)
		synctest.Wait()
		w.wantSize("plain", "1 ready, 0 unacked")
		if got := w.drain("plain"); got != "for ever" {
			t.Errorf("drained %q", got)
		}
	})
}

func TestExpiredAreNotDelivered(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.declare(queue.QueueDeclare{Name: "q"})
		w.send(persistent("q", "1"), expiring("q", "2", "100"), expiring("q", "3", "300"), persistent("q", "4"))
		time.Sleep(200 * time.Millisecond)
		synctest.Wait()
		w.wantSize("q", "4 ready, 0 unacked")
		if got := w.drain("q"); got != "1 3 4" {
			t.Errorf("drained %q", got)
		}
	})
}

func TestRequeuedKeepsItsTime(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.declare(queue.QueueDeclare{Name: "q", Durable: true, Args: args{"x-message-ttl": int64(100)}})
		w.send(persistent("q", "1"), persistent("q", "2"))
		c, a := w.consume(queue.ConsumeOptions{Queue: "q"}, 2)
		offsets := a.want(t, "1 2")
		time.Sleep(99 * time.Millisecond)
		c.Queue().Requeue(offsets[:1])
		w.wantSize("q", "1 ready, 1 unacked")
		time.Sleep(time.Millisecond)
		synctest.Wait()
		w.wantSize("q", "0 ready, 1 unacked") // out with a consumer, it does not expire
		c.Queue().Requeue(offsets[1:])
		w.wantSize("q", "0 ready, 0 unacked")
	})
}

func TestNoTimeToLive(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.declare(queue.QueueDeclare{Name: "q", Args: args{"x-message-ttl": int64(0)}})
		w.send(persistent("q", "nobody is there"))
		w.wantSize("q", "0 ready, 0 unacked")
		_, a := w.consume(queue.ConsumeOptions{Queue: "q", NoAck: true}, 10)
		w.send(persistent("q", "taken"))
		a.want(t, "taken")
	})
}

func TestExpiryAfterARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.declare(queue.QueueDeclare{Name: "q", Durable: true, Args: args{
			"x-message-ttl": int64(1000), "x-dead-letter-exchange": "", "x-dead-letter-routing-key": "dead",
		}})
		w.declare(queue.QueueDeclare{Name: "dead", Durable: true})
		w.send(persistent("q", "1"))
		time.Sleep(600 * time.Millisecond)
		w.send(persistent("q", "2"))
		w.b.Close()
		time.Sleep(600 * time.Millisecond)
		w.restart(memlog.Staged)
		w.wantSize("q", "1 ready, 0 unacked")
		w.wantSize("dead", "1 ready, 0 unacked")
		time.Sleep(time.Second)
		synctest.Wait()
		w.wantSize("q", "0 ready, 0 unacked")
		if got := w.drain("dead"); got != "1 2" {
			t.Errorf("drained %q", got)
		}
		w.b.Close()
	})
}

func TestUnusedQueueExpires(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		d := queue.QueueDeclare{Name: "q", Args: args{"x-expires": int32(1000)}}
		w.declare(d)
		time.Sleep(900 * time.Millisecond)
		w.declare(queue.QueueDeclare{Name: "q", Passive: true})
		time.Sleep(900 * time.Millisecond)
		w.drain("q")
		time.Sleep(900 * time.Millisecond)
		c, _ := w.consume(queue.ConsumeOptions{Queue: "q"}, 1)
		time.Sleep(10 * time.Second)
		synctest.Wait()
		w.wantSize("q", "0 ready, 0 unacked")
		c.Cancel()
		time.Sleep(999 * time.Millisecond)
		synctest.Wait()
		w.wantSize("q", "0 ready, 0 unacked")
		time.Sleep(time.Millisecond)
		synctest.Wait()
		w.wantSize("q", "none")
	})
}

func TestMaxLengthDropsTheHead(t *testing.T) {
	w := newWorld(t)
	w.declare(queue.QueueDeclare{Name: "q", Durable: true, Args: args{"x-max-length": int32(2)}})
	w.declare(queue.QueueDeclare{Name: "bytes", Args: args{"x-max-length-bytes": int64(10)}})
	w.publish("q", "1", "2", "3", "4")
	w.wantSize("q", "2 ready, 0 unacked")
	c, a := w.consume(queue.ConsumeOptions{Queue: "q"}, 1)
	offsets := a.want(t, "3")
	w.publish("q", "5") // 3 is unacked: it does not count
	w.wantSize("q", "2 ready, 1 unacked")
	c.Queue().Requeue(offsets)
	w.wantSize("q", "2 ready, 0 unacked")
	if got := w.drain("q"); got != "4 5" {
		t.Errorf("drained %q", got)
	}
	w.publish("bytes", "12345", "123456", "1234")
	if got := w.drain("bytes"); got != "123456 1234" {
		t.Errorf("drained %q", got)
	}
}

func TestMaxLengthRefuses(t *testing.T) {
	w := newWorld(t)
	w.declare(queue.QueueDeclare{Name: "q", Durable: true, Args: args{"x-max-length": int32(2), "x-overflow": "reject-publish"}})
	w.declare(queue.QueueDeclare{Name: "none", Args: args{"x-max-length": int32(0), "x-overflow": "reject-publish"}})
	w.declare(queue.QueueDeclare{Name: "dlx", Args: args{
		"x-max-length": int32(1), "x-overflow": "reject-publish-dlx",
		"x-dead-letter-exchange": "", "x-dead-letter-routing-key": "dead",
	}})
	w.declare(queue.QueueDeclare{Name: "dead"})
	var r report
	c := r.confirms()
	for i, m := range []*queue.Message{
		persistent("q", "1"), persistent("q", "2"), persistent("q", "3"), persistent("none", "4"),
		persistent("dlx", "5"), persistent("dlx", "6"),
	} {
		if _, err := w.p.Publish(m, c, uint64(i+1)); err != nil {
			t.Fatal(err)
		}
	}
	w.p.Flush()
	if got := strings.Join(r, " "); got != "1 2 4+- 5 6-" && got != "2+ 4+- 5 6-" {
		t.Errorf("reported %q", got)
	}
	if got := w.drain("q") + "|" + w.drain("none") + "|" + w.drain("dlx") + "|" + w.drain("dead"); got != "1 2||5|6" {
		t.Errorf("drained %q", got)
	}
}

// headers returns the headers of the next message.
func (w *world) headers(name string) (body, key string, h map[string]any) {
	w.t.Helper()
	var d queue.Delivery
	ok, _, err := w.s.Get(name, true, &d)
	if err != nil || !ok {
		w.t.Fatalf("queue %s: got %v, %v", name, ok, err)
	}
	return string(d.Body), string(d.RoutingKey), header.Table(d.Properties)
}

func TestRejectedIsDeadLettered(t *testing.T) {
	w := newWorld(t)
	w.declare(queue.QueueDeclare{Name: "q", Durable: true, Args: args{"x-dead-letter-exchange": "amq.topic"}})
	w.declare(queue.QueueDeclare{Name: "dead", Durable: true, Args: args{
		"x-dead-letter-exchange": "", "x-dead-letter-routing-key": "q", "x-message-ttl": int32(0),
	}})
	w.declare(queue.QueueDeclare{Name: "last", Durable: true})
	for _, name := range []string{"dead", "last"} {
		if err := w.s.BindQueue(name, "amq.topic", "q", nil); err != nil {
			t.Fatal(err)
		}
	}
	w.send(expiring("q", "m", "60000"))
	for round := range 2 {
		var d queue.Delivery
		if ok, _, err := w.s.Get("q", false, &d); !ok || err != nil {
			t.Fatal(ok, err)
		}
		d.Queue.Reject([]queue.Offset{d.Offset, 99})
		w.s.Commit()
		body, key, h := w.headers("last")
		deaths := h["x-death"].([]any)
		first := deaths[0].(map[string]any)
		if body != "m" || key != "q" || len(deaths) != 1+round || first["count"] != int64(1+round) ||
			first["reason"] != "rejected" || first["queue"] != "q" || first["exchange"] != "" ||
			first["original-expiration"] != "60000" || fmt.Sprint(first["routing-keys"]) != "[q]" ||
			h["x-first-death-reason"] != "rejected" || h["x-first-death-queue"] != "q" || h["x-last-death-queue"] != "q" {
			t.Errorf("round %d: %s with key %s: %v", round, body, key, h)
		}
	}
	w.wantSize("q", "1 ready, 0 unacked") // came back from dead, where it has expired; a rejection breaks the cycle
	w.restart(memlog.Staged)
	w.wantSize("q", "1 ready, 0 unacked")
}

func TestDeadLettersDoNotGoRound(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.declare(queue.QueueDeclare{Name: "a", Args: args{
			"x-message-ttl": int32(10), "x-dead-letter-exchange": "", "x-dead-letter-routing-key": "b"}})
		w.declare(queue.QueueDeclare{Name: "b", Args: args{
			"x-message-ttl": int32(10), "x-dead-letter-exchange": "", "x-dead-letter-routing-key": "a"}})
		w.send(persistent("a", "1"))
		time.Sleep(10 * time.Millisecond)
		synctest.Wait()
		w.wantSize("a", "0 ready, 0 unacked")
		w.wantSize("b", "1 ready, 0 unacked")
		time.Sleep(10 * time.Millisecond)
		synctest.Wait()
		w.wantSize("a", "0 ready, 0 unacked")
		w.wantSize("b", "0 ready, 0 unacked")
	})
}

func TestDeadLetterExchangeThatIsMissing(t *testing.T) {
	w := newWorld(t)
	w.declare(queue.QueueDeclare{Name: "q", Durable: true, Args: args{"x-dead-letter-exchange": "later", "x-max-length": int32(1)}})
	w.declare(queue.QueueDeclare{Name: "dead"})
	w.publish("q", "1", "2")
	if err := w.s.DeclareExchange(queue.ExchangeDeclare{Name: "later", Type: "fanout"}); err != nil {
		t.Fatal(err)
	}
	if err := w.s.BindQueue("dead", "later", "", nil); err != nil {
		t.Fatal(err)
	}
	w.publish("q", "3")
	if got := w.drain("q") + "|" + w.drain("dead"); got != "3|2" {
		t.Errorf("drained %q", got)
	}
}

func TestSingleActiveConsumer(t *testing.T) {
	w := newWorld(t)
	w.declare(queue.QueueDeclare{Name: "q", Durable: true, Args: args{"x-single-active-consumer": true}})
	_, err := w.s.Consume(queue.ConsumeOptions{Queue: "q", Exclusive: true}, &sink{})
	wantError(t, err, queue.AccessRefused, "queue 'q' in vhost '/' in exclusive use")
	first, a := w.consume(queue.ConsumeOptions{Queue: "q", Tag: "a"}, 2)
	second, b := w.consume(queue.ConsumeOptions{Queue: "q", Tag: "b"}, 10)
	third, _ := w.consume(queue.ConsumeOptions{Queue: "q", Tag: "c"}, 10)
	w.publish("q", "1", "2", "3")
	offsets := a.want(t, "1 2")
	b.want(t, "")
	if s, _ := w.b.Queue("/", "q"); s.ActiveConsumer != "a" {
		t.Errorf("the active consumer is %q", s.ActiveConsumer)
	}
	if c := w.b.Consumers("/"); len(c) != 3 || !c[0].Active || c[1].Active {
		t.Errorf("consumers are %+v", c)
	}
	third.Cancel()
	first.Cancel()
	b.want(t, "3")
	first.Queue().Requeue(offsets)
	b.want(t, "1! 2!")
	second.Cancel()
	w.wantSize("q", "0 ready, 3 unacked")
}
