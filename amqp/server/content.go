package server

import (
	"errors"
	"slices"

	"github.com/warrenmq/warren/amqp"
	"github.com/warrenmq/warren/queue"
)

// maxContentBody is RabbitMQ's bound of a content body, whatever message size is configured.
const maxContentBody = 512 << 20

// expectation is the kind of frame that a content lacks.
type expectation uint8

const (
	nothing expectation = iota // no publish is under way
	header
	body
)

// assembly puts a published message together from its frames. What it holds points into the read buffer as long as
// the batch lasts: a message whose frames came with one read is published without being copied here.
type assembly struct {
	ch      *channel
	expects expectation
	listed  bool // in batch.partial

	publish    amqp.BasicPublish
	properties []byte
	size       uint64 // of the body, as announced
	body       []byte // so far
	counted    uint64 // octets in batch.assembling
}

// begin starts a message with its method.
func (a *assembly) begin(m *amqp.BasicPublish) error {
	if m.Immediate {
		return refuse(queue.NotImplemented, "immediate=true")
	}
	a.publish = *m
	a.expects = header
	a.list()
	return nil
}

// list makes sure that the message is detached if the batch ends before it does.
func (a *assembly) list() {
	if !a.listed {
		a.listed = true
		b := &a.ch.c.batch
		b.partial = append(b.partial, a.ch)
	}
}

// frame takes the next frame of the message, and publishes it when that is the last one.
func (a *assembly) frame(f amqp.Frame) error {
	a.ch.c.current = current{class: amqp.ClassBasic, method: methodPublish}
	a.list()
	if a.expects == header {
		return a.header(f)
	}
	if f.Type != amqp.FrameBody {
		return refuse(queue.UnexpectedFrame, "expected content body, got non content body frame instead")
	}
	return a.bodyFrame(f.Payload)
}

const methodPublish = 40

func (a *assembly) header(f amqp.Frame) error {
	if f.Type != amqp.FrameHeader {
		return refuse(queue.UnexpectedFrame, "expected content header for class 60, got non content header frame instead")
	}
	class, size, properties, err := amqp.ParseHeader(f.Payload)
	if errors.Is(err, amqp.ErrWeight) {
		return refuse(queue.UnexpectedFrame, "expected content header for class 60, got non content header frame instead")
	}
	if err != nil {
		return err
	}
	if class != amqp.ClassBasic {
		return refuse(queue.UnexpectedFrame, "expected content header for class 60, got one for class %d instead", class)
	}
	if size > maxContentBody {
		return refuse(queue.FrameError, "content body size %d exceeds maximum allowed size %d", size, maxContentBody)
	}
	if limit := a.ch.c.srv.o.MaxMessageSize; size > limit {
		return refuse(queue.PreconditionFailed, "message size %d is larger than configured max size %d", size, limit)
	}
	a.properties, a.size, a.expects = properties, size, body
	if size == 0 {
		return a.complete()
	}
	return nil
}

func (a *assembly) bodyFrame(piece []byte) error {
	if uint64(len(a.body))+uint64(len(piece)) > a.size {
		return refuse(queue.FrameError, "content body frame exceeds remaining content size")
	}
	if a.body == nil && uint64(len(piece)) == a.size {
		a.body = piece
		return a.complete()
	}
	if err := a.collect(piece); err != nil {
		return err
	}
	if uint64(len(a.body)) == a.size {
		return a.complete()
	}
	return nil
}

// collect copies a piece of a body that came in several frames. Memory follows what has arrived, not what was announced.
func (a *assembly) collect(piece []byte) error {
	const firstStep = 256 << 10
	b := &a.ch.c.batch
	if b.assembling+uint64(len(piece)) > 2*a.ch.c.srv.o.MaxMessageSize {
		return refuse(queue.ResourceError, "too many octets in unfinished messages")
	}
	if need := len(a.body) + len(piece); need > cap(a.body) {
		grown := make([]byte, len(a.body), min(max(2*need, firstStep), int(a.size)))
		copy(grown, a.body)
		a.body = grown
	}
	a.body = append(a.body, piece...)
	a.counted += uint64(len(piece))
	b.assembling += uint64(len(piece))
	return nil
}

func (a *assembly) complete() error {
	err := a.ch.publish(a)
	a.reset()
	return err
}

// reset forgets the message under way.
func (a *assembly) reset() {
	a.ch.c.batch.assembling -= a.counted
	a.expects, a.publish, a.properties, a.size, a.body, a.counted = nothing, amqp.BasicPublish{}, nil, 0, nil, 0
}

// detach copies what points into the read buffer, at the end of a batch, if the message is not complete. A body that
// has begun is a copy already.
func (a *assembly) detach() {
	a.listed = false
	if a.expects == nothing {
		return
	}
	exchange, key := len(a.publish.Exchange), len(a.publish.RoutingKey)
	head := slices.Concat(a.publish.Exchange, a.publish.RoutingKey, a.properties)
	a.publish.Exchange, head = head[:exchange:exchange], head[exchange:]
	a.publish.RoutingKey, a.properties = head[:key:key], head[key:]
}
