package keratin

import (
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"sync"
	"time"

	"github.com/warrenmq/warren/keratin/journal"
	"github.com/warrenmq/warren/keratin/segment"
	"github.com/warrenmq/warren/keratin/vfs"
)

// Open opens the data directory dir, which is made if need be, and recovers what is in it:
//
//  1. The checkpoint says what every log was and from which journal file on there is more.
//  2. The journal is read from there. Its records become part of their logs' memory, as they were before: segments
//     are neither read nor written. An entry that is not intact ends the journal, silently, if nothing later says
//     that it had been flushed.
//  3. What was read is flushed, since it may have come from the kernel's memory only. A new journal file under a new
//     epoch is begun and made durable, so that nothing that was cut off can come back.
//
// Opening twice gives the same, also if the first attempt was cut short: what is removed is what no checkpoint names,
// and step 3 only adds a file. The error matches ErrLocked if another process has the directory, and is a *CorruptError if it
// cannot be told which logs are damaged; damage to a log is reported by OpenLog.
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
	for _, j := range append(s.journal.full, s.w.file) {
		if j != nil {
			errs = append(errs, j.f.Close())
		}
	}
	return errors.Join(append(errs, s.lock.Close())...)
}

func (s *Store) recover() error {
	c, err := readCheckpoint(s.fs)
	if err != nil {
		return err
	}
	r := recovery{s: s, fs: s.fs, logs: map[LogID]*Log{}}
	files, err := r.files(c)
	if err != nil {
		return err
	}
	if c == nil {
		if len(files) > 0 && files[0] != 1 {
			return &CorruptError{File: checkpointName, Why: "there is none, but the journal does not begin with its first file"}
		}
		c = &checkpointFile{journal: 1}
	}
	r.load(c)
	if err := r.read(files, max(c.seq, 1)); err != nil {
		return err
	}
	if err := r.replay(); err != nil {
		return err
	}
	s.logs = r.logs
	s.epoch = max(c.epoch, r.epoch) + 1
	s.w.seq = r.seq
	s.flush.durable.Store(r.seq)
	for _, l := range s.logs {
		l.state.unclean = !c.clean || r.seq != c.seq
	}
	for _, j := range s.journal.full {
		if err := j.f.Sync(); err != nil {
			return err
		}
	}
	if err := s.clean(); err != nil {
		return err
	}
	return s.beginJournal(files)
}

// beginJournal begins the file of this epoch. It is durable on return: an epoch is used only once.
func (s *Store) beginJournal(files []uint64) error {
	s.journal.last = 1
	if n := len(files); n > 0 {
		s.journal.last = files[n-1] + 1
	}
	j, err := s.createJournal(s.journal.last, min(s.o.JournalFileBytes, firstFileBytes), true)
	if err != nil {
		return err
	}
	s.begin(j)
	return nil
}

// clean removes what crashes have left: segments that the checkpoint does not name (what they hold is in the journal
// or settled), what was spilled, an unfinished checkpoint, journal files from before the checkpoint.
func (s *Store) clean() error {
	named := map[string]bool{}
	for _, l := range s.logs {
		for _, g := range l.older.files {
			named[g.name] = true
		}
	}
	var old []string
	for _, dir := range []string{segmentDir, spillDir} {
		names, err := s.fs.List(dir)
		if err != nil {
			return err
		}
		for _, name := range names {
			if name = path.Join(dir, name); !named[name] {
				old = append(old, name)
			}
		}
	}
	for _, name := range old {
		if err := s.fs.Remove(name); err != nil {
			return err
		}
	}
	return nil
}

// recovery is the reading of the journal.
type recovery struct {
	s       *Store
	fs      vfs.FS
	logs    map[LogID]*Log
	epoch   uint32 // highest seen
	seq     uint64 // of the next entry
	entries []readEntry
}

// readEntry is an intact entry, or a damaged one (below the durable mark) whose header is intact.
type readEntry struct {
	journal.Entry
	blocks []byte
	file   *journalFile
	pos    int64
	stamp  uint64
}

