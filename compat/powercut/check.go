package main

import (
	"fmt"
	"slices"
	"time"

	"github.com/warrenmq/warren/compat/torture/history"
)

// The classes of violation beyond those of package history.
const (
	vanished history.Class = "vanished"
	phantom                = history.Phantom
	gone     history.Class = "gone"
	start    history.Class = "start"
)

var classes = append(slices.Clone(history.Classes), vanished, gone, start)

// finding is the result of one cut.
type finding struct {
	confirmed  [kinds]int // pairs of a message and a queue that are owed
	unknown    int        // messages
	recovered  int        // pairs that nobody had confirmed, delivered all the same
	deliveries int
	undone     int           // acknowledgements that the cut has undone
	withinLost int           // pairs of buffered queues, confirmed within the window and lost, as they may be
	oldestLost time.Duration // before the cut, of those
	violations map[history.Class]int
	examples   []string
}

func (f *finding) blame(class history.Class, format string, args ...any) {
	f.violations[class]++
	if f.violations[class] <= 5 {
		f.examples = append(f.examples, string(class)+": "+fmt.Sprintf(format, args...))
	}
}

func (f *finding) violated() int {
	n := 0
	for _, c := range f.violations {
		n += c
	}
	return n
}

// pair is a message in a queue.
type pair struct {
	id
	queue string
}

// check judges an epoch after its drain; before is the epoch before it, or nil.
func (e *epoch) check(before *epoch) *finding {
	f := &finding{violations: map[history.Class]int{}}
	horizon := [kinds]time.Duration{durable: e.cutoff, buffered: e.cutoff - e.window}
	arrived, after := map[pair]bool{}, map[pair]bool{}
	for _, c := range e.consumers {
		for _, s := range c.seen {
			arrived[pair{s.id, c.queue}] = true
		}
	}
	for _, c := range e.drains {
		for _, s := range c.seen {
			after[pair{s.id, c.queue}], arrived[pair{s.id, c.queue}] = true, true
		}
	}
	owed := map[pair]bool{}
	for _, p := range e.publishers {
		e.settle(f, p, horizon, owed, arrived)
	}
	for kind := range kinds {
		f.history(e.history[kind].Check())
	}
	f.unknown /= kinds // every message is in both histories
	for _, c := range e.consumers {
		f.session(c, horizon[buffered], owed, after)
	}
	if before != nil {
		for _, c := range before.drains {
			f.session(c, horizon[buffered]+e.start.Sub(before.start), nil, after)
		}
	}
	e.checkGone(f)
	return f
}

// settle tells the histories which of a publisher's messages are owed.
func (e *epoch) settle(f *finding, p *publisher, horizon [kinds]time.Duration, owed, arrived map[pair]bool) {
	for seq, at := range p.confirmed {
		if at == 0 || at >= e.cutoff {
			f.unknown += kinds
			continue
		}
		for kind := range kinds {
			for _, q := range p.sent[seq].queues(kind) {
				key := pair{id{p.id, uint32(seq)}, q}
				if at < horizon[kind] {
					f.confirmed[kind]++
					owed[key] = true
				} else if !arrived[key] {
					f.withinLost++
				}
				if kind == buffered && !arrived[key] {
					f.oldestLost = max(f.oldestLost, e.cutoff-at)
				}
			}
			if at < horizon[kind] {
				p.records[kind].Settle(uint32(seq), history.OK)
			}
		}
	}
}

// history takes over what package history has found.
func (f *finding) history(r history.Report) {
	f.recovered += r.Recovered
	f.deliveries += r.Deliveries
	f.undone += r.AcksUndone
	for _, class := range history.Classes {
		f.violations[class] += r.Violations[class]
		for _, example := range r.Examples[class] {
			f.examples = append(f.examples, string(class)+": "+example)
		}
	}
}

// session checks what a consumer before the cut knew of its deliveries against what was there after it. horizon is on
// the consumer's clock.
func (f *finding) session(c *consumer, horizon time.Duration, owed, after map[pair]bool) {
	for i, s := range c.seen {
		key := pair{s.id, c.queue}
		switch {
		case !s.acked && owed[key] && !after[key]:
			f.blame(vanished, "queue %s: message %d of publisher %d, delivered and never acknowledged", c.queue, s.seq, s.publisher)
		case s.settled > 0 && s.settled < horizon && after[key]:
			f.blame(phantom, "queue %s: message %d of publisher %d, delivery %d, settled %v before the horizon",
				c.queue, s.seq, s.publisher, i, horizon-s.settled)
		}
	}
}

// checkGone blames queues that must be there.
func (e *epoch) checkGone(f *finding) {
	for _, name := range e.gone {
		required := true
		for _, p := range e.publishers {
			for _, q := range p.declared {
				if q.name == name {
					required = q.at > 0 && q.at < e.cutoff
				}
			}
		}
		if required {
			f.blame(gone, "queue %s", name)
		}
	}
}
