package keratin

import (
	"path"
	"slices"

	"github.com/warrenmq/warren/keratin/journal"
	"github.com/warrenmq/warren/keratin/vfs"
)

const (
	journalDir = "journal"
	segmentDir = "segments"
	spillDir   = "spill"

	// firstFileBytes is the size of the file that Open begins: small, because Open waits for its zeros.
	firstFileBytes = 4 << 20
)

// journalFile is one file of the journal. It is open from its creation to its removal, so that a failed write-back
// cannot go unnoticed.
type journalFile struct {
	f          vfs.File
	generation uint64
	seed       uint32
	size       int64
	epoch      uint32 // of the boot that wrote it
	zeroed     bool   // every block has been written once
	kept       bool   // it stands before the journal's first file, for logs that are out of service
	next       uint64 // sequence after its last entry, once it is full
	end        uint64 // Store.traffic when the file was full; until then unstamped
	dirty      bool   // in the next flush job; guarded by flusher.mu
}

func (j *journalFile) name() string { return path.Join(journalDir, journal.FileName(j.generation)) }

// journalFiles is the files besides the one being written. It is guarded by Store.w.mu.
type journalFiles struct {
	full  []*journalFile // oldest first: written, and still needed by recovery
	kept  []*journalFile // older, and needed for single logs only: see checkpointFile.kept
	spare *journalFile   // ready to be written: zeroed or recycled, header and name durable
	idle  []*journalFile // to be used again or removed
	last  uint64         // highest generation given out
}

// createJournal makes a journal file. With zeros its blocks are written and everything is durable on return; without,
// the file grows as it is written, and both its header and its name are still to be flushed.
func (s *Store) createJournal(generation uint64, size int64, zeros bool) (*journalFile, error) {
	j := &journalFile{generation: generation, size: size, seed: journal.EntrySeed(generation), end: unstamped, zeroed: zeros}
	f, err := s.fs.Create(j.name())
	if err != nil {
		return nil, err
	}
	j.f = f
	if zeros {
		if err := j.zero(); err != nil {
			return nil, closing(f, err)
		}
	}
	if err := s.headJournal(j, zeros); err != nil {
		return nil, closing(f, err)
	}
	return j, nil
}

// page is what blocks are written with before they are used. It is small on purpose: the kernel keeps, and writes back,
// in units of the size in which a file was first written, so that after zeros by the mebibyte every commit would cost
// a mebibyte of disk writes.
var page [4096]byte

// zero writes the file's blocks.
func (j *journalFile) zero() error {
	for at := int64(0); at < j.size; at += int64(len(page)) {
		if _, err := j.f.WriteAt(page[:min(int64(len(page)), j.size-at)], at); err != nil {
			return err
		}
	}
	return nil
}

// headJournal writes the header of a file that begins a life, and if asked makes it and the file's name durable.
func (s *Store) headJournal(j *journalFile, durable bool) error {
	head := make([]byte, journal.FileHeader)
	journal.Header{Generation: j.generation, Epoch: s.epoch}.Put(head)
	if _, err := j.f.WriteAt(head, 0); err != nil {
		return err
	}
	if !durable {
		return nil
	}
	if err := j.f.Sync(); err != nil {
		return err
	}
	return s.fs.SyncDir(journalDir)
}

// closing closes f after err, which is the error that counts.
func closing(f vfs.File, err error) error {
	_ = f.Close() // nothing more can be said than err
	return err
}

// room makes sure that the current file has n bytes left, taking the next one if it has not; s.w.mu is held.
func (s *Store) room(n int64) error {
	w := &s.w
	if w.pos+n <= w.file.size {
		return nil
	}
	next := s.journal.spare
	fresh := next == nil || next.size < journal.FileHeader+n
	if fresh {
		var err error
		s.journal.last++
		size := max(s.o.JournalFileBytes, journal.FileHeader+n)
		if next, err = s.createJournal(s.journal.last, size, false); err != nil {
			return err
		}
		s.stats.unprepared.Add(1)
		if s.journal.spare != nil { // too small; its generation is behind now, and files are read in their order
			s.journal.idle = append(s.journal.idle, s.journal.spare)
		}
	}
	s.journal.spare = nil
	s.flush.rolled(w.file, fresh)
	w.file.end, w.file.next = s.traffic.Load(), w.seq
	s.journal.full = append(s.journal.full, w.file)
	s.begin(next)
	s.janitor.wake()
	return nil
}

