package server

import (
	"crypto/rand"
	"encoding/base64"

	"github.com/warrenmq/warren/amqp"
	"github.com/warrenmq/warren/queue"
)

// consumer is one consumer of a channel, and the sink of its queue's deliveries.
type consumer struct {
	ch               *channel // immutable, as all but the fields under ch.mu
	tag              string
	noAck, exclusive bool
	prefetch         uint16 // of this consumer; 0 = unlimited
	args             amqp.Table
	qc               *queue.Consumer
	from             *settler

	// Guarded by ch.mu.
	unacked int
	starved bool // refused for want of credit since the last time it was resumed
}

// Deliver implements queue.Sink: it takes a message if the consumer has credit and the connection has room.
func (k *consumer) Deliver(_ *queue.Consumer, d *queue.Delivery) bool {
	ch := k.ch
	ch.mu.Lock()
	defer ch.mu.Unlock()
	if ch.mu.closed || !k.creditLocked() {
		return false
	}
	m := content{d.Exchange, d.RoutingKey, d.Properties, d.Body, d.Redelivered}
	if !ch.c.out.deliver(k, ch.mu.tag+1, &m) {
		return false
	}
	ch.mu.tag++
	if d.Redelivered {
		ch.mu.counts.Redelivered++
	}
	if k.noAck {
		ch.mu.counts.DeliveredNoAck++
		return true
	}
	ch.mu.counts.Delivered++
	k.unacked++
	ch.mu.unacked.push(delivered{tag: ch.mu.tag, offset: d.Offset, from: k.from, to: k, state: unsettled})
	return true
}

// creditLocked reports whether the prefetch limits let one more message through, and notes it if they do not.
func (k *consumer) creditLocked() bool {
	if k.noAck {
		return true
	}
	s := &k.ch.mu
	switch {
	case k.prefetch > 0 && k.unacked >= int(k.prefetch):
		k.starved = true
		return false
	case s.limit > 0 && s.unacked.live >= int(s.limit):
		s.starved = append(s.starved, k)
		return false
	}
	return true
}

// Cancelled implements queue.Sink: the queue is gone. Clients that can are told (basic.cancel).
func (k *consumer) Cancelled(*queue.Consumer) {
	ch := k.ch
	ch.mu.Lock()
	defer ch.mu.Unlock()
	if ch.mu.consumers[k.tag] != k {
		return // cancelled by the client at the same time
	}
	delete(ch.mu.consumers, k.tag)
	if out := ch.c.out.begin(); out != nil {
		if ch.c.caps.cancelNotify {
			out.buf = amqp.AppendMethod(out.buf, ch.number, &amqp.BasicCancel{ConsumerTag: k.tag, NoWait: true})
		}
		ch.c.out.endFlush(out)
	}
}

func (k *consumer) info() ConsumerInfo {
	info := ConsumerInfo{Tag: k.tag, AckRequired: !k.noAck, Exclusive: k.exclusive, Prefetch: k.prefetch, Args: k.args}
	if k.qc != nil {
		info.Queue = k.qc.Queue().Name()
	}
	return info
}

// newConsumerTag names a consumer whose client did not.
func newConsumerTag() string {
	var id [16]byte
	rand.Read(id[:]) // never fails
	return "amq.ctag-" + base64.RawURLEncoding.EncodeToString(id[:])
}
