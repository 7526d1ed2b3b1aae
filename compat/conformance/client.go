package main

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"slices"
	"time"

	"github.com/warrenmq/warren/amqp"
)

const (
	// answerTime bounds the wait for an answer. It is only waited out where one is missing, and then once: a
	// broker that leaves one answer out gets less time for the others.
	answerTime = 8 * time.Second
	impatience = time.Second
	// endTime bounds the wait for a socket to be closed.
	endTime = 3 * time.Second
	// hiddenChannel is where a client asks what its scenario does not say.
	hiddenChannel = 1000
)

// client is a connection of a scenario. Nothing reads its socket but pump.
type client struct {
	stage      *stage
	label      string
	nc         net.Conn
	buf        []byte // read and not yet taken
	decoder    amqp.Decoder
	maxPayload uint32
	channelMax uint16
	channels   map[uint16]*channel // those that something has been sent or received on; 0 is the connection's own

	running bool // between connection.open-ok and the end
	closing bool // the peer has sent connection.close
	leaving bool // the scenario has
	ended   bool // the socket has been closed, by whichever side
	astray  bool // what was sent is no sequence of frames: the peer cannot find our close-ok in it, and may wait or not
}

func dialClient(s *stage, label string) (*client, error) {
	nc, err := net.DialTimeout("tcp", s.side.addr, answerTime)
	if err != nil {
		return nil, err
	}
	c := &client{stage: s, label: label, nc: nc, maxPayload: amqp.MinFrameMax - amqp.FrameOverhead,
		channelMax: hiddenChannel, channels: map[uint16]*channel{}}
	return c, nil
}

// at returns the client's side of a channel, which need not be open.
func (c *client) at(n uint16) *channel {
	ch := c.channels[n]
	if ch == nil {
		ch = &channel{client: c, number: n, hidden: n == hiddenChannel, open: n == 0}
		c.channels[n] = ch
	}
	return ch
}

// ordered returns the channels by number.
func (c *client) ordered() []*channel {
	all := slices.Collect(maps.Values(c.channels))
	slices.SortFunc(all, func(a, b *channel) int { return int(a.number) - int(b.number) })
	return all
}

// channel opens a channel, without a word in the transcript if that goes well.
func (c *client) channel(n uint16) *channel {
	ch := c.at(n)
	mark := len(c.stage.transcript)
	ch.do(openChannel())
	if ch.open {
		c.stage.transcript = c.stage.transcript[:mark]
	}
	return ch
}

// do is a step on channel 0.
func (c *client) do(items ...item) { c.at(0).do(items...) }

// send writes without waiting on channel 0.
func (c *client) send(items ...item) { c.at(0).send(items...) }

// drop closes the socket without a word.
func (c *client) drop() {
	c.stage.say(c.label + "0 > drops the socket")
	c.hangUp()
}

func (c *client) hangUp() {
	c.ended, c.running = true, false
	_ = c.nc.Close() // nothing depends on how it goes
}

// leave ends the connection in order if it still can.
func (c *client) leave() {
	if c.running && !c.closing && !c.leaving {
		c.at(0).send(closeConnection())
		c.pump(c.stage.answerTime(), func() bool { return !c.running })
	}
	c.hangUp()
}

// awaitEnd waits for the socket to be closed, as a step.
func (c *client) awaitEnd() {
	if !c.pump(endTime, func() bool { return c.ended }) {
		c.at(0).note("the socket stays open")
	}
	c.stage.flush()
}

// await waits for a method on channel 0, as a step.
func (c *client) await(name string) {
	ch := c.at(0)
	ch.awaited = append(ch.awaited, awaited{names: []string{name}})
	ch.waitAnswers()
	c.stage.flush()
}

// write writes as much as the peer takes. Should it take nothing any more, it is reading that tells what it said
// and that it has gone.
func (c *client) write(b []byte) {
	if c.ended || c.nc.SetWriteDeadline(time.Now().Add(answerTime)) != nil {
		return
	}
	_, _ = c.nc.Write(b)
}

// pump reads and handles frames until the condition holds, the connection ends or the time is over. It reports
// whether the condition holds.
func (c *client) pump(limit time.Duration, done func() bool) bool {
	deadline := time.Now().Add(limit)
	for {
		c.takeFrames()
		if done() || c.ended {
			return done()
		}
		if err := c.nc.SetReadDeadline(deadline); err != nil {
			c.end()
			continue
		}
		piece := make([]byte, 64<<10)
		n, err := c.nc.Read(piece)
		c.buf = append(c.buf, piece[:n]...)
		switch {
		case err == nil || n > 0:
		case errors.Is(err, os.ErrDeadlineExceeded):
			return false
		default: // whether it is a reset depends on what the peer had not read
			c.end()
		}
	}
}

// end notes that the peer has closed the socket.
func (c *client) end() {
	if len(c.buf) > 0 {
		c.at(0).note(fmt.Sprintf("octets %q", c.buf))
		c.buf = nil
	}
	c.at(0).note("the socket is closed")
	c.hangUp()
}

// takeFrames handles all whole frames that have been read.
func (c *client) takeFrames() {
	const header = "AMQP"
	for len(c.buf) > 0 {
		if bytes.HasPrefix(c.buf, []byte(header)) {
			if len(c.buf) < len(amqp.ProtocolHeader) {
				return
			}
			c.at(0).note(fmt.Sprintf("protocol header %q", c.buf[:len(amqp.ProtocolHeader)]))
			c.buf = c.buf[len(amqp.ProtocolHeader):]
			continue
		}
		f, n, err := amqp.ParseFrame(c.buf, 0)
		if err != nil {
			c.at(0).note(fmt.Sprintf("no frame: %v", err))
			c.buf = nil
			c.hangUp()
			return
		}
		if n == 0 {
			return
		}
		c.buf = c.buf[n:]
		c.at(f.Channel).take(f)
	}
}

// took follows what the methods on channel 0 mean for the connection.
func (c *client) took(m amqp.Method) {
	switch m := m.(type) {
	case *amqp.ConnectionTune:
		c.channelMax = m.ChannelMax
	case *amqp.ConnectionOpenOk:
		c.running = true
	case *amqp.ConnectionClose:
		c.closing = true
		for _, ch := range c.channels {
			ch.shut()
		}
		if !c.stage.holdCloseOk {
			c.write(amqp.AppendMethod(nil, 0, &amqp.ConnectionCloseOk{}))
		}
	case *amqp.ConnectionCloseOk:
		c.running = false
	}
}
