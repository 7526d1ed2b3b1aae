package keratin

import (
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/warrenmq/warren/keratin/segment"
	"github.com/warrenmq/warren/keratin/vfs"
)

// Options are the store's settings. The zero value of each means its default.
type Options struct {
	// FS is the file system, rooted in the data directory. Default: the operating system's.
	FS vfs.FS
	// SyncInterval is how long written data that nobody waits for stays unflushed at most. Default 100 ms;
	// negative: for ever, until somebody waits.
	SyncInterval time.Duration
	// JournalFileBytes is the size of a journal file (default 32 MiB), JournalFiles how many full ones, or as much
	// settled data in segments, call for a checkpoint (default 2).
	JournalFileBytes int64
	JournalFiles     int
	// SegmentBytes is the size of the segments of a busy log; those of others begin at a 64th. Default 16 MiB.
	SegmentBytes int64
	// TailBytes is how much of what was written last is kept in memory, over all logs. Default 16 MiB.
	TailBytes int64
	// OpenFiles is how many segments are kept open for reading. Default 256.
	OpenFiles int
}

func (o *Options) defaults(dir string) {
	if o.FS == nil {
		o.FS = vfs.OS(dir)
	}
	set := func(v *int64, value int64) {
		if *v <= 0 {
			*v = value
		}
	}
	set(&o.JournalFileBytes, 32<<20)
	set(&o.SegmentBytes, 16<<20)
	set(&o.TailBytes, 16<<20)
	if o.SyncInterval == 0 {
		o.SyncInterval = 100 * time.Millisecond
	}
	if o.JournalFiles <= 0 {
		o.JournalFiles = 2
	}
	if o.OpenFiles <= 0 {
		o.OpenFiles = 256
	}
}

// Store is a data directory and its logs.
type Store struct {
	o     Options
	fs    vfs.FS
	lock  interface{ Close() error }
	epoch uint32 // of this boot

	failed  atomic.Pointer[failure]
	traffic atomic.Uint64 // bytes of records written since Open: the clock by which memory ages
	stats   counters

	damage []error // what recovery found

	mu   sync.Mutex
	logs map[LogID]*Log // guarded by mu

	pending pending
	w       writer
	journal journalFiles // guarded by w.mu
	watch   uint64       // guarded by w.mu: traffic at which to look at memory again
	dead    atomic.Int64 // bytes of segments settled since the last checkpoint
	flush   flusher
	ages    ages
	relief  relief
	janitor janitor
	garbage garbage
	fds     descriptors

	segmentsMade uint64 // the janitor's

	closed   atomic.Bool // no more staging
	flushing worker
	tidying  worker

	closing  sync.Mutex
	released bool // guarded by closing
}

// worker is a goroutine of the store.
type worker struct {
	stop chan struct{}
	done sync.WaitGroup
}

func (k *worker) start(run func(stop <-chan struct{})) {
	k.stop = make(chan struct{})
	k.done.Go(func() { run(k.stop) })
}

func (k *worker) end() {
	close(k.stop)
	k.done.Wait()
}

type failure struct{ err error }

// Failed returns why nothing can be written any more: nil, a *FailedError, or ErrClosed.
func (s *Store) Failed() error {
	if f := s.failed.Load(); f != nil {
		return f.err
	}
	return nil
}

// fail poisons the store. Only the first failure counts.
func (s *Store) fail(err error) {
	if !errors.Is(err, ErrClosed) {
		if failed, ok := errors.AsType[*FailedError](err); ok {
			err = failed
		} else {
			err = &FailedError{err}
		}
	}
	s.failed.CompareAndSwap(nil, &failure{err})
	s.flush.fail(s.Failed())
	s.relief.set(false)
}

// OpenLog returns the log with that id, which is made if there is none, with what recovery found. What has
// come since Recovered.State is the owner's to read. owner may be nil. A damaged log returns its *CorruptError and stays as it
// is; RemoveLog gets rid of it. A log is opened once.
func (s *Store) OpenLog(id LogID, o LogOptions, owner Owner) (*Log, Recovered, error) {
	s.mu.Lock()
	l := s.logs[id]
	if l == nil {
		if err := s.refusal(); err != nil {
			s.mu.Unlock()
			return nil, Recovered{}, err
		}
		l = s.newLog(id)
		l.ephemeral = o.Ephemeral
		s.logs[id] = l
	}
	s.mu.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failed != nil {
		return nil, Recovered{}, l.failed
	}
	if l.state.opened {
		return nil, Recovered{}, errors.New("keratin: log is open already")
	}
	r := Recovered{State: l.state.bytes, At: Frontier(l.state.at), Marks: l.marksLocked(), Unclean: l.state.unclean}
	l.owner = owner
	l.state.opened = true
	return l, r, nil
}

