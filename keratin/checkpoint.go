package keratin

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"

	"github.com/warrenmq/warren/keratin/segment"
	"github.com/warrenmq/warren/keratin/vfs"
)

// A checkpoint says from where the journal is to be read and what every log was then, so that nothing older needs to
// be looked at:
//
//	0                                   4                 6                 8
//	+-----------------------------------+-----------------+-----------------+
//	| 'W' 'C' 'K' 'P'                   | version 1       | flags, 1: clean |
//	+-----------------------------------+-----------------+-----------------+
//	| number of logs                    | epoch                             |
//	+-----------------------------------+-----------------------------------+
//	| generation of the first journal file that is still needed             |
//	+-----------------------------------------------------------------------+
//	| sequence of the next journal entry when this was written              |
//	+-----------------------------------------------------------------------+
//	| length of what follows, without the last 4 bytes                      |
//	+-----------------------------------------------------------------------+ 40
//	| logs, by id: id 8 | head 8 | durable 8 | moved 8 | state frontier 8
//	|              | segments 4 | length of state 4
//	|              | per segment: generation 8 | base 8 | end 8 | size 8 | epoch 4
//	|              | state
//	+-----------------------------------+
//	| CRC of everything before          |
//	+-----------------------------------+
//
// It replaces the one before by rename, so that there is always one. moved is the offset up to which records stand in
// segments; those from max(moved, head) on are in the journal. Segments that are not named are not needed.
const (
	checkpointName    = "checkpoint"
	checkpointTemp    = "checkpoint.new"
	checkpointMagic   = 'W' | 'C'<<8 | 'K'<<16 | 'P'<<24
	checkpointVersion = 1
	checkpointHeader  = 40
	checkpointClean   = 1
	// maxCheckpoint bounds what is read.
	maxCheckpoint = 4 << 30
)

var le = binary.LittleEndian

type checkpointFile struct {
	clean   bool
	epoch   uint32
	journal uint64
	seq     uint64
	logs    []checkpointLog
}

type checkpointLog struct {
	id       LogID
	head     uint64
	durable  uint64
	moved    uint64
	at       uint64
	segments []segmentFile
	state    []byte
}

func (c *checkpointFile) encode() []byte {
	b := make([]byte, checkpointHeader)
	for _, l := range c.logs {
		b = le.AppendUint64(b, uint64(l.id))
		b = le.AppendUint64(b, l.head)
		b = le.AppendUint64(b, l.durable)
		b = le.AppendUint64(b, l.moved)
		b = le.AppendUint64(b, l.at)
		b = le.AppendUint32(b, uint32(len(l.segments)))
		b = le.AppendUint32(b, uint32(len(l.state)))
		for _, g := range l.segments {
			b = le.AppendUint64(b, g.head.Generation)
			b = le.AppendUint64(b, g.head.Base)
			b = le.AppendUint64(b, g.end)
			b = le.AppendUint64(b, uint64(g.size))
			b = le.AppendUint32(b, g.head.Epoch)
		}
		b = append(b, l.state...)
	}
	le.PutUint32(b[0:], checkpointMagic)
	le.PutUint16(b[4:], checkpointVersion)
	if c.clean {
		le.PutUint16(b[6:], checkpointClean)
	}
	le.PutUint32(b[8:], uint32(len(c.logs)))
	le.PutUint32(b[12:], c.epoch)
	le.PutUint64(b[16:], c.journal)
	le.PutUint64(b[24:], c.seq)
	le.PutUint64(b[32:], uint64(len(b)-checkpointHeader))
	return le.AppendUint32(b, segment.Checksum(0, b))
}

