package load

import (
	"fmt"
	"time"

	"github.com/warrenmq/warren/amqp"
)

// arrival is the message whose frames are arriving.
type arrival struct {
	state       arrivalState
	queue       int
	tag         uint64
	redelivered bool
	size        uint64 // of the body
	body        []byte // what has come of a body in several frames
}

type arrivalState uint8

const (
	awaitMethod arrivalState = iota
	awaitHeader
	awaitBody
)

func (l *leanLink) serve(h handler) error {
	defer close(l.done)
	if err := h.idle(); err != nil {
		return l.reason(err)
	}
	for {
		now := l.out.clock.now()
		for {
			f, ok, err := l.buffered()
			if err != nil {
				return err
			}
			if !ok {
				break
			}
			if ended, err := l.take(f, h, now); ended || err != nil {
				return err
			}
		}
		if err := h.idle(); err != nil {
			return l.reason(err)
		}
		if err := l.read(); err != nil {
			return fmt.Errorf("read: %w", err)
		}
	}
}

// reason looks for what the broker said before sending failed with err.
func (l *leanLink) reason(err error) error {
	if l.conn.SetReadDeadline(time.Now().Add(reasonTimeout)) != nil {
		return err
	}
	for {
		f, readErr := l.frame()
		if readErr != nil {
			return err
		}
		if f.Type == amqp.FrameMethod {
			if _, said := l.method(f); said != nil {
				return said
			}
		}
	}
}

// take hands over what a frame completes. ended says that the connection has been closed as asked.
func (l *leanLink) take(f amqp.Frame, h handler, now time.Duration) (ended bool, err error) {
	switch f.Type {
	case amqp.FrameHeader:
		return false, l.takeHeader(f.Payload, h, now)
	case amqp.FrameBody:
		return false, l.takeBody(f.Payload, h, now)
	case amqp.FrameHeartbeat:
		return false, nil
	}
	m, err := l.method(f)
	if err != nil {
		return false, err
	}
	if l.arrival.state != awaitMethod {
		return false, fmt.Errorf("%s within a message", m.Name())
	}
	switch m := m.(type) {
	case *amqp.BasicDeliver:
		return false, l.takeDeliver(m)
	case *amqp.BasicAck:
		return false, h.confirmed(m.DeliveryTag, m.Multiple, false, now)
	case *amqp.BasicNack:
		return false, h.confirmed(m.DeliveryTag, m.Multiple, true, now)
	case *amqp.BasicQosOk, *amqp.BasicConsumeOk:
		return false, nil
	case *amqp.BasicCancel:
		return false, fmt.Errorf("the broker cancelled the consumer of queue %s", m.ConsumerTag)
	case *amqp.ConnectionCloseOk:
		if l.closing.Load() {
			return true, nil
		}
	}
	return false, fmt.Errorf("unexpected %s", m.Name())
}

func (l *leanLink) takeDeliver(m *amqp.BasicDeliver) error {
	queue := 0
	for _, digit := range m.ConsumerTag {
		if digit < '0' || digit > '9' || queue > len(l.out.queues) {
			return fmt.Errorf("delivery for unknown consumer %q", m.ConsumerTag)
		}
		queue = 10*queue + int(digit-'0')
	}
	a := &l.arrival
	a.state, a.queue, a.tag, a.redelivered = awaitHeader, queue, m.DeliveryTag, m.Redelivered
	return nil
}

func (l *leanLink) takeHeader(payload []byte, h handler, now time.Duration) error {
	a := &l.arrival
	if a.state != awaitHeader {
		return fmt.Errorf("unexpected content header")
	}
	_, size, _, err := amqp.ParseHeader(payload)
	if err != nil {
		return err
	}
	if size > maxSize {
		return fmt.Errorf("body of %d octets", size)
	}
	a.state, a.size, a.body = awaitBody, size, a.body[:0]
	if size == 0 {
		return l.complete(nil, h, now)
	}
	return nil
}

func (l *leanLink) takeBody(piece []byte, h handler, now time.Duration) error {
	a := &l.arrival
	if a.state != awaitBody || uint64(len(a.body)+len(piece)) > a.size {
		return fmt.Errorf("unexpected content body")
	}
	if uint64(len(piece)) == a.size {
		return l.complete(piece, h, now)
	}
	a.body = append(a.body, piece...)
	if uint64(len(a.body)) == a.size {
		return l.complete(a.body, h, now)
	}
	return nil
}

func (l *leanLink) complete(body []byte, h handler, now time.Duration) error {
	a := &l.arrival
	a.state = awaitMethod
	return h.delivered(a.queue, a.tag, a.redelivered, body, now)
}
