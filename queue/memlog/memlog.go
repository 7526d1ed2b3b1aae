// Package memlog keeps logs in memory, with the marks and the rules of keratin: for tests, and to show what a queue
// needs of a log. Nothing is flushed; durable follows written at once, or when Sync is called.
//
// A Store does its work on the goroutine that calls Commit, as keratin does: one at a time advances the marks and
// calls back; the others leave their work to it.
package memlog

import (
	"io"
	"sync"

	"github.com/warrenmq/warren/keratin"
)

const arenaBytes = 64 << 10

// Options configures a Store.
type Options struct {
	ManualSync bool // records become durable by Sync only
}

// Store is a set of logs.
type Store struct {
	o Options

	mu         sync.Mutex
	logs       map[keratin.LogID]*Log
	pending    []*Log // something is staged on them
	committing bool
	written    sync.Cond // broadcast when committing ends
	unclean    bool      // what was opened was not closed
}

// Log is one log.
type Log struct {
	s         *Store
	ephemeral bool

	mu      sync.Mutex
	owner   keratin.Owner
	records []keratin.Record // from base on
	base    keratin.Frontier // the first record kept
	marks   keratin.Marks
	arena   []byte // for the data of the next records
	trims   []trim
	waiters []waiter
	queued  bool // in Store.pending
	failed  error
	state   []byte // of the last checkpoint
	stateAt keratin.Frontier
}

type waiter struct {
	w    keratin.Waiter
	gate keratin.Mark
	at   keratin.Frontier
}

// trim is a head that holds once everything below at is durable.
type trim struct{ head, at keratin.Frontier }

// New returns an empty store.
func New(o Options) *Store {
	s := &Store{o: o, logs: make(map[keratin.LogID]*Log)}
	s.written.L = &s.mu
	return s
}

// OpenLog opens a log, a new one if there is none of this id.
func (s *Store) OpenLog(id keratin.LogID, o keratin.LogOptions, owner keratin.Owner) (*Log, keratin.Recovered, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.logs[id]
	if l == nil {
		l = &Log{s: s, ephemeral: o.Ephemeral}
		s.logs[id] = l
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.owner = owner
	return l, keratin.Recovered{State: l.state, At: l.stateAt, Marks: l.marks, Unclean: s.unclean}, nil
}

// Log returns an open log, nil if there is none.
func (s *Store) Log(id keratin.LogID) *Log {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.logs[id]
}

// SetManualSync changes when records become durable from now on.
func (s *Store) SetManualSync(manual bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.o.ManualSync = manual
}

// RemoveLog forgets a log. Who waits on it is told keratin.ErrClosed.
func (s *Store) RemoveLog(id keratin.LogID) error {
	s.mu.Lock()
	l := s.logs[id]
	delete(s.logs, id)
	s.mu.Unlock()
	if l != nil {
		l.Fail(keratin.ErrClosed)
	}
	return nil
}

// Logs returns the ids of all logs.
func (s *Store) Logs() []keratin.LogID {
	s.mu.Lock()
	defer s.mu.Unlock()
	var ids []keratin.LogID
	for id := range s.logs {
		ids = append(ids, id)
	}
	return ids
}

// Commit writes everything staged, unless another goroutine is at it, which then takes ours along.
func (s *Store) Commit() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.committing {
		s.commitLocked()
	}
}

func (s *Store) commitLocked() {
	s.committing = true
	for len(s.pending) > 0 {
		logs, flush := s.pending, !s.o.ManualSync
		s.pending = nil
		s.mu.Unlock()
		for _, l := range logs {
			l.write(flush)
		}
		s.mu.Lock()
	}
	s.committing = false
	s.written.Broadcast()
}

// Write is Commit, and waits for another goroutine's if there is one.
func (s *Store) Write() {
	s.Commit()
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.committing {
		s.written.Wait()
	}
}

// Sync makes everything staged durable.
func (s *Store) Sync() error {
	s.Commit()
	for _, l := range s.all() {
		l.write(true)
	}
	return nil
}

// Checkpoint takes a snapshot of every log's owner, after a Sync.
func (s *Store) Checkpoint() {
	for _, l := range s.all() {
		l.mu.Lock()
		owner := l.owner
		l.mu.Unlock()
		if owner == nil || l.ephemeral {
			continue
		}
		state, at := owner.Snapshot(nil)
		s.Sync()
		l.mu.Lock()
		l.state, l.stateAt = state, at
		l.mu.Unlock()
	}
}

func (s *Store) all() []*Log {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]*Log, 0, len(s.logs))
	for _, l := range s.logs {
		all = append(all, l)
	}
	return all
}

// Loss says what an end of the process takes with it.
type Loss int

const (
	Nothing Loss = iota // a clean stop: checkpointed and flushed
	Staged              // killed: what has been written stays
	Written             // power lost: what has been flushed stays
)

// Reopen returns a store with what is left of s after its end; s must not be used any more.
func (s *Store) Reopen(loss Loss) *Store {
	if loss == Nothing {
		s.Checkpoint()
	}
	n := New(s.o)
	n.unclean = loss != Nothing
	for id, l := range s.logs {
		if !l.ephemeral {
			n.logs[id] = l.left(n, loss)
		}
	}
	return n
}

