package server

import (
	"sync"
	"sync/atomic"

	"github.com/warrenmq/warren/amqp"
	"github.com/warrenmq/warren/queue"
)

// channel is one channel. Fields without a lock belong to the connection's reader.
type channel struct {
	c      *conn  // immutable
	number uint16 // immutable

	content       assembly
	lastQueue     string          // the queue that an empty name stands for
	getSettler    *settler        // of the queue that basic.get took from last
	closing       bool            // channel.close was sent: everything but close-ok is discarded
	closeAnswered bool            // while closing, the peer's own channel.close was answered
	confirms      *queue.Confirms // nil unless in confirm mode
	tx            *transaction    // nil unless transactional

	published, returned atomic.Uint64 // messages
	seq                 atomic.Uint64 // of the last message published in confirm mode

	mu channelState
}

// channelState is what consumers' deliveries and the committer's confirms share with the reader.
type channelState struct {
	sync.Mutex
	closed    bool // nothing may be delivered any more
	tag       uint64
	unacked   unacked
	prefetch  uint16      // of consumers to come; 0 = unlimited
	limit     uint16      // of unacked messages on the whole channel; 0 = unlimited
	starved   []*consumer // refused because of limit
	consumers map[string]*consumer
	confirmed uint64
	lastWord  []byte // channel.close, to be sent once everything is confirmed
	counts    MessageCounts
	shown     shown
}

// shown is what the HTTP API wants to know of the reader's state.
type shown struct {
	confirm, transactional bool
	uncommitted, acksHeld  int
}

func newChannel(c *conn, number uint16) *channel {
	ch := &channel{c: c, number: number}
	ch.content.ch = ch
	return ch
}

var errNotMethod = &queue.Error{Kind: queue.UnexpectedFrame, Text: "expected method frame, got non method frame instead"}

// frame handles a frame on an open channel.
func (ch *channel) frame(f amqp.Frame) error {
	if ch.content.expects != nothing {
		return ch.content.frame(f)
	}
	if f.Type != amqp.FrameMethod {
		return errNotMethod
	}
	m, err := ch.c.decode(f.Payload)
	if err != nil {
		return err
	}
	switch m := m.(type) {
	case *amqp.BasicPublish:
		return ch.content.begin(m)
	case *amqp.BasicAck:
		return ch.settle(m.DeliveryTag, m.Multiple, acked)
	case *amqp.BasicNack:
		return ch.settle(m.DeliveryTag, m.Multiple, refusal(m.Requeue))
	case *amqp.BasicReject:
		return ch.settle(m.DeliveryTag, false, refusal(m.Requeue))
	}
	ch.c.settleDown() // the command sees the effects of those before it
	return ch.command(m)
}

// command carries out a method that is neither a publish nor a settlement.
func (ch *channel) command(m amqp.Method) error {
	switch m := m.(type) {
	case *amqp.ChannelOpen:
		return refuse(queue.ChannelError, "second 'channel.open' seen")
	case *amqp.ChannelFlow:
		return ch.flow(m)
	case *amqp.ChannelClose:
		return ch.closeByPeer()
	case *amqp.AccessRequest:
		ch.reply(false, &amqp.AccessRequestOk{Ticket: 1})
		return nil
	case *amqp.ConfirmSelect:
		return ch.confirmSelect(m)
	case *amqp.TxSelect:
		return ch.txSelect()
	case *amqp.TxCommit:
		return ch.txCommit()
	case *amqp.TxRollback:
		return ch.txRollback()
	}
	if class, _ := m.ClassMethod(); class == amqp.ClassBasic {
		return ch.basic(m)
	}
	return ch.topology(m)
}

// topology carries out the methods of classes exchange and queue.
func (ch *channel) topology(m amqp.Method) error {
	switch m := m.(type) {
	case *amqp.ExchangeDeclare:
		return ch.exchangeDeclare(m)
	case *amqp.ExchangeDelete:
		return ch.exchangeDelete(m)
	case *amqp.ExchangeBind:
		return ch.exchangeBind(m)
	case *amqp.ExchangeUnbind:
		return ch.exchangeUnbind(m)
	case *amqp.QueueDeclare:
		return ch.queueDeclare(m)
	case *amqp.QueueBind:
		return ch.queueBind(m)
	case *amqp.QueueUnbind:
		return ch.queueUnbind(m)
	case *amqp.QueuePurge:
		return ch.queuePurge(m)
	case *amqp.QueueDelete:
		return ch.queueDelete(m)
	}
	return errUnimplemented
}

