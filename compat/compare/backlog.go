package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	amqp091 "github.com/rabbitmq/amqp091-go"

	"github.com/warrenmq/warren/compat/broker"
	"github.com/warrenmq/warren/compat/load"
)

// restart ends the broker cleanly and tells how long it takes from its start until it serves, in seconds.
func restart(ctx context.Context, b *broker.Broker) (float64, error) {
	stop, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	if err := b.Shutdown(stop); err != nil && !strings.Contains(err.Error(), "signal") {
		return 0, err
	}
	began := time.Now()
	err := b.Restart(ctx)
	return time.Since(began).Seconds(), err
}

// backlogFigures are of one queue that grows and drains.
type backlogFigures struct {
	Messages     int     `json:"messages"`
	Size         int     `json:"size"`
	Growing      phase   `json:"growing"`
	Restart      float64 `json:"restart_s"`
	RestartKill  float64 `json:"restart_after_kill_s"`
	RestartedRSS float64 `json:"rss_restarted_mib"`
	Draining     phase   `json:"draining"`
	Left         int     `json:"left"`
}

// phase is a part of the backlog's life.
type phase struct {
	Seconds float64 `json:"seconds"`
	Rate    float64 `json:"msg_per_s"`
	PeakRSS float64 `json:"rss_peak_mib"`
	CPU     float64 `json:"cpu_us_per_message"`
	Written float64 `json:"write_bytes_per_message"`
}

const backlogQueue = "backlog"

// backlog fills a durable queue with confirms, restarts the broker twice, and drains it.
func backlog(ctx context.Context, args []string) error {
	m := newBar("backlog")
	var f backlogFigures
	m.flags.IntVar(&f.Messages, "messages", 5_000_000, "messages")
	m.flags.IntVar(&f.Size, "size", 1024, "bytes of each")
	kind := m.flags.String("queue-type", "", "x-queue-type")
	durability := m.flags.String("durability", "", "x-durability")
	if err := m.flags.Parse(args); err != nil {
		return err
	}
	return m.run(ctx, &f, func(b *broker.Broker) error {
		err := f.Growing.measure(b, f.Messages, func() error {
			_, err := load.Run(ctx, load.Workload{
				URL:      b.URL(),
				Shape:    load.Shape{Size: f.Size, Window: 2000, Consumers: -1},
				Queueing: load.Queueing{QueuePrefix: backlogQueue, KeepQueues: true, QueueType: *kind, Durability: *durability},
				Bounds:   load.Bounds{Messages: f.Messages},
			})
			return err
		})
		if err != nil {
			return fmt.Errorf("growing: %w", err)
		}
		if f.Restart, err = restart(ctx, b); err != nil {
			return err
		}
		b.Kill()
		began := time.Now()
		if err := b.Restart(ctx); err != nil {
			return err
		}
		f.RestartKill = time.Since(began).Seconds()
		u, err := b.Usage()
		if err != nil {
			return err
		}
		f.RestartedRSS = float64(u.RSS) / mib
		return f.Draining.measure(b, f.Messages, func() error {
			left, err := drain(ctx, b.URL(), backlogQueue+".0", f.Messages)
			f.Left = left
			return err
		})
	})
}

func (p *phase) measure(b *broker.Broker, messages int, work func() error) error {
	if err := b.ResetPeak(); err != nil {
		return err
	}
	before, err := b.Usage()
	if err != nil {
		return err
	}
	began := time.Now()
	if err := work(); err != nil {
		return err
	}
	p.Seconds = time.Since(began).Seconds()
	after, err := b.Usage()
	if err != nil {
		return err
	}
	n := float64(messages)
	p.Rate = n / p.Seconds
	p.PeakRSS = float64(after.PeakRSS) / mib
	p.CPU = (after.CPU - before.CPU).Seconds() * 1e6 / n
	p.Written = float64(after.Written-before.Written) / n
	return nil
}

// drain consumes n messages of a queue and tells how many the broker says are left.
func drain(ctx context.Context, url, queue string, n int) (left int, err error) {
	conn, err := amqp091.Dial(url)
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	ch, err := conn.Channel()
	if err != nil {
		return 0, err
	}
	if err := ch.Qos(1000, 0, false); err != nil {
		return 0, err
	}
	deliveries, err := ch.Consume(queue, "", false, false, false, false, nil)
	if err != nil {
		return 0, err
	}
	const together = 200 // acknowledged at once
	for got := 1; got <= n; got++ {
		select {
		case d, open := <-deliveries:
			if !open {
				return 0, fmt.Errorf("the connection ended after %d of %d messages", got-1, n)
			}
			if got%together == 0 || got == n {
				if err := d.Ack(true); err != nil {
					return 0, err
				}
			}
		case <-time.After(time.Minute):
			return 0, fmt.Errorf("no message for a minute, after %d of %d", got-1, n)
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
	q, err := ch.QueueDeclarePassive(queue, true, false, false, false, nil)
	return q.Messages, err
}
