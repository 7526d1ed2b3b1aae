package keratin

import (
	"slices"
	"sort"

	"github.com/warrenmq/warren/keratin/segment"
)

// chunkBytes is the size up to which appends that lie behind each other in memory become one chunk, and the aim for
// the blocks of a segment.
const chunkBytes = 64 << 10

// unstamped is the age of a chunk that has not been written yet.
const unstamped = ^uint64(0)

// chunk is a run of consecutive encoded records in memory. The bytes below len(data) never change; a chunk only grows.
type chunk struct {
	first uint64 // offset of the first record
	count uint32
	stamp uint64 // Store.traffic when its first byte was written
	data  []byte
}

func (c chunk) end() uint64 { return c.first + uint64(c.count) }

// tail is the newest records of a log, in memory: everything that stands nowhere but in the journal, and what was
// written last. Chunks are contiguous and in order. It is guarded by Log.mu.
type tail struct {
	chunks []chunk
	lo     int // chunks[:lo] have been dropped
}

func (t *tail) live() []chunk { return t.chunks[t.lo:] }

// extend appends records. Those that lie directly behind the last chunk in the same piece of memory (one batch used
// again and again) lengthen it.
func (t *tail) extend(first uint64, count int, data []byte) {
	if n := len(t.chunks); n > t.lo {
		last := &t.chunks[n-1]
		if len(last.data)+len(data) <= chunkBytes && follows(last.data, data) {
			last.data = last.data[:len(last.data)+len(data)]
			last.count += uint32(count)
			return
		}
	}
	if t.lo > 16 && t.lo*2 > len(t.chunks) {
		t.chunks = slices.Delete(t.chunks, 0, t.lo)
		t.lo = 0
	}
	t.chunks = append(t.chunks, chunk{first: first, count: uint32(count), stamp: unstamped, data: data})
}

// follows tells whether b stands directly behind a in the same allocation, to the end of which a's capacity reaches.
func follows(a, b []byte) bool {
	return len(a) > 0 && len(b) > 0 && cap(a)-len(a) >= len(b) && &a[:len(a)+1][len(a)] == &b[0]
}

// stamp dates the chunks that have just been written. They are at the end.
func (t *tail) stamp(at uint64) {
	for i := len(t.chunks) - 1; i >= t.lo && t.chunks[i].stamp == unstamped; i-- {
		t.chunks[i].stamp = at
	}
}

// find returns the chunk that holds a record.
func (t *tail) find(offset uint64) (chunk, bool) {
	live := t.live()
	i := sort.Search(len(live), func(i int) bool { return live[i].first > offset }) - 1
	if i < 0 || offset >= live[i].end() {
		return chunk{}, false
	}
	return live[i], true
}

// drop forgets the chunks wholly below an offset.
func (t *tail) drop(below uint64) {
	for t.lo < len(t.chunks) && t.chunks[t.lo].end() <= below {
		t.chunks[t.lo] = chunk{}
		t.lo++
	}
	if t.lo == len(t.chunks) {
		t.lo = 0
		if cap(t.chunks) > 256 {
			t.chunks = nil // an idle log keeps nothing
		} else {
			t.chunks = t.chunks[:0]
		}
	}
}

// cut forgets the part of the first chunk that has been moved while the chunk grew. What is left is no older than at.
func (t *tail) cut(below, at uint64) {
	if t.lo == len(t.chunks) {
		return
	}
	c := &t.chunks[t.lo]
	if c.stamp >= at || c.first >= below || below >= c.end() {
		return
	}
	*c = chunk{first: below, count: uint32(c.end() - below), stamp: at, data: c.from(below)}
}

// oldest is the stamp of the first chunk that has one.
func (t *tail) oldest() uint64 {
	if t.lo == len(t.chunks) {
		return unstamped
	}
	return t.chunks[t.lo].stamp
}

// until is the chunk up to an offset within it.
func (c chunk) until(offset uint64) chunk {
	c.count = uint32(offset - c.first)
	c.data = c.data[:len(c.data)-len(c.from(offset))]
	return c
}

// from is the bytes of a chunk from a record on, which it holds.
func (c chunk) from(offset uint64) []byte { return segment.Skip(c.data, offset-c.first) }
