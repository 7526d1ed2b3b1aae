package queue_test

import (
	"testing"

	"github.com/warrenmq/warren/queue"
)

func TestStats(t *testing.T) {
	w := newWorld(t)
	w.declare(queue.QueueDeclare{Name: "b", Durable: true})
	own := w.declare(queue.QueueDeclare{Name: "a", Exclusive: true})
	w.declare(queue.QueueDeclare{Name: "a", Passive: true})
	w.publish("b", "12", "345")
	c, a := w.consume(queue.ConsumeOptions{Queue: "b", Tag: "tag", Exclusive: true, Args: args{"x": int32(1)}}, 1)
	offsets := a.want(t, "12")

	all := w.b.Queues("/")
	if len(all) != 2 || all[0].Name != "a" || all[1].Name != "b" {
		t.Fatalf("queues are %+v", all)
	}
	q := all[1]
	if q.Ready != 1 || q.ReadyBytes != 3 || q.Unacked != 1 || q.UnackedBytes != 2 || q.Publish != 2 || q.Deliver != 1 ||
		q.Consumers != 1 || q.ExclusiveConsumer != "tag" || q.Type != "classic" || !q.Durable || !q.IdleSince.IsZero() {
		t.Errorf("queue b is %+v", q)
	}
	if x := all[0]; x.Owner != "test" || !x.Exclusive || x.Durable {
		t.Errorf("queue a is %+v", x)
	}
	if q, _ := w.b.Queue("/", "b"); q.IdleSince.IsZero() {
		t.Error("queue b is not idle though nothing happened between two looks")
	}
	c.Queue().Settle(offsets)
	if q, _ := w.b.Queue("/", "b"); !q.IdleSince.IsZero() || q.Ack != 1 {
		t.Errorf("queue b is %+v", q)
	}
	if _, ok := w.b.Queue("/", "none"); ok {
		t.Error("a queue that is not there")
	}
	consumers := w.b.Consumers("")
	if len(consumers) != 1 || consumers[0].Tag != "tag" || consumers[0].Queue != "b" || consumers[0].User != "guest" ||
		consumers[0].Connection != "test" || consumers[0].Args["x"] != int32(1) {
		t.Errorf("consumers are %+v", consumers)
	}
	if _, err := w.s.DeleteQueue(own.Name, false, false); err != nil {
		t.Fatal(err)
	}
	s := w.b.Stats()
	if s.QueuesDeclared != 3 || s.QueuesCreated != 2 || s.QueuesDeleted != 1 || s.Queues != 1 || s.Consumers != 1 ||
		s.Exchanges != 7 || s.Ready != 1 || s.Publish != 2 || s.Ack != 1 || s.DeliverGet() != 1 {
		t.Errorf("stats are %+v", s)
	}
}

func TestCountersOutliveTheirVHost(t *testing.T) {
	w := newWorld(t)
	w.declare(queue.QueueDeclare{Name: "q"})
	w.publish("q", "1")
	if err := w.b.DeleteVHost("/"); err != nil {
		t.Fatal(err)
	}
	if c := w.b.Counters(); c.Publish != 1 {
		t.Errorf("counted %+v", c)
	}
}

func TestObjectsForTheAPI(t *testing.T) {
	w := newWorld(t)
	w.declare(queue.QueueDeclare{Name: "q"})
	if err := w.s.BindQueue("q", "amq.topic", "a.#", nil); err != nil {
		t.Fatal(err)
	}
	if err := w.s.BindExchange("amq.fanout", "amq.topic", "#", nil); err != nil {
		t.Fatal(err)
	}
	if b := w.b.Bindings("/"); len(b) != 3 || b[0].Source != "" || b[0].Key != "q" || b[0].PropertiesKey() != "q" {
		t.Errorf("bindings are %+v", b)
	}
	if err := w.s.UnbindExchange("amq.fanout", "amq.topic", "#", nil); err != nil {
		t.Fatal(err)
	}
	if b := w.b.Bindings(""); len(b) != 2 {
		t.Errorf("bindings are %+v", b)
	}
	if x := w.b.Exchanges("/"); len(x) != 7 || w.b.Exchange("/", "amq.match").Type != "headers" {
		t.Errorf("exchanges are %+v", x)
	}
	v, ok := w.b.VHost("/")
	if !ok || v.Name != "/" || v.Queues != 1 || w.s.VHost() != "/" {
		t.Errorf("vhost is %+v", v)
	}
	if _, ok := w.b.VHost("none"); ok {
		t.Error("a vhost that is not there")
	}
	created, err := w.b.PutUser(queue.UserRecord{Name: "u", Tags: []string{"monitoring"}})
	if !created || err != nil || len(w.b.Users()) != 2 || !w.b.User("u").HasTag("monitoring") {
		t.Errorf("put user: %v, %v", created, err)
	}
	if _, err := w.b.SetPermissions(queue.Permission{User: "u", VHost: "/"}); err != nil {
		t.Fatal(err)
	}
	if !w.b.HasAccess("u", "/") || len(w.b.Permissions()) != 2 {
		t.Error("no permissions")
	}
	if err := w.b.ClearPermissions("u", "/"); err != nil || w.b.HasAccess("u", "/") {
		t.Errorf("clear permissions: %v", err)
	}
	if err := w.b.DeleteUser("u"); err != nil || w.b.User("u") != nil {
		t.Errorf("delete user: %v", err)
	}
	if err := w.b.DeleteUser("u"); !queue.IsNotFound(err) {
		t.Errorf("deleting a user that is not there: %v", err)
	}
	if !w.s.User().HasTag("administrator") {
		t.Error("guest is no administrator")
	}
}
