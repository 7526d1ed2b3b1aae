package catalog

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/warrenmq/warren/keratin"
)

// Log is what the catalog needs of the log its records are on: a *keratin.Log has it, and so will a replicated one.
type Log interface {
	// Stage puts the batch's records at the end of the log, in the order of the calls, without I/O. w is told once
	// they are durable, or that they never will be.
	Stage(b *keratin.Batch, gate keratin.Mark, w keratin.Waiter) (first keratin.Offset, err error)
	// Next reads a record. It is only used by Open.
	Next(c *keratin.Cursor, from keratin.Offset, below keratin.Frontier) (keratin.Record, error)
	// Trim allows the log to forget what lies below.
	Trim(head keratin.Frontier)
}

// Options says what a catalog rests on and whom it tells.
type Options struct {
	// Open opens the command log for its owner, the catalog.
	Open func(keratin.Owner) (Log, keratin.Recovered, error)
	// Commit sets in motion what is staged; it may return before that is durable.
	Commit func()
	// Applied is called for every result with changes once they are durable, in the order of decision and never two
	// at a time, on the goroutine of somebody who proposes, who need not be the one whose result it is. It may block,
	// but must not call Propose; and nobody may propose while holding a lock that it takes. Nil for nobody.
	Applied func(*Result)
}

// kindChanges is the kind of the command log's records.
const kindChanges uint8 = 1

// Catalog is the machine on its log. All methods may be called by any number of goroutines.
//
// Lock order: delivering before deciding; deciding before the log's own locks.
type Catalog struct {
	log     Log
	commit  func()
	applied func(*Result)

	delivering sync.Mutex // one at a time takes results from the queue and tells them

	deciding struct {
		sync.Mutex
		state    *State
		batch    keratin.Batch
		staged   keratin.Frontier // records below it add up to the durable part of state
		snapshot keratin.Frontier // of the last snapshot taken
		pending  []*proposal      // decided, not delivered, oldest first
		failed   error            // why nothing more is decided

		recovered keratin.Recovered // what Open has not made a state of (yet)
	}

	view atomic.Pointer[View] // of the state; nil when that has changed since
}

// Open opens the catalog and replays its log.
func Open(o Options) (*Catalog, error) {
	c := &Catalog{commit: o.Commit, applied: o.Applied}
	d := &c.deciding
	d.Lock() // until then the log's checkpointer, which may ask for a snapshot at once, has to wait
	defer d.Unlock()
	log, rec, err := o.Open(c)
	if err != nil {
		return nil, fmt.Errorf("catalog: open the command log: %w", err)
	}
	d.recovered = rec
	state := NewState()
	if err := state.restore(rec.State); err != nil {
		return nil, err
	}
	var cur keratin.Cursor
	for at := rec.At; at < rec.Marks.Staged; at++ {
		r, err := log.Next(&cur, keratin.Offset(at), rec.Marks.Staged)
		if err != nil {
			return nil, fmt.Errorf("catalog: command log, record %d: %w", at, err)
		}
		if r.Kind != kindChanges {
			return nil, fmt.Errorf("catalog: command log, record %d: unknown kind %d", at, r.Kind)
		}
		if err := state.replay(r.Data); err != nil {
			return nil, fmt.Errorf("command log, record %d: %w", at, err)
		}
	}
	c.log, d.recovered = log, keratin.Recovered{}
	d.state, d.staged, d.snapshot = state, max(rec.At, rec.Marks.Staged), rec.At
	return c, nil
}

// proposal is a command that has been decided and is not told yet.
type proposal struct {
	result *Result
	logged bool

	// wake is for the proposer: there may be something to deliver, as its record is durable (or never will be), or
	// somebody else has delivered it. It holds one call.
	wake    chan struct{}
	durable atomic.Bool
	err     error // of the log; before durable is set by the log, later by the delivering

	delivered bool // guarded by delivering
}

// Committed tells that the record is durable, or why it never will be. It implements keratin.Waiter.
func (p *proposal) Committed(err error) {
	p.err = err
	p.durable.Store(true)
	p.call()
}

