package server

import (
	"github.com/warrenmq/warren/amqp"
	"github.com/warrenmq/warren/queue"
)

// confirmSelect puts the channel in confirm mode (confirm.select).
func (ch *channel) confirmSelect(m *amqp.ConfirmSelect) error {
	if ch.tx != nil {
		return refuse(queue.PreconditionFailed, "cannot switch from tx to confirm mode")
	}
	if ch.confirms == nil {
		ch.confirms = queue.NewConfirms(ch.confirmed)
		ch.mu.Lock()
		ch.mu.shown.confirm = true
		ch.mu.Unlock()
	}
	ch.reply(m.NoWait, &amqp.ConfirmSelectOk{})
	return nil
}

// confirmed tells the publisher that its messages up to upTo are safe, or are not (basic.ack, basic.nack). The
// committer calls it, or the reader in a hand-over.
func (ch *channel) confirmed(upTo uint64, multiple, nack bool) {
	ch.mu.Lock()
	defer ch.mu.Unlock()
	ch.mu.confirmed = upTo
	k := ch.c.out.begin()
	if k == nil {
		return
	}
	if nack {
		k.buf = amqp.AppendNack(k.buf, ch.number, upTo, multiple, false)
	} else {
		k.buf = amqp.AppendAck(k.buf, ch.number, upTo, multiple)
	}
	if ch.mu.lastWord != nil && upTo == ch.seq.Load() {
		k.buf = append(k.buf, ch.mu.lastWord...)
		ch.mu.lastWord = nil
	}
	ch.c.out.endFlush(k)
}