// begin makes a file the current one; s.w.mu is held.
func (s *Store) begin(j *journalFile) { s.w.file, s.w.pos = j, journal.FileHeader }

// whole tells whether the file can be used again: it has the usual size, and all of its blocks have been written.
func (j *journalFile) whole(size int64) bool { return j.zeroed && j.size == size }

// rolled adds a file to the next job that will not be written any more. What stands in it is owed to logs that the
// running commit has yet to add.
func (f *flusher) rolled(old *journalFile, dir bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.dirty(old)
	f.next.dir = f.next.dir || dir
}

// prepareSpare makes the next journal file ready, from a file that is no longer needed or a new one, and removes the
// files that are too many.
func (s *Store) prepareSpare() error {
	for {
		var (
			generation uint64
			old        *journalFile
			excess     []*journalFile
		)
		s.exclusive(func() {
			if s.journal.spare == nil {
				s.journal.last++
				generation = s.journal.last
				old = s.journal.reuse(s.o.JournalFileBytes)
			}
			for i := 0; i < len(s.journal.idle); {
				if j := s.journal.idle[i]; i >= s.o.JournalFiles || !j.whole(s.o.JournalFileBytes) {
					s.journal.idle = slices.Delete(s.journal.idle, i, i+1)
					excess = append(excess, j)
				} else {
					i++
				}
			}
		})
		for _, j := range excess {
			if err := s.discard(j); err != nil {
				return err
			}
		}
		if generation == 0 {
			return nil
		}
		j, err := s.recycleJournal(old, generation)
		if err != nil {
			return err
		}
		ready := false
		s.exclusive(func() {
			// While we were at it the writer may have run out of room and made a file with a higher generation.
			// Files are read in the order of their generations, so this one needs another.
			if ready = s.w.file.generation < generation; ready {
				s.journal.spare = j
			} else {
				s.journal.idle = append(s.journal.idle, j)
			}
		})
		if ready {
			return nil
		}
	}
}

// reuse takes a file of the usual size, all of whose blocks have been written, out of those that are idle.
func (f *journalFiles) reuse(size int64) *journalFile {
	i := slices.IndexFunc(f.idle, func(j *journalFile) bool { return j.whole(size) })
	if i < 0 {
		return nil
	}
	j := f.idle[i]
	f.idle = slices.Delete(f.idle, i, i+1)
	return j
}

// recycleJournal gives old, which may be nil, a new life.
func (s *Store) recycleJournal(old *journalFile, generation uint64) (*journalFile, error) {
	if old == nil {
		return s.createJournal(generation, s.o.JournalFileBytes, true)
	}
	j := &journalFile{f: old.f, generation: generation, size: old.size, seed: journal.EntrySeed(generation), end: unstamped, zeroed: true}
	if err := s.fs.Rename(old.name(), j.name()); err != nil {
		return nil, closing(old.f, err)
	}
	if err := s.headJournal(j, true); err != nil {
		return nil, closing(j.f, err)
	}
	return j, nil
}

// discard removes a journal file.
func (s *Store) discard(j *journalFile) error {
	if err := j.f.Close(); err != nil {
		return err
	}
	return s.fs.Remove(j.name())
}

// retire takes the files out of the journal that a checkpoint has made unnecessary: all before its first one that it
// does not keep.
func (s *Store) retire(c *checkpointFile) {
	s.exclusive(func() {
		f := &s.journal
		before := func(j *journalFile) bool { return j.generation < c.journal }
		old := append(f.kept, f.full...)
		f.kept = nil
		for _, j := range old {
			switch {
			case !before(j):
			case c.keeps(j.generation) > 0:
				f.kept = append(f.kept, j)
			default:
				f.idle = append(f.idle, j)
			}
		}
		f.full = slices.DeleteFunc(f.full, before)
	})
}