// LogOptions are the settings of a log.
type LogOptions struct {
	// Ephemeral: the log is not to survive. Nothing of it is written to the journal or flushed; under memory
	// pressure it is spilled to files that the next Open removes.
	Ephemeral bool
}

// Recovered is what Open found of a log.
type Recovered struct {
	State   []byte   // what Owner.Snapshot returned; empty if there was no checkpoint since
	At      Frontier // what State adds up. Records from max(At, Marks.Head) on are to be replayed: what lies below the head is settled
	Marks   Marks
	Unclean bool // the store was not closed
}

// recoveredState is what recovery found. Until the log's owner has come as far, it is what checkpoints hand on.
type recoveredState struct {
	bytes   []byte
	at      uint64
	unclean bool
	opened  bool
}

func (s *Store) newLog(id LogID) *Log {
	return &Log{s: s, id: id, salt: segment.Salt(uint64(id))}
}

// Logs returns the ids of the logs there are, those that recovery found damaged among them. What the caller's catalog
// does not know is to be removed.
func (s *Store) Logs() []LogID {
	var ids []LogID
	for _, l := range s.allLogs() {
		ids = append(ids, l.id)
	}
	return ids
}

// RemoveLog forgets a log and removes its segments. Its id must not be used again. The removal is not recorded: after
// a crash the log may be in Logs again, so the caller removes it from its catalog, durably, before.
func (s *Store) RemoveLog(id LogID) error {
	s.mu.Lock()
	l := s.logs[id]
	delete(s.logs, id)
	s.mu.Unlock()
	if l == nil {
		return nil
	}
	l.mu.Lock()
	l.failed = ErrClosed
	l.tail = tail{}
	var names []string
	for _, g := range l.older.files {
		names = append(names, g.name)
	}
	l.older.files = nil
	l.mu.Unlock()
	s.discardSegments(names)
	s.janitor.wake()
	s.commit() // tells those who wait for the log
	return nil
}

// Close makes everything durable, writes a checkpoint and releases the directory. What is staged from now on fails
// with ErrClosed. It returns the error with which the store failed, if it has.
func (s *Store) Close() error {
	s.closing.Lock()
	defer s.closing.Unlock()
	if s.released {
		return nil
	}
	s.closed.Store(true)
	err := s.Sync()
	s.stopJanitor()
	if err == nil {
		err = s.checkpoint(true)
	}
	if cerr := s.release(); err == nil {
		err = cerr
	}
	return err
}

// Abandon drops the store as the death of the process would: nothing is flushed, no checkpoint is written.
func (s *Store) Abandon() {
	s.closing.Lock()
	defer s.closing.Unlock()
	if s.released {
		return
	}
	s.closed.Store(true)
	s.stopJanitor()
	_ = s.release() // nobody is left to whom an error would matter
}

// Damage returns what Open found damaged and could not say of a single log, as *CorruptErrors: unreadable parts of the
// journal, a lost checkpoint. What is damaged for certain is reported by OpenLog.
func (s *Store) Damage() []error { return slices.Clone(s.damage) }

// refusal is why nothing new is taken.
func (s *Store) refusal() error {
	if s.closed.Load() {
		return ErrClosed
	}
	return s.Failed()
}

func (s *Store) stopJanitor() {
	s.janitor.stopped.Store(true)
	s.relief.set(false)
	s.tidying.end()
}

// release ends the flusher and closes everything.
func (s *Store) release() error {
	s.released = true
	s.flushing.end()
	s.fail(ErrClosed)
	s.w.mu.Lock()
	defer s.w.mu.Unlock()
	var errs []error
	for _, j := range slices.Concat(s.journal.full, s.journal.kept, s.journal.idle, []*journalFile{s.w.file, s.journal.spare}) {
		if j != nil {
			errs = append(errs, j.f.Close())
		}
	}
	s.fds.close()
	errs = append(errs, s.lock.Close())
	return errors.Join(errs...)
}
