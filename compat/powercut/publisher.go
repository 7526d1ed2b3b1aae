package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	amqp091 "github.com/rabbitmq/amqp091-go"

	"github.com/warrenmq/warren/compat/torture/history"
)

// How a publisher behaves.
const (
	burst     = 16 // messages at once, on average
	pause     = 2 * time.Millisecond
	newQueues = 2 // declared by a publisher while it publishes, at most
)

// publisher is one publishing connection and its record. The record is kept twice, with the queues of either kind, and
// settled only after the cut: what is owed depends on when the cut was.
type publisher struct {
	id       uint32
	epoch    int
	routes   []route
	window   int // messages in flight
	declares bool
	size     func(*rand.Rand) int // draws the length of a body
	random   *rand.Rand
	start    time.Time
	records  [kinds]*history.Publisher

	mu        sync.Mutex
	confirmed []time.Duration // since start, of each message; 0 while it is not
	sent      []route         // of each message
	declared  []newQueue
}

// newQueue is a durable queue that was declared under load.
type newQueue struct {
	name string
	at   time.Duration // when the broker had said so; 0 while it has not
}

// publish publishes until the connection breaks or ctx ends. That it breaks is what happens here.
func (p *publisher) publish(ctx context.Context, url string) {
	conn, err := amqp091.Dial(url)
	if err != nil {
		return
	}
	defer conn.Close()
	ch, err := conn.Channel()
	if err != nil || ch.Confirm(false) != nil {
		return
	}
	confirms := ch.NotifyPublish(make(chan amqp091.Confirmation, p.window))
	slots := make(chan struct{}, p.window)
	settled := make(chan struct{})
	go func() { // ends when the library closes confirms, with the connection
		defer close(settled)
		for c := range confirms {
			if c.Ack {
				p.settle(uint32(c.DeliveryTag - 1))
			}
			<-slots
		}
	}()
	defer func() {
		_ = conn.Close() // nothing more can be confirmed
		<-settled
	}()
	ticker := time.NewTicker(pause)
	defer ticker.Stop()
	for {
		if err := p.declare(ch); err != nil {
			return
		}
		for range 1 + p.random.IntN(2*burst) {
			select {
			case slots <- struct{}{}:
			case <-settled:
				return
			case <-ctx.Done():
				return
			}
			to := p.routes[p.random.IntN(len(p.routes))]
			seq := p.sending(to)
			if err := ch.PublishWithContext(ctx, to.exchange, to.key, false, false, makeMessage(p.id, seq, p.size(p.random))); err != nil {
				return
			}
		}
		select {
		case <-ticker.C:
		case <-settled:
			return
		case <-ctx.Done():
			return
		}
	}
}

// declare makes a new durable queue now and then, and publishes to it from then on.
func (p *publisher) declare(ch *amqp091.Channel) error {
	if !p.declares || len(p.declared) == newQueues || p.random.IntN(30) > 0 {
		return nil
	}
	name := fmt.Sprintf("power.new.%d.%d", p.id, len(p.declared))
	p.mu.Lock()
	p.declared = append(p.declared, newQueue{name: name})
	p.mu.Unlock()
	if _, err := ch.QueueDeclare(name, true, false, false, false, nil); err != nil {
		return err
	}
	p.mu.Lock()
	p.declared[len(p.declared)-1].at = time.Since(p.start)
	p.mu.Unlock()
	p.routes = append(p.routes, route{key: name, durable: []string{name}})
	return nil
}

func (p *publisher) sending(to route) uint32 {
	p.records[durable].Sending(to.durable)
	seq := p.records[buffered].Sending(to.buffered)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sent, p.confirmed = append(p.sent, to), append(p.confirmed, 0)
	return seq
}

func (p *publisher) settle(seq uint32) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.confirmed[seq] = time.Since(p.start)
}
