package load

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// consumer takes one consumer's messages, checks them against the ledgers, and settles them.
type consumer struct {
	// Immutable once running.
	link       link
	id         int
	queues     []int
	publishers []*publisher
	body       []byte        // what a body looks like; nil: do not look
	warm       time.Duration // end of the warm-up
	ackEvery   int           // 0: no acks

	// Owned by the goroutine that serves the link, and read when it has ended.
	deliveries *latency
	foreign    []string // the first few messages that nobody sent, described

	unsettled struct {
		sync.Mutex
		messages int    // since the last ack
		last     uint64 // delivery tag
	}

	received   atomic.Uint64 // deliveries
	distinct   atomic.Uint64 // messages
	unknown    atomic.Uint64 // messages that nobody sent
	redelivery atomic.Uint64 // deliveries flagged as redelivered
}

// maxForeign is how many unknown messages are described.
const maxForeign = 5

func (c *consumer) delivered(queue int, tag uint64, redelivered bool, body []byte, now time.Duration) error {
	c.received.Add(1)
	if redelivered {
		c.redelivery.Add(1)
	}
	if reason := c.book(queue, body, now); reason != "" {
		c.unknown.Add(1)
		if len(c.foreign) < maxForeign {
			c.foreign = append(c.foreign, fmt.Sprintf("queue %d, delivery tag %d: %s", queue, tag, reason))
		}
	}
	if c.ackEvery == 0 {
		return nil
	}
	return c.settle(tag)
}

// settle acknowledges every so often.
func (c *consumer) settle(tag uint64) error {
	c.unsettled.Lock()
	defer c.unsettled.Unlock()
	c.unsettled.last = tag
	c.unsettled.messages++
	if c.unsettled.messages < c.ackEvery {
		return nil
	}
	c.unsettled.messages = 0
	return c.link.ack(tag, c.ackEvery > 1)
}

// book marks a message as delivered, or says why it cannot have been sent.
func (c *consumer) book(queue int, body []byte, now time.Duration) string {
	if len(body) < stampSize {
		return fmt.Sprintf("%d octets", len(body))
	}
	s := readStamp(body)
	if s.publisher >= len(c.publishers) {
		return fmt.Sprintf("there is no publisher %d", s.publisher)
	}
	p := c.publishers[s.publisher]
	known, again := p.ledger.mark(s.seq)
	switch {
	case !known:
		return fmt.Sprintf("publisher %d has not sent message %d", s.publisher, s.seq)
	case p.queueOf(s.seq) != queue:
		return fmt.Sprintf("publisher %d sent message %d to queue %d", s.publisher, s.seq, p.queueOf(s.seq))
	case c.body != nil && !samePattern(body, c.body):
		return fmt.Sprintf("the body of message %d of publisher %d has changed", s.seq, s.publisher)
	}
	if !again {
		c.distinct.Add(1)
	}
	if s.at >= c.warm {
		c.deliveries.record(now - s.at)
	}
	return ""
}

func (c *consumer) confirmed(tag uint64, _, _ bool, _ time.Duration) error {
	return fmt.Errorf("consumer %d: confirm of %d without a publisher", c.id, tag)
}

// idle sends the acks.
func (c *consumer) idle() error { return c.link.flush() }

// settleRest acknowledges what is left, when nothing more is expected.
func (c *consumer) settleRest() error {
	c.unsettled.Lock()
	defer c.unsettled.Unlock()
	if c.unsettled.messages == 0 {
		return nil
	}
	c.unsettled.messages = 0
	if err := c.link.ack(c.unsettled.last, true); err != nil {
		return err
	}
	return c.link.flush()
}
