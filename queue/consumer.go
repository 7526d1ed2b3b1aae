package queue

import (
	"slices"

	"github.com/warrenmq/warren/keratin"
	"github.com/warrenmq/warren/queue/catalog"
	"github.com/warrenmq/warren/queue/route"
	"github.com/warrenmq/warren/queue/state"
)

// Offset is a message's place in its queue's log.
type Offset = keratin.Offset

// Delivery is one message on its way to a consumer. The slices alias memory that never changes.
type Delivery struct {
	Queue                                  *Queue
	Offset                                 Offset
	Exchange, RoutingKey, Properties, Body []byte
	Redelivered                            bool

	persistent bool
	envelope
}

// ConsumeOptions are the arguments of basic.consume.
type ConsumeOptions struct {
	Queue, Tag       string
	NoAck, Exclusive bool
	Args             map[string]any
}

// Sink is where a consumer's messages go.
type Sink interface {
	// Deliver takes one message, or refuses it (no credit, output full) and promises to call c.Resume later. It
	// is called with the queue's lock held: it must not block and not call into package queue. d is valid during
	// the call only; its byte slices live on.
	Deliver(c *Consumer, d *Delivery) bool
	// Cancelled tells that the queue is gone and the consumer with it. It must not block and not call into
	// package queue.
	Cancelled(c *Consumer)
}

// Consumer is one subscription to a queue.
type Consumer struct {
	q       *Queue
	options ConsumeOptions
	session *Session
	sink    Sink

	// Guarded by the queue's lock.
	turn    state.Consumer
	waiting bool // could take messages, but the queue has another active consumer
}

// Queue returns the consumer's queue.
func (c *Consumer) Queue() *Queue { return c.q }

// Tag returns the consumer's tag.
func (c *Consumer) Tag() string { return c.options.Tag }

// Consume registers a consumer. Deliveries begin with Consumer.Start, so that consume-ok can go out first.
func (s *Session) Consume(o ConsumeOptions, sink Sink) (*Consumer, error) {
	q, err := s.reach(o.Queue, catalog.Read)
	if err != nil {
		return nil, err
	}
	c := &Consumer{q: q, options: o, session: s, sink: sink}
	c.turn = state.Consumer{Value: c, NoAck: o.NoAck, Exclusive: o.Exclusive}
	if p, there := o.Args["x-priority"]; there {
		n, ok := route.Integer(p)
		if !ok {
			return nil, refuse(PreconditionFailed, "invalid arg 'x-priority' for queue '%s' in vhost '%s': "+
				"\"expected integer, got %s\"", q.rec.Name, s.vhost.name, route.TypeName(p))
		}
		c.turn.Priority = n
	}
	return c, q.join(c)
}

func (q *Queue) join(c *Consumer) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if err := q.usableLocked(); err != nil {
		return err
	}
	if q.rules.singleActive() && c.options.Exclusive || !q.st.Consume(&c.turn) {
		return refuse(AccessRefused, "queue '%s' in vhost '%s' in exclusive use", q.rec.Name, q.v.name)
	}
	q.consumers = append(q.consumers, c)
	return nil
}

// Start lets deliveries begin.
func (c *Consumer) Start() { c.Resume() }

// Resume tells that the sink, which refused a message, has capacity again. Like Start and Cancel it must not be
// called from within a Sink's methods or a confirm's report.
func (c *Consumer) Resume() {
	q := c.q
	q.mu.Lock()
	q.unblockLocked(c)
	staged := q.deliverLocked()
	if q.unlock() || staged {
		q.v.b.store.Commit()
	}
}

// unblockLocked lets a consumer take its turns, unless it has to wait for its time as the active one.
func (q *Queue) unblockLocked(c *Consumer) {
	c.waiting = q.rules.singleActive() && !q.activeLocked(c)
	if !c.waiting {
		q.st.Unblock(&c.turn)
	}
}

// activeLocked reports whether a consumer gets messages: with a single active consumer, only the one that came first.
func (q *Queue) activeLocked(c *Consumer) bool {
	return !q.rules.singleActive() || len(q.consumers) > 0 && q.consumers[0] == c
}

// Cancel ends the subscription: on return Deliver is not called any more, and an auto-delete queue that has lost
// its last consumer is gone. Cancelling twice, or after Cancelled, does nothing.
func (c *Consumer) Cancel() {
	q := c.q
	q.mu.Lock()
	if !q.st.Cancel(&c.turn) {
		q.mu.Unlock()
		return
	}
	q.consumers = slices.DeleteFunc(q.consumers, func(x *Consumer) bool { return x == c })
	last := len(q.consumers) == 0
	if last {
		q.consumers, q.work = nil, nil
		q.touchLocked()
	}
	unused := last && q.rec.AutoDelete && !q.gone.Load()
	q.unused = unused
	staged := false
	if !last && q.consumers[0].waiting {
		q.unblockLocked(q.consumers[0])
		staged = q.deliverLocked()
	}
	if q.unlock() || staged {
		q.v.b.store.Commit()
	}
	if unused {
		q.deleteUnused()
	}
}

// deleteUnused deletes an auto-delete queue whose last consumer has left. Until that is decided the queue takes no
// new consumer.
func (q *Queue) deleteUnused() {
	r := q.rec
	_, err := q.v.b.catalog.Propose(catalog.DeleteQueue{VHost: r.VHost, Name: r.Name, LogID: r.LogID, Session: r.Owner})
	if err != nil && !IsNotFound(err) {
		q.v.b.logProposal("deleting an unused queue", err)
		q.mu.Lock()
		q.unused = false
		q.mu.Unlock()
	}
}
