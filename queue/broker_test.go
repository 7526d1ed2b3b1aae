package queue_test

import (
	"fmt"
	"testing"

	"github.com/warrenmq/warren/keratin"
	"github.com/warrenmq/warren/queue"
	"github.com/warrenmq/warren/queue/memlog"
)

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