func (p *proposal) call() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// Propose has a command decided, made durable and told, and returns its result. An *Error means that the command is
// refused and nothing has changed; any other error that the log has failed, and then it is not known whether the
// command will be found carried out after a restart. It waits for a flush, shared with everybody who waits, if the
// command has changed anything durable or if changes before it are waiting.
func (c *Catalog) Propose(cmd Command) (*Result, error) {
	p, err := c.decide(cmd)
	if err != nil {
		return nil, err
	}
	if p.logged {
		c.commit()
		<-p.wake
	}
	for !c.deliver(p) {
		<-p.wake // it stands behind one that is not durable yet, whose proposer delivers both
	}
	return p.result, p.err
}

// decide applies the command, stages what is durable of it, and queues the result.
func (c *Catalog) decide(cmd Command) (*proposal, error) {
	d := &c.deciding
	d.Lock()
	defer d.Unlock()
	if d.failed != nil {
		return nil, d.failed
	}
	result, err := d.state.Apply(cmd)
	if err != nil {
		return nil, err
	}
	if len(result.Changes) > 0 {
		c.view.Store(nil)
	}
	p := &proposal{result: result, wake: make(chan struct{}, 1)}
	if data := encodeChanges(result.Changes); data != nil {
		p.logged = true
		if err := c.stageLocked(data, p); err != nil {
			d.failed = err // the state is ahead of the log for good
			return nil, err
		}
	}
	d.pending = append(d.pending, p)
	return p, nil
}

func (c *Catalog) stageLocked(data []byte, p *proposal) error {
	d := &c.deciding
	copy(d.batch.Reserve(kindChanges, len(data)), data)
	first, err := c.log.Stage(&d.batch, keratin.Durable, p)
	if err != nil {
		return err
	}
	if keratin.Frontier(first) != d.staged {
		return fmt.Errorf("catalog: command log: record got offset %d, expected %d", first, d.staged)
	}
	d.staged++
	return nil
}

// deliver tells the results that can be told, oldest first, and reports whether p has been among them, now or before.
//
// Nothing is left lying: a result that cannot be told yet stands behind a logged one that is not durable, whose
// proposer comes here when it is.
func (c *Catalog) deliver(p *proposal) bool {
	c.delivering.Lock()
	defer c.delivering.Unlock()
	for {
		next := c.nextToDeliver()
		if next == nil {
			return p.delivered
		}
		if next.err == nil && len(next.result.Changes) > 0 && c.applied != nil {
			c.applied(next.result)
		}
		if next.err != nil {
			next.result = nil
		}
		next.delivered = true
		if next != p {
			next.call()
		}
	}
}

// nextToDeliver takes the oldest result from the queue if it need not wait. After a failure of the log what was
// decided later fails too.
func (c *Catalog) nextToDeliver() *proposal {
	d := &c.deciding
	d.Lock()
	defer d.Unlock()
	if len(d.pending) == 0 {
		return nil
	}
	p := d.pending[0]
	if p.logged && !p.durable.Load() {
		return nil
	}
	d.pending[0] = nil
	if d.pending = d.pending[1:]; len(d.pending) == 0 {
		d.pending = nil
	}
	switch {
	case p.err != nil && d.failed == nil:
		d.failed = p.err
	case p.err == nil && d.failed != nil && !p.logged:
		p.err = d.failed
	}
	return p
}

// View returns the state to read. It may be ahead, by a flush, of what has been told to Applied.
func (c *Catalog) View() *View {
	if v := c.view.Load(); v != nil {
		return v
	}
	c.deciding.Lock()
	defer c.deciding.Unlock()
	return c.viewLocked()
}

func (c *Catalog) viewLocked() *View {
	v := c.view.Load()
	if v == nil {
		made := c.deciding.state.copy()
		v = &made
		c.view.Store(v)
	}
	return v
}

// Written implements keratin.Owner; nothing hangs on the written mark here.
func (c *Catalog) Written(keratin.Frontier) {}

// Snapshot appends the durable part of the state and the frontier of the records it adds up to. It implements
// keratin.Owner. The log may then forget what the snapshot before this one covers: a checkpoint with that one is
// complete, or this one would not be asked for; this one's is not.
func (c *Catalog) Snapshot(dst []byte) ([]byte, keratin.Frontier) {
	d := &c.deciding
	d.Lock()
	if d.state == nil { // Open has failed: what there was must stay
		defer d.Unlock()
		return append(dst, d.recovered.State...), d.recovered.At
	}
	v, nextLog := c.viewLocked(), d.state.nextLog
	covered, at := d.snapshot, d.staged
	d.snapshot = at
	d.Unlock()
	c.log.Trim(covered)
	return appendSnapshot(dst, v, nextLog), at
}
