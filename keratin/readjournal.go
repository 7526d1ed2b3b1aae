package keratin

import (
	"cmp"
	"errors"
	"io"
	"path"
	"slices"
	"sync"

	"github.com/warrenmq/warren/keratin/journal"
	"github.com/warrenmq/warren/keratin/segment"
	"github.com/warrenmq/warren/keratin/vfs"
)

// recovery is the reading of the journal.
type recovery struct {
	s       *Store
	fs      vfs.FS
	logs    map[LogID]*Log
	epoch   uint32 // highest seen
	seq     uint64 // of the next entry
	files   []*journalFile
	entries []readEntry

	damage []error     // *CorruptError: what cannot be said of a single log
	aside  []readEntry // what of it is to be kept
}

// readEntry is an entry, or what is left of it.
type readEntry struct {
	journal.Entry
	blocks []byte
	file   *journalFile
	pos    int64
	stamp  uint64
	bad    error  // why it is not intact
	until  uint64 // not 0: the headers of entries Seq up to until are unreadable, and blocks is all that stands there
}

func (e *readEntry) end() int64 {
	if e.until > 0 {
		return e.pos + int64(len(e.blocks))
	}
	return e.pos + int64(e.Size())
}

// after is the sequence behind e.
func (e *readEntry) after() uint64 { return max(e.Seq+1, e.until) }

// list finds the journal files that count, oldest first, and removes those from before the checkpoint that it does not
// ask to keep.
func (r *recovery) list(c *checkpointFile) error {
	names, err := r.fs.List(journalDir)
	if err != nil {
		return err
	}
	first := uint64(0)
	for _, name := range names {
		g, ok := journal.ParseFileName(name)
		switch {
		case path.Ext(name) == asideExt:
		case !ok:
			return &CorruptError{File: path.Join(journalDir, name), Why: "not a journal file"}
		case g >= c.journal || c.keeps(g) > 0:
			r.files = append(r.files, &journalFile{generation: g, seed: journal.EntrySeed(g)})
			if g < c.journal {
				r.files[len(r.files)-1].next, r.files[len(r.files)-1].kept = c.keeps(g), true
			} else if first == 0 || g < first {
				first = g
			}
		default:
			if err := r.fs.Remove(path.Join(journalDir, name)); err != nil {
				return err
			}
		}
	}
	slices.SortFunc(r.files, func(a, b *journalFile) int { return cmp.Compare(a.generation, b.generation) })
	if c.journal > 0 && first != c.journal && !(c.clean && first == 0) {
		return &CorruptError{File: path.Join(journalDir, journal.FileName(c.journal)), Why: "missing"}
	}
	return nil
}

