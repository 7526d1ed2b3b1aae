package main

import (
	"context"
	"math/rand/v2"

	amqp091 "github.com/rabbitmq/amqp091-go"

	"github.com/warrenmq/warren/compat/torture/history"
)

// publish publishes on a connection of its own until it breaks, ctx ends or most messages are sent, and waits for
// the broker's word on all of them. Losing the connection is what happens here, so it returns no error.
func publish(ctx context.Context, url string, record *history.Publisher, routes []route, r *rand.Rand, l load) {
	conn, err := amqp091.Dial(url)
	if err != nil {
		return // killed before it began
	}
	defer conn.Close()
	ch, err := conn.Channel()
	if err != nil || ch.Confirm(false) != nil {
		return
	}
	// The library blocks on this channel, so it must have room for all that can be in flight.
	confirms := ch.NotifyPublish(make(chan amqp091.Confirmation, l.window))
	slots := make(chan struct{}, l.window)
	settled := make(chan struct{})
	go func() { // ends when the library closes confirms, with the connection
		defer close(settled)
		for c := range confirms {
			outcome := history.Nack
			if c.Ack {
				outcome = history.OK
			}
			record.Settle(uint32(c.DeliveryTag-1), outcome)
			<-slots
		}
	}()
	for range l.perEpoch {
		select {
		case slots <- struct{}{}:
		case <-settled:
			return
		case <-ctx.Done():
			_ = conn.Close() // outcomes stay unknown
			<-settled
			return
		}
		to := routes[r.IntN(len(routes))]
		seq := record.Sending(to.queues)
		message := makeMessage(record.ID, seq, bodySize(r))
		if err := ch.PublishWithContext(ctx, to.exchange, to.key, false, false, message); err != nil {
			break
		}
	}
	select { // the kill ends the connection, and that ends the confirms
	case <-settled:
	case <-ctx.Done():
		_ = conn.Close()
		<-settled
	}
}
