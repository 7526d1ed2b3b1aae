package server

import (
	"maps"
	"slices"

	"github.com/warrenmq/warren/amqp"
	"github.com/warrenmq/warren/queue"
)

// transaction is what a transactional channel holds until tx.commit. Acknowledged deliveries stay in the channel's
// unacked, marked as held, so that they count for prefetch and a rollback finds them in their place.
type transaction struct {
	ch        *channel
	publishes []queue.Message
	octets    uint64
	acks      []uint64 // delivery tags held; guarded by ch.mu
}

// txSelect makes the channel transactional (tx.select).
func (ch *channel) txSelect() error {
	if ch.confirms != nil {
		return refuse(queue.PreconditionFailed, "cannot switch from confirm to tx mode")
	}
	if ch.tx == nil {
		ch.tx = &transaction{ch: ch}
		ch.mu.Lock()
		ch.mu.shown.transactional = true
		ch.mu.Unlock()
	}
	ch.reply(false, &amqp.TxSelectOk{})
	return nil
}

var errNoTransaction = &queue.Error{Kind: queue.PreconditionFailed, Text: "channel is not transactional"}

// publish holds a copy of m. What would refuse it now is told now.
func (t *transaction) publish(m *queue.Message) error {
	c := t.ch.c
	if err := c.pub.Check(m); err != nil {
		return err
	}
	t.octets += uint64(len(m.Exchange) + len(m.RoutingKey) + len(m.Properties) + len(m.Body))
	if t.octets > c.srv.o.MaxTransaction {
		return refuse(queue.ResourceError, "transaction is larger than %d octets", c.srv.o.MaxTransaction)
	}
	copied := *m
	copied.Exchange, copied.RoutingKey = slices.Clone(m.Exchange), slices.Clone(m.RoutingKey)
	copied.Properties, copied.Body = slices.Clone(m.Properties), slices.Clone(m.Body)
	if m.Headers != nil {
		headers := m.Headers()
		copied.Headers = func() map[string]any { return maps.Clone(headers) }
	}
	t.publishes = append(t.publishes, copied)
	t.show()
	return nil
}

// show keeps the figures for the HTTP API.
func (t *transaction) show() {
	t.ch.mu.Lock()
	defer t.ch.mu.Unlock()
	t.showLocked()
}

func (t *transaction) showLocked() {
	t.ch.mu.shown.uncommitted, t.ch.mu.shown.acksHeld = len(t.publishes), len(t.acks)
}

// holdLocked holds a settlement.
func (t *transaction) holdLocked(d *delivered, how outcome) {
	d.state, d.held = held, how
	t.acks = append(t.acks, d.tag)
	t.showLocked()
}

func (t *transaction) forgetAcksLocked() {
	t.acks = nil
	t.showLocked()
}

// txCommit carries out what is held (tx.commit). It is answered when the messages have passed their queues' gates.
func (ch *channel) txCommit() error {
	if ch.tx == nil {
		return errNoTransaction
	}
	publishes := ch.tx.publishes
	ch.tx.publishes, ch.tx.octets = nil, 0
	ch.commitAcks()
	err := ch.publishAll(publishes)
	ch.tx.show()
	if err != nil {
		return err
	}
	ch.reply(false, &amqp.TxCommitOk{})
	return nil
}

func (ch *channel) commitAcks() {
	ch.mu.Lock()
	defer ch.mu.Unlock()
	u := &ch.mu.unacked
	for _, tag := range ch.tx.acks {
		d := u.at(u.find(tag)) // held deliveries are in the deque
		ch.settledLocked(d, d.held)
	}
	u.drop()
	ch.tx.acks = nil
}

// publishAll publishes the messages of a transaction and waits until they are confirmed.
func (ch *channel) publishAll(messages []queue.Message) error {
	c := ch.c
	var last uint64
	refused := false
	done := make(chan struct{})
	confirms := queue.NewConfirms(func(upTo uint64, _, nack bool) {
		refused = refused || nack
		if upTo == uint64(len(messages)) {
			close(done)
		}
	})
	defer confirms.Close()
	for i := range messages {
		m := &messages[i]
		routed, err := c.pub.Publish(m, confirms, last+1)
		if err != nil {
			return err
		}
		last++
		ch.published.Add(1)
		if !routed && m.Mandatory {
			ch.giveBack(m)
		}
	}
	c.published = true
	c.handOver()
	if last == 0 {
		return nil
	}
	select {
	case <-done:
	case <-c.life.done:
		return nil
	}
	if refused {
		return refuse(queue.PreconditionFailed, "partial tx completion")
	}
	return nil
}

// txRollback drops what is held (tx.rollback): acknowledged deliveries are unsettled again.
func (ch *channel) txRollback() error {
	if ch.tx == nil {
		return errNoTransaction
	}
	ch.tx.publishes, ch.tx.octets = nil, 0
	ch.mu.Lock()
	u := &ch.mu.unacked
	for _, tag := range ch.tx.acks {
		u.at(u.find(tag)).state = unsettled
	}
	ch.tx.forgetAcksLocked()
	ch.mu.Unlock()
	ch.reply(false, &amqp.TxRollbackOk{})
	return nil
}
