package server

import (
	"bufio"
	"encoding/binary"
	"io"
	"net"
	"testing"

	"github.com/warrenmq/warren/amqp"
)

// raw is a client that works on frames and allocates nothing after its start.
type raw struct {
	t   testing.TB
	nc  net.Conn
	r   *bufio.Reader
	buf []byte
}

// dialRaw opens a connection and channel 1.
func dialRaw(t testing.TB, addr string) *raw {
	t.Helper()
	nc, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	c := &raw{t: t, nc: nc, r: bufio.NewReaderSize(nc, 256<<10), buf: make([]byte, 256<<10)}
	t.Cleanup(func() { nc.Close() })
	c.write(amqp.AppendMethod(handshake(0), 1, &amqp.ChannelOpen{}))
	for range 4 { // start, tune, connection.open-ok, channel.open-ok
		c.frame()
	}
	return c
}

func (c *raw) write(b []byte) {
	if _, err := c.nc.Write(b); err != nil {
		c.t.Fatal(err)
	}
}

// frame reads a frame. Its payload is valid until the next call.
func (c *raw) frame() amqp.Frame {
	head := c.buf[:7]
	if _, err := io.ReadFull(c.r, head); err != nil {
		c.t.Fatal(err)
	}
	f := amqp.Frame{Type: head[0], Channel: binary.BigEndian.Uint16(head[1:])}
	size := binary.BigEndian.Uint32(head[3:])
	f.Payload = c.buf[:size+1]
	if _, err := io.ReadFull(c.r, f.Payload); err != nil {
		c.t.Fatal(err)
	}
	f.Payload = f.Payload[:size]
	return f
}

// isMethod reports whether a frame is the method of class and number.
func isMethod(f amqp.Frame, class, method uint16) bool {
	return f.Type == amqp.FrameMethod && binary.BigEndian.Uint16(f.Payload) == class &&
		binary.BigEndian.Uint16(f.Payload[2:]) == method
}

// await reads until the method of class and number.
func (c *raw) await(class, method uint16) amqp.Frame {
	for {
		if f := c.frame(); isMethod(f, class, method) {
			return f
		}
	}
}

// pair is a publisher with confirms and a consumer with acknowledgements on one queue, which work in windows.
type pair struct {
	pub, sub *raw
	message  []byte // frames of one publish
	batch    []byte
	ack      []byte
	sent     uint64
	acked    uint64
}

func newPair(t testing.TB, addr, queue string, args amqp.Table, body int) *pair {
	p := &pair{pub: dialRaw(t, addr), sub: dialRaw(t, addr)}
	p.pub.write(amqp.AppendMethod(nil, 1, &amqp.QueueDeclare{Queue: queue, Durable: true, Arguments: amqp.AppendTable(nil, args)}))
	p.pub.await(50, 11)
	p.pub.write(amqp.AppendMethod(nil, 1, &amqp.ConfirmSelect{}))
	p.pub.await(85, 11)
	p.sub.write(amqp.AppendMethod(nil, 1, &amqp.BasicConsume{Queue: queue, ConsumerTag: "c"}))
	p.sub.await(60, 21)
	properties := amqp.AppendProperties(nil, &amqp.Properties{DeliveryMode: 2})
	p.message = amqp.AppendPublish(nil, 1, nil, []byte(queue))
	p.message = amqp.AppendHeader(p.message, 1, amqp.ClassBasic, uint64(body), properties)
	p.message = amqp.AppendBody(p.message, 1, make([]byte, body), 131064)
	return p
}

// window publishes n messages, waits for their deliveries and confirms, and acknowledges them.
func (p *pair) window(n int) {
	p.batch = p.batch[:0]
	for range n {
		p.batch = append(p.batch, p.message...)
	}
	p.pub.write(p.batch)
	for range n {
		p.sub.await(60, 60)
		p.sub.frame()
		p.sub.frame()
	}
	p.sent += uint64(n)
	p.ack = amqp.AppendAck(p.ack[:0], 1, p.sent, true)
	p.sub.write(p.ack)
	for p.acked < p.sent {
		f := p.pub.await(60, 80)
		p.acked = binary.BigEndian.Uint64(f.Payload[4:])
	}
}
