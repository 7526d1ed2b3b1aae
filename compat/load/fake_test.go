package load

import (
	"bytes"
	"context"
	"io"
	"net"
	"sync"
	"testing"

	"github.com/warrenmq/warren/amqp"
)

// fakeBroker is a broker in memory, with the faults that a run must notice. Queues are kept in order; each has at
// most one consumer, which gets everything at once.
type fakeBroker struct {
	t  *testing.T
	wg sync.WaitGroup

	// Faults, by the number of the publish from 1; nil stands for none.
	lose      func(n int) bool // confirm, but do not deliver
	repeat    func(n int) bool // deliver twice, flagged the second time
	nack      func(n int) bool // refuse
	mangle    func(n int, body []byte)
	confirm   func(n int) bool // answer from here on, with multiple for all before; nil: each at once
	hangUp    func(n int) bool // close the channel
	frameMax  uint32
	neverOpen bool

	mu     sync.Mutex
	n      int // publishes
	queues map[string]*fakeQueue
	acked  int
	conns  []*fakeConn
}

type fakeQueue struct {
	ready    [][]byte
	consumer *fakeConn
	tag      string
}

type fakeConn struct {
	broker  *fakeBroker
	conn    net.Conn
	tags    uint64 // deliveries
	seq     uint64 // publishes in confirm mode
	confirm bool
	hungUp  bool

	routingKey string
	size       uint64
	body       []byte

	mu   sync.Mutex
	cond *sync.Cond
	out  []byte
	done bool
}

func newFakeBroker(t *testing.T) *fakeBroker {
	b := &fakeBroker{t: t, frameMax: 131072, queues: map[string]*fakeQueue{}}
	t.Cleanup(func() {
		b.mu.Lock()
		for _, c := range b.conns {
			c.conn.Close()
		}
		b.mu.Unlock()
		b.wg.Wait()
	})
	return b
}

// dial has the form of Workload.Dial.
func (b *fakeBroker) dial(context.Context, string, string) (net.Conn, error) {
	client, server := net.Pipe()
	c := &fakeConn{broker: b, conn: server}
	c.cond = sync.NewCond(&c.mu)
	b.mu.Lock()
	b.conns = append(b.conns, c)
	b.mu.Unlock()
	b.wg.Go(c.write)
	b.wg.Go(c.read)
	return client, nil
}

// write sends what there is to send: the broker never blocks on a client.
func (c *fakeConn) write() {
	defer c.conn.Close()
	for {
		c.mu.Lock()
		for len(c.out) == 0 && !c.done {
			c.cond.Wait()
		}
		batch := c.out
		c.out = nil
		c.mu.Unlock()
		if len(batch) == 0 {
			return
		}
		if _, err := c.conn.Write(batch); err != nil {
			return
		}
	}
}

func (c *fakeConn) send(frames []byte) {
	c.mu.Lock()
	c.out = append(c.out, frames...)
	c.mu.Unlock()
	c.cond.Signal()
}

func (c *fakeConn) method(ch uint16, m amqp.Method) { c.send(amqp.AppendMethod(nil, ch, m)) }

func (c *fakeConn) read() {
	defer func() {
		c.mu.Lock()
		c.done = true
		c.mu.Unlock()
		c.cond.Signal()
	}()
	header := make([]byte, len(amqp.ProtocolHeader))
	if _, err := io.ReadFull(c.conn, header); err != nil || c.broker.neverOpen {
		return
	}
	c.method(0, &amqp.ConnectionStart{VersionMinor: 9, Mechanisms: "PLAIN", Locales: "en_US",
		ServerProperties: amqp.AppendTable(nil, amqp.Table{"product": "Fake", "version": "1.2.3"})})
	var d amqp.Decoder
	var buf []byte
	piece := make([]byte, 64<<10)
	for {
		n, err := c.conn.Read(piece)
		if err != nil {
			return
		}
		buf = append(buf, piece[:n]...)
		for {
			f, n, err := amqp.ParseFrame(buf, 0)
			if err != nil {
				c.broker.t.Error(err)
				return
			}
			if n == 0 {
				break
			}
			c.take(&d, f)
			buf = buf[n:]
		}
	}
}

