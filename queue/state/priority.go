package state

import "slices"

// Arrival is a message that was staged on a queue with priorities.
type Arrival struct {
	Size     uint32 // bytes of the body
	Priority uint8  // as published; one above the queue's highest counts as that
}

// New returns an empty queue at the beginning of its log that keeps messages of the priorities 0 to highest apart.
// With 0 it is the zero value.
func New(highest uint8) Queue { return Queue{highest: highest} }

// AppendEach tells that messages were staged at first and after, in a queue with priorities.
func (q *Queue) AppendEach(first Offset, messages []Arrival) {
	for i, m := range messages {
		q.listed.add(entry{off: first + Offset(i), size: m.Size, priority: min(m.Priority, q.highest)})
	}
	q.end = Frontier(first) + Frontier(len(messages))
	q.drained()
}

// Priorities returns the number of priorities, from 0 up, that NextOf may find something of.
func (q *Queue) Priorities() int { return max(1, len(q.listed.sets)) }

// Highest returns the highest priority of which there is a ready message, visible or not; 0 if there is none.
func (q *Queue) Highest() uint8 {
	for p := len(q.listed.sets) - 1; p > 0; p-- {
		if q.listed.sets[p].Count > 0 {
			return uint8(p)
		}
	}
	return 0
}

// byPriority is entries by their priority. Without priorities all are in the lowest one.
type byPriority struct {
	sets []set // up to the highest priority there has been
	tally
}

func (l *byPriority) add(e entry) {
	if n := int(e.priority) + 1; n > len(l.sets) {
		l.sets = append(l.sets, make([]set, n-len(l.sets))...)
	}
	l.sets[e.priority].add(e)
	l.tally.add(e.size)
}

func (l *byPriority) remove(off Offset, priority uint8) {
	if int(priority) < len(l.sets) {
		if e, ok := l.sets[priority].remove(off); ok {
			l.tally.sub(e.size)
		}
	}
}

// first returns the entry with the lowest offset of one priority.
func (l *byPriority) first(priority uint8) (entry, bool) {
	if int(priority) >= len(l.sets) {
		return entry{}, false
	}
	return l.sets[priority].min()
}

// removeSpan removes what lies in [from, to), and adds it up in found.
func (l *byPriority) removeSpan(from, to Offset, found *tally) {
	for p := range l.sets {
		for {
			e, ok := l.sets[p].ceil(from)
			if !ok || e.off >= to {
				break
			}
			l.remove(e.off, e.priority)
			found.add(e.size)
		}
	}
}

// clear removes everything.
func (l *byPriority) clear() { *l = byPriority{} }

// reader goes through a set that does not change.
type reader struct {
	blocks []*block // from the one it is at
	at     int      // in the first of them
}

func (r *reader) entry() entry { return r.blocks[0].e[r.at] }

// next goes on and reports whether there is another entry.
func (r *reader) next() bool {
	if r.at++; r.at < r.blocks[0].tail {
		return true
	}
	if r.blocks = r.blocks[1:]; len(r.blocks) == 0 {
		return false
	}
	r.at = r.blocks[0].head
	return true
}

// ascending calls f for every entry of several sets, in ascending order of offset over all of them.
func ascending(f func(entry), sets ...*set) {
	var heap []reader // the one with the lowest offset first
	for _, s := range sets {
		if len(s.blocks) > 0 {
			heap = append(heap, reader{s.blocks, s.blocks[0].head})
		}
	}
	slices.SortFunc(heap, func(a, b reader) int { return compare(a.entry().off, b.entry().off) })
	for n := len(heap); n > 0; sink(heap[:n]) {
		f(heap[0].entry())
		if !heap[0].next() {
			n--
			heap[0] = heap[n]
		}
	}
}

// sink moves the first reader of a heap down to its place.
func sink(heap []reader) {
	for i := 0; ; {
		c := 2*i + 1
		if c >= len(heap) {
			return
		}
		if c+1 < len(heap) && heap[c+1].entry().off < heap[c].entry().off {
			c++
		}
		if heap[i].entry().off < heap[c].entry().off {
			return
		}
		heap[i], heap[c] = heap[c], heap[i]
		i = c
	}
}

// all returns the sets, to be read by ascending.
func (l *byPriority) all() []*set {
	all := make([]*set, len(l.sets), len(l.sets)+1)
	for p := range l.sets {
		all[p] = &l.sets[p]
	}
	return all
}