func (l *Log) left(s *Store, loss Loss) *Log {
	l.mu.Lock()
	defer l.mu.Unlock()
	end := l.marks.Staged
	switch loss {
	case Staged:
		end = l.marks.Written
	case Written:
		end = l.marks.Durable
	}
	records := append([]keratin.Record(nil), l.records[:end-l.base]...)
	return &Log{
		s: s, records: records, base: l.base, state: l.state, stateAt: l.stateAt,
		marks: keratin.Marks{Head: l.base, Staged: end, Written: end, Durable: end},
	}
}

// Stage appends the batch's records. See queue.Log.
func (l *Log) Stage(b *keratin.Batch, gate keratin.Mark, w keratin.Waiter) (keratin.Offset, error) {
	l.mu.Lock()
	if l.failed != nil {
		defer l.mu.Unlock()
		return 0, l.failed
	}
	first := keratin.Offset(l.marks.Staged)
	for kind, data := range b.All() {
		l.records = append(l.records, keratin.Record{Offset: keratin.Offset(l.marks.Staged), Kind: kind, Data: l.copy(data)})
		l.marks.Staged++
	}
	if l.ephemeral && gate == keratin.Durable {
		gate = keratin.Written
	}
	if w != nil {
		l.waiters = append(l.waiters, waiter{w, gate, l.marks.Staged})
	}
	queue := !l.queued
	l.queued = true
	l.mu.Unlock()
	b.Reset()
	if queue {
		l.s.mu.Lock()
		l.s.pending = append(l.s.pending, l)
		l.s.mu.Unlock()
	}
	return first, nil
}

// copy copies data out of a batch, which will be used again.
func (l *Log) copy(data []byte) []byte {
	if cap(l.arena)-len(l.arena) < len(data) {
		l.arena = make([]byte, 0, max(arenaBytes, len(data)))
	}
	at := len(l.arena)
	l.arena = append(l.arena, data...)
	return l.arena[at:len(l.arena):len(l.arena)]
}

// write advances the written mark, and durable with it if flush is set, and calls back.
func (l *Log) write(flush bool) {
	l.mu.Lock()
	l.queued = false
	if l.failed != nil {
		l.mu.Unlock()
		return
	}
	moved := l.marks.Written != l.marks.Staged
	l.marks.Written = l.marks.Staged
	if flush || l.ephemeral {
		l.marks.Durable = l.marks.Written
	}
	l.reclaim()
	upTo, owner := l.marks.Written, l.owner
	passed := l.passed()
	l.mu.Unlock()
	if moved && owner != nil {
		owner.Written(upTo)
	}
	for _, w := range passed {
		w.w.Committed(nil)
	}
}

// passed takes the waiters whose gate has been passed.
func (l *Log) passed() []waiter {
	var passed []waiter
	kept := l.waiters[:0]
	for _, w := range l.waiters {
		mark := l.marks.Written
		if w.gate == keratin.Durable {
			mark = l.marks.Durable
		}
		if w.at <= mark {
			passed = append(passed, w)
		} else {
			kept = append(kept, w)
		}
	}
	clear(l.waiters[len(kept):])
	l.waiters = kept
	return passed
}

// Fail poisons the log: marks freeze, and every waiter and later caller gets err.
func (l *Log) Fail(err error) {
	l.mu.Lock()
	l.failed = err
	waiters := l.waiters
	l.waiters = nil
	l.mu.Unlock()
	for _, w := range waiters {
		w.w.Committed(err)
	}
}

// Marks returns the log's marks.
func (l *Log) Marks() keratin.Marks {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.marks
}

// Next returns the record at from. See queue.Log.
func (l *Log) Next(_ *keratin.Cursor, from keratin.Offset, below keratin.Frontier) (keratin.Record, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case !l.marks.Head.Covers(from) && min(below, l.marks.Written).Covers(from):
		return l.records[from-keratin.Offset(l.base)], nil
	case l.marks.Head.Covers(from):
		return keratin.Record{}, keratin.ErrTrimmed
	}
	return keratin.Record{}, io.EOF
}

// Trim tells that nothing below head is needed any more, once everything staged so far is durable.
func (l *Log) Trim(head keratin.Frontier) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if head <= l.marks.Head {
		return
	}
	l.marks.Head = head
	l.trims = append(l.trims, trim{head, l.marks.Staged})
	l.reclaim()
}

// reclaim drops what trims allow by now.
func (l *Log) reclaim() {
	n := 0
	for n < len(l.trims) && l.trims[n].at <= l.marks.Durable {
		n++
	}
	if n == 0 {
		return
	}
	head := l.trims[n-1].head
	l.trims = append(l.trims[:0], l.trims[n:]...)
	dead := int(head - l.base)
	clear(l.records[:dead])
	l.records = append(l.records[:0], l.records[dead:]...)
	l.base = head
}

// Forget drops the records but not their offsets, to measure what is held beside them. They cannot be read any more.
func (l *Log) Forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.records, l.arena, l.base = nil, nil, l.marks.Staged
}

// Kept returns the number of records that have not been reclaimed.
func (l *Log) Kept() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.records)
}
