package main

import (
	"context"
	"math/rand/v2"
	"time"

	amqp091 "github.com/rabbitmq/amqp091-go"

	"github.com/warrenmq/warren/compat/torture/history"
)

// How a consumer behaves.
const (
	prefetch     = 300
	syncEvery    = 200                   // deliveries between two synchronous requests
	idleFlush    = 20 * time.Millisecond // without a delivery, what is held is acknowledged
	requeueOneIn = 400                   // deliveries
)

// consumer is one consuming connection.
type consumer struct {
	record *history.Session
	ch     *amqp091.Channel
	random *rand.Rand
	every  int // acknowledge this many at once, 1 for each alone

	held    []held // not yet acknowledged, in order of arrival
	unsaved int    // deliveries since the last synchronous reply
}

type held struct {
	index int // in the record
	tag   uint64
}

// consume takes messages from a queue on a connection of its own until that breaks or ctx ends.
func consume(ctx context.Context, url, queue string, record *history.Session, r *rand.Rand) {
	conn, err := amqp091.Dial(url)
	if err != nil {
		return
	}
	defer conn.Close()
	ch, err := conn.Channel()
	if err != nil || ch.Qos(prefetch, 0, false) != nil {
		return
	}
	deliveries, err := ch.Consume(queue, "", false, false, false, false, nil)
	if err != nil {
		return
	}
	c := consumer{record: record, ch: ch, random: r, every: []int{1, 1, 16, 100}[r.IntN(4)]}
	idle := time.NewTimer(idleFlush)
	defer idle.Stop()
	for {
		err = nil
		select {
		case d, open := <-deliveries:
			if !open {
				return
			}
			err = c.take(&d)
			idle.Reset(idleFlush)
		case <-idle.C:
			err = c.flush()
		case <-ctx.Done():
			return
		}
		if err != nil {
			return
		}
	}
}

// take records a delivery and does one of the things that consumers do with it.
func (c *consumer) take(d *amqp091.Delivery) error {
	publisher, seq, corrupt := readMessage(d)
	i := c.record.Delivered(publisher, seq, d.Redelivered, corrupt)
	c.unsaved++
	if c.random.IntN(requeueOneIn) == 0 {
		c.record.Requeueing(i)
		return c.ch.Nack(d.DeliveryTag, false, true)
	}
	c.held = append(c.held, held{i, d.DeliveryTag})
	if len(c.held) >= c.every {
		if err := c.acknowledge(); err != nil {
			return err
		}
	}
	if c.unsaved >= syncEvery {
		return c.flush()
	}
	return nil
}

// acknowledge acknowledges everything held, all at once. A requeued delivery below the last tag is no longer
// outstanding, so "multiple" does not touch it.
func (c *consumer) acknowledge() error {
	if len(c.held) == 0 {
		return nil
	}
	for _, h := range c.held {
		c.record.Acking(h.index)
	}
	last := c.held[len(c.held)-1].tag
	multiple := len(c.held) > 1
	c.held = c.held[:0]
	return c.ch.Ack(last, multiple)
}

// flush acknowledges everything and waits for a reply that the broker can only send after reading that.
func (c *consumer) flush() error {
	if c.unsaved == 0 {
		return nil
	}
	if err := c.acknowledge(); err != nil {
		return err
	}
	if err := c.ch.Qos(prefetch, 0, false); err != nil {
		return err
	}
	c.record.Synced()
	c.unsaved = 0
	return nil
}

// drain takes everything out of a queue that nobody else uses, and returns once the broker says that it is empty.
func drain(ctx context.Context, url, queue string, record *history.Session, r *rand.Rand) error {
	return onChannel(url, func(ch *amqp091.Channel) error {
		if err := ch.Qos(prefetch, 0, false); err != nil {
			return err
		}
		deliveries, err := ch.Consume(queue, "drain", false, false, false, false, nil)
		if err != nil {
			return err
		}
		c := consumer{record: record, ch: ch, random: r, every: 50}
		for {
			select {
			case d, open := <-deliveries:
				if !open {
					return amqp091.ErrClosed
				}
				publisher, seq, corrupt := readMessage(&d)
				c.held = append(c.held, held{record.Delivered(publisher, seq, d.Redelivered, corrupt), d.DeliveryTag})
				c.unsaved++
				if len(c.held) >= c.every {
					err = c.acknowledge()
				}
			case <-time.After(10 * idleFlush):
				if c.unsaved > 0 {
					err = c.flush()
					break
				}
				var q amqp091.Queue
				if q, err = ch.QueueDeclarePassive(queue, true, false, false, false, nil); err == nil && q.Messages == 0 && len(deliveries) == 0 {
					return nil
				}
			case <-ctx.Done():
				return ctx.Err()
			}
			if err != nil {
				return err
			}
		}
	})
}
