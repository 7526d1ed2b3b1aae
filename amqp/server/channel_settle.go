package server

import (
	"github.com/warrenmq/warren/amqp"
	"github.com/warrenmq/warren/queue"
)

// refusal is the outcome that basic.nack and basic.reject ask for.
func refusal(requeue bool) outcome {
	if requeue {
		return requeued
	}
	return rejected
}

// settle acknowledges or rejects deliveries (basic.ack, basic.nack, basic.reject). Consumers get the credit back when
// the batch ends.
func (ch *channel) settle(tag uint64, multiple bool, how outcome) error {
	ch.mu.Lock()
	defer ch.mu.Unlock()
	d := ch.mu.unacked.get(tag)
	if d == nil && !(tag == 0 && multiple) {
		return refuse(queue.PreconditionFailed, "unknown delivery tag %d", tag)
	}
	if !multiple {
		ch.settleLocked(d, how)
	} else {
		for i := range ch.mu.unacked.upTo(tag) {
			if d := ch.mu.unacked.at(i); d.state == unsettled {
				ch.settleLocked(d, how)
			}
		}
	}
	if ch.tx == nil {
		ch.mu.unacked.drop()
	}
	return nil
}

// settleLocked settles one delivery, or holds that until the transaction is committed.
func (ch *channel) settleLocked(d *delivered, how outcome) {
	if ch.tx != nil {
		ch.tx.holdLocked(d, how)
		return
	}
	ch.settledLocked(d, how)
}

// settledLocked enters a settlement in the batch. The caller drops the tombs afterwards.
func (ch *channel) settledLocked(d *delivered, how outcome) {
	ch.c.batch.add(d.from, d.offset, how)
	if how == acked {
		ch.mu.counts.Acknowledged++
	}
	k := d.to
	ch.mu.unacked.settle(d)
	if k != nil {
		k.unacked--
		if k.starved {
			k.starved = false
			ch.c.batch.resume = append(ch.c.batch.resume, k)
		}
	}
	if len(ch.mu.starved) > 0 {
		ch.resumeChannelLocked()
	}
}

// resumeChannelLocked lets the consumers try again that were refused because of the channel's limit.
func (ch *channel) resumeChannelLocked() {
	if ch.mu.limit > 0 && ch.mu.unacked.live >= int(ch.mu.limit) {
		return
	}
	ch.c.batch.resume = append(ch.c.batch.resume, ch.mu.starved...)
	clear(ch.mu.starved)
	ch.mu.starved = ch.mu.starved[:0]
}

// recover gives everything that is not settled back to its queues (basic.recover).
func (ch *channel) recover(requeue, reply bool) error {
	if !requeue {
		return refuse(queue.NotImplemented, "requeue=false")
	}
	ch.requeueAll()
	ch.reply(!reply, &amqp.BasicRecoverOk{})
	return nil
}

// requeueAll enters a requeue of every delivery, in order, in the batch.
func (ch *channel) requeueAll() {
	ch.mu.Lock()
	defer ch.mu.Unlock()
	u := &ch.mu.unacked
	for i := range u.n {
		if d := u.at(i); d.state != settled {
			ch.settledLocked(d, requeued)
		}
	}
	u.drop()
	if ch.tx != nil {
		ch.tx.forgetAcksLocked()
	}
}
