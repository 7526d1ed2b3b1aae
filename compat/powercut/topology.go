package main

import (
	"errors"
	"fmt"
	"slices"

	amqp091 "github.com/rabbitmq/amqp091-go"
)

// Queues that live through all cuts. The first of each kind has no consumer, so that it keeps everything.
//
//	""  ------ key = name --->  each
//	power.fanout ------------>  each but the last durable one
var (
	durableQueues  = []string{"power.durable.0", "power.durable.1", "power.durable.2"}
	bufferedQueues = []string{"power.buffered.0", "power.buffered.1"}
	fanoutDurable  = durableQueues[:2]
	consumed       = map[string]bool{"power.durable.1": true, "power.durable.2": true, "power.buffered.1": true}
)

const fanoutExchange = "power.fanout"

// route is a way to publish, and the queues of both kinds that it leads to.
type route struct {
	exchange, key     string
	durable, buffered []string
}

// queues are those of one kind.
func (r *route) queues(kind int) []string {
	if kind == durable {
		return r.durable
	}
	return r.buffered
}

// withConsumers are the routes to single queues that somebody consumes.
func withConsumers(all []route) []route {
	return slices.DeleteFunc(all, func(r route) bool { return !consumed[r.key] })
}

// routes to the queues of one kind, or of both.
func routes(durable, buffered bool) []route {
	var all []route
	if durable {
		for _, q := range durableQueues {
			all = append(all, route{key: q, durable: []string{q}})
		}
	}
	if buffered {
		for _, q := range bufferedQueues {
			all = append(all, route{key: q, buffered: []string{q}})
		}
	}
	if durable && buffered {
		all = append(all, route{exchange: fanoutExchange, durable: fanoutDurable, buffered: bufferedQueues})
	}
	return all
}

func queueArgs(buffered bool) amqp091.Table {
	if buffered {
		return amqp091.Table{"x-durability": "buffered"}
	}
	return nil
}

// declare makes everything, once on each disk: a binding that is lost later is to show as lost messages.
func declare(url string) error {
	return onChannel(url, func(ch *amqp091.Channel) error {
		if err := ch.ExchangeDeclare(fanoutExchange, "fanout", true, false, false, false, nil); err != nil {
			return err
		}
		all := func(queues []string, buffered bool, bound int) error {
			for i, q := range queues {
				if _, err := ch.QueueDeclare(q, true, false, false, false, queueArgs(buffered)); err != nil {
					return err
				}
				if i >= bound {
					continue
				}
				if err := ch.QueueBind(q, "", fanoutExchange, false, nil); err != nil {
					return err
				}
			}
			return nil
		}
		if err := all(durableQueues, false, len(fanoutDurable)); err != nil {
			return err
		}
		return all(bufferedQueues, true, len(bufferedQueues))
	})
}

func onChannel(url string, do func(*amqp091.Channel) error) error {
	conn, err := amqp091.Dial(url)
	if err != nil {
		return err
	}
	defer conn.Close()
	ch, err := conn.Channel()
	if err != nil {
		return err
	}
	return do(ch)
}

// errGone is that there is no such queue.
var errGone = errors.New("the queue is gone")

// depth is the number of messages that wait in a queue.
func depth(ch *amqp091.Channel, queue string) (int, error) {
	q, err := ch.QueueDeclarePassive(queue, true, false, false, false, nil)
	var refused *amqp091.Error
	if errors.As(err, &refused) && refused.Code == amqp091.NotFound {
		return 0, errGone
	}
	if err != nil {
		return 0, fmt.Errorf("look at the queue: %w", err)
	}
	return q.Messages, nil
}

// forget deletes the queues that were declared under load.
func (e *epoch) forget(url string) error {
	return onChannel(url, func(ch *amqp091.Channel) error {
		for _, p := range e.publishers {
			for _, q := range p.declared {
				if _, err := ch.QueueDelete(q.name, false, false, false); err != nil {
					return err
				}
			}
		}
		return nil
	})
}
