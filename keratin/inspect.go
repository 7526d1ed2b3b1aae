package keratin

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/warrenmq/warren/keratin/journal"
	"github.com/warrenmq/warren/keratin/segment"
	"github.com/warrenmq/warren/keratin/vfs"
)

// Report is what Verify found.
type Report struct {
	Checkpoint   bool // there is one
	Clean        bool // and the store was closed with it
	Logs         int
	JournalFiles int
	Entries      int
	Segments     int
	Blocks       int
	Records      uint64
	Torn         int64   // bytes of unfinished entries at the end of the journal, which opening cuts off
	Damage       []error // *CorruptError or *VersionError, each for another file or log
}

// Verify reads a data directory that no process has open, every record of every file that counts, and changes nothing.
// The error is of the reading; what is wrong with the data is in the report.
func Verify(dir string) (Report, error) {
	return inspect(dir, io.Discard)
}

// Dump writes what is in a data directory that no process has open to w: the checkpoint, and every journal entry,
// block and segment, one a line.
func Dump(dir string, w io.Writer) error {
	_, err := inspect(dir, w)
	return err
}

func inspect(dir string, w io.Writer) (Report, error) {
	var r Report
	if _, err := os.Stat(dir); err != nil {
		return r, err
	}
	return inspectFS(vfs.OS(dir), dir, w)
}

func inspectFS(fsys vfs.FS, dir string, w io.Writer) (r Report, err error) {
	lock, err := fsys.Lock("LOCK")
	if err != nil {
		if held, ok := errors.AsType[*vfs.LockedError](err); ok {
			return r, &LockError{Dir: dir, Pid: held.Pid}
		}
		return r, err
	}
	defer func() {
		if cerr := lock.Close(); err == nil {
			err = cerr
		}
	}()
	i := inspector{fs: fsys, w: &sticky{w: w}, report: &r}
	st := &Store{fs: readOnly{fsys}, logs: map[LogID]*Log{}}
	st.o.defaults("")
	st.janitor.signal = make(chan struct{}, 1)
	c, lost, err := st.readCheckpoints()
	if lost != nil {
		i.damaged(lost)
	}
	if damage(err) {
		i.damaged(err)
		return r, i.w.err
	}
	if err != nil {
		return r, err
	}
	if c != nil {
		r.Checkpoint, r.Clean = true, c.clean
		i.checkpoint(c)
	}
	logs, err := i.journal(st, c)
	if err != nil {
		return r, err
	}
	if err := i.segments(logs); err != nil {
		return r, err
	}
	return r, i.w.err
}

func damage(err error) bool {
	_, corrupt := errors.AsType[*CorruptError](err)
	_, newer := errors.AsType[*VersionError](err)
	return corrupt || newer
}

type inspector struct {
	fs     vfs.FS
	w      *sticky
	report *Report
}

// sticky remembers the first error of a writer.
type sticky struct {
	w   io.Writer
	err error
}

func (s *sticky) line(format string, args ...any) {
	if s.err == nil {
		_, s.err = fmt.Fprintf(s.w, format+"\n", args...)
	}
}

func (i *inspector) damaged(err error) {
	i.report.Damage = append(i.report.Damage, err)
	i.w.line("damage: %v", err)
}

func (i *inspector) checkpoint(c *checkpointFile) {
	i.w.line("checkpoint: clean %v, epoch %d, journal from %s, next entry %d, %d logs", c.clean, c.epoch, journal.FileName(c.journal), c.seq, len(c.logs))
	for _, l := range c.logs {
		i.w.line("  log %d: head %d, durable %d, in segments up to %d, state of %d bytes at %d", l.id, l.head, l.durable, l.moved, len(l.state), l.at)
		for _, g := range l.segments {
			i.w.line("    %s: records %d to %d in %d bytes", g.name, g.head.Base, g.end, g.size)
		}
	}
}

