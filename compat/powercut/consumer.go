package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	amqp091 "github.com/rabbitmq/amqp091-go"

	"github.com/warrenmq/warren/compat/torture/history"
)

// How a consumer behaves.
const (
	prefetch  = 200
	syncEvery = 100                   // deliveries between two synchronous requests
	idleFlush = 10 * time.Millisecond // without a delivery, what is held is acknowledged
	drainIdle = 20 * time.Second      // without a delivery that the broker has announced, it is stuck
)

// id is a message.
type id struct{ publisher, seq uint32 }

// seen is a delivery.
type seen struct {
	id
	acked   bool          // an acknowledgement was sent, or was about to be
	settled time.Duration // when a reply that follows the acknowledgement had come, since start; 0 if none had
}

// consumer is one consuming connection and its record.
type consumer struct {
	queue  string
	record *history.Session
	start  time.Time
	every  int  // acknowledge this many at once
	lazy   bool // and do not care that fewer have waited for long

	ch     *amqp091.Channel
	seen   []seen
	acked  int // of seen, from the beginning
	synced int
}

func newConsumer(queue string, record *history.Session, start time.Time, r *rand.Rand) *consumer {
	return &consumer{queue: queue, record: record, start: start, every: []int{1, 10, 50}[r.IntN(3)]}
}

// consume takes messages until the connection breaks or ctx ends.
func (c *consumer) consume(ctx context.Context, url string) {
	_ = onChannel(url, func(ch *amqp091.Channel) error { // the cut ends it
		deliveries, err := c.open(ch)
		if err != nil {
			return err
		}
		idle := time.NewTimer(idleFlush)
		defer idle.Stop()
		for {
			err = nil
			select {
			case d, open := <-deliveries:
				if !open {
					return amqp091.ErrClosed
				}
				err = c.take(&d)
				idle.Reset(idleFlush)
			case <-idle.C:
				if !c.lazy {
					err = c.flush()
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

func (c *consumer) open(ch *amqp091.Channel) (<-chan amqp091.Delivery, error) {
	c.ch = ch
	if err := ch.Qos(prefetch, 0, false); err != nil {
		return nil, err
	}
	return ch.Consume(c.queue, "", false, false, false, false, nil)
}

// take records a delivery and acknowledges when it is time.
func (c *consumer) take(d *amqp091.Delivery) error {
	m, corrupt := readMessage(d)
	c.record.Delivered(m.publisher, m.seq, d.Redelivered, corrupt)
	c.seen = append(c.seen, seen{id: m})
	if len(c.seen)-c.acked >= c.every {
		if err := c.acknowledge(); err != nil {
			return err
		}
	}
	if len(c.seen)-c.synced >= syncEvery {
		return c.flush()
	}
	return nil
}

// acknowledge acknowledges everything held. Tags count from 1, deliveries from 0.
func (c *consumer) acknowledge() error {
	if c.acked == len(c.seen) {
		return nil
	}
	for i := c.acked; i < len(c.seen); i++ {
		c.record.Acking(i)
		c.seen[i].acked = true
	}
	c.acked = len(c.seen)
	return c.ch.Ack(uint64(c.acked), true)
}

// flush acknowledges everything and waits for a reply that the broker can only send after reading that.
func (c *consumer) flush() error {
	if c.synced == len(c.seen) {
		return nil
	}
	if err := c.acknowledge(); err != nil {
		return err
	}
	if err := c.ch.Qos(prefetch, 0, false); err != nil {
		return err
	}
	now := time.Since(c.start)
	for i := c.synced; i < c.acked; i++ {
		c.seen[i].settled = now
	}
	c.synced = c.acked
	return nil
}

// drain takes everything out of a queue that nobody else uses. It returns once the broker says that it is empty, and
// errGone if there is no such queue.
func (c *consumer) drain(ctx context.Context, url string) error {
	return onChannel(url, func(ch *amqp091.Channel) error {
		ahead, err := depth(ch, c.queue)
		if err != nil || ahead == 0 {
			return err
		}
		deliveries, err := c.open(ch)
		if err != nil {
			return err
		}
		for ahead > 0 {
			for range ahead {
				select {
				case d, open := <-deliveries:
					if !open {
						return amqp091.ErrClosed
					}
					if err := c.take(&d); err != nil {
						return err
					}
				case <-time.After(drainIdle):
					return fmt.Errorf("stuck after %d messages, %d were announced", len(c.seen), ahead)
				case <-ctx.Done():
					return ctx.Err()
				}
			}
			if err := c.flush(); err != nil {
				return err
			}
			if ahead, err = depth(ch, c.queue); err != nil {
				return err
			}
		}
		if len(deliveries) > 0 {
			return errors.New("more messages than were announced")
		}
		return nil
	})
}
