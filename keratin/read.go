package keratin

import (
	"container/list"
	"errors"
	"io"
	"io/fs"
	"sync"

	"github.com/warrenmq/warren/keratin/segment"
	"github.com/warrenmq/warren/keratin/vfs"
)

// Read-ahead from segments: it begins small, for the one who wants a single record, and doubles with every further
// read in sequence.
const (
	aheadMin = 16 << 10
	aheadMax = 256 << 10
)

// Cursor remembers where a reader is in a log. Its zero value is ready; it is for one goroutine and may be used on
// one log after the other.
type Cursor struct {
	l    *Log
	next uint64 // offset of the first record in rest
	rest []byte // records
	disk bool   // they come from a segment and are still to be verified

	file   *segmentFile
	pos    int64 // of the block after rest
	window []byte
	start  int64 // position of window in file
	ahead  int
}

// Next returns the record at from, which must be below the marks given: io.EOF if from is not below both below and the
// written mark, ErrTrimmed if it is below the head, *CorruptError if the bytes on disk are not what was written.
// Reading on with from+1 costs the same however long the log is.
func (l *Log) Next(c *Cursor, from Offset, below Frontier) (Record, error) {
	offset := uint64(from)
	l.mu.Lock()
	switch {
	case l.failed == ErrClosed:
		l.mu.Unlock()
		return Record{}, ErrClosed
	case offset < l.trim.wanted:
		l.mu.Unlock()
		return Record{}, ErrTrimmed
	case offset >= l.marks.written || offset >= uint64(below):
		l.mu.Unlock()
		return Record{}, io.EOF
	case offset >= l.marks.durable && l.failure() != nil:
		// After a failed flush the kernel's memory may differ from the disk in what was not durable.
		err := l.failure()
		l.mu.Unlock()
		return Record{}, err
	}
	if c.l == l && c.next == offset && len(c.rest) > 0 {
		l.mu.Unlock()
		return c.record(l)
	}
	if k, ok := l.tail.find(offset); ok {
		l.mu.Unlock()
		*c = Cursor{l: l, next: offset, rest: k.from(offset)}
		return c.record(l)
	}
	file := l.older.find(offset)
	if file == nil {
		l.mu.Unlock()
		return Record{}, &CorruptError{File: segmentName(segmentDir, l.id, offset), Why: "record is nowhere"}
	}
	if c.l != l || c.file == nil || c.file.head.Generation != file.head.Generation || c.next != offset || c.pos == 0 {
		c.window, c.ahead, c.pos = nil, 0, file.locate(offset)
	}
	known := file.index != nil
	limit := file.size
	l.mu.Unlock()
	c.l, c.file, c.rest = l, file, nil
	if !known {
		if err := l.learn(c, file); err != nil {
			return Record{}, l.gone(err, offset)
		}
		c.pos = file.locateIn(l, offset)
	}
	if err := c.block(l, offset, limit); err != nil {
		c.l = nil
		return Record{}, l.gone(err, offset)
	}
	return c.record(l)
}

// gone tells a read that failed because its segment was removed under it from one that failed.
func (l *Log) gone(err error, offset uint64) error {
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if offset < l.trim.wanted {
		return ErrTrimmed
	}
	if l.failed == ErrClosed {
		return ErrClosed
	}
	return &CorruptError{File: segmentName(segmentDir, l.id, offset), Why: err.Error()}
}

// record takes the first record of c.rest.
func (c *Cursor) record(l *Log) (Record, error) {
	var r segment.Record
	if c.disk {
		var err error
		if r, c.rest, err = segment.Decode(c.rest, l.salt); err != nil || r.Offset != c.next {
			if err == nil {
				err = segment.ErrOrder
			}
			c.l = nil
			return Record{}, &CorruptError{File: c.file.name, Offset: c.pos, Why: err.Error()}
		}
	} else {
		r, c.rest = segment.Next(c.rest)
	}
	c.next++
	return Record{Offset: Offset(r.Offset), Kind: r.Kind, Data: r.Data}, nil
}

// learn builds the index of a segment.
func (l *Log) learn(c *Cursor, file *segmentFile) error {
	f, release, err := l.s.fds.acquire(file.name)
	if err != nil {
		return err
	}
	defer release()
	index, err := file.buildIndex(f)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if file.index == nil {
		file.index = index
	}
	return nil
}

func (f *segmentFile) locateIn(l *Log, offset uint64) int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return f.locate(offset)
}

