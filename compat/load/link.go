package load

import (
	"context"
	"strconv"
	"time"

	"github.com/warrenmq/warren/amqp"
)

// link is one connection to the broker with one channel, through one of the clients. Before serve its methods are
// called by one goroutine; then publish, ack and flush by any.
type link interface {
	confirmSelect() error
	// consume starts a consumer of each queue; prefetch 0 means no limit. Deliveries may come at once.
	consume(queues []int, prefetch int, autoAck bool) error
	// consuming waits until all consumers have started, while there is nothing to be delivered.
	consuming() error

	// serve hands everything that arrives to h, from one goroutine at a time, until the connection ends. The error
	// is nil if close ended it.
	serve(h handler) error

	// publish and ack may hold back what they send until flush. flush may block until the
	// broker reads.
	publish(queue int, s stamp) error
	ack(tag uint64, multiple bool) error
	flush() error

	// close tells the broker, and waits for serve to return.
	close() error
	// abort closes the socket. It may be called at any time, and more than once.
	abort()
}

// handler takes what arrives on a link. now is the time of arrival on the run's clock. An error ends serve.
type handler interface {
	confirmed(tag uint64, multiple, nack bool, now time.Duration) error
	// delivered must not keep body.
	delivered(queue int, tag uint64, redelivered bool, body []byte, now time.Duration) error
	// idle is called at the beginning, and then when everything that had arrived has been handed over.
	idle() error
}

// reasonTimeout is how long, after sending has failed, the broker's reason is waited for.
const reasonTimeout = time.Second

// closeTimeout bounds the closing of a link.
const closeTimeout = 30 * time.Second

// outgoing is what all links of a run send: immutable.
type outgoing struct {
	clock     clock
	queues    []string // names
	body      []byte   // of every message, but for its stamp
	transient bool
}

func (o *outgoing) deliveryMode() uint8 {
	if o.transient {
		return amqp.Transient
	}
	return amqp.Persistent
}

// openLink opens a link through the given client.
func openLink(ctx context.Context, client Client, d *dialer, name string, o *outgoing) (link, error) {
	if client == AMQP091 {
		return openAMQP091(ctx, d, name, o)
	}
	return openLean(ctx, d, name, o)
}

// consumerTag makes a queue's number the tag of its consumer, so that deliveries show it.
func consumerTag(queue int) string { return strconv.Itoa(queue) }

// clock is the run's clock: what has passed since its origin.
type clock struct{ origin time.Time }

func (c clock) now() time.Duration { return time.Since(c.origin) }
