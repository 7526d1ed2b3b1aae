package keratin

import (
	"sync"

	"github.com/warrenmq/warren/keratin/segment"
)

// maxBatch bounds what one Stage takes.
const maxBatch = 1 << 30

// Log is a sequence of records that grows at one end and is trimmed at the other. An idle log is this struct: no
// goroutine, no descriptor, no buffer.
type Log struct {
	s         *Store
	id        LogID
	salt      uint32
	ephemeral bool

	mu     sync.Mutex
	owner  Owner          // nil until OpenLog
	failed error          // nil, or what every caller gets from now on
	marks  frontiers      // how far the records have come
	trim   trim           // what is no longer wanted
	tail   tail           // the newest records
	staged staging        // what the next commit takes
	older  segments       // what has been moved to segment files
	state  recoveredState // what recovery found, until OpenLog takes it, and after that for logs nobody opens
	aged   bool           // in Store.ages
	held   uint64         // generation of the last journal file that has something only of it; counts once it has failed

	flushAt int // guarded by Store.flush.mu: 1 + index in flusher.logs, 0 if not there
}

type frontiers struct{ staged, written, durable uint64 }

// staging is what has been staged and not been taken by a commit yet.
type staging struct {
	queued  bool // in Store.pending
	pieces  [][]byte
	waiters []waiting
}

type waiting struct {
	w    Waiter
	gate Mark
}

// trim keeps what the owner has said is settled apart from what may be reclaimed for it. That a record is settled
// follows from later records; only when everything staged up to the call of Trim is durable does the settling
// survive a crash, and only then may the record go.
type trim struct {
	wanted uint64 // lowest record anybody may still read
	head   uint64 // lowest record that must still exist
	queue  [2]struct{ head, at uint64 }
	n      int // of queue in use: the second collects what comes while the first waits
}

// want notes that everything below head is settled by the records below staged.
func (t *trim) want(head, staged, durable uint64) {
	if head <= t.wanted {
		return
	}
	t.wanted = head
	if t.n < len(t.queue) {
		t.n++
	}
	t.queue[t.n-1] = struct{ head, at uint64 }{head, staged}
	t.advance(durable)
}

// advance moves head as far as the durable mark allows.
func (t *trim) advance(durable uint64) {
	for t.n > 0 && t.queue[0].at <= durable {
		t.head = t.queue[0].head
		t.queue[0] = t.queue[1]
		t.n--
	}
}

// failure is why nothing can be appended; l.mu is held.
func (l *Log) failure() error {
	if l.failed != nil {
		return l.failed
	}
	return l.s.Failed()
}

// Stage gives the batch's records their offsets and puts them in line for the next Commit. It does no I/O. w, unless
// nil, is told when everything staged up to here has reached gate; with an empty batch that is all that happens. On
// an ephemeral log Durable is the same as Written. After an error (*FailedError, *CorruptError, ErrClosed,
// ErrTooLarge) the batch is unchanged and w is not told.
func (l *Log) Stage(b *Batch, gate Mark, w Waiter) (first Offset, err error) {
	if b.Bytes() > maxBatch {
		return 0, ErrTooLarge
	}
	b.Seal()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.s.closed.Load() {
		return 0, ErrClosed
	}
	if err := l.failure(); err != nil {
		return 0, err
	}
	at, n := l.marks.staged, b.Len()
	if n > 0 {
		data := b.take()
		segment.Seal(data, l.salt, at)
		l.tail.extend(at, n, data)
		l.staged.add(data)
		l.marks.staged += uint64(n)
	}
	if w != nil {
		l.staged.waiters = append(l.staged.waiters, waiting{w, gate})
	}
	if !l.staged.queued && (n > 0 || w != nil) {
		l.staged.queued = true
		l.s.pending.add(l)
	}
	return Offset(at), nil
}

func (g *staging) add(data []byte) {
	if n := len(g.pieces); n > 0 && follows(g.pieces[n-1], data) {
		last := &g.pieces[n-1]
		*last = (*last)[:len(*last)+len(data)]
		return
	}
	g.pieces = append(g.pieces, data)
}

// Marks returns the log's frontiers.
func (l *Log) Marks() Marks {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.marksLocked()
}

func (l *Log) marksLocked() Marks {
	return Marks{Head: Frontier(l.trim.wanted), Staged: Frontier(l.marks.staged), Written: Frontier(l.marks.written), Durable: Frontier(l.marks.durable)}
}

// ID returns the log's id.
func (l *Log) ID() LogID { return l.id }

// Trim tells that every record below head is settled, by records that have been staged. They can no longer be read.
// Their memory and files go once what settled them is durable. Calls with a lower head do nothing; one beyond the
// staged mark counts as the staged mark.
func (l *Log) Trim(head Frontier) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.trim.want(min(uint64(head), l.marks.staged), l.marks.staged, l.marks.durable)
	l.dropDead()
}

// dropDead forgets what is in memory below the head; l.mu is held. Records that are not written yet are needed by
// the commit in any case.
func (l *Log) dropDead() {
	l.tail.drop(min(l.trim.head, l.marks.written))
	for l.older.dead < len(l.older.files) && l.older.files[l.older.dead].end <= l.trim.head {
		if l.s.dead.Add(l.older.files[l.older.dead].size) >= l.s.deadLimit() {
			l.s.janitor.wake()
		}
		l.older.dead++
	}
}

// Size returns the bytes of the log in memory and in segment files. What stands only in the journal is counted in
// memory.
func (l *Log) Size() (memory, disk int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range l.tail.live() {
		memory += int64(len(c.data))
	}
	for _, g := range l.older.files {
		disk += g.size
	}
	return memory, disk
}

// fail poisons the log: marks freeze and every later caller gets the same error. Only the first failure counts.
func (l *Log) fail(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failed == nil {
		l.failed, l.held = &FailedError{err}, 0
		l.s.stats.failedLogs.Add(1)
	}
}
