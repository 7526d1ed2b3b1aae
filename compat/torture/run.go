package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/warrenmq/warren/compat/broker"
	"github.com/warrenmq/warren/compat/torture/history"
)

// Bounds on what may hang.
const (
	drainTimeout = 5 * time.Minute
	workersEnd   = 30 * time.Second // for clients to notice that their broker is gone
	stallAfter   = time.Second      // an epoch this long without a confirm is a stall
)

// tormentor is a run.
type tormentor struct {
	o        options
	random   *rand.Rand
	broker   *broker.Broker
	proxy    *liar // nil unless it is the control
	topology topology

	epoch      int    // kills so far
	publishers uint32 // so far
	declared   bool
	summary    summary
}

// torture runs the whole test.
func torture(ctx context.Context, o options) error {
	if err := o.check(); err != nil {
		return err
	}
	fmt.Printf("seed %d\n", o.seed)
	b, err := broker.Start(ctx, o.broker, broker.Options{Binary: o.binary, Dir: o.dir})
	if err != nil {
		return err
	}
	t := &tormentor{
		o: o, broker: b, topology: newTopology(o.direct, o.buffered),
		random:  rand.New(rand.NewPCG(o.seed, 0)),
		summary: summary{Broker: o.broker, Version: b.Version, Control: o.control, Seed: o.seed},
	}
	if o.control == "proxy" {
		if t.proxy, err = newLiar(b.AMQP); err != nil {
			return errors.Join(err, b.Stop())
		}
		defer t.proxy.close()
	}
	err = t.run(ctx)
	t.summary.print()
	if o.json != "" {
		err = errors.Join(err, t.summary.write(o.json))
	}
	if err == nil {
		err = t.summary.verdict(&t.o)
	}
	if err != nil && o.control == "" {
		b.Kill()
		return fmt.Errorf("%w\ndata and log are kept in %s", err, b.Dir)
	}
	return errors.Join(err, b.Stop())
}

// run does cycles until the kills are done or the time is up.
func (t *tormentor) run(ctx context.Context) error {
	for t.summary.Kills < t.o.kills && time.Now().Before(t.o.until) {
		if err := t.cycle(ctx, min(t.o.perCheck, t.o.kills-t.summary.Kills)); err != nil {
			return fmt.Errorf("cycle %d, epoch %d: %w", t.summary.Cycles, t.epoch, err)
		}
		if t.o.control == "" && t.o.counting(&t.summary.Result) > 0 {
			return nil // more kills would only bury it
		}
	}
	return nil
}

// cycle kills n times and checks.
func (t *tormentor) cycle(ctx context.Context, n int) error {
	h := history.New()
	for range n {
		if err := t.ready(); err != nil {
			return err
		}
		if err := t.load(ctx, h); err != nil {
			return err
		}
		if err := t.restart(ctx); err != nil {
			return err
		}
	}
	// Twice: what the first round has taken out and acknowledged must not be there for the second.
	for range 2 {
		if err := t.ready(); err != nil {
			return err
		}
		if err := t.drain(ctx, h); err != nil {
			return fmt.Errorf("drain: %w", err)
		}
		t.broker.Kill()
		if err := t.restart(ctx); err != nil {
			return err
		}
	}
	report := h.Check()
	t.summary.Result.Add(report)
	t.summary.Cycles++
	fmt.Printf("%4d kills: published %d, confirmed %d, unknown %d, deliveries %d, violations %d\n",
		t.summary.Kills, report.Published, report.Confirmed, report.Unknown, report.Deliveries, report.Violated())
	return nil
}

// ready makes the topology the first time, and finds it again every other time.
func (t *tormentor) ready() error {
	if t.declared {
		return t.topology.find(t.broker.URL())
	}
	t.declared = true
	return t.topology.declare(t.broker.URL())
}

