package load

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rabbitmq/amqp091-go"
)

// amqp091Link is the link through amqp091-go, used as its documentation does: a call for each
// message, channels for confirms and deliveries.
type amqp091Link struct {
	out        *outgoing
	conn       *amqp091.Connection
	channel    *amqp091.Channel
	socket     net.Conn
	closed     chan *amqp091.Error // the channel's end
	confirms   chan amqp091.Confirmation
	deliveries map[int]<-chan amqp091.Delivery // by queue

	closing atomic.Bool
	done    chan struct{} // closed when serve has returned

	// publishing guards body, which carries the stamp of the message being sent.
	publishing sync.Mutex
	body       []byte
}

func openAMQP091(ctx context.Context, d *dialer, name string, o *outgoing) (link, error) {
	l := &amqp091Link{
		out: o, body: append([]byte(nil), o.body...),
		deliveries: map[int]<-chan amqp091.Delivery{}, done: make(chan struct{}),
	}
	socket, err := d.connect(ctx)
	if err != nil {
		return nil, err
	}
	l.socket = socket
	if err := socket.SetDeadline(time.Now().Add(handshakeTimeout)); err != nil {
		socket.Close()
		return nil, err
	}
	l.conn, err = amqp091.Open(socket, amqp091.Config{
		SASL:       []amqp091.Authentication{d.url.PlainAuth()},
		Vhost:      d.url.Vhost,
		FrameSize:  frameMax,
		Locale:     "en_US",
		Properties: amqp091.Table{"connection_name": name},
	})
	if err != nil {
		socket.Close()
		return nil, fmt.Errorf("handshake with %s: %w", d.url.Host, err)
	}
	if l.channel, err = l.conn.Channel(); err != nil {
		socket.Close()
		return nil, err
	}
	l.closed = l.channel.NotifyClose(make(chan *amqp091.Error, 1))
	return l, socket.SetDeadline(time.Time{})
}

// confirmsBuffer is large enough for the confirms of any window that is of use.
const confirmsBuffer = 1 << 17

func (l *amqp091Link) confirmSelect() error {
	l.confirms = l.channel.NotifyPublish(make(chan amqp091.Confirmation, confirmsBuffer))
	return l.channel.Confirm(false)
}

func (l *amqp091Link) consume(queues []int, prefetch int, autoAck bool) error {
	if prefetch > 0 {
		if err := l.channel.Qos(prefetch, 0, false); err != nil {
			return err
		}
	}
	for _, queue := range queues {
		deliveries, err := l.channel.Consume(l.out.queues[queue], consumerTag(queue), autoAck, false, false, false, nil)
		if err != nil {
			return err
		}
		l.deliveries[queue] = deliveries
	}
	return nil
}

// consuming has nothing to wait for: consume did.
func (l *amqp091Link) consuming() error { return nil }

func (l *amqp091Link) publish(queue int, s stamp) error {
	l.publishing.Lock()
	defer l.publishing.Unlock()
	s.put(l.body)
	// The call returns when the message has been written to the socket: body is free again.
	return l.channel.PublishWithContext(context.Background(), "", l.out.queues[queue], false, false, amqp091.Publishing{
		DeliveryMode: l.out.deliveryMode(), Body: l.body,
	})
}

func (l *amqp091Link) ack(tag uint64, multiple bool) error { return l.channel.Ack(tag, multiple) }
func (l *amqp091Link) flush() error                        { return nil }

// serve runs one goroutine for each consumer besides its own, which takes the confirms.
func (l *amqp091Link) serve(h handler) error {
	defer close(l.done)
	var (
		handling sync.Mutex // lets one goroutine at a time into h
		wg       sync.WaitGroup
		failed   = make(chan error, len(l.deliveries))
	)
	handling.Lock()
	err := h.idle()
	handling.Unlock()
	ended := false
	for queue, deliveries := range l.deliveries {
		wg.Go(func() {
			for d := range deliveries {
				handling.Lock()
				err := l.deliver(queue, &d, h)
				handling.Unlock()
				if err != nil {
					failed <- err
					return
				}
			}
		})
	}
	for err == nil && !ended {
		select {
		case c, ok := <-l.confirms:
			if !ok {
				l.confirms = nil // closed together with the channel
				continue
			}
			handling.Lock()
			err = l.confirm(c, h)
			handling.Unlock()
		case err = <-failed:
		case reason := <-l.closed:
			ended = true
			if !l.closing.Load() {
				err = closedError(reason)
			}
		}
	}
	if err != nil && !ended {
		err = l.reason(err)
	}
	if err != nil {
		l.abort() // ends the deliveries
	}
	wg.Wait()
	return err
}

// reason waits for what the broker said before err, with which sending failed.
func (l *amqp091Link) reason(err error) error {
	if !errors.Is(err, amqp091.ErrClosed) {
		return err
	}
	select {
	case reason := <-l.closed:
		return closedError(reason)
	case <-time.After(reasonTimeout):
		return err
	}
}

func closedError(reason *amqp091.Error) error {
	if reason == nil {
		return errors.New("the connection was closed")
	}
	return fmt.Errorf("the broker closed the channel: %w", reason)
}

func (l *amqp091Link) deliver(queue int, d *amqp091.Delivery, h handler) error {
	if d.ConsumerTag != consumerTag(queue) {
		return fmt.Errorf("delivery for unknown consumer %s", strconv.Quote(d.ConsumerTag))
	}
	if err := h.delivered(queue, d.DeliveryTag, d.Redelivered, d.Body, l.out.clock.now()); err != nil {
		return err
	}
	return h.idle()
}

// confirm hands over a confirm and those that have come meanwhile.
func (l *amqp091Link) confirm(c amqp091.Confirmation, h handler) error {
	now := l.out.clock.now()
	if err := h.confirmed(c.DeliveryTag, false, !c.Ack, now); err != nil {
		return err
	}
	for range len(l.confirms) {
		c, ok := <-l.confirms
		if !ok {
			break
		}
		if err := h.confirmed(c.DeliveryTag, false, !c.Ack, now); err != nil {
			return err
		}
	}
	return h.idle()
}

func (l *amqp091Link) close() error {
	l.closing.Store(true)
	err := l.conn.CloseDeadline(time.Now().Add(closeTimeout))
	if err == nil {
		<-l.done
	}
	l.abort()
	return err
}

func (l *amqp091Link) abort() { l.socket.Close() }
