package main

import (
	"fmt"

	amqp091 "github.com/rabbitmq/amqp091-go"
)

// route is a way to publish, and the queues that it leads to.
type route struct {
	exchange, key string
	queues        []string
}

// topology is what the run declares once and finds again after every kill.
//
//	""  ------ key = name --->  torture.durable.0 ... torture.buffered.0 ...
//	torture.fanout ---------->  torture.durable.0, torture.buffered.0, torture.fanout.only
type topology struct {
	queues []string
	routes []route
	fanout []string // bound to the exchange
	args   map[string]amqp091.Table
}

const fanoutExchange = "torture.fanout"

func newTopology(direct, buffered int) topology {
	t := topology{args: map[string]amqp091.Table{}}
	add := func(name string, args amqp091.Table) {
		t.queues = append(t.queues, name)
		t.args[name] = args
	}
	for i := range direct {
		add(fmt.Sprint("torture.durable.", i), nil)
	}
	for i := range buffered {
		add(fmt.Sprint("torture.buffered.", i), amqp091.Table{"x-durability": "buffered"})
	}
	for _, q := range t.queues {
		t.routes = append(t.routes, route{key: q, queues: []string{q}})
	}
	t.fanout = []string{t.queues[0], "torture.fanout.only"}
	if buffered > 0 {
		t.fanout = append(t.fanout, "torture.buffered.0")
	}
	add("torture.fanout.only", nil)
	t.routes = append(t.routes, route{exchange: fanoutExchange, key: "ignored", queues: t.fanout})
	return t
}

// declare makes everything.
func (t topology) declare(url string) error {
	return onChannel(url, func(ch *amqp091.Channel) error {
		if err := ch.ExchangeDeclare(fanoutExchange, "fanout", true, false, false, false, nil); err != nil {
			return err
		}
		for _, q := range t.queues {
			if _, err := ch.QueueDeclare(q, true, false, false, false, t.args[q]); err != nil {
				return err
			}
		}
		for _, q := range t.fanout {
			if err := ch.QueueBind(q, "", fanoutExchange, false, nil); err != nil {
				return err
			}
		}
		return nil
	})
}

// find demands that everything is still there, with the arguments it was made with. That bindings are there too
// shows in the check: a message that the fanout lost is a lost message.
func (t topology) find(url string) error {
	return onChannel(url, func(ch *amqp091.Channel) error {
		if err := ch.ExchangeDeclarePassive(fanoutExchange, "fanout", true, false, false, false, nil); err != nil {
			return fmt.Errorf("a durable exchange is gone: %w", err)
		}
		for _, q := range t.queues {
			if _, err := ch.QueueDeclarePassive(q, true, false, false, false, nil); err != nil {
				return fmt.Errorf("a durable queue is gone: %w", err)
			}
			if _, err := ch.QueueDeclare(q, true, false, false, false, t.args[q]); err != nil {
				return fmt.Errorf("a durable queue has changed: %w", err)
			}
		}
		return nil
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
