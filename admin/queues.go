package admin

import (
	"net/http"
	"time"

	"github.com/warrenmq/warren/admin/api"
	"github.com/warrenmq/warren/queue"
)

// visibleQueues returns the queues that the request may see, by vhost and name.
func (a *API) visibleQueues(s *scope) []api.Queue {
	a.sample()
	list := []api.Queue{}
	for _, q := range a.o.Broker.Queues(s.vhost) {
		if s.covers(q.VHost) {
			list = append(list, a.apiQueue(&q))
		}
	}
	return list
}

func (a *API) queues(w http.ResponseWriter, r *request) error {
	s, err := a.scope(r)
	if err != nil {
		return err
	}
	return writeList(w, r, a.visibleQueues(s), func(q *api.Queue) string { return q.Name })
}

func (a *API) queue(w http.ResponseWriter, r *request) error {
	s, err := a.scope(r)
	if err != nil {
		return err
	}
	a.sample()
	q, ok := a.o.Broker.Queue(s.vhost, r.param("queue"))
	if !ok {
		return errNotFound
	}
	object := a.apiQueue(&q)
	object.ConsumerDetails = &[]api.Consumer{}
	for _, c := range a.visibleConsumers(s) {
		if c.Queue.Name == object.Name {
			*object.ConsumerDetails = append(*object.ConsumerDetails, c)
		}
	}
	return writeObject(w, r, &object)
}

// apiQueue shows one queue.
func (a *API) apiQueue(q *queue.QueueStats) api.Queue {
	n := queueCounts(q)
	speed := a.rates.of(objectKey{'q', q.VHost, q.Name}, &n)
	object := api.Queue{
		Name: q.Name, VHost: q.VHost, Type: q.Type, Node: a.o.NodeName, State: "running",
		Durable: q.Durable, AutoDelete: q.AutoDelete, Exclusive: q.Exclusive,
		Arguments: plainTable(q.Args), Durability: durability(q),
		EffectivePolicyDefinition: map[string]any{},

		Messages: n[cReady] + n[cUnacked], MessagesReady: n[cReady], MessagesUnacked: n[cUnacked],
		MessageBytes: int64(q.ReadyBytes + q.UnackedBytes), MessageBytesReady: int64(q.ReadyBytes), MessageBytesUnacked: int64(q.UnackedBytes),
		Consumers:    q.Consumers,
		MessageStats: messageStats(&n, &speed),
	}
	object.MessagesDetails.Rate = speed[cReady] + speed[cUnacked]
	object.MessagesReadyDetails.Rate, object.MessagesUnackedDetails.Rate = speed[cReady], speed[cUnacked]
	if q.Consumers > 0 {
		object.ConsumerCapacity, object.ConsumerUtilisation = 1, 1
	}
	if q.ExclusiveConsumer != "" {
		object.ExclusiveConsumer = &q.ExclusiveConsumer
	}
	if q.Owner != "" {
		object.Owner = &api.Owner{Name: q.Owner}
	}
	if q.Failed != nil {
		object.State = "crashed"
	}
	if !q.IdleSince.IsZero() {
		object.IdleSince = q.IdleSince.UTC().Format(time.RFC3339)
	}
	return object
}

// durability names what a queue's persistent messages survive.
func durability(q *queue.QueueStats) string {
	switch {
	case !q.Durable:
		return "none"
	case q.Args["x-durability"] == "buffered":
		return "buffered"
	}
	return "durable"
}

func queueCounts(q *queue.QueueStats) counts {
	n := messageCounts(q.Counters)
	n[cReady], n[cUnacked] = int64(q.Ready), int64(q.Unacked)
	return n
}

func messageCounts(c queue.Counters) (n counts) {
	n[cPublish], n[cConfirm] = int64(c.Publish), int64(c.Confirm)
	n[cReturn], n[cDrop] = int64(c.ReturnUnroutable), int64(c.DropUnroutable)
	n[cDeliver], n[cDeliverNoAck] = int64(c.Deliver), int64(c.DeliverNoAck)
	n[cGet], n[cGetNoAck], n[cGetEmpty] = int64(c.Get), int64(c.GetNoAck), int64(c.GetEmpty)
	n[cRedeliver], n[cAck] = int64(c.Redeliver), int64(c.Ack)
	return n
}

// sample takes a sample of all counters if the last one is old.
func (a *API) sample() {
	a.rates.refresh(func(add func(objectKey, counts)) {
		add(objectKey{kind: 'b'}, a.brokerCounts())
		for _, v := range a.o.Broker.VHosts() {
			add(objectKey{kind: 'v', name: v.Name}, summaryCounts(&v.Summary))
		}
		for _, q := range a.o.Broker.Queues("") {
			add(objectKey{'q', q.VHost, q.Name}, queueCounts(&q))
		}
		for _, c := range a.o.Clients.Connections() {
			add(objectKey{kind: 'c', name: c.Name}, connectionCounts(&c))
		}
	})
}

// summaryCounts is messageCounts and levels of many queues.
func summaryCounts(s *queue.Summary) counts {
	n := messageCounts(s.Counters)
	n[cReady], n[cUnacked] = int64(s.Ready), int64(s.Unacked)
	return n
}
