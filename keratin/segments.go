package keratin

import (
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"sort"

	"github.com/warrenmq/warren/keratin/segment"
	"github.com/warrenmq/warren/keratin/vfs"
)

// segments is the older part of a log: files that hold durable records only, contiguous from the first to next.
// It is guarded by Log.mu; only the janitor changes it, so that it may read it without.
type segments struct {
	files []*segmentFile
	next  uint64 // offset after the last record in files
	made  int    // files made so far, by which their size grows
	dead  int    // files[:dead] are below the head and counted in Store.dead
}

// segmentFile is what is known of one segment. Only the last one of a log grows.
type segmentFile struct {
	head  segment.Header
	name  string
	size  int64   // where the next block goes: what lies behind does not count
	end   uint64  // offset after the last record
	index []place // nil: not known yet
}

// place says where the block with an offset stands.
type place struct {
	offset uint64
	pos    int64
}

func segmentName(dir string, log LogID, base uint64) string {
	return path.Join(dir, fmt.Sprintf("%016x-%016x.segment", uint64(log), base))
}

// find returns the segment that holds a record.
func (g *segments) find(offset uint64) *segmentFile {
	i := sort.Search(len(g.files), func(i int) bool { return g.files[i].head.Base > offset }) - 1
	if i < 0 || offset >= g.files[i].end {
		return nil
	}
	return g.files[i]
}

// locate returns the position of a block at or before the one that holds a record.
func (f *segmentFile) locate(offset uint64) int64 {
	i := sort.Search(len(f.index), func(i int) bool { return f.index[i].offset > offset }) - 1
	if i < 0 {
		return segment.HeaderSize
	}
	return f.index[i].pos
}

// move is the writing of a log's records from memory to its segments.
type move struct {
	l      *Log
	chunks []chunk // contiguous
	began  uint64  // Store.traffic before the flush after which chunks were chosen
	dir    string

	file    vfs.File
	seg     segmentFile   // the one being written
	done    []segmentFile // finished on the way
	created bool          // a file was made: its name is to be flushed
	opened  []vfs.File    // everything that is to be flushed and closed
	next    uint64
	made    int
	buf     []byte
}

// plan decides what of a log leaves memory: what was written before limit, is durable and still needed. It drops what
// is not needed any more, or is in a segment already. nil: nothing is to be moved.
func (l *Log) plan(limit uint64) *move {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.dropDead()
	if l.failed != nil {
		return nil
	}
	var m *move
	for _, c := range l.tail.live() {
		if c.stamp >= limit || c.first >= l.marks.durable {
			break
		}
		if c.end() <= l.older.next {
			l.tail.drop(c.end())
			continue
		}
		if c.end() > l.marks.durable {
			c = c.until(l.marks.durable)
		}
		if c.first < l.older.next { // it grew after its first part had been moved
			if c.end() <= l.older.next {
				break
			}
			c = chunk{first: l.older.next, count: uint32(c.end() - l.older.next), data: c.from(l.older.next)}
		}
		if m == nil {
			m = l.newMove(c.first)
		}
		m.chunks = append(m.chunks, c)
	}
	return m
}

// newMove continues the last segment if the records do.
func (l *Log) newMove(first uint64) *move {
	m := &move{l: l, next: l.older.next, made: l.older.made, dir: segmentDir}
	if l.ephemeral {
		m.dir = spillDir
	}
	if n := len(l.older.files); n > 0 && first == l.older.next {
		m.seg = *l.older.files[n-1]
		m.seg.index = slices.Clip(m.seg.index)
	}
	return m
}

// writeMove puts the chunks into segment files without flushing them.
func (s *Store) writeMove(m *move) error {
	for i := 0; i < len(m.chunks); {
		b := segment.Block{Log: uint64(m.l.id), First: m.chunks[i].first, Epoch: s.epoch, Durable: m.chunks[i].first}
		m.buf = append(m.buf[:0], make([]byte, segment.BlockHeader)...)
		for ; i < len(m.chunks) && (b.Count == 0 || len(m.buf)+len(m.chunks[i].data) <= chunkBytes); i++ {
			m.buf = append(m.buf, m.chunks[i].data...)
			b.Count += m.chunks[i].count
		}
		b.Length = uint32(len(m.buf) - segment.BlockHeader)
		for len(m.buf)%8 != 0 {
			m.buf = append(m.buf, 0)
		}
		if err := s.target(m, b.First, int64(len(m.buf))); err != nil {
			return err
		}
		b.Put(m.buf)
		segment.SealBlock(m.buf, m.seg.head.Seed())
		if _, err := m.file.WriteAt(m.buf, m.seg.size); err != nil {
			return err
		}
		if n := len(m.seg.index); m.seg.index != nil && (n == 0 || m.seg.size-m.seg.index[n-1].pos >= chunkBytes) {
			m.seg.index = append(m.seg.index, place{b.First, m.seg.size})
		}
		m.seg.size += int64(len(m.buf))
		m.seg.end = b.End()
		m.next = b.End()
		s.stats.segmentBytes.Add(uint64(len(m.buf)))
	}
	return nil
}

