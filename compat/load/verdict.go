package load

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// ErrLost is the verdict on a run whose messages did not come out as they were put in.
var ErrLost = errors.New("messages lost")

// progressInterval is how often a drain is looked at.
const progressInterval = 20 * time.Millisecond

// drain waits for what is outstanding: confirms, then deliveries. It gives up when nothing has come for the
// workload's Drain; what is missing then is for judge to say.
func (r *run) drain() error {
	err := r.progress(r.allDone)
	if err != nil || len(r.consumers) == 0 {
		return err
	}
	if r.workload.Backlog {
		for _, c := range r.consumers {
			if err := c.link.consume(c.queues, r.workload.Prefetch, r.workload.AutoAck); err != nil {
				return err
			}
			r.spawn(func() error { return c.link.serve(c) })
		}
	}
	return r.progress(func() bool {
		// Messages that were nacked may come out too: the count is a hint.
		return r.delivered() >= r.required() && r.missing() == 0
	})
}

// allDone reports whether everything has been sent and confirmed.
func (r *run) allDone() bool {
	return !slices.ContainsFunc(r.publishers, func(p *publisher) bool { return !p.isDone() })
}

// progress waits until done, or until no message has come for longer than the workload lets expect.
func (r *run) progress(done func() bool) error {
	ticker := time.NewTicker(progressInterval)
	defer ticker.Stop()
	patience := r.workload.Drain + r.publishers[0].schedule.interval
	var last uint64
	moved := r.out.clock.now()
	for !done() {
		select {
		case <-ticker.C:
		case <-r.ctx.Done():
			return context.Cause(r.ctx)
		}
		if now := r.arrived(); now != last {
			last, moved = now, r.out.clock.now()
		} else if r.out.clock.now()-moved > patience {
			return nil
		}
	}
	return nil
}

// arrived counts everything that has come from the broker.
func (r *run) arrived() uint64 {
	var n uint64
	for _, p := range r.publishers {
		p.mu.Lock()
		n += p.mu.confirmed + uint64(len(p.mu.nacked))
		p.mu.Unlock()
	}
	for _, c := range r.consumers {
		n += c.received.Load()
	}
	return n
}

func (r *run) delivered() (n uint64) {
	for _, c := range r.consumers {
		n += c.distinct.Load()
	}
	return n
}

// required counts the messages that must come out.
func (r *run) required() (n uint64) {
	for _, p := range r.publishers {
		p.mu.Lock()
		if p.mu.flights == nil {
			n += p.mu.sent
		} else {
			n += p.mu.confirmed
		}
		p.mu.Unlock()
	}
	return n
}

// missing counts those of them that have not.
func (r *run) missing() (n uint64) {
	for _, p := range r.publishers {
		p.mu.Lock()
		for seq := uint64(1); seq <= p.mu.sent; seq++ {
			if p.requiredLocked(seq) && !p.ledger.marked(seq) {
				n++
			}
		}
		p.mu.Unlock()
	}
	return n
}

// judge counts, and returns an error if the run did not go as it must. Of a run that was broken off
// it only counts.
func (r *run) judge(report *Report, complete bool) error {
	counts := &report.Counts
	confirms, deliveries, lateness := newLatency(), newLatency(), newLatency()
	for _, p := range r.publishers {
		p.mu.Lock()
		counts.Published += p.mu.sent
		counts.Confirmed += p.mu.confirmed
		counts.Nacked += uint64(len(p.mu.nacked))
		counts.Unsent += p.mu.unsent
		if p.mu.flights != nil {
			counts.Unconfirmed += uint64(p.mu.flights.outstanding)
		}
		confirms.Merge(p.mu.confirms.Histogram)
		lateness.Merge(p.mu.lateness.Histogram)
		p.mu.Unlock()
	}
	var foreign []string
	for _, c := range r.consumers {
		counts.Delivered += c.distinct.Load()
		counts.Deliveries += c.received.Load()
		counts.Redelivered += c.redelivery.Load()
		counts.Unknown += c.unknown.Load()
		deliveries.Merge(c.deliveries.Histogram)
		foreign = append(foreign, c.foreign...)
	}
	report.Confirm, report.Delivery, report.Lateness = confirms.summary(), deliveries.summary(), lateness.summary()
	if !complete {
		return nil
	}
	return r.verdict(counts, foreign)
}

func (r *run) verdict(counts *Counts, foreign []string) error {
	left, err := r.control.count(r.ctx, r.out.queues)
	if err != nil {
		return err
	}
	counts.Left = left
	if len(r.consumers) > 0 {
		counts.Missing = r.missing()
	} else if required := r.required(); left < required {
		counts.Missing = required - left
	}
	var faults []error
	if counts.Unconfirmed > 0 {
		faults = append(faults, fmt.Errorf("%d messages were not confirmed", counts.Unconfirmed))
	}
	if counts.Missing > 0 {
		faults = append(faults, fmt.Errorf("%w: %d of %d did not come out", ErrLost, counts.Missing, r.required()))
	}
	if counts.Unknown > 0 {
		faults = append(faults, fmt.Errorf("%w: %d came out that were not put in: %s", ErrLost, counts.Unknown, strings.Join(foreign, "; ")))
	}
	return errors.Join(faults...)
}
