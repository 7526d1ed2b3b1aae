package keratin

import (
	"container/heap"
	"errors"
	"io/fs"
	"sync"
	"sync/atomic"
)

const (
	// moveLogs is how many logs are moved to segments together: so many descriptors may be open at once.
	moveLogs = 64
	// moveFlushes is how many of them are flushed in parallel.
	moveFlushes = 8
)

// ages is the logs that have something in memory, by the age of the oldest of it. A log is in it once, with an age it
// had; it may have become younger since.
type ages struct {
	mu   sync.Mutex
	heap ageHeap
	out  uint64 // the lowest age among the logs that pop has taken out; only if any is true
	any  bool
}

type ageOf struct {
	l     *Log
	stamp uint64
}

type ageHeap []ageOf

func (h ageHeap) Len() int           { return len(h) }
func (h ageHeap) Less(i, j int) bool { return h[i].stamp < h[j].stamp }
func (h ageHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *ageHeap) Push(x any)        { *h = append(*h, x.(ageOf)) }
func (h *ageHeap) Pop() any {
	old := *h
	last := old[len(old)-1]
	old[len(old)-1] = ageOf{}
	*h = old[:len(old)-1]
	return last
}

// push enters a log; its lock may be held.
func (a *ages) push(l *Log, stamp uint64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	heap.Push(&a.heap, ageOf{l, stamp})
}

// pop takes up to n logs out that have something older than limit.
func (a *ages) pop(limit uint64, n int) []*Log {
	a.mu.Lock()
	defer a.mu.Unlock()
	var logs []*Log
	for len(logs) < n && len(a.heap) > 0 && a.heap[0].stamp < limit {
		x := heap.Pop(&a.heap).(ageOf)
		if !a.any {
			a.out, a.any = x.stamp, true
		}
		a.out = min(a.out, x.stamp)
		logs = append(logs, x.l)
	}
	return logs
}

// oldest is the age of the oldest data in memory, what is being moved included.
func (a *ages) oldest() uint64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	oldest := unstamped
	if len(a.heap) > 0 {
		oldest = a.heap[0].stamp
	}
	if a.any {
		oldest = min(oldest, a.out)
	}
	return oldest
}

// settled tells that all logs that were popped have been put back.
func (a *ages) settled() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.any = false
}

// settle puts a log back after its memory has been looked at.
func (l *Log) settle() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if oldest := l.tail.oldest(); oldest != unstamped && l.failed == nil { // what cannot be moved does not count
		l.s.ages.push(l, oldest)
	} else {
		l.aged = false
	}
}

// relief is where committers wait while too much is in memory.
type relief struct {
	wanted atomic.Bool
	mu     sync.Mutex
	cond   sync.Cond
}

func (r *relief) wait() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.wanted.Load() {
		r.cond.Wait()
	}
}

func (r *relief) set(wanted bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.wanted.Store(wanted)
	if !wanted {
		r.cond.Broadcast()
	}
}

// watchMemory calls the janitor when the oldest data in memory is further behind than TailBytes, and lets committers
// wait at twice that; the caller is the writer. Age is counted in bytes written since, so that what is kept in
// memory, with whatever is kept alive by lying in the same piece, is bounded by it.
func (s *Store) watchMemory() {
	now := s.traffic.Load()
	if now < s.watch {
		return
	}
	tail := uint64(s.o.TailBytes)
	s.watch = now + tail/16
	behind := uint64(0)
	if oldest := s.ages.oldest(); oldest != unstamped {
		behind = now - oldest
	}
	if behind > tail {
		s.janitor.wake()
	}
	if behind > 2*tail && s.Failed() == nil && !s.janitor.stopped.Load() {
		s.relief.set(true)
	}
}

// janitor is the goroutine that does what commits must not wait for: it moves old records from memory to segments,
// writes checkpoints, makes journal files ready and removes what nobody needs.
type janitor struct {
	signal  chan struct{} // capacity 1
	stopped atomic.Bool
}