// block makes c.rest begin with the record at offset, reading blocks from c.pos on.
func (c *Cursor) block(l *Log, offset uint64, limit int64) error {
	seed := c.file.head.Seed()
	for {
		if c.pos >= limit {
			return &CorruptError{File: c.file.name, Offset: c.pos, Why: "record is not in its segment"}
		}
		head, err := c.read(l, c.pos, segment.BlockHeader, limit)
		if err != nil {
			return err
		}
		b, err := segment.DecodeBlock(head, seed)
		if err != nil || b.Log != c.file.head.Log || b.First > offset || c.pos+int64(b.Size()) > limit {
			if err == nil {
				err = segment.ErrOrder
			}
			return &CorruptError{File: c.file.name, Offset: c.pos, Why: err.Error()}
		}
		if b.End() <= offset {
			c.pos += int64(b.Size())
			continue
		}
		whole, err := c.read(l, c.pos, segment.BlockHeader+int(b.Length), limit)
		if err != nil {
			return err
		}
		c.next, c.rest, c.disk = b.First, whole[segment.BlockHeader:], true
		for c.next < offset {
			if _, err := c.record(l); err != nil {
				return err
			}
			c.l = l
		}
		c.pos += int64(b.Size())
		return nil
	}
}

// read returns n bytes of the segment at pos, from the window or a new one: old windows stay with the records that
// were read from them.
func (c *Cursor) read(l *Log, pos int64, n int, limit int64) ([]byte, error) {
	if at := pos - c.start; c.window != nil && at >= 0 && at+int64(n) <= int64(len(c.window)) {
		return c.window[at : at+int64(n) : at+int64(n)], nil
	}
	c.ahead = min(max(aheadMin, 2*c.ahead), aheadMax)
	f, release, err := l.s.fds.acquire(c.file.name)
	if err != nil {
		return nil, err
	}
	defer release()
	window := make([]byte, min(int64(max(n, c.ahead)), limit-pos))
	if got, err := f.ReadAt(window, pos); err != nil {
		if !errors.Is(err, io.EOF) {
			return nil, err
		}
		return nil, &CorruptError{File: c.file.name, Offset: pos + int64(got), Why: "file ends early"}
	}
	if len(window) < n {
		return nil, &CorruptError{File: c.file.name, Offset: pos, Why: segment.ErrShort.Error()}
	}
	l.s.stats.readBytes.Add(uint64(len(window)))
	c.window, c.start = window, pos
	return window[:n:n], nil
}

// descriptors is the segments that are open for reading, the most recently used ones.
type descriptors struct {
	fs   vfs.FS
	max  int
	mu   sync.Mutex
	open map[string]*list.Element // of *descriptor
	used list.List                // least recently used first
	done bool                     // closed
}

type descriptor struct {
	name string
	f    vfs.File
	refs int
	gone bool // not in the list any more: the last user closes it
}

func (d *descriptors) init(fsys vfs.FS, n int) {
	d.fs, d.max, d.open = fsys, n, map[string]*list.Element{}
}

// acquire returns the file, which stays open until release is called.
func (d *descriptors) acquire(name string) (f vfs.File, release func(), err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.done {
		return nil, nil, ErrClosed
	}
	e := d.open[name]
	if e == nil {
		f, err := d.fs.Open(name)
		if err != nil {
			return nil, nil, err
		}
		e = d.used.PushBack(&descriptor{name: name, f: f})
		d.open[name] = e
	}
	d.used.MoveToBack(e)
	x := e.Value.(*descriptor)
	x.refs++
	for old := d.used.Front(); d.used.Len() > d.max && old != e; old = d.used.Front() {
		d.drop(old)
	}
	return x.f, func() { d.release(x) }, nil
}

func (d *descriptors) release(x *descriptor) {
	d.mu.Lock()
	defer d.mu.Unlock()
	x.refs--
	if x.gone && x.refs == 0 {
		_ = x.f.Close() // it was only read
	}
}

func (d *descriptors) drop(e *list.Element) {
	x := d.used.Remove(e).(*descriptor)
	delete(d.open, x.name)
	x.gone = true
	if x.refs == 0 {
		_ = x.f.Close() // it was only read
	}
}

// forget closes a file that is to be removed.
func (d *descriptors) forget(name string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if e := d.open[name]; e != nil {
		d.drop(e)
	}
}

func (d *descriptors) close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.done = true
	for d.used.Len() > 0 {
		d.drop(d.used.Front())
	}
}