// read reads all files. Entries below durable had been flushed, as the checkpoint says.
func (r *recovery) read(durable uint64) error {
	for _, j := range r.files {
		f, err := r.fs.Open(j.name())
		if err != nil {
			return err
		}
		j.f = f
		if j.kept {
			r.s.journal.kept = append(r.s.journal.kept, j)
		} else {
			r.s.journal.full = append(r.s.journal.full, j)
		}
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
		j.epoch = h.Epoch
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

// readEntries collects the entries of a file, and the places where there should be some: check decides later whether
// the journal ends there or is damaged.
func (r *recovery) readEntries(j *journalFile) error {
	scan := journal.NewScanner(j.f, j.size, j.generation)
	seq := uint64(0) // of the last entry in this file
	for {
		pos := scan.Pos()
		e, blocks, err := scan.Next()
		if asVersion(err) != nil {
			return versionError(j.name(), err)
		}
		if err == nil {
			if j.kept && e.Seq >= j.next {
				return nil // void: cut off by an earlier recovery
			}
			r.add(readEntry{Entry: e, blocks: blocks, file: j, pos: pos})
			seq = e.Seq
			continue
		}
		if errors.Is(err, segment.ErrShort) {
			return nil // an entry longer than the file: torn, and the last one
		}
		if !errors.Is(err, io.EOF) {
			return err
		}
		e, found, err := scan.Find(seq)
		if err != nil || !found {
			return err
		}
		if err := r.addLost(j, pos, scan.Pos(), seq, e); err != nil {
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
	r.epoch = max(r.epoch, e.Epoch)
	e.file.epoch = max(e.file.epoch, e.Epoch) // its header may be damaged
	r.entries = append(r.entries, e)
}

// check goes through the journal run by run. There is one, but for files that were kept for single logs.
func (r *recovery) check(durable uint64) error {
	proved := durable // every entry below was flushed, as the checkpoint or a later entry says
	for _, e := range r.entries {
		proved = max(proved, e.Durable)
	}
	verify(r.entries)
	all, runs := r.entries, r.runs()
	r.entries, r.seq = nil, durable
	for i, files := range runs {
		n := len(all)
		if i < len(runs)-1 {
			if n = slices.IndexFunc(all, func(e readEntry) bool { return e.file.generation >= runs[i+1][0].generation }); n < 0 {
				n = len(all)
			}
		}
		found := all[:n]
		all = all[n:]
		next, end := durable, proved
		switch {
		case files[0].kept:
			next, end = files[0].next, files[0].next
		case i < len(runs)-1 && n > 0:
			end = found[n-1].after()
		}
		if n > 0 && found[0].Seq < next {
			next = found[0].Seq
		}
		if n > 0 && found[0].pos > journal.FileHeader { // something stood before it
			next = min(next, end)
		}
		if err := r.checkRun(files, found, next, end); err != nil {
			return err
		}
	}
	return nil
}

// runs splits the files where entries between two of them need not be there: around files that were kept.
func (r *recovery) runs() [][]*journalFile {
	var runs [][]*journalFile
	for i, j := range r.files {
		if i == 0 || r.files[i-1].kept {
			runs = append(runs, nil)
		}
		n := len(runs) - 1
		runs[n] = append(runs[n], j)
	}
	return runs
}

// checkRun finds where a run ends: before the first entry that is missing or not intact, if nothing behind it says
// that it had been flushed. Else it is damage, and the entries go on behind it. next is the sequence with which the run
// begins; entries below proved had been flushed.
func (r *recovery) checkRun(files []*journalFile, found []readEntry, next, proved uint64) error {
	defer func() { r.seq = next }()
	var prev *readEntry
	for i := range found {
		e := &found[i]
		if asVersion(e.bad) != nil {
			return versionError(e.file.name(), e.bad)
		}
		if e.Seq > next && next < proved {
			if err := r.addHole(files, prev, e, next, min(e.Seq, proved)); err != nil {
				return err
			}
			next = min(e.Seq, proved)
		}
		if e.Seq != next || (e.bad != nil || e.until > 0) && e.Seq >= proved {
			for _, torn := range found[i:] {
				r.s.stats.truncatedBytes.Add(uint64(torn.end() - torn.pos))
			}
			break
		}
		if e.until > proved {
			e.until = proved
		}
		r.entries = append(r.entries, *e)
		next, prev = e.after(), e
		e.file.next = next
	}
	if next < proved {
		if err := r.addHole(files, prev, nil, next, proved); err != nil {
			return err
		}
		next = proved
	}
	for _, j := range files {
		if j.next == 0 {
			j.next = next
		}
	}
	return nil
}

// verify checks the entries, on all processors: it is most of the work of a recovery.
func verify(entries []readEntry) {
	const part = 256
	var wg sync.WaitGroup
	slots := make(chan struct{}, 4)
	for at := 0; at < len(entries); at += part {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			for i := at; i < min(at+part, len(entries)); i++ {
				if e := &entries[i]; e.until == 0 {
					e.bad = e.Intact(e.file.generation, e.blocks)
				}
			}
		})
	}
	wg.Wait()
}