// decodeCheckpoint reads what encode made. Everything is bounded by len(b).
func decodeCheckpoint(b []byte) (*checkpointFile, error) {
	corrupt := func(at int, why string) error {
		return &CorruptError{File: checkpointName, Offset: int64(at), Why: why}
	}
	if len(b) < checkpointHeader+4 || le.Uint32(b) != checkpointMagic {
		return nil, corrupt(0, "no checkpoint")
	}
	if sum := len(b) - 4; le.Uint32(b[sum:]) != segment.Checksum(0, b[:sum]) {
		return nil, corrupt(0, "checksum does not match")
	}
	if v, flags := le.Uint16(b[4:]), le.Uint16(b[6:]); v != checkpointVersion || flags&^checkpointClean != 0 {
		return nil, &VersionError{File: checkpointName, Version: uint32(v)}
	}
	c := &checkpointFile{clean: le.Uint16(b[6:])&checkpointClean != 0, epoch: le.Uint32(b[12:]), journal: le.Uint64(b[16:]), seq: le.Uint64(b[24:])}
	d := b[checkpointHeader : len(b)-4]
	if le.Uint64(b[32:]) != uint64(len(d)) {
		return nil, corrupt(32, "length does not match")
	}
	for range le.Uint32(b[8:]) {
		at := len(b) - 4 - len(d)
		if len(d) < 48 {
			return nil, corrupt(at, "ends within a log")
		}
		l := checkpointLog{id: LogID(le.Uint64(d)), head: le.Uint64(d[8:]), durable: le.Uint64(d[16:]), moved: le.Uint64(d[24:]), at: le.Uint64(d[32:])}
		n, state := uint64(le.Uint32(d[40:])), uint64(le.Uint32(d[44:]))
		d = d[48:]
		if uint64(len(d)) < n*36+state {
			return nil, corrupt(at, "ends within a log")
		}
		for range n {
			head := segment.Header{Log: uint64(l.id), Generation: le.Uint64(d), Base: le.Uint64(d[8:]), Epoch: le.Uint32(d[32:])}
			l.segments = append(l.segments, segmentFile{head: head, name: segmentName(segmentDir, l.id, head.Base), end: le.Uint64(d[16:]), size: int64(le.Uint64(d[24:]))})
			d = d[36:]
		}
		l.state, d = d[:state:state], d[state:]
		c.logs = append(c.logs, l)
	}
	if len(d) != 0 {
		return nil, corrupt(len(b)-4-len(d), "more than its logs")
	}
	return c, nil
}

// readCheckpoint returns nil if there is none.
func readCheckpoint(fsys vfs.FS) (*checkpointFile, error) {
	f, err := fsys.Open(checkpointName)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	b, err := readWhole(f)
	if err != nil {
		return nil, closing(f, err)
	}
	if err := f.Close(); err != nil {
		return nil, err
	}
	return decodeCheckpoint(b)
}

func readWhole(f vfs.File) ([]byte, error) {
	size, err := f.Size()
	if err != nil {
		return nil, err
	}
	if size > maxCheckpoint {
		return nil, fmt.Errorf("keratin: a checkpoint of %d bytes", size)
	}
	b := make([]byte, size)
	if _, err := f.ReadAt(b, 0); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return b, nil
}