// restart starts the killed broker, killing it again while it recovers if chance wants it so.
func (t *tormentor) restart(ctx context.Context) error {
	t.epoch++
	for t.random.Float64() < t.o.killRecovery {
		soon, cancel := context.WithTimeout(ctx, time.Duration(t.random.Int64N(int64(60*time.Millisecond))))
		err := t.broker.Restart(soon) // kills what it has started when soon ends
		cancel()
		if err == nil {
			return nil // it was quicker
		}
		if !errors.Is(err, context.DeadlineExceeded) {
			return err
		}
		t.summary.RecoveryKills++
	}
	began := time.Now()
	if err := t.broker.Restart(ctx); err != nil {
		return err
	}
	t.summary.SlowestStart = max(t.summary.SlowestStart, time.Since(began).Seconds())
	return nil
}

// load runs the clients for a random time, kills the broker, and waits for the clients to notice.
func (t *tormentor) load(ctx context.Context, h *history.History) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var workers sync.WaitGroup
	for _, q := range t.topology.queues {
		for range t.o.consumers {
			record, r := h.NewSession(q, t.epoch, false), t.fork()
			workers.Go(func() { consume(ctx, t.broker.URL(), q, record, r) })
		}
	}
	var records []*history.Publisher
	for range t.o.publishers {
		record, r := h.NewPublisher(t.publishers, t.epoch), t.fork()
		t.publishers++
		records = append(records, record)
		workers.Go(func() { publish(ctx, t.publishURL(), record, t.topology.routes, r, t.o.load) })
	}
	up := t.o.minUp + time.Duration(t.random.Int64N(int64(t.o.maxUp-t.o.minUp)+1))
	select {
	case <-time.After(up):
	case <-ctx.Done():
		return ctx.Err()
	}
	died := !t.broker.Alive()
	t.broker.Kill()
	if t.proxy != nil {
		t.proxy.cut()
	}
	t.summary.Kills++
	if died {
		return errors.New("the broker had ended by itself")
	}
	if err := waitFor(&workers, cancel); err != nil {
		return err
	}
	return stalled(records, up)
}

// waitFor waits for clients that have lost their broker. They notice by themselves; one that does not is cancelled.
func waitFor(workers *sync.WaitGroup, cancel func()) error {
	done := make(chan struct{})
	go func() { // ends with the workers
		workers.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-time.After(workersEnd):
		cancel()
		<-done
		return errors.New("a client did not notice that its broker was gone")
	}
}

func stalled(records []*history.Publisher, up time.Duration) error {
	confirmed := 0
	for _, p := range records {
		confirmed += p.Confirmed()
	}
	if confirmed == 0 && up > stallAfter {
		return fmt.Errorf("stalled: no message confirmed in %v", up)
	}
	return nil
}

// drain empties all queues, each through one session that has it for itself.
func (t *tormentor) drain(ctx context.Context, h *history.History) error {
	ctx, cancel := context.WithTimeout(ctx, drainTimeout)
	defer cancel()
	errs := make(chan error, len(t.topology.queues))
	var workers sync.WaitGroup
	for _, q := range t.topology.queues {
		record, r := h.NewSession(q, t.epoch, true), t.fork()
		workers.Go(func() {
			if err := drain(ctx, t.broker.URL(), q, record, r); err != nil {
				errs <- fmt.Errorf("%s after %d messages: %w", q, record.Len(), err)
			}
		})
	}
	workers.Wait()
	close(errs)
	var all []error
	for err := range errs {
		all = append(all, err)
	}
	return errors.Join(all...)
}

// fork makes a source of chance for one worker, so that workers do not depend on each other's pace.
func (t *tormentor) fork() *rand.Rand {
	return rand.New(rand.NewPCG(t.random.Uint64(), t.random.Uint64()))
}

func (t *tormentor) publishURL() string {
	if t.proxy != nil {
		return "amqp://guest:guest@" + t.proxy.addr() + "/"
	}
	return t.broker.URL()
}
