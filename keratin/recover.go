package keratin

import (
	"errors"
	"io"
	"path"
	"slices"
	"time"

	"github.com/warrenmq/warren/keratin/journal"
	"github.com/warrenmq/warren/keratin/vfs"
)

// Open opens the data directory dir, which is made if need be, and recovers what is in it:
//
//  1. The checkpoint says what every log was and from which journal file on there is more. Without one, all segments
//     are read instead.
//  2. The journal is read from there. Its records become part of their logs' memory, as they were before: segments
//     are neither read nor written. An entry that is not intact ends the journal, silently, if nothing later says
//     that it had been flushed. Else it is damage: what can be told of it is read, and logs that lack something are
//     put out of service.
//  3. What was read is flushed, since it may have come from the kernel's memory only. A new journal file under a new
//     epoch is begun and made durable, so that nothing that was cut off can come back.
//
// Opening twice gives the same, also if the first attempt was cut short: what is removed is what no checkpoint names,
// and step 3 only adds a file. The error matches ErrLocked if another process has the directory, is a *VersionError if
// a newer program wrote something, and a *CorruptError if a journal file is missing. Damage to a log is reported by OpenLog,
// what cannot be said of one log by Store.Damage.
func Open(dir string, o Options) (*Store, error) {
	start := time.Now()
	o.defaults(dir)
	s := &Store{o: o, fs: o.FS, logs: map[LogID]*Log{}}
	s.relief.cond.L = &s.relief.mu
	s.fds.init(o.FS, o.OpenFiles)
	s.janitor.signal = make(chan struct{}, 1)
	s.flush.s, s.flush.interval, s.flush.wake = s, o.SyncInterval, make(chan struct{}, 1)
	for _, d := range []string{".", journalDir, segmentDir, spillDir} {
		if err := s.fs.MkdirAll(d); err != nil {
			return nil, err
		}
	}
	lock, err := s.fs.Lock("LOCK")
	if err != nil {
		if held, ok := errors.AsType[*vfs.LockedError](err); ok {
			return nil, &LockError{Dir: dir, Pid: held.Pid}
		}
		return nil, err
	}
	s.lock = lock
	if err := s.recover(); err != nil {
		return nil, errors.Join(err, s.discardOpen())
	}
	s.stats.recovery.Store(int64(time.Since(start)))
	s.flushing.start(s.flush.run)
	s.tidying.start(s.runJanitor)
	s.janitor.wake()
	return s, nil
}

// discardOpen closes what a failed Open has opened.
func (s *Store) discardOpen() error {
	var errs []error
	for _, j := range slices.Concat(s.journal.full, s.journal.kept, []*journalFile{s.w.file}) {
		if j != nil {
			errs = append(errs, j.f.Close())
		}
	}
	return errors.Join(append(errs, s.lock.Close())...)
}

func (s *Store) recover() error {
	c, lost, err := s.readCheckpoints()
	if err != nil {
		return err
	}
	r := recovery{s: s, fs: s.fs, logs: map[LogID]*Log{}}
	if lost != nil {
		r.damage = append(r.damage, lost)
	}
	fresh := c == nil
	if fresh {
		if err := r.refuse(lost); err != nil {
			return err
		}
		c = &checkpointFile{seq: 1}
	}
	if err := r.list(c); err != nil {
		return err
	}
	r.load(c)
	if err := r.read(c.seq); err != nil {
		return err
	}
	if err := r.replay(); err != nil {
		return err
	}
	s.logs, s.damage = r.logs, r.damage
	s.epoch = max(c.epoch, r.epoch) + 1
	s.w.seq = r.seq
	s.flush.durable.Store(r.seq)
	for _, l := range s.logs {
		l.state.unclean = !c.clean || r.seq != c.seq
	}
	for _, j := range r.files {
		if err := j.f.Sync(); err != nil {
			return err
		}
	}
	if err := r.keepAside(); err != nil {
		return err
	}
	if err := s.clean(); err != nil {
		return err
	}
	if err := s.beginJournal(r.files); err != nil || !fresh {
		return err
	}
	first := s.w.file.generation
	if len(r.files) > 0 {
		first = r.files[0].generation
	}
	// From now on, that there is no checkpoint means that it has been lost.
	return s.writeCheckpoint(&checkpointFile{epoch: s.epoch, journal: first, seq: s.w.seq})
}

// refuse returns nil if the store is new: its first checkpoint is written before anything can be in it. Without any
// checkpoint nothing says which segments and which part of the journal count, so that Open leaves everything as it is.
func (r *recovery) refuse(lost error) error {
	for _, dir := range []string{journalDir, segmentDir} {
		names, err := r.fs.List(dir)
		if err != nil {
			return err
		}
		for _, name := range names {
			used := dir == segmentDir
			if g, ok := journal.ParseFileName(name); ok && !used {
				if used, err = r.used(g); err != nil {
					return err
				}
			}
			if used && lost == nil {
				lost = &CorruptError{File: checkpointName, Why: "missing, and so is its copy"}
			}
		}
	}
	return lost
}

// used tells whether a journal file has an entry.
func (r *recovery) used(generation uint64) (bool, error) {
	j := &journalFile{generation: generation}
	f, err := r.fs.Open(j.name())
	if err != nil {
		return false, err
	}
	size, err := f.Size()
	if err != nil {
		return false, closing(f, err)
	}
	_, _, err = journal.NewScanner(f, size, generation).Next()
	if cerr := f.Close(); cerr != nil {
		return false, cerr
	}
	return !errors.Is(err, io.EOF), nil
}

// beginJournal begins the file of this epoch. It is durable on return: an epoch is used only once.
func (s *Store) beginJournal(files []*journalFile) error {
	s.journal.last = 1
	if n := len(files); n > 0 {
		s.journal.last = files[n-1].generation + 1
	}
	j, err := s.createJournal(s.journal.last, min(s.o.JournalFileBytes, firstFileBytes), true)
	if err != nil {
		return err
	}
	s.begin(j)
	return nil
}

// clean removes what crashes have left: segments that the checkpoint does not name (what they hold is in the journal
// or settled), and what was spilled.
func (s *Store) clean() error {
	named := map[string]bool{}
	for _, l := range s.logs {
		for _, g := range l.older.files {
			named[g.name] = true
		}
	}
	for _, dir := range []string{segmentDir, spillDir} {
		names, err := s.fs.List(dir)
		if err != nil {
			return err
		}
		for _, name := range names {
			name = path.Join(dir, name)
			switch {
			case named[name] || path.Ext(name) == asideExt:
			default:
				err = s.fs.Remove(name)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}
