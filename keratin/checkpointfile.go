package keratin

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"

	"github.com/warrenmq/warren/keratin/segment"
	"github.com/warrenmq/warren/keratin/vfs"
)

// A checkpoint says from where the journal is to be read and what every log was then, so that nothing older needs to
// be looked at:
//
//	0                                   4                 6                 8
//	+-----------------------------------+-----------------+-----------------+
//	| 'W' 'C' 'K' 'P'                   | version 1       | flags           |
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
//	| with flag 2, journal files from before the first one: count 4 | generation 8, sequence after its last entry 8, each
//	+-----------------------------------+
//	| CRC of everything before          |
//	+-----------------------------------+
//
// Flags: 1, the store was closed with it; 2, files are kept for logs that are out of service.
//
// It replaces the one before by rename, so that there is always one, and is written twice, since what it says of a log
// is nowhere else: a state that its owner keeps in snapshots only, and what is settled. The copy is as new as the
// checkpoint before anything is removed. moved is the offset up to which records stand in
// segments; those from max(moved, head) on are in the journal. Segments that are not named are not needed.
const (
	checkpointName    = "checkpoint"
	checkpointCopy    = "checkpoint.copy"
	newExt            = ".new" // of a file that is to take the place of another
	checkpointMagic   = 'W' | 'C'<<8 | 'K'<<16 | 'P'<<24
	checkpointVersion = 1
	checkpointHeader  = 40
	checkpointClean   = 1
	checkpointKept    = 2
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
	kept    []keptFile
}

// keptFile is a journal file from before the first one. Entries from next on do not count.
type keptFile struct{ generation, next uint64 }

// keeps returns the sequence after the last entry of a file that is kept, 0 if it is not.
func (c *checkpointFile) keeps(generation uint64) uint64 {
	for _, k := range c.kept {
		if k.generation == generation {
			return k.next
		}
	}
	return 0
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
	flags := uint16(0)
	if c.clean {
		flags |= checkpointClean
	}
	if len(c.kept) > 0 {
		flags |= checkpointKept
		b = le.AppendUint32(b, uint32(len(c.kept)))
		for _, k := range c.kept {
			b = le.AppendUint64(b, k.generation)
			b = le.AppendUint64(b, k.next)
		}
	}
	le.PutUint32(b[0:], checkpointMagic)
	le.PutUint16(b[4:], checkpointVersion)
	le.PutUint16(b[6:], flags)
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
	if v, flags := le.Uint16(b[4:]), le.Uint16(b[6:]); v != checkpointVersion || flags&^(checkpointClean|checkpointKept) != 0 {
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
	if le.Uint16(b[6:])&checkpointKept != 0 {
		at := len(b) - 4 - len(d)
		if len(d) < 4 || uint64(len(d)) < 4+16*uint64(le.Uint32(d)) {
			return nil, corrupt(at, "ends within the kept files")
		}
		n := le.Uint32(d)
		for d = d[4:]; n > 0; n-- {
			c.kept = append(c.kept, keptFile{le.Uint64(d), le.Uint64(d[8:])})
			d = d[16:]
		}
	}
	if len(d) != 0 {
		return nil, corrupt(len(b)-4-len(d), "more than its logs")
	}
	return c, nil
}

// loadCheckpoint reads one of the two. It returns nil if there is none.
func loadCheckpoint(fsys vfs.FS, name string) (*checkpointFile, []byte, error) {
	f, err := fsys.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	b, err := readWhole(f)
	if err != nil {
		return nil, nil, closing(f, err)
	}
	if err := f.Close(); err != nil {
		return nil, nil, err
	}
	c, err := decodeCheckpoint(b)
	if x, ok := errors.AsType[*CorruptError](err); ok {
		x.File = name
	}
	return c, b, err
}

// readCheckpoints reads the checkpoint, or its copy if it is not there or unreadable: lost says so. Both are nil if there
// is none. The copy is made anew if it differs: what follows may remove what only an older one names.
func (s *Store) readCheckpoints() (c *checkpointFile, lost, err error) {
	c, main, err := loadCheckpoint(s.fs, checkpointName)
	if err != nil && !corrupt(err) {
		return nil, nil, err
	}
	lost = err
	copied, second, err := loadCheckpoint(s.fs, checkpointCopy)
	switch {
	case err != nil && !corrupt(err):
		return nil, nil, err
	case c == nil && copied != nil && lost == nil:
		return copied, &CorruptError{File: checkpointName, Why: "missing"}, nil
	case c == nil:
		return copied, cmp.Or(lost, err), nil
	case !bytes.Equal(main, second):
		lost, err = err, s.replace(checkpointCopy, main)
	}
	return c, lost, err
}

func corrupt(err error) bool {
	_, ok := errors.AsType[*CorruptError](err)
	return ok
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

// writeCheckpoint replaces the checkpoint and then its copy. A crash leaves the old one or the new one of each.
func (s *Store) writeCheckpoint(c *checkpointFile) error {
	b := c.encode()
	if err := s.replace(checkpointName, b); err != nil {
		return err
	}
	return s.replace(checkpointCopy, b)
}

// replace makes b the content of a file, whole or not at all.
func (s *Store) replace(name string, b []byte) error {
	if err := s.writeWhole(name+newExt, b); err != nil {
		return err
	}
	if err := s.fs.Rename(name+newExt, name); err != nil {
		return err
	}
	return s.fs.SyncDir(path.Dir(name))
}

// writeWhole makes a file of b. Its name is still to be flushed.
func (s *Store) writeWhole(name string, b []byte) error {
	f, err := s.fs.Create(name)
	if err != nil {
		return err
	}
	if _, err := f.WriteAt(b, 0); err != nil {
		return closing(f, err)
	}
	if err := f.Sync(); err != nil {
		return closing(f, err)
	}
	return f.Close()
}
