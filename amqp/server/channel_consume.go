package server

import (
	"github.com/warrenmq/warren/amqp"
	"github.com/warrenmq/warren/queue"
)

// directReplyTo is the pseudo-queue of RabbitMQ's fast RPC.
const directReplyTo = "amq.rabbitmq.reply-to"

// consume starts a consumer (basic.consume).
func (ch *channel) consume(m *amqp.BasicConsume) error {
	name, err := ch.queueName(m.Queue)
	if err != nil {
		return err
	}
	if name == directReplyTo {
		return refuse(queue.NotImplemented, "%s", directReplyTo)
	}
	args, err := amqp.ParseTable(m.Arguments)
	if err != nil {
		return err
	}
	k := &consumer{ch: ch, tag: m.ConsumerTag, noAck: m.NoAck, exclusive: m.Exclusive, args: args}
	if k.tag == "" {
		k.tag = newConsumerTag()
	}
	if !ch.addConsumer(k) {
		return refuse(queue.NotAllowed, "attempt to reuse consumer tag '%s'", k.tag)
	}
	qc, err := ch.c.session.Consume(queue.ConsumeOptions{
		Queue: name, Tag: k.tag, NoAck: m.NoAck, Exclusive: m.Exclusive, Args: args,
	}, k)
	if err != nil {
		ch.removeConsumer(k.tag)
		return err
	}
	ch.mu.Lock()
	k.qc, k.from = qc, &settler{queue: qc.Queue()}
	ch.mu.Unlock()
	ch.reply(m.NoWait, &amqp.BasicConsumeOk{ConsumerTag: k.tag})
	qc.Start()
	return nil
}

// addConsumer enters a consumer unless its tag is taken. From here on its queue may cancel it.
func (ch *channel) addConsumer(k *consumer) bool {
	ch.mu.Lock()
	defer ch.mu.Unlock()
	if ch.mu.consumers[k.tag] != nil {
		return false
	}
	if ch.mu.consumers == nil {
		ch.mu.consumers = make(map[string]*consumer)
	}
	k.prefetch = ch.mu.prefetch
	ch.mu.consumers[k.tag] = k
	return true
}

func (ch *channel) removeConsumer(tag string) *consumer {
	ch.mu.Lock()
	defer ch.mu.Unlock()
	k := ch.mu.consumers[tag]
	delete(ch.mu.consumers, tag)
	return k
}

// cancel ends a consumer (basic.cancel). What it has not settled stays with the channel.
func (ch *channel) cancel(m *amqp.BasicCancel) error {
	if k := ch.removeConsumer(m.ConsumerTag); k != nil {
		k.qc.Cancel()
	}
	ch.reply(m.NoWait, &amqp.BasicCancelOk{ConsumerTag: m.ConsumerTag})
	return nil
}

// get takes one message (basic.get).
func (ch *channel) get(m *amqp.BasicGet) error {
	name, err := ch.queueName(m.Queue)
	if err != nil {
		return err
	}
	var d queue.Delivery
	found, remaining, err := ch.c.session.Get(name, m.NoAck, &d)
	if err != nil {
		return err
	}
	if !found {
		ch.mu.Lock()
		ch.mu.counts.GetEmpty++
		ch.mu.Unlock()
		ch.reply(false, &amqp.BasicGetEmpty{})
		return nil
	}
	ch.c.out.message(ch.number, &amqp.BasicGetOk{
		DeliveryTag: ch.got(&d, m.NoAck), Redelivered: d.Redelivered,
		Exchange: d.Exchange, RoutingKey: d.RoutingKey, MessageCount: uint32(remaining),
	}, &content{properties: d.Properties, body: d.Body})
	return nil
}

// got enters a message taken with basic.get, and returns its delivery tag. No prefetch limit counts it, but that of
// the channel.
func (ch *channel) got(d *queue.Delivery, noAck bool) uint64 {
	ch.mu.Lock()
	defer ch.mu.Unlock()
	ch.mu.tag++
	if d.Redelivered {
		ch.mu.counts.Redelivered++
	}
	if noAck {
		ch.mu.counts.GotNoAck++
		return ch.mu.tag
	}
	ch.mu.counts.Got++
	ch.mu.unacked.push(delivered{tag: ch.mu.tag, offset: d.Offset, from: ch.gotFrom(d.Queue), state: unsettled})
	return ch.mu.tag
}

// gotFrom returns the settler of a queue for basic.get: the last one's if it is the same queue.
func (ch *channel) gotFrom(q *queue.Queue) *settler {
	if ch.getSettler == nil || ch.getSettler.queue != q {
		ch.getSettler = &settler{queue: q}
	}
	return ch.getSettler
}

// qos sets prefetch limits (basic.qos): of the channel, at once, or of consumers to come.
func (ch *channel) qos(m *amqp.BasicQos) error {
	if m.PrefetchSize != 0 {
		return refuse(queue.NotImplemented, "prefetch_size!=0 (%d)", m.PrefetchSize)
	}
	ch.mu.Lock()
	if m.Global {
		ch.mu.limit = m.PrefetchCount
		ch.resumeChannelLocked()
	} else {
		ch.mu.prefetch = m.PrefetchCount
	}
	ch.mu.Unlock()
	ch.reply(false, &amqp.BasicQosOk{})
	return nil
}