// basic carries out the methods of class basic that frame has left.
func (ch *channel) basic(m amqp.Method) error {
	switch m := m.(type) {
	case *amqp.BasicQos:
		return ch.qos(m)
	case *amqp.BasicConsume:
		return ch.consume(m)
	case *amqp.BasicCancel:
		return ch.cancel(m)
	case *amqp.BasicGet:
		return ch.get(m)
	case *amqp.BasicRecover:
		return ch.recover(m.Requeue, true)
	case *amqp.BasicRecoverAsync:
		return ch.recover(m.Requeue, false)
	}
	return errUnimplemented
}

// errUnimplemented answers methods that only servers send.
var errUnimplemented = &queue.Error{Kind: queue.CommandInvalid, Text: "unimplemented method"}

// reply answers a command, unless the client did not want an answer.
func (ch *channel) reply(noWait bool, m amqp.Method) {
	if !noWait {
		ch.c.out.method(ch.number, m)
	}
}

// flow answers channel.flow. Clients may not stop the server: they have prefetch limits.
func (ch *channel) flow(m *amqp.ChannelFlow) error {
	if !m.Active {
		return refuse(queue.NotImplemented, "active=false")
	}
	ch.reply(false, &amqp.ChannelFlowOk{Active: true})
	return nil
}

// closeByPeer closes the channel in order (channel.close).
func (ch *channel) closeByPeer() error {
	ch.release()
	ch.end()
	ch.c.channels.remove(ch)
	ch.reply(false, &amqp.ChannelCloseOk{})
	return nil
}

// exception closes the channel because of an error. Messages published before are still confirmed: channel.close
// waits for them.
func (ch *channel) exception(f fault, class, method uint16) {
	ch.c.handOver()
	ch.closing = true
	ch.content.reset()
	ch.release()
	frame := amqp.AppendMethod(nil, ch.number, &amqp.ChannelClose{
		ReplyCode: f.code, ReplyText: f.text, ClassID: class, MethodID: method,
	})
	ch.mu.Lock()
	defer ch.mu.Unlock()
	if ch.confirms != nil && ch.mu.confirmed < ch.seq.Load() {
		ch.mu.lastWord = frame
		return
	}
	ch.c.out.frames(frame)
}

// frameWhileClosing waits for the answer to our channel.close. A peer that closes at the same time is answered, and
// may open the channel again if it takes that for the end.
func (ch *channel) frameWhileClosing(f amqp.Frame) error {
	if f.Type != amqp.FrameMethod {
		return nil
	}
	m, err := ch.c.decode(f.Payload)
	if err != nil {
		return nil //nolint:nilerr // it was to be discarded anyway
	}
	switch m.(type) {
	case *amqp.ChannelCloseOk:
		ch.end()
		ch.c.channels.remove(ch)
	case *amqp.ChannelClose:
		ch.closeAnswered = true
		ch.reply(false, &amqp.ChannelCloseOk{})
	case *amqp.ChannelOpen:
		if ch.closeAnswered {
			ch.end()
			ch.c.channels.remove(ch)
			return ch.c.openChannel(f)
		}
	}
	return nil
}

// release cancels the channel's consumers and gives back what was not settled, in order.
func (ch *channel) release() {
	ch.mu.Lock()
	ch.mu.closed = true
	consumers := ch.mu.consumers
	ch.mu.consumers = nil
	ch.mu.Unlock()
	for _, k := range consumers {
		k.qc.Cancel()
	}
	ch.requeueAll()
	ch.c.handOver()
}

// end is the end of a released channel: no confirm follows.
func (ch *channel) end() {
	ch.content.reset()
	if ch.confirms != nil {
		ch.confirms.Close()
	}
}

// messageCounts puts the channel's counts together.
func (ch *channel) messageCounts() MessageCounts {
	ch.mu.Lock()
	defer ch.mu.Unlock()
	return ch.messageCountsLocked()
}

func (ch *channel) messageCountsLocked() MessageCounts {
	counts := ch.mu.counts
	counts.Published, counts.Returned = ch.published.Load(), ch.returned.Load()
	counts.Confirmed = ch.mu.confirmed
	return counts
}