func (c *fakeConn) take(d *amqp.Decoder, f amqp.Frame) {
	c.broker.mu.Lock()
	defer c.broker.mu.Unlock()
	switch f.Type {
	case amqp.FrameHeader:
		_, size, props, err := amqp.ParseHeader(f.Payload)
		if info, infoErr := amqp.PropertiesInfo(props); err != nil || infoErr != nil || info.DeliveryMode == 0 {
			c.broker.t.Errorf("header: %v, %v, %+v", err, infoErr, info)
		}
		c.size, c.body = size, nil
	case amqp.FrameBody:
		c.body = append(c.body, f.Payload...)
		if uint64(len(c.body)) == c.size {
			c.published()
		}
	case amqp.FrameMethod:
		m, err := d.Decode(f.Payload)
		if err != nil {
			c.broker.t.Error(err)
			return
		}
		c.answer(f.Channel, m)
	}
}

func (c *fakeConn) answer(ch uint16, m amqp.Method) {
	b := c.broker
	switch m := m.(type) {
	case *amqp.ConnectionStartOk:
		c.method(0, &amqp.ConnectionTune{ChannelMax: 2047, FrameMax: b.frameMax})
	case *amqp.ConnectionTuneOk, *amqp.ChannelCloseOk:
	case *amqp.ConnectionOpen:
		c.method(0, &amqp.ConnectionOpenOk{})
	case *amqp.ConnectionClose:
		c.method(0, &amqp.ConnectionCloseOk{})
	case *amqp.ChannelOpen:
		c.method(ch, &amqp.ChannelOpenOk{})
	case *amqp.ChannelClose:
		c.method(ch, &amqp.ChannelCloseOk{})
	case *amqp.ConfirmSelect:
		c.confirm = true
		c.method(ch, &amqp.ConfirmSelectOk{})
	case *amqp.BasicQos:
		c.method(ch, &amqp.BasicQosOk{})
	case *amqp.QueueDeclare:
		if b.queues[m.Queue] == nil {
			b.queues[m.Queue] = &fakeQueue{}
		}
		c.method(ch, &amqp.QueueDeclareOk{Queue: m.Queue, MessageCount: uint32(len(b.queues[m.Queue].ready))})
	case *amqp.QueueDelete:
		delete(b.queues, m.Queue)
		c.method(ch, &amqp.QueueDeleteOk{})
	case *amqp.BasicConsume:
		if !m.NoWait {
			c.method(ch, &amqp.BasicConsumeOk{ConsumerTag: m.ConsumerTag})
		}
		q := b.queues[m.Queue]
		q.consumer, q.tag = c, m.ConsumerTag
		for _, body := range q.ready {
			q.deliver(m.Queue, body, false)
		}
		q.ready = nil
	case *amqp.BasicPublish:
		c.routingKey = string(m.RoutingKey)
	case *amqp.BasicAck:
		b.acked++
	default:
		b.t.Errorf("unexpected %s", m.Name())
	}
}

func (q *fakeQueue) deliver(name string, body []byte, redelivered bool) {
	c := q.consumer
	c.tags++
	frames := amqp.AppendDeliver(nil, 1, q.tag, c.tags, redelivered, nil, []byte(name))
	frames = amqp.AppendHeader(frames, 1, amqp.ClassBasic, uint64(len(body)), nil)
	c.send(amqp.AppendBody(frames, 1, body, c.broker.frameMax-amqp.FrameOverhead))
}

func fault(f func(int) bool, n int) bool { return f != nil && f(n) }

// published takes a message.
func (c *fakeConn) published() {
	b := c.broker
	if c.hungUp {
		return
	}
	b.n++
	n := b.n
	c.seq++
	body := bytes.Clone(c.body)
	if b.mangle != nil {
		b.mangle(n, body)
	}
	if fault(b.hangUp, n) {
		c.hungUp = true
		c.method(1, &amqp.ChannelClose{ReplyCode: amqp.CodePreconditionFailed, ReplyText: "PRECONDITION_FAILED - enough"})
		return
	}
	if fault(b.nack, n) {
		c.send(amqp.AppendNack(nil, 1, c.seq, false, false))
		return
	}
	if c.confirm {
		if b.confirm == nil {
			c.send(amqp.AppendAck(nil, 1, c.seq, false))
		} else if b.confirm(n) {
			c.send(amqp.AppendAck(nil, 1, c.seq, true))
		}
	}
	q := b.queues[c.routingKey]
	times := 1
	if fault(b.lose, n) {
		times = 0
	} else if fault(b.repeat, n) {
		times = 2
	}
	for i := range times {
		if q.consumer != nil {
			q.deliver(c.routingKey, body, i > 0)
		} else {
			q.ready = append(q.ready, body)
		}
	}
}