// files lists the journal files that count, oldest first, and removes those from before the checkpoint.
func (r *recovery) files(c *checkpointFile) ([]uint64, error) {
	names, err := r.fs.List(journalDir)
	if err != nil {
		return nil, err
	}
	var files []uint64
	for _, name := range names {
		g, ok := journal.ParseFileName(name)
		switch {
		case !ok:
			return nil, &CorruptError{File: path.Join(journalDir, name), Why: "not a journal file"}
		case c == nil || g >= c.journal:
			files = append(files, g)
		default:
			if err := r.fs.Remove(path.Join(journalDir, name)); err != nil {
				return nil, err
			}
		}
	}
	slices.Sort(files)
	if c != nil && !(c.clean && len(files) == 0) && (len(files) == 0 || files[0] != c.journal) {
		return nil, &CorruptError{File: path.Join(journalDir, journal.FileName(c.journal)), Why: "missing"}
	}
	return files, nil
}

// load makes the logs what the checkpoint says they were.
func (r *recovery) load(c *checkpointFile) {
	r.epoch = c.epoch
	for _, k := range c.logs {
		l := r.s.newLog(k.id)
		for i := range k.segments {
			l.older.files = append(l.older.files, &k.segments[i])
		}
		l.older.next, l.older.made = k.moved, len(k.segments)
		l.trim.wanted, l.trim.head = k.head, k.head
		l.marks.durable = k.durable // what must be found, until replay is done
		l.marks.staged = max(k.moved, k.head)
		l.state.bytes, l.state.at = k.state, k.at
		r.logs[k.id] = l
	}
}

// read reads all files. Entries below durable had been flushed, as the checkpoint says.
func (r *recovery) read(files []uint64, durable uint64) error {
	for _, g := range files {
		j := &journalFile{generation: g, seed: journal.EntrySeed(g)}
		f, err := r.fs.Open(j.name())
		if err != nil {
			return err
		}
		j.f = f
		r.s.journal.full = append(r.s.journal.full, j)
		if j.size, err = f.Size(); err != nil {
			return err
		}
		if err := r.readHeader(j); err != nil {
			return err
		}
		if err := r.readEntries(j); err != nil {
			return err
		}
		j.end = r.s.traffic.Load()
	}
	return r.check(durable)
}