// journal reads it as recovery does, without making anything of it.
func (i *inspector) journal(s *Store, c *checkpointFile) ([]*Log, error) {
	r := recovery{s: s, fs: s.fs, logs: map[LogID]*Log{}}
	defer func() {
		for _, j := range r.files {
			if j.f != nil {
				_ = j.f.Close() // it was only read
			}
		}
	}()
	if c == nil {
		c = &checkpointFile{seq: 1}
	}
	err := r.list(c)
	if err == nil {
		r.load(c)
		err = r.read(c.seq)
	}
	if damage(err) {
		i.damaged(err)
	} else if err != nil {
		return nil, err
	}
	i.report.JournalFiles = len(r.files)
	i.report.Torn = int64(s.stats.truncatedBytes.Load())
	for _, e := range r.entries {
		if e.until > 0 {
			continue // replay tells
		}
		i.report.Entries++
		i.w.line("entry %d: %s at %d, %d bytes, epoch %d, durable %d, group %d term %d index %d", e.Seq, e.file.name(), e.pos, e.Size(), e.Epoch, e.Durable, e.Group, e.Term, e.Index)
		_ = e.EachBlock(e.file.generation, e.blocks, func(b segment.Block, _ []byte, _ error) { // replay reports what is wrong
			i.report.Blocks++
			i.report.Records += uint64(b.Count)
			i.w.line("  block: log %d, records %d to %d, %d bytes, epoch %d, durable %d", b.Log, b.First, b.End(), b.Length, b.Epoch, b.Durable)
		})
	}
	if err := r.replay(); damage(err) {
		i.damaged(err)
	}
	for _, err := range r.damage {
		i.damaged(err)
	}
	i.report.Logs = len(r.logs)
	s.logs = r.logs
	logs := s.allLogs()
	for _, l := range logs {
		if l.failed != nil {
			i.damaged(l.failed)
		}
	}
	return logs, nil
}

// readOnly is a file system for looking: what recovery would tidy away stays.
type readOnly struct{ vfs.FS }

func (readOnly) Remove(string) error { return nil }

func (readOnly) Rename(string, string) error { return nil }

func (readOnly) SyncDir(string) error { return nil }

func (readOnly) Create(string) (vfs.File, error) { return nowhere{}, nil }

// nowhere takes what recovery would write.
type nowhere struct{ vfs.File }

func (nowhere) WriteAt(p []byte, _ int64) (int, error) { return len(p), nil }

func (nowhere) Sync() error { return nil }

func (nowhere) Close() error { return nil }

// segments reads those that count, up to where they do.
func (i *inspector) segments(logs []*Log) error {
	named := map[string]bool{}
	for _, l := range logs {
		for _, g := range l.older.files {
			named[g.name] = true
			if err := i.segment(*g); damage(err) {
				i.damaged(err)
			} else if err != nil {
				return err
			}
		}
	}
	names, err := i.fs.List(segmentDir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	slices.Sort(names)
	for _, name := range names {
		if name = path.Join(segmentDir, name); !named[name] && strings.HasSuffix(name, ".segment") {
			i.w.line("%s: not in use, what counts of it is in the journal", name)
		}
	}
	return nil
}

var errEnough = errors.New("end of what counts")

func (i *inspector) segment(g segmentFile) error {
	f, err := i.fs.Open(g.name)
	if errors.Is(err, fs.ErrNotExist) {
		return &CorruptError{File: g.name, Why: "missing"}
	}
	if err != nil {
		return err
	}
	i.report.Segments++
	i.w.line("%s:", g.name)
	end := g.head.Base
	err = checkSegmentHeader(f, g)
	if err == nil {
		err = segment.Scan(f, g.head, func(pos int64, b segment.Block, _ []byte) error {
			if pos >= g.size {
				return errEnough
			}
			i.report.Blocks++
			i.report.Records += uint64(b.Count)
			end = b.End()
			i.w.line("  block at %d: records %d to %d, %d bytes, epoch %d", pos, b.First, b.End(), b.Length, b.Epoch)
			return nil
		})
	}
	if d, ok := errors.AsType[*segment.Damage](err); ok {
		if err = nil; d.Pos < g.size {
			err = &CorruptError{File: g.name, Offset: d.Pos, Why: d.Err.Error()}
		}
	}
	if errors.Is(err, errEnough) {
		err = nil
	}
	if err == nil && end != g.end {
		err = &CorruptError{File: g.name, Offset: g.size, Why: fmt.Sprintf("ends with record %d, the checkpoint says %d", end, g.end)}
	}
	if err != nil {
		return closing(f, err)
	}
	return f.Close()
}

// checkSegmentHeader compares a segment's header with what the checkpoint says of it.
func checkSegmentHeader(f vfs.File, g segmentFile) error {
	b := make([]byte, segment.HeaderSize)
	if _, err := f.ReadAt(b, 0); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	h, err := segment.DecodeHeader(b)
	switch {
	case asVersion(err) != nil:
		return versionError(g.name, err)
	case err != nil:
		return &CorruptError{File: g.name, Why: err.Error()}
	case h != g.head:
		return &CorruptError{File: g.name, Why: "header of another segment"}
	}
	return nil
}
