package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/warrenmq/warren/compat/torture/history"
)

// The kinds of queue, which differ in what is owed.
const (
	durable = iota
	buffered
	kinds
)

// Bounds on what may hang.
const (
	drainTimeout = 2 * time.Minute
	workersEnd   = 30 * time.Second // for clients to notice that their broker is gone
)

// epoch is the life of a broker up to one cut, and the drain after it.
type epoch struct {
	number     int
	start      time.Time
	cutoff     time.Duration // since start: confirmed before that is confirmed before the cut
	window     time.Duration // buffered messages confirmed so long before cutoff are owed
	history    [kinds]*history.History
	publishers []*publisher
	consumers  []*consumer
	drains     []*consumer
	gone       []string // queues that the drain has not found

	cancel  context.CancelFunc
	workers sync.WaitGroup
}

// pastEpochs is how far back messages may come from that were drained, acknowledged, and are there again: acknowledged
// too late before the next cut, and the same once more in the drain after that.
const pastEpochs = 2

// newEpoch begins an epoch after past ones, whose messages it knows.
func newEpoch(number int, past []*epoch) *epoch {
	e := &epoch{number: number, start: time.Now()}
	for kind := range kinds {
		e.history[kind] = history.New()
		for _, before := range past {
			for _, p := range before.publishers {
				record := e.history[kind].NewPublisher(p.id, before.number)
				for _, to := range p.sent {
					record.Sending(to.queues(kind))
				}
			}
		}
	}
	return e
}

// load is a kind of load.
type load struct {
	longer time.Duration // than other kinds until the cut
	lazy   bool          // consumers hold what they get
	add    func(e *epoch, first uint32, r *rand.Rand)
}

// loads are the kinds of load. Whoever waits for a flush has everything flushed, so the window of the buffered queues
// shows only where nobody does; and a flush with a single record in it is a case of its own.
var loads = []load{
	{add: func(e *epoch, first uint32, r *rand.Rand) { // everything at once
		e.addPublisher(first, routes(true, false), 200, true, r)
		e.addPublisher(first+1, routes(false, true), 50, false, r)
		e.addPublisher(first+2, routes(true, true), 200, true, r)
	}},
	{longer: 100 * time.Millisecond, add: func(e *epoch, first uint32, r *rand.Rand) {
		e.addPublisher(first, routes(false, true), 50, false, r)
		e.addPublisher(first+1, routes(false, true), 200, false, r)
	}},
	{add: func(e *epoch, first uint32, r *rand.Rand) {
		e.addPublisher(first, routes(true, false), 1, true, r)
	}},
	recycling,
}

// recycling fills journal files, not so fast that the broker cannot prepare them, and leaves no backlog that would have
// to be moved: so old files are renamed, and nothing makes the file system commit that but a flush of their directory.
// What the consumers hold is in those files alone.
var recycling = load{longer: 800 * time.Millisecond, lazy: true, add: func(e *epoch, first uint32, r *rand.Rand) {
	e.addPublisher(first, withConsumers(routes(true, false)), 6, false, r).size = bigBody
}}

func (e *epoch) addPublisher(n uint32, to []route, window int, declares bool, r *rand.Rand) *publisher {
	p := &publisher{
		id: n, epoch: e.number, routes: to, window: window, declares: declares,
		size: bodySize, random: fork(r), start: e.start,
	}
	for kind := range kinds {
		p.records[kind] = e.history[kind].NewPublisher(n, e.number)
	}
	e.publishers = append(e.publishers, p)
	return p
}

// begin sets the clients to work.
func (e *epoch) begin(ctx context.Context, url string, kind load, first uint32, r *rand.Rand) {
	ctx, e.cancel = context.WithCancel(ctx)
	for durability, queues := range [kinds][]string{durableQueues, bufferedQueues} {
		for _, q := range queues {
			if !consumed[q] {
				continue
			}
			c := newConsumer(q, e.history[durability].NewSession(q, e.number, false), e.start, r)
			if kind.lazy {
				c.every, c.lazy = 50, true
			}
			e.consumers = append(e.consumers, c)
			e.workers.Go(func() { c.consume(ctx, url) })
		}
	}
	kind.add(e, first, r)
	for _, p := range e.publishers {
		e.workers.Go(func() { p.publish(ctx, url) })
	}
}

// end waits for the clients, whose broker has gone. They notice by themselves; one that does not is cancelled.
func (e *epoch) end() error {
	defer e.cancel()
	done := make(chan struct{})
	go func() { // ends with the workers
		e.workers.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-time.After(workersEnd):
		e.cancel()
		<-done
		return errors.New("a client did not notice that its broker was gone")
	}
}

// drain empties all queues there can be, each through one session that has it for itself.
func (e *epoch) drain(ctx context.Context, url string) error {
	ctx, cancel := context.WithTimeout(ctx, drainTimeout)
	defer cancel()
	var (
		workers sync.WaitGroup
		errs    = make(chan error, len(durableQueues)+len(bufferedQueues)+newQueues*len(e.publishers))
		mu      sync.Mutex // guards e.gone
	)
	one := func(queue string, kind int) {
		c := &consumer{queue: queue, record: e.history[kind].NewSession(queue, e.number+1, true), start: e.start, every: 50}
		e.drains = append(e.drains, c)
		workers.Go(func() {
			switch err := c.drain(ctx, url); {
			case errors.Is(err, errGone):
				mu.Lock()
				defer mu.Unlock()
				e.gone = append(e.gone, queue)
			case err != nil:
				errs <- fmt.Errorf("drain %s: %w", queue, err)
			}
		})
	}
	for _, q := range durableQueues {
		one(q, durable)
	}
	for _, q := range bufferedQueues {
		one(q, buffered)
	}
	for _, p := range e.publishers {
		for _, q := range p.declared {
			one(q.name, durable)
		}
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
func fork(r *rand.Rand) *rand.Rand { return rand.New(rand.NewPCG(r.Uint64(), r.Uint64())) }