// readHeader looks at a file's header for the epoch and the version. A header that is not there, or not intact, is no
// harm: the entries are bound to the generation, which is in the file's name.
func (r *recovery) readHeader(j *journalFile) error {
	b := make([]byte, journal.FileHeader)
	n, err := j.f.ReadAt(b, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	h, err := journal.DecodeHeader(b[:n])
	if asVersion(err) != nil {
		return versionError(j.name(), err)
	}
	if err == nil && h.Generation == j.generation {
		r.epoch = max(r.epoch, h.Epoch)
	}
	return nil
}

func asVersion(err error) *segment.VersionError {
	v, _ := errors.AsType[*segment.VersionError](err)
	return v
}

func versionError(file string, err error) error {
	return &VersionError{File: file, Version: asVersion(err).Version}
}

// readEntries collects the entries of a file. Entries that are not intact are skipped for the time being: check
// decides whether the journal ends before them or is corrupt.
func (r *recovery) readEntries(j *journalFile) error {
	scan := journal.NewScanner(j.f, j.size, j.generation)
	for {
		pos := scan.Pos()
		e, blocks, err := scan.Next()
		if asVersion(err) != nil {
			return versionError(j.name(), err)
		}
		if err == nil {
			r.add(readEntry{Entry: e, blocks: blocks, file: j, pos: pos})
			continue
		}
		if errors.Is(err, segment.ErrShort) {
			return nil // an entry longer than the file: torn, and the last one
		}
		if !errors.Is(err, io.EOF) {
			return err
		}
		if _, found, err := scan.Find(r.seq); err != nil || !found {
			return err
		}
	}
}

// add appends an entry after cutting what it takes the place of.
func (r *recovery) add(e readEntry) {
	for n := len(r.entries); n > 0 && e.Cuts(r.entries[n-1].Entry); n-- {
		r.entries = r.entries[:n-1]
	}
	e.stamp = r.s.traffic.Load()
	r.s.traffic.Add(uint64(len(e.blocks)))
	r.entries = append(r.entries, e)
	r.epoch = max(r.epoch, e.Epoch)
	r.seq = e.Seq
}

// check finds where the journal ends: before the first entry that is missing or not intact, if nothing behind it says
// that it had been flushed. Else it is damage.
func (r *recovery) check(durable uint64) error {
	proved := durable // every entry below was flushed, as the checkpoint or a later entry says
	for _, e := range r.entries {
		proved = max(proved, e.Durable)
	}
	intact := make([]error, len(r.entries))
	verify(r.entries, intact)
	r.seq = durable
	if len(r.entries) > 0 {
		r.seq = min(r.seq, r.entries[0].Seq)
	}
	for i, e := range r.entries {
		if e.Seq != r.seq || intact[i] != nil && e.Seq >= proved {
			for _, torn := range r.entries[i:] {
				r.s.stats.truncatedBytes.Add(uint64(torn.Size()))
			}
			r.entries = r.entries[:i]
			break
		}
		r.seq++
	}
	if r.seq < proved {
		return &CorruptError{File: journalDir, Why: fmt.Sprintf("entry %d is missing or unreadable, and all up to %d had been flushed", r.seq, proved)}
	}
	return nil
}

// verify checks the entries, on all processors: it is most of the work of a recovery.
func verify(entries []readEntry, intact []error) {
	const part = 256
	var wg sync.WaitGroup
	slots := make(chan struct{}, 4)
	for at := 0; at < len(entries); at += part {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			for i := at; i < min(at+part, len(entries)); i++ {
				intact[i] = entries[i].Intact(entries[i].file.generation, entries[i].blocks)
			}
		})
	}
	wg.Wait()
}

// replay gives the records to their logs.
func (r *recovery) replay() error {
	for _, e := range r.entries {
		err := e.EachBlock(e.file.generation, e.blocks, func(b segment.Block, records []byte, err error) {
			l := r.logs[LogID(b.Log)]
			if l == nil {
				l = r.s.newLog(LogID(b.Log))
				r.logs[l.id] = l
			}
			l.replay(b, records, err, e)
		})
		if err != nil { // it had been flushed, and which logs it is about is unreadable
			return &CorruptError{File: e.file.name(), Offset: e.pos, Why: err.Error()}
		}
	}
	for _, l := range r.logs {
		if l.failed == nil && l.marks.staged < l.marks.durable {
			l.failed = &CorruptError{File: checkpointName, Why: fmt.Sprintf("log %d ends at %d, %d was durable", l.id, l.marks.staged, l.marks.durable)}
		}
		l.marks.written, l.marks.durable = l.marks.staged, l.marks.staged
		l.dropDead()
		if l.tail.oldest() != unstamped {
			l.aged = true
			r.s.ages.push(l, l.tail.oldest())
		}
	}
	return nil
}

// replay appends a block to the log, or what of it is new.
func (l *Log) replay(b segment.Block, records []byte, damage error, e readEntry) {
	if l.failed != nil || b.End() <= l.marks.staged {
		return
	}
	if damage == nil && b.First > l.marks.staged {
		damage = fmt.Errorf("log %d continues at %d, %d was expected", l.id, b.First, l.marks.staged)
	}
	if damage != nil {
		l.failed = &CorruptError{File: e.file.name(), Offset: e.pos, Why: damage.Error()}
		return
	}
	c := chunk{first: b.First, count: b.Count, data: records, stamp: e.stamp}
	if b.First < l.marks.staged {
		c = chunk{first: l.marks.staged, count: uint32(b.End() - l.marks.staged), data: c.from(l.marks.staged), stamp: e.stamp}
	}
	l.tail.chunks = append(l.tail.chunks, c)
	l.marks.staged = c.end()
}