// target makes m.file the segment for a block of n bytes with records from first on: the current one while there is
// room, else a new one. Segments begin small and double with every one a log fills.
func (s *Store) target(m *move, first uint64, n int64) error {
	limit := min(s.o.SegmentBytes, s.o.SegmentBytes>>6<<min(m.made, 6))
	if m.seg.name != "" && (m.seg.size == segment.HeaderSize || m.seg.size+n <= limit) {
		if m.file != nil {
			return nil
		}
		f, err := s.fs.Open(m.seg.name)
		if err != nil {
			return err
		}
		m.file = f
		m.opened = append(m.opened, f)
		return m.cutOff()
	}
	if m.file != nil {
		m.done = append(m.done, m.seg)
	}
	m.made++
	head := segment.Header{Log: uint64(m.l.id), Generation: s.generation(), Base: first, Epoch: s.epoch}
	m.seg = segmentFile{head: head, name: segmentName(m.dir, m.l.id, first), size: segment.HeaderSize, end: first, index: []place{}}
	f, err := s.fs.Create(m.seg.name)
	if err != nil {
		return err
	}
	m.file = f
	m.opened = append(m.opened, f)
	m.created = true
	buf := make([]byte, segment.HeaderSize)
	head.Put(buf)
	_, err = f.WriteAt(buf, 0)
	return err
}

// cutOff removes what an earlier boot has written behind the end that counts. Nothing would read it, but after the
// loss of a checkpoint it could not be told from damage.
func (m *move) cutOff() error {
	size, err := m.file.Size()
	if err != nil || size <= m.seg.size {
		return err
	}
	return m.file.Truncate(m.seg.size)
}

// generation is a number no other segment of this store has or had: the epoch is unique to this boot.
func (s *Store) generation() uint64 {
	s.segmentsMade++
	return uint64(s.epoch)<<32 | s.segmentsMade
}

// flush makes what was written durable and closes the files.
func (m *move) flush() error {
	var err error
	for _, f := range m.opened {
		if err == nil && !m.l.ephemeral {
			err = f.Sync()
		}
		if cerr := f.Close(); err == nil {
			err = cerr
		}
	}
	m.opened = nil
	return err
}

// publish makes what was moved readable in its new place. false: the log has been removed meanwhile.
func (m *move) publish(limit uint64) bool {
	l := m.l
	l.mu.Lock()
	defer l.mu.Unlock()
	if errors.Is(l.failed, ErrClosed) {
		return false
	}
	old := l.older.files
	files := slices.Clone(old)
	add := func(g segmentFile) {
		if n := len(files); n > 0 && files[n-1].head.Generation == g.head.Generation {
			files[n-1] = &g
			return
		}
		files = append(files, &g)
	}
	for _, g := range m.done {
		add(g)
	}
	add(m.seg)
	l.older = segments{files: files, next: m.next, made: m.made, dead: l.older.dead}
	for _, c := range l.tail.live() {
		if c.stamp >= limit || c.end() > l.older.next {
			break
		}
		l.tail.drop(c.end())
	}
	l.tail.cut(l.older.next, m.began)
	return true
}

// names lists the files m has made, for a log that is gone.
func (m *move) names() []string {
	var names []string
	for _, g := range append(m.done, m.seg) {
		if g.name != "" {
			names = append(names, g.name)
		}
	}
	return names
}

// buildIndex walks the block headers of a segment that an earlier process wrote.
func (f *segmentFile) buildIndex(r io.ReaderAt) ([]place, error) {
	index := []place{}
	seed := f.head.Seed()
	head := make([]byte, segment.BlockHeader)
	for pos := int64(segment.HeaderSize); pos < f.size; {
		if _, err := r.ReadAt(head, pos); err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		b, err := segment.DecodeBlock(head, seed)
		if err != nil {
			return nil, &CorruptError{File: f.name, Offset: pos, Why: err.Error()}
		}
		if n := len(index); n == 0 || pos-index[n-1].pos >= chunkBytes {
			index = append(index, place{b.First, pos})
		}
		pos += int64(b.Size())
	}
	return index, nil
}