// writeCheckpoint replaces the checkpoint. A crash leaves the old one or the new one.
func (s *Store) writeCheckpoint(c *checkpointFile) error {
	f, err := s.fs.Create(checkpointTemp)
	if err != nil {
		return err
	}
	if _, err := f.WriteAt(c.encode(), 0); err != nil {
		return closing(f, err)
	}
	if err := f.Sync(); err != nil {
		return closing(f, err)
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := s.fs.Rename(checkpointTemp, checkpointName); err != nil {
		return err
	}
	return s.fs.SyncDir(".")
}

// checkpointDue tells whether enough has been written to the journal, or settled in segments, since the last one.
func (s *Store) checkpointDue() bool {
	full := 0
	s.exclusive(func() { full = len(s.journal.full) })
	return full >= s.o.JournalFiles || s.dead.Load() >= s.deadLimit()
}

func (s *Store) deadLimit() int64 { return s.o.JournalFileBytes * int64(s.o.JournalFiles) }

// checkpoint makes the journal before the current file unnecessary, as far as that can be had, and says so. With
// clean, at the end, nothing is moved for it: recovery finds in the journal what it needs.
func (s *Store) checkpoint(clean bool) error {
	from, limit := s.floor(clean)
	if !clean {
		if err := s.evict(limit); err != nil {
			return err
		}
	}
	c := &checkpointFile{clean: clean, epoch: s.epoch, journal: s.held(from)} // moving may have failed
	var logs []*Log
	// Owners first, then the flush that makes durable what their states rest on, then the rest under each log's
	// lock: a state may be older than the marks beside it, never newer than what is durable.
	for _, l := range s.allLogs() {
		if !l.ephemeral {
			logs = append(logs, l)
			c.logs = append(c.logs, l.snapshot())
		}
	}
	if err := s.Sync(); err != nil {
		return err
	}
	var dead []string
	for i, l := range logs {
		dead = append(dead, l.describe(&c.logs[i])...)
	}
	s.dead.Store(0)
	c.seq = s.flush.durable.Load()
	if err := s.writeCheckpoint(c); err != nil {
		return err
	}
	s.stats.checkpoints.Add(1)
	s.discardSegments(dead) // they may go now that nothing names them
	if err := s.sweep(); err != nil {
		return err
	}
	s.retire(c.journal)
	return nil
}

// floor returns the generation of the first journal file a checkpoint may ask to keep, and the age below which
// records must have been moved for that.
func (s *Store) floor(clean bool) (from, limit uint64) {
	oldest := s.ages.oldest()
	s.exclusive(func() {
		from = s.w.file.generation
		for _, j := range slices.Backward(s.journal.full) {
			if clean && j.end >= oldest {
				from = j.generation
			}
		}
		if n := len(s.journal.full); n > 0 && !clean {
			limit = s.journal.full[n-1].end + 1 // a commit that went over the end is dated with it
		}
	})
	return from, limit
}

// held returns from, or the first journal file there is if a log needs it.
func (s *Store) held(from uint64) uint64 {
	if !slices.ContainsFunc(s.allLogs(), (*Log).holdsJournal) {
		return from
	}
	s.exclusive(func() {
		if len(s.journal.full) > 0 {
			from = s.journal.full[0].generation
		}
	})
	return from
}

// holdsJournal tells whether the journal has the only copy of something that cannot be moved, because the log has
// failed or is damaged.
func (l *Log) holdsJournal() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.failed != nil && !errors.Is(l.failed, ErrClosed) && !l.ephemeral
}

// snapshot asks the owner for its state. An owner that is not as far yet as the checkpoint it recovers from does not
// count: what was recovered is handed on.
func (l *Log) snapshot() checkpointLog {
	l.mu.Lock()
	owner := l.owner
	l.mu.Unlock()
	var state []byte
	at := uint64(0)
	if owner != nil {
		var f Frontier
		state, f = owner.Snapshot(nil)
		at = uint64(f)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if owner == nil || at < l.state.at {
		return checkpointLog{id: l.id, at: l.state.at, state: l.state.bytes}
	}
	l.state.bytes, l.state.at = nil, at
	return checkpointLog{id: l.id, at: at, state: state}
}

// describe fills in where the log's records are, forgets the segments that are wholly below its head and returns
// their names.
func (l *Log) describe(c *checkpointLog) (dead []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c.head, c.durable, c.moved = l.trim.head, l.marks.durable, l.older.next
	if l.failed != nil {
		// Nothing is given up that may be needed for a repair.
		for _, g := range l.older.files {
			c.segments = append(c.segments, *g)
		}
		return nil
	}
	l.older.files = slices.DeleteFunc(slices.Clone(l.older.files), func(g *segmentFile) bool {
		if g.end <= l.trim.head {
			dead = append(dead, g.name)
			return true
		}
		c.segments = append(c.segments, *g)
		return false
	})
	l.older.dead = 0
	return dead
}

// allLogs returns the logs by id.
func (s *Store) allLogs() []*Log {
	s.mu.Lock()
	defer s.mu.Unlock()
	logs := slices.Collect(maps.Values(s.logs))
	slices.SortFunc(logs, func(a, b *Log) int { return cmp.Compare(a.id, b.id) })
	return logs
}
