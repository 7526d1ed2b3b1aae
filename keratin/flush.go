package keratin

import (
	"sync"
	"sync/atomic"
	"time"
)

// flusher makes durable what commits have written. One goroutine, parked while nothing is to do. It is clocked by
// the flushes themselves: what arrives during one is the next one's work. Data that nobody waits for is flushed
// interval after it became dirty; the timer runs only while there is such data.
type flusher struct {
	s        *Store
	interval time.Duration // negative: only when somebody waits
	wake     chan struct{} // capacity 1
	durable  atomic.Uint64 // every journal entry below has been flushed

	mu     sync.Mutex
	next   flushJob
	urgent bool  // somebody waits
	early  bool  // tests only: waiters are told before the flush, which the crash tests must notice
	failed error // no flush will ever succeed again

	spare flushJob // the flusher's own: slices of the job before, to be used again
}

// flushJob is a set of obligations: when all files have been flushed, and dir if it is set, every log has reached its
// frontier, entries below seq are durable and every waiter is told. Jobs are only ever added to, so that merging two
// is their union.
type flushJob struct {
	files   []*journalFile
	dir     bool // the journal directory has an entry that is not durable
	logs    []flushMark
	waiters []Waiter
	seq     uint64
}

type flushMark struct {
	l  *Log
	to uint64
}

func (j *flushJob) empty() bool {
	return len(j.files) == 0 && !j.dir && len(j.logs) == 0 && len(j.waiters) == 0
}

// add takes over what a commit has written to file. seq is that of the next entry.
func (f *flusher) add(all []taken, file *journalFile, seq uint64) {
	f.mu.Lock()
	wasEmpty, wasUrgent := f.next.empty(), f.urgent
	for i := range all {
		t := &all[i]
		if t.l.ephemeral || t.failed != nil {
			continue
		}
		for _, x := range t.waiters {
			if x.gate == Durable {
				f.next.waiters = append(f.next.waiters, x.w)
				f.urgent = true
			}
		}
		if t.first == t.end {
			continue
		}
		f.dirty(file)
		f.next.seq = seq
		if t.l.flushAt > 0 {
			f.next.logs[t.l.flushAt-1].to = t.end
		} else {
			f.next.logs = append(f.next.logs, flushMark{t.l, t.end})
			t.l.flushAt = len(f.next.logs)
		}
	}
	if f.early {
		defer f.fail(nil)
	}
	signal := f.urgent && !wasUrgent || wasEmpty && !f.next.empty()
	failed := f.failed
	f.mu.Unlock()
	if failed != nil {
		f.fail(failed) // it came between this commit's write and this call
	} else if signal {
		f.signal()
	}
}

// dirty adds a file to the next job; f.mu is held.
func (f *flusher) dirty(file *journalFile) {
	if !file.dirty {
		file.dirty = true
		f.next.files = append(f.next.files, file)
	}
}

// wait makes w hear of the flush of everything added so far.
func (f *flusher) wait(w Waiter) {
	f.mu.Lock()
	f.next.waiters = append(f.next.waiters, w)
	f.urgent = true
	failed := f.failed
	f.mu.Unlock()
	if failed != nil {
		f.fail(failed)
		return
	}
	f.signal()
}

func (f *flusher) signal() {
	select {
	case f.wake <- struct{}{}:
	default: // a signal is waiting already
	}
}

// fail answers everybody who waits for a flush, and from now on those who come, with err.
func (f *flusher) fail(err error) {
	f.mu.Lock()
	if f.failed == nil {
		f.failed = err
	}
	err = f.failed
	waiters := f.next.waiters
	f.next.waiters = nil
	f.mu.Unlock()
	for _, w := range waiters {
		w.Committed(err)
	}
}

// run is the flusher's goroutine; it ends when stop is closed.
func (f *flusher) run(stop <-chan struct{}) {
	timer := time.NewTimer(time.Hour)
	timer.Stop()
	defer timer.Stop()
	armed, due := false, false
	for {
		f.mu.Lock()
		dirty := !f.next.empty() && f.failed == nil
		flush := dirty && (f.urgent || due)
		if flush {
			f.next, f.spare = f.spare, f.next
			f.urgent = false
			for _, m := range f.spare.logs {
				m.l.flushAt = 0
			}
			for _, file := range f.spare.files {
				file.dirty = false
			}
		}
		f.mu.Unlock()
		if flush {
			armed, due = false, false
			timer.Stop()
			f.flush(&f.spare)
			continue
		}
		if dirty && !armed && f.interval >= 0 {
			timer.Reset(f.interval)
			armed = true
		}
		select {
		case <-f.wake:
		case <-timer.C:
			due = true
		case <-stop:
			return
		}
	}
}

// flush carries out a job. A failure is the end of the store: the kernel forgets what it could not write, and a
// flush that succeeds later would say nothing about it.
func (f *flusher) flush(j *flushJob) {
	start := time.Now()
	var err error
	for _, file := range j.files {
		if err = file.f.Sync(); err != nil {
			break
		}
	}
	if err == nil && j.dir {
		err = f.s.fs.SyncDir(journalDir)
	}
	if err != nil {
		f.s.fail(err)
		err = f.s.Failed()
	} else {
		f.s.stats.flushed(time.Since(start), len(j.logs))
		if j.seq > 0 {
			f.durable.Store(j.seq)
		}
		for _, m := range j.logs {
			m.l.flushed(m.to)
		}
	}
	for _, w := range j.waiters {
		w.Committed(err)
	}
	clear(j.files)
	clear(j.logs)
	clear(j.waiters)
	*j = flushJob{files: j.files[:0], logs: j.logs[:0], waiters: j.waiters[:0]}
	f.s.commit() // what the waiters have staged
}

// flushed moves the durable mark.
func (l *Log) flushed(to uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.marks.durable = max(l.marks.durable, to)
	l.trim.advance(l.marks.durable)
	l.dropDead()
}

// answer is a Waiter that somebody blocks on.
type answer chan error

func (a answer) Committed(err error) { a <- err }

// Sync returns when everything that was staged before the call is durable.
func (s *Store) Sync() error {
	done := make(answer, 1)
	s.exclusive(func() { s.flush.wait(done) })
	return <-done
}
