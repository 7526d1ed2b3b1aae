package server

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"time"

	"go.uber.org/zap"

	"github.com/warrenmq/warren/amqp"
	"github.com/warrenmq/warren/queue"
)

// read is the reader: one read(2), all the whole frames in it, one hand-over; until the connection is closed or
// the socket fails.
func (c *conn) read() {
	for {
		c.frames()
		c.endBatch()
		if c.is(stateClosed) {
			return
		}
		if err := c.fill(); err != nil {
			c.readFailed(err)
			return
		}
	}
}

// fill makes one read that brings something.
func (c *conn) fill() error {
	for {
		c.mon.beforeRead(c.in.large())
		n, err := c.in.fill(c.nc)
		c.mon.afterRead()
		if n > 0 {
			c.readOctets.Add(uint64(n))
			c.reads.Add(1)
			return nil
		}
		if err == nil {
			continue
		}
		if !errors.Is(err, os.ErrDeadlineExceeded) || !c.mon.kicked.Swap(false) {
			return err
		}
		c.nc.SetReadDeadline(time.Time{})
		c.in.shrink()
	}
}

func (c *conn) readFailed(err error) {
	switch {
	case errors.Is(err, io.EOF):
		c.endReason("client unexpectedly closed TCP connection")
	case errors.Is(err, os.ErrDeadlineExceeded):
		c.endReason("handshake timeout")
	case errors.Is(err, net.ErrClosed): // abort has said why
	default:
		c.endReason(err.Error())
	}
	c.setState(stateClosed)
}

// frames handles every whole frame in the buffer.
func (c *conn) frames() {
	if c.is(stateHeader) && !c.protocolHeader() {
		return
	}
	for !c.is(stateClosed) {
		if c.lost {
			c.in.discard()
			return
		}
		if c.out.crowded() {
			c.handOver()
			c.out.waitRoom()
		}
		f, ok, err := c.in.next(c.maxPayload)
		if err != nil {
			var e *amqp.FrameError
			c.lost = !errors.As(err, &e) || e.Kind == amqp.TooLarge
			c.current = current{}
			c.fail(0, err)
			continue
		}
		if !ok {
			return
		}
		c.current = current{}
		if err := c.frame(f); err != nil {
			c.fail(f.Channel, err)
		}
		if c.published {
			if a := c.srv.alarm.Load(); a != nil {
				c.waitAlarm(a)
			}
		}
	}
}

// current is the method being handled, which errors name.
type current struct{ class, method uint16 }

// frame handles one frame. An error closes the channel or, if it is a hard one or on channel 0, the connection.
func (c *conn) frame(f amqp.Frame) error {
	if c.is(stateClosing) {
		return c.frameWhileClosing(f)
	}
	if err := f.Check(); err != nil {
		return err
	}
	switch {
	case f.Channel == 0:
		return c.frame0(f)
	case !c.is(stateRunning), f.Type == amqp.FrameHeartbeat:
		return refuse(queue.UnexpectedFrame, "%s", amqp.UnexpectedFrameText(f))
	}
	return c.channelFrame(f)
}

// frame0 handles a frame on channel 0.
func (c *conn) frame0(f amqp.Frame) error {
	switch f.Type {
	case amqp.FrameHeartbeat:
		return nil
	case amqp.FrameMethod:
		m, err := c.decode(f.Payload)
		if err != nil {
			return err
		}
		return c.connectionMethod(m)
	}
	return refuse(queue.UnexpectedFrame, "%s", amqp.UnexpectedFrameText(f))
}

func (c *conn) decode(payload []byte) (amqp.Method, error) {
	if len(payload) >= 4 { // also of a method that cannot be decoded
		c.current = current{binary.BigEndian.Uint16(payload), binary.BigEndian.Uint16(payload[2:])}
	}
	m, err := c.dec.Decode(payload)
	if errors.Is(err, amqp.ErrUTF8) {
		c.current = current{} // RabbitMQ blames no method
	}
	return m, err
}

// frameWhileClosing waits for the answer to our connection.close. A peer that closes at the same time is answered.
func (c *conn) frameWhileClosing(f amqp.Frame) error {
	if f.Channel != 0 || f.Type != amqp.FrameMethod {
		return nil
	}
	m, err := c.dec.Decode(f.Payload)
	if err != nil {
		return nil //nolint:nilerr // it was to be discarded anyway
	}
	switch m.(type) {
	case *amqp.ConnectionCloseOk:
		c.setState(stateClosed)
	case *amqp.ConnectionClose:
		c.out.last(amqp.AppendMethod(nil, 0, &amqp.ConnectionCloseOk{}))
	}
	return nil
}

// fail answers an error: with channel.close if it is soft and came from a channel, with connection.close otherwise.
func (c *conn) fail(channel uint16, err error) {
	f, ours := faultOf(err)
	if ours {
		c.log.Error("cannot carry out a command", zap.Uint16("channel", channel),
			zap.Uint16("class", c.current.class), zap.Uint16("method", c.current.method), zap.Error(err))
	}
	if ch := c.channels.get(channel); ch != nil && !f.code.IsHard() {
		ch.exception(f, c.current.class, c.current.method)
		return
	}
	if !c.is(stateClosing) {
		c.log.Warn("closing the connection", zap.String("error", f.text))
	}
	c.closeChannels()
	c.close(f, c.current.class, c.current.method)
}
