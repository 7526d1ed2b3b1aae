package server

import (
	"sync"

	"github.com/warrenmq/warren/amqp"
	"github.com/warrenmq/warren/queue"
)

// channels are a connection's open channels. The reader alone changes them, under the lock; others look under the lock.
type channels struct {
	c  *conn
	mu sync.Mutex
	by map[uint16]*channel
}

func (cs *channels) init(c *conn) { cs.c, cs.by = c, make(map[uint16]*channel) }

// get returns a channel, for the reader.
func (cs *channels) get(number uint16) *channel { return cs.by[number] }

func (cs *channels) count() int {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	return len(cs.by)
}

func (cs *channels) add(ch *channel) {
	cs.mu.Lock()
	cs.by[ch.number] = ch
	cs.mu.Unlock()
	cs.c.srv.channelOpened()
}

// remove forgets a channel that has been released.
func (cs *channels) remove(ch *channel) {
	cs.mu.Lock()
	delete(cs.by, ch.number)
	cs.mu.Unlock()
	counts := ch.messageCounts()
	cs.c.srv.channelClosed(&counts)
}

// channelFrame handles a frame on a channel other than 0.
func (c *conn) channelFrame(f amqp.Frame) error {
	ch := c.channels.get(f.Channel)
	switch {
	case ch == nil:
		return c.openChannel(f)
	case ch.closing:
		return ch.frameWhileClosing(f)
	}
	return ch.frame(f)
}

// openChannel handles the first frame on a channel that is not open.
func (c *conn) openChannel(f amqp.Frame) error {
	if len(c.channels.by) >= c.channelMax {
		return refuse(queue.NotAllowed, "number of channels opened (%d) has reached the negotiated channel_max (%d)",
			len(c.channels.by), c.channelMax)
	}
	if f.Type != amqp.FrameMethod {
		return errNotMethod
	}
	m, err := c.decode(f.Payload)
	if err != nil {
		return err
	}
	if _, ok := m.(*amqp.ChannelOpen); !ok {
		return refuse(queue.ChannelError, "expected 'channel.open'")
	}
	c.channels.add(newChannel(c, f.Channel))
	c.out.method(f.Channel, &amqp.ChannelOpenOk{})
	return nil
}

// closeChannels releases all channels, when the connection ends.
func (c *conn) closeChannels() {
	if len(c.channels.by) == 0 {
		return
	}
	c.handOver()
	for _, ch := range c.channels.by {
		ch.release()
		ch.end()
		c.channels.remove(ch)
	}
}

func (c *conn) appendChannelInfos(infos []ChannelInfo) []ChannelInfo {
	conn, ok := c.info()
	if !ok {
		return infos
	}
	c.channels.mu.Lock()
	defer c.channels.mu.Unlock()
	for _, ch := range c.channels.by {
		infos = append(infos, ch.info(&conn))
	}
	return infos
}