func (j *janitor) wake() {
	select {
	case j.signal <- struct{}{}:
	default: // a signal is waiting already
	}
}

// runJanitor is the janitor's goroutine; it ends when stop is closed. What fails here fails the store: a journal that
// cannot be shortened ends with a full disk.
func (s *Store) runJanitor(stop <-chan struct{}) {
	for {
		select {
		case <-s.janitor.signal:
		case <-stop:
			return
		}
		if s.Failed() != nil {
			continue
		}
		if err := s.tidy(stop); err != nil {
			s.fail(err)
		}
	}
}

func (s *Store) tidy(stop <-chan struct{}) error {
	if err := s.prepareSpare(); err != nil {
		return err
	}
	tail := uint64(s.o.TailBytes)
	for {
		now := s.traffic.Load()
		oldest := s.ages.oldest()
		if oldest == unstamped || now-oldest <= tail {
			break
		}
		if err := s.evict(now - tail + tail/4); err != nil {
			return err
		}
		if err := s.prepareSpare(); err != nil {
			return err
		}
		if s.traffic.Load()-now < tail/2 {
			break
		}
		select {
		case <-stop:
			return nil
		default:
		}
	}
	s.relief.set(false)
	if err := s.sweep(); err != nil {
		return err
	}
	if s.checkpointDue() {
		if err := s.checkpoint(false); err != nil {
			return err
		}
		return s.prepareSpare()
	}
	return nil
}

// evict takes out of memory what was written before limit. It is flushed first, so that segments hold nothing that is
// not durable, and what is settled by then is not written at all.
func (s *Store) evict(limit uint64) error {
	began := s.traffic.Load()
	if err := s.Sync(); err != nil {
		return err
	}
	var seen []*Log
	defer func() {
		for _, l := range seen {
			l.settle()
		}
		s.ages.settled()
	}()
	for {
		logs := s.ages.pop(limit, moveLogs)
		if len(logs) == 0 {
			return nil
		}
		seen = append(seen, logs...)
		var moves []*move
		for _, l := range logs {
			if m := l.plan(limit); m != nil {
				m.began = began
				moves = append(moves, m)
			}
		}
		if err := s.carryOut(moves, limit); err != nil {
			return err
		}
	}
}

// carryOut writes, flushes and publishes moves. What fails poisons the log it was done for, and that one only.
func (s *Store) carryOut(moves []*move, limit uint64) error {
	created := false
	failed := make([]error, len(moves))
	for i, m := range moves {
		failed[i] = s.writeMove(m)
		created = created || m.created && !m.l.ephemeral
	}
	var wg sync.WaitGroup
	slots := make(chan struct{}, moveFlushes)
	for i, m := range moves {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			if err := m.flush(); failed[i] == nil {
				failed[i] = err
			}
		})
	}
	wg.Wait()
	if created {
		if err := s.fs.SyncDir(segmentDir); err != nil {
			return err
		}
	}
	for i, m := range moves {
		if failed[i] != nil {
			m.l.fail(failed[i])
		} else if !m.publish(limit) {
			s.discardSegments(m.names())
		}
	}
	return nil
}

// discardSegments queues files for removal.
func (s *Store) discardSegments(names []string) {
	s.garbage.mu.Lock()
	defer s.garbage.mu.Unlock()
	s.garbage.names = append(s.garbage.names, names...)
}

// garbage is segment files to be removed.
type garbage struct {
	mu    sync.Mutex
	names []string
}

// sweep removes the files in garbage. A file that is left over because we stop first is found by the next Open.
func (s *Store) sweep() error {
	s.garbage.mu.Lock()
	names := s.garbage.names
	s.garbage.names = nil
	s.garbage.mu.Unlock()
	for _, name := range names {
		s.fds.forget(name)
		if err := s.fs.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
