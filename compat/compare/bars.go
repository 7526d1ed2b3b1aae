package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"time"

	amqp091 "github.com/rabbitmq/amqp091-go"

	"github.com/warrenmq/warren/compat/broker"
)

// bar is a measurement of one broker for one purpose.
type bar struct {
	flags  *flag.FlagSet
	broker *string
	binary *string
	dir    *string
	json   *string
}

func newBar(name string) bar {
	f := flag.NewFlagSet(name, flag.ContinueOnError)
	return bar{
		flags:  f,
		broker: f.String("broker", "warren", "the broker: warren or rabbitmq-RELEASE"),
		binary: f.String("binary", "warren", "the warren program"),
		dir:    f.String("dir", "", "folder for the broker's data (default: the temporary folder)"),
		json:   f.String("json", "", "write the figures to this file"),
	}
}

// run starts the broker on an empty folder, lets measure fill in figures, and prints them.
func (m bar) run(ctx context.Context, figures any, measure func(*broker.Broker) error) error {
	if release, ok := strings.CutPrefix(*m.broker, "rabbitmq-"); ok {
		if err := broker.Install(ctx, release, os.Stderr); err != nil {
			return err
		}
	}
	dir, err := os.MkdirTemp(*m.dir, "compare-"+m.flags.Name()+"-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	b, err := broker.Start(ctx, *m.broker, broker.Options{Binary: *m.binary, Dir: dir})
	if err != nil {
		return err
	}
	err = errors.Join(measure(b), b.Stop())
	text, jerr := json.MarshalIndent(figures, "", "\t")
	if jerr != nil {
		return errors.Join(err, jerr)
	}
	fmt.Printf("%s %s, %s\n%s\n", b.Name, b.Version, m.flags.Name(), text)
	if *m.json != "" {
		err = errors.Join(err, os.WriteFile(*m.json, append(text, '\n'), 0o644))
	}
	return err
}

const mib = 1 << 20

// idle is what a broker with nothing to do takes up.
type idle struct {
	Count     int     `json:"count"`
	Before    float64 `json:"rss_before_mib"`
	After     float64 `json:"rss_after_mib"`
	OnTop     float64 `json:"rss_on_top_mib"`
	Peak      float64 `json:"rss_peak_mib"` // while they were made
	Each      float64 `json:"kib_each"`
	Seconds   float64 `json:"seconds"`        // to make them
	CPU       float64 `json:"idle_cpu_share"` // of one core, with all of them idle
	Restarted float64 `json:"rss_restarted_mib,omitempty"`
	Restart   float64 `json:"restart_s,omitempty"`
}

// settle is how long a broker is left alone before its resident size is read.
const settle = 3 * time.Second

// measureIdle reads the resident size before and after make.
func (i *idle) measure(b *broker.Broker, make func() error) error {
	time.Sleep(settle)
	before, err := b.Usage()
	if err != nil {
		return err
	}
	if err := b.ResetPeak(); err != nil {
		return err
	}
	began := time.Now()
	if err := make(); err != nil {
		return err
	}
	i.Seconds = time.Since(began).Seconds()
	time.Sleep(settle)
	after, err := b.Usage()
	if err != nil {
		return err
	}
	began = time.Now()
	time.Sleep(settle)
	later, err := b.Usage()
	if err != nil {
		return err
	}
	i.CPU = (later.CPU - after.CPU).Seconds() / time.Since(began).Seconds()
	i.Before, i.After, i.Peak = float64(before.RSS)/mib, float64(after.RSS)/mib, float64(after.PeakRSS)/mib
	i.OnTop = i.After - i.Before
	i.Each = i.OnTop * 1024 / float64(i.Count)
	return nil
}

// idleQueues measures durable queues that nobody uses, and a restart with them.
func idleQueues(ctx context.Context, args []string) error {
	m := newBar("idle-queues")
	var f idle
	m.flags.IntVar(&f.Count, "count", 1000, "queues")
	each := m.flags.Int("messages", 1, "messages left in each queue")
	if err := m.flags.Parse(args); err != nil {
		return err
	}
	return m.run(ctx, &f, func(b *broker.Broker) error {
		if err := f.measure(b, func() error { return makeQueues(ctx, b.URL(), f.Count, *each) }); err != nil {
			return err
		}
		seconds, err := restart(ctx, b)
		if err != nil {
			return err
		}
		f.Restart = seconds
		u, err := b.Usage()
		f.Restarted = float64(u.RSS) / mib
		return err
	})
}

func makeQueues(ctx context.Context, url string, count, messages int) error {
	conn, err := amqp091.Dial(url)
	if err != nil {
		return err
	}
	defer conn.Close()
	ch, err := conn.Channel()
	if err != nil {
		return err
	}
	if err := ch.Confirm(false); err != nil {
		return err
	}
	for i := range count {
		name := fmt.Sprint("idle.", i)
		if _, err := ch.QueueDeclare(name, true, false, false, false, nil); err != nil {
			return err
		}
		for range messages {
			body := amqp091.Publishing{DeliveryMode: amqp091.Persistent, Body: make([]byte, 1024)}
			c, err := ch.PublishWithDeferredConfirmWithContext(ctx, "", name, false, false, body)
			if err != nil {
				return err
			}
			if ok, err := c.WaitContext(ctx); err != nil || !ok {
				return fmt.Errorf("%s: confirmed %v: %w", name, ok, err)
			}
		}
	}
	return nil
}

// idleConnections measures connections with one open channel each.
func idleConnections(ctx context.Context, args []string) error {
	m := newBar("idle-connections")
	var f idle
	m.flags.IntVar(&f.Count, "count", 1000, "connections")
	if err := m.flags.Parse(args); err != nil {
		return err
	}
	return m.run(ctx, &f, func(b *broker.Broker) error {
		var open []*amqp091.Connection
		defer func() {
			for _, c := range open {
				_ = c.Close() // the broker may be gone already
			}
		}()
		return f.measure(b, func() error {
			for range f.Count {
				c, err := amqp091.Dial(b.URL())
				if err != nil {
					return err
				}
				open = append(open, c)
				if _, err := c.Channel(); err != nil {
					return err
				}
			}
			return nil
		})
	})
}
