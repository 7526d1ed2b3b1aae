package keratin

import (
	"sync"
	"sync/atomic"

	"github.com/warrenmq/warren/keratin/journal"
	"github.com/warrenmq/warren/keratin/segment"
)

// entryBytes is the size from which a commit is continued in another journal entry.
const entryBytes = 4 << 20

// pending is the logs that have something staged.
type pending struct {
	some atomic.Bool // logs is not empty
	mu   sync.Mutex
	logs []*Log
}

// add puts a log in line; its lock is held.
func (p *pending) add(l *Log) {
	p.mu.Lock()
	p.logs = append(p.logs, l)
	if !p.some.Load() {
		p.some.Store(true)
	}
	p.mu.Unlock()
}

// take returns the logs in line and leaves the empty slice to collect the next ones.
func (p *pending) take(empty []*Log) []*Log {
	p.mu.Lock()
	defer p.mu.Unlock()
	logs := p.logs
	p.logs = empty
	p.some.Store(false)
	return logs
}

// writer is the right to write the journal, and what is needed for it.
type writer struct {
	mu    sync.Mutex // held while writing; TryLock decides who is the one that writes
	file  *journalFile
	pos   int64
	seq   uint64 // of the next entry
	logs  []*Log // scratch: the list that pending exchanges for its own
	taken []taken
	buf   []byte // the entry under construction

	// The entry and the block under construction.
	blocks uint32
	block  int // where its header stands in buf
}

// taken is what a commit has taken from one log.
type taken struct {
	l       *Log
	first   uint64 // the written mark before
	end     uint64 // and after
	durable uint64
	bytes   int
	pieces  [][]byte
	waiters []waiting
	failed  error
}

// Commit writes everything that is staged, in any log. If another goroutine is just doing so it takes ours along, and
// Commit returns at once. It blocks only while memory waits to be written to segments.
func (s *Store) Commit() {
	if s.relief.wanted.Load() {
		s.relief.wait()
	}
	s.commit()
}

// Write is Commit for whoever must not go on before everything that was staged before the call is written, also when
// another goroutine is just writing it.
func (s *Store) Write() { s.exclusive(func() {}) }

// commit makes this goroutine the writer until nothing is pending. Whoever finds the lock taken may leave: the one
// who holds it looks again after having released it.
func (s *Store) commit() {
	for s.pending.some.Load() {
		if !s.w.mu.TryLock() {
			return
		}
		s.drain()
		s.w.mu.Unlock()
	}
}

// exclusive runs f as the writer, with nothing pending, and then does what others have left to it.
func (s *Store) exclusive(f func()) {
	s.w.mu.Lock()
	s.drain()
	f()
	s.w.mu.Unlock()
	s.commit()
}

// drain writes until nothing is pending; s.w.mu is held.
func (s *Store) drain() {
	w := &s.w
	for {
		logs := s.pending.take(w.logs[:0])
		w.logs = logs
		if len(logs) == 0 {
			return
		}
		if cap(w.taken) < len(logs) {
			w.taken = append(w.taken[:cap(w.taken)], make([]taken, len(logs)-cap(w.taken))...)
		}
		w.taken = w.taken[:len(logs)]
		for i, l := range logs {
			l.take(&w.taken[i])
		}
		err := s.write(w.taken)
		s.finish(w.taken, err)
		clear(logs)
	}
}

// take moves what is staged into t, whose slices the log uses from now on.
func (l *Log) take(t *taken) {
	l.mu.Lock()
	defer l.mu.Unlock()
	t.l = l
	t.first, t.end, t.durable = l.marks.written, l.marks.staged, l.marks.durable
	t.failed = l.failure()
	t.pieces, l.staged.pieces = l.staged.pieces, t.pieces[:0]
	t.waiters, l.staged.waiters = l.staged.waiters, t.waiters[:0]
	t.bytes = 0
	for _, p := range t.pieces {
		t.bytes += len(p)
	}
	l.staged.queued = false
}

