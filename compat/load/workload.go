package load

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"net"
	"time"

	"github.com/warrenmq/warren/amqp"
)

// Client names the library that a run uses.
type Client string

const (
	Lean    Client = "lean"       // this project's codec over plain TCP, in batches
	AMQP091 Client = "amqp091-go" // the Go client that RabbitMQ's users have
)

// Workload says what to do. Only a bound, Messages or Duration, has no usable zero value.
type Workload struct {
	Client Client `json:"client"` // Lean if empty
	URL    string `json:"-"`      // amqp://guest:guest@127.0.0.1:5672/ if empty

	Shape
	Queueing
	Bounds

	// Processes are the broker's, whose CPU, memory and writes are to be measured, with their
	// descendants if Descendants is set.
	Processes   []int `json:"-"`
	Descendants bool  `json:"-"`

	// Dial opens connections; nil stands for TCP.
	Dial func(ctx context.Context, network, address string) (net.Conn, error) `json:"-"`
}

// Shape is what the traffic looks like.
type Shape struct {
	Publishers int `json:"publishers"` // 1 if 0
	Consumers  int `json:"consumers"`  // 1 if 0; -1: none, and the messages stay where they are
	Queues     int `json:"queues"`     // 1 if 0

	Size      int     `json:"size"`      // octets of a body; 1024 if 0, at least 16
	Transient bool    `json:"transient"` // delivery mode 1, not 2
	Window    int     `json:"window"`    // messages that each publisher may have unconfirmed; 0: without confirms
	Rate      float64 `json:"rate"`      // messages per second of all publishers together; 0: no limit

	Prefetch int  `json:"prefetch"`  // of each queue's consumer; 0: no limit
	AckEvery int  `json:"ack_every"` // messages settled by one ack, with multiple unless 1; 100 if 0, or the prefetch if less
	AutoAck  bool `json:"auto_ack"`  // no acks

	Backlog    bool `json:"backlog"`     // consumers start when everything has been published
	SkipBodies bool `json:"skip_bodies"` // do not compare the bodies of what is delivered
}

// Queueing is what the queues are.
type Queueing struct {
	QueuePrefix     string     `json:"queue_prefix,omitempty"` // of their names; one of its own for each run if empty
	QueueNotDurable bool       `json:"queue_not_durable"`
	QueueType       string     `json:"queue_type,omitempty"`      // x-queue-type, if not empty
	Durability      string     `json:"durability,omitempty"`      // x-durability, if not empty
	QueueArguments  amqp.Table `json:"queue_arguments,omitempty"` // more arguments
	KeepQueues      bool       `json:"keep_queues"`               // do not delete them at the end
}

// Bounds say when the run ends: at the first of the two. Durations are nanoseconds in JSON.
type Bounds struct {
	Messages int           `json:"messages,omitempty"` // of all publishers together, warm-up included; 0: no bound
	Duration time.Duration `json:"duration,omitempty"` // of publishing, after the warm-up; 0: no bound
	WarmUp   time.Duration `json:"warm_up"`
	// Drain bounds the time without any progress after publishing has ended; 30 s if 0.
	Drain time.Duration `json:"drain"`
}

func (w Workload) withDefaults() Workload {
	setDefault(&w.Client, Lean)
	setDefault(&w.URL, "amqp://guest:guest@127.0.0.1:5672/")
	setDefault(&w.Publishers, 1)
	setDefault(&w.Consumers, 1)
	w.Consumers = max(w.Consumers, 0)
	setDefault(&w.Queues, 1)
	setDefault(&w.Size, 1024)
	setDefault(&w.Drain, 30*time.Second)
	if w.AckEvery == 0 {
		w.AckEvery = 100
		if w.Prefetch > 0 {
			w.AckEvery = min(w.AckEvery, w.Prefetch)
		}
	}
	return w
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// validate checks a workload that has its defaults.
func (w *Workload) validate() error {
	switch {
	case w.Client != Lean && w.Client != AMQP091:
		return fmt.Errorf("client %q: expected %q or %q", w.Client, Lean, AMQP091)
	case w.Publishers < 1 || w.Publishers > maxPublishers:
		return fmt.Errorf("publishers %d: expected 1 to %d", w.Publishers, maxPublishers)
	case w.Queues < 1:
		return fmt.Errorf("queues %d: expected at least 1", w.Queues)
	case w.Size < stampSize || w.Size > maxSize:
		return fmt.Errorf("size %d: expected %d to %d octets", w.Size, stampSize, maxSize)
	case w.Window < 0:
		return fmt.Errorf("window %d: expected 0 or more", w.Window)
	case w.Rate < 0 || math.IsNaN(w.Rate) || math.IsInf(w.Rate, 0):
		return fmt.Errorf("rate %v: expected 0 or more messages per second", w.Rate)
	case w.Prefetch < 0 || w.Prefetch > math.MaxUint16:
		return fmt.Errorf("prefetch %d: expected 0 to %d", w.Prefetch, math.MaxUint16)
	case w.AckEvery < 1 || w.Prefetch > 0 && w.AckEvery > w.Prefetch && !w.AutoAck:
		return fmt.Errorf("ack every %d: expected 1 to the prefetch, %d", w.AckEvery, w.Prefetch)
	case w.Messages < 0 || w.Duration < 0 || w.WarmUp < 0 || w.Drain < 0:
		return errors.New("bounds must not be negative")
	case w.Messages == 0 && w.Duration == 0:
		return errors.New("a run needs a bound: messages or duration")
	case w.Messages > 0 && w.Messages < w.Publishers:
		return fmt.Errorf("messages %d: expected at least one for each of %d publishers", w.Messages, w.Publishers)
	case w.Backlog && w.Consumers == 0:
		return errors.New("a backlog needs consumers")
	}
	if err := amqp.CheckTable(w.QueueArguments); err != nil {
		return fmt.Errorf("queue arguments: %w", err)
	}
	return nil
}

// arguments returns the queues' arguments.
func (w *Workload) arguments() amqp.Table {
	t := amqp.Table{}
	maps.Copy(t, w.QueueArguments)
	if w.QueueType != "" {
		t["x-queue-type"] = w.QueueType
	}
	if w.Durability != "" {
		t["x-durability"] = w.Durability
	}
	return t
}

// share returns which of the queues belong to a worker, so that each queue has a worker and each
// worker a queue.
func share(worker, workers, queues int) []int {
	if queues <= workers {
		return []int{worker % queues}
	}
	var mine []int
	for q := worker; q < queues; q += workers {
		mine = append(mine, q)
	}
	return mine
}
