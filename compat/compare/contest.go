package main

import (
	"fmt"
	"time"

	"github.com/warrenmq/warren/compat/load"
)

// promise is what a confirm means.
type promise string

const (
	durable  promise = "durable"  // flushed
	buffered promise = "buffered" // written, not flushed
)

// contestant is a kind of queue of a broker.
type contestant struct {
	broker string
	kind   string
	queue  load.Queueing
}

func (c contestant) String() string { return c.broker + " " + c.kind }

// contestants are those of a match under a promise, Warren first.
func contestants(p promise, peers []string) []contestant {
	ours, theirs := "durable", "quorum"
	if p == buffered {
		ours, theirs = "buffered", "classic"
	}
	list := []contestant{{"warren", ours, load.Queueing{Durability: ours}}}
	for _, peer := range peers {
		list = append(list, contestant{peer, theirs, load.Queueing{QueueType: theirs}})
	}
	return list
}

// workload is one kind of work.
type workload struct {
	name    string
	about   string
	shape   load.Shape
	clients []load.Client
	warmUp  time.Duration // more than the usual, for RabbitMQ to settle a thousand queues' leaders and consumers
}

var bothClients = []load.Client{load.Lean, load.AMQP091}

// workloads are all kinds of work.
func workloads() []workload {
	var list []workload
	for _, window := range []int{1, 100, 1000} {
		list = append(list, workload{
			name:    fmt.Sprint("window-", window),
			about:   fmt.Sprintf("1 KiB persistent, at most %d unconfirmed, one publisher, one consumer, prefetch 1000", window),
			shape:   load.Shape{Size: 1024, Window: window, Prefetch: 1000},
			clients: bothClients,
		})
	}
	for _, rate := range []float64{100, 1000, 10_000} {
		list = append(list, workload{
			name:    fmt.Sprint("paced-", rate),
			about:   fmt.Sprintf("1 KiB persistent, %v msg/s, latencies from the intended time of sending", rate),
			shape:   load.Shape{Size: 1024, Window: 10_000, Prefetch: 1000, Rate: rate},
			clients: []load.Client{load.Lean},
		})
	}
	list = append(list,
		workload{
			name: "queues-100", about: "1 KiB persistent over 100 queues, 200 unconfirmed in all",
			shape:   load.Shape{Size: 1024, Window: 200, Prefetch: 100, Queues: 100},
			clients: []load.Client{load.Lean}, warmUp: 3 * time.Second,
		},
		workload{
			name: "queues-1000", about: "1 KiB persistent over 1,000 queues, 4 publishers and 4 consumers, 1,000 unconfirmed in all",
			shape:   load.Shape{Size: 1024, Window: 250, Prefetch: 100, Queues: 1000, Publishers: 4, Consumers: 4},
			clients: []load.Client{load.Lean}, warmUp: 10 * time.Second,
		},
		workload{
			name: "tiny", about: "16 B transient, no confirms, no acknowledgements",
			shape:   load.Shape{Size: 16, Transient: true, AutoAck: true},
			clients: bothClients,
		})
	return list
}

// match is a workload under a promise with one generator.
type match struct {
	workload
	promise promise
	client  load.Client
}

func (m match) String() string { return fmt.Sprintf("%s %s %s", m.name, m.promise, m.client) }

// matches lists every match.
func matches() []match {
	var list []match
	for _, w := range workloads() {
		for _, client := range w.clients {
			for _, p := range []promise{durable, buffered} {
				list = append(list, match{w, p, client})
			}
		}
	}
	return list
}

// bounds are how long one run takes.
func (w workload) bounds(seconds float64) load.Bounds {
	measured := time.Duration(seconds * float64(time.Second))
	return load.Bounds{Duration: measured, WarmUp: max(measured/4, w.warmUp), Drain: 30 * time.Second}
}