// write puts what was taken into the journal.
func (s *Store) write(all []taken) error {
	w := &s.w
	w.begin()
	for i := range all {
		t := &all[i]
		if t.failed != nil || t.l.ephemeral || t.first == t.end {
			continue
		}
		next := t.first
		for p, piece := range t.pieces {
			if p == 0 {
				w.open()
			} else if len(w.buf)+len(piece) > entryBytes {
				next = w.close(t, next, 0)
				if err := s.append(); err != nil {
					return err
				}
				w.open()
			}
			w.buf = append(w.buf, piece...)
		}
		w.close(t, next, t.end)
		if len(w.buf) > entryBytes {
			if err := s.append(); err != nil {
				return err
			}
		}
	}
	if w.blocks == 0 {
		return nil
	}
	return s.append()
}

func (w *writer) begin() {
	if cap(w.buf) > 2*entryBytes {
		w.buf = nil
	}
	if cap(w.buf) == 0 {
		w.buf = make([]byte, 0, 64<<10)
	}
	w.buf = w.buf[:journal.EntryHeader]
	w.blocks = 0
}

func (w *writer) open() {
	w.block = len(w.buf)
	w.buf = append(w.buf, make([]byte, segment.BlockHeader)...)
}

// close ends the block, which holds the records of t from first up to end, or if that is 0 up to where they have
// come. It returns the offset after the block.
func (w *writer) close(t *taken, first, end uint64) uint64 {
	records := w.buf[w.block+segment.BlockHeader:]
	if end == 0 {
		end = first
		for rest := records; len(rest) > 0; end++ {
			_, rest = segment.Next(rest)
		}
	}
	b := segment.Block{Log: uint64(t.l.id), First: first, Count: uint32(end - first), Epoch: t.l.s.epoch,
		Durable: min(t.durable, first), Length: uint32(len(records))}
	for len(w.buf)%8 != 0 {
		w.buf = append(w.buf, 0)
	}
	b.Put(w.buf[w.block:])
	w.blocks++
	return end
}

// append completes the entry, writes it and begins the next one.
func (s *Store) append() error {
	w := &s.w
	if err := s.room(int64(len(w.buf))); err != nil {
		return err
	}
	e := journal.Entry{Count: w.blocks, Length: uint32(len(w.buf) - journal.EntryHeader), Epoch: s.epoch, Seq: w.seq,
		Durable: s.flush.durable.Load(), Group: journal.SingleGroup, Index: w.seq}
	e.Put(w.buf, w.file.seed)
	e.SealBlocks(w.buf[journal.EntryHeader:], w.file.generation)
	if _, err := w.file.f.WriteAt(w.buf, w.pos); err != nil {
		return err
	}
	w.pos += int64(len(w.buf))
	w.seq++
	s.stats.entries.Add(1)
	s.stats.journalBytes.Add(uint64(len(w.buf)))
	w.begin()
	return nil
}

// finish moves the written marks, hands what is to be flushed to the flusher and tells owners and waiters. err is
// that of the write: then the store has failed and nobody's mark moves.
func (s *Store) finish(all []taken, err error) {
	if err != nil {
		s.fail(err)
		err = s.Failed()
	}
	stamp := s.traffic.Load()
	for i := range all {
		t := &all[i]
		if err != nil && t.failed == nil {
			t.failed = err
		}
		if t.failed == nil && t.first < t.end {
			t.l.wrote(t.end, stamp)
			s.traffic.Add(uint64(t.bytes))
			s.stats.records.Add(t.end - t.first)
			s.stats.bytes.Add(uint64(t.bytes))
		}
	}
	s.flush.add(all, s.w.file, s.w.seq)
	s.watchMemory()
	for i := range all {
		s.tell(&all[i])
	}
}

// wrote moves the written mark, and on an ephemeral log the durable one, which there means nothing more.
func (l *Log) wrote(end, stamp uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.marks.written = end
	l.tail.stamp(stamp)
	if l.ephemeral {
		l.marks.durable = end
		l.trim.advance(end)
		l.dropDead()
	}
	if !l.aged && l.tail.oldest() != unstamped {
		l.aged = true
		l.s.ages.push(l, l.tail.oldest())
	}
}

// tell runs what is gated by the written mark and forgets what was taken.
func (s *Store) tell(t *taken) {
	if t.failed == nil && t.first < t.end && t.l.owner != nil {
		t.l.owner.Written(Frontier(t.end))
	}
	for _, x := range t.waiters {
		if t.failed != nil || x.gate != Durable || t.l.ephemeral {
			x.w.Committed(t.failed)
		}
	}
	clear(t.pieces)
	clear(t.waiters)
	t.l = nil
}
