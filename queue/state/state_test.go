package state

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

type fate uint8

const (
	ready fate = iota
	unacked
	settled
)

// record is one record of the twin's log; a message if data is nil.
type record struct {
	size     uint32
	priority uint8 // as published
	event    bool
	data     []byte // settle record
}

// twin is the dumb queue beside the clever one: every message one by one, searched from the front.
type twin struct {
	highest   uint8
	log       []record
	fates     []fate // per record; events are settled
	delivered []bool
	visible   Frontier
}

func (w *twin) next() (Offset, bool) {
	for p := int(w.highest); p >= 0; p-- {
		if off, ok := w.nextOf(uint8(p)); ok {
			return off, true
		}
	}
	return 0, false
}

func (w *twin) nextOf(priority uint8) (Offset, bool) {
	for off, f := range w.fates {
		if f == ready && w.priority(off) == priority && w.visible.Covers(Offset(off)) {
			return Offset(off), true
		}
	}
	return 0, false
}

func (w *twin) priority(off int) uint8 { return min(w.log[off].priority, w.highest) }

func (w *twin) append(r record) {
	w.log = append(w.log, r)
	f := ready
	if r.event {
		f = settled
	}
	w.fates = append(w.fates, f)
	w.delivered = append(w.delivered, false)
}

func (w *twin) with(f fate) (offs []Offset, bytes uint64) {
	for off, x := range w.fates {
		if x == f && !w.log[off].event {
			offs = append(offs, Offset(off))
			bytes += uint64(w.log[off].size)
		}
	}
	return offs, bytes
}

func (w *twin) head() Frontier {
	for off, f := range w.fates {
		if f != settled {
			return Frontier(off)
		}
	}
	return Frontier(len(w.fates))
}

// snapshot is a snapshot taken and the frontier it speaks of.
type snapshot struct {
	data []byte
	at   Frontier
}

// machine drives state and twin together.
type machine struct {
	q         Queue
	w         twin
	snapshots []snapshot
}

// settle puts what has been settled on the log, as the runtime does before it releases the queue's lock.
func (m *machine) record() {
	data := m.q.AppendSettled(nil)
	if len(data) == 0 {
		return
	}
	m.event(record{event: true, data: data})
}

func (m *machine) event(r record) {
	m.q.Event(Offset(len(m.w.log)))
	m.w.append(r)
}

func (m *machine) Append(t *rapid.T) {
	sizes := rapid.SliceOfN(rapid.Uint32Range(0, 1000), 1, 100).Draw(t, "sizes")
	priority := rapid.SampledFrom([]uint8{0, 1, 1, 2, 3, 4, 255})
	var sum uint64
	var each []Arrival
	first := Offset(len(m.w.log))
	for _, s := range sizes {
		a := Arrival{s, priority.Draw(t, "priority")}
		m.w.append(record{size: a.Size, priority: a.Priority})
		sum += uint64(s)
		each = append(each, a)
	}
	if m.w.highest > 0 {
		m.q.AppendEach(first, each)
	} else {
		m.q.Append(first, uint64(len(sizes)), sum)
	}
}

func (m *machine) Event(t *rapid.T) { m.event(record{event: true}) }

func (m *machine) Visible(t *rapid.T) {
	end := len(m.w.log)
	m.w.visible = Frontier(rapid.IntRange(int(m.w.visible), end).Draw(t, "visible"))
	m.q.Visible(m.w.visible)
}

func (m *machine) AllVisible(t *rapid.T) {
	m.w.visible = Frontier(len(m.w.log))
	m.q.Visible(m.w.visible)
}

func (m *machine) Deliver(t *rapid.T) {
	noAck, drop := rapid.Bool().Draw(t, "noAck"), rapid.Bool().Draw(t, "drop")
	for range rapid.IntRange(1, 150).Draw(t, "n") {
		want, wantOK := m.w.next()
		got, ok := m.next()
		if ok != wantOK || ok && (got.Offset != want || got.Priority != m.w.priority(int(want))) {
			t.Fatalf("next is %+v, %v; want %d, %v", got, ok, want, wantOK)
		}
		if !ok {
			break
		}
		if got.Redelivered != m.w.delivered[want] {
			t.Fatalf("message %d: redelivered is %v", want, got.Redelivered)
		}
		m.w.delivered[want] = true
		m.w.fates[want] = unacked
		if noAck {
			m.w.fates[want] = settled
		}
		if noAck && drop {
			m.q.Drop(got, m.w.log[want].size)
		} else {
			m.q.Delivered(got, m.w.log[want].size, noAck)
		}
	}
	m.record()
}

// next is Next with the log read as the runtime reads it.
func (m *machine) next() (Message, bool) {
	for {
		got, ok := m.q.Next()
		if !ok || !m.w.log[got.Offset].event {
			return got, ok
		}
		if !m.q.Skip(got.Offset) {
			return got, false
		}
	}
}

// some draws a subset of offs, in any order, with a stranger in it now and then.
func some(t *rapid.T, offs []Offset) []Offset {
	if len(offs) == 0 {
		return []Offset{Offset(rapid.IntRange(0, 1000).Draw(t, "stranger"))}[:0]
	}
	mode := rapid.IntRange(0, 2).Draw(t, "mode")
	n := rapid.IntRange(0, len(offs)).Draw(t, "n")
	switch mode {
	case 0:
		return offs[:n]
	case 1:
		return offs[len(offs)-n:]
	}
	return rapid.Permutation(offs).Draw(t, "order")[:n]
}

func (m *machine) Settle(t *rapid.T)  { m.back(t, settled, m.q.Settle) }
func (m *machine) Requeue(t *rapid.T) { m.back(t, ready, m.q.Requeue) }

func (m *machine) back(t *rapid.T, f fate, event func([]Offset) int) {
	all, _ := m.w.with(unacked)
	offs := some(t, all)
	for _, off := range offs {
		m.w.fates[off] = f
	}
	strange := append(append([]Offset{1 << 40}, offs...), offs...) // twice, and one never delivered
	if n := event(strange); n != len(offs) {
		t.Fatalf("%d of %d unacked offsets were known", n, len(offs))
	}
	m.record()
}

func (m *machine) Purge(t *rapid.T) {
	offs, _ := m.w.with(ready)
	for _, off := range offs {
		m.w.fates[off] = settled
	}
	if n := m.q.Purge(); n != uint64(len(offs)) {
		t.Fatalf("purged %d, want %d", n, len(offs))
	}
	m.record()
}

func (m *machine) Snapshot(t *rapid.T) {
	m.snapshots = append(m.snapshots, snapshot{m.q.AppendSnapshot(nil), m.q.End()})
}

// Crash cuts the log anywhere behind the latest of some snapshots and recovers.
func (m *machine) Crash(t *rapid.T) {
	snap := snapshot{}
	if n := len(m.snapshots); n > 0 {
		snap = m.snapshots[rapid.IntRange(0, n-1).Draw(t, "snapshot")]
	}
	clean := rapid.Bool().Draw(t, "clean")
	cut := len(m.w.log)
	if clean {
		snap = snapshot{m.q.AppendSnapshot(nil), m.q.End()}
	} else {
		cut = rapid.IntRange(int(snap.at), cut).Draw(t, "cut")
	}
	m.w.recover(cut)
	head := Frontier(rapid.IntRange(0, int(m.w.head())).Draw(t, "head"))
	q, err := Restore(snap.data, head, m.w.highest)
	if err != nil {
		t.Fatal(err)
	}
	for off := Offset(q.End()); int(off) < cut; off++ {
		switch r := m.w.log[off]; {
		case r.data != nil:
			if err := q.ReplaySettled(off, r.data); err != nil {
				t.Fatalf("replay of %d: %v", off, err)
			}
		case r.event:
			q.ReplayEvent(off)
		default:
			q.ReplayMessage(off, Arrival{r.size, r.priority})
		}
	}
	q.Recovered(!clean)
	m.q = q
	for off := range m.w.log {
		m.w.delivered[off] = m.w.delivered[off] || !clean
	}
	// Snapshots that know more than the log does have rested on something that was not durable: none such.
	keep := m.snapshots[:0]
	for _, s := range m.snapshots {
		if int(s.at) <= cut {
			keep = append(keep, s)
		}
	}
	m.snapshots = keep
}

// recover makes the twin what its log, cut, adds up to.
func (w *twin) recover(cut int) {
	w.log, w.fates, w.delivered = w.log[:cut], w.fates[:cut], w.delivered[:cut]
	w.visible = Frontier(cut)
	for off := range w.log {
		if w.fates[off] = ready; w.log[off].event {
			w.fates[off] = settled
		}
	}
	for _, r := range w.log {
		var off uint64
		d := decoder{data: r.data}
		for range d.skipTotals() {
			off += d.uvarint()
			for range d.uvarint() {
				w.fates[off] = settled
				off++
			}
		}
	}
}

func (d *decoder) skipTotals() uint64 {
	if d.data == nil {
		return 0
	}
	d.uvarint()
	d.uvarint()
	return d.uvarint()
}

// Check compares everything there is to see.
func (m *machine) Check(t *rapid.T) {
	var want Totals
	rs, rb := m.w.with(ready)
	us, ub := m.w.with(unacked)
	want = Totals{uint64(len(rs)), uint64(len(us)), rb, ub}
	if got := m.q.Totals(); got != want {
		t.Fatalf("totals are %+v, want %+v", got, want)
	}
	if got, want := m.q.End(), Frontier(len(m.w.log)); got != want {
		t.Fatalf("end is %d, want %d", got, want)
	}
	// The head may lag over event records in front of the first fresh message, never run ahead.
	if got, want := m.q.Head(), m.w.head(); got > want {
		t.Fatalf("head is %d, but %d is alive", got, want)
	} else if (len(rs)+len(us) == 0 || m.w.highest > 0) && got != want {
		t.Fatalf("head is %d, want %d", got, want)
	}
	m.checkPriorities(t, rs)
	m.q.check(t)
}

// checkPriorities looks at what is told of single priorities.
func (m *machine) checkPriorities(t *rapid.T, ready []Offset) {
	highest, written := uint8(0), true
	for _, off := range ready {
		highest = max(highest, m.w.priority(int(off)))
		written = written && m.w.visible.Covers(off)
	}
	if got := m.q.Highest(); got != highest {
		t.Fatalf("highest priority is %d, want %d", got, highest)
	}
	if m.q.Written() && !written {
		t.Fatal("not all messages are visible")
	}
	if m.w.highest == 0 {
		return
	}
	if n := m.q.Priorities(); n <= int(highest) || n > int(m.w.highest)+1 {
		t.Fatalf("%d priorities, highest in use is %d", n, highest)
	}
	for p := range m.w.highest + 1 {
		want, wantOK := m.w.nextOf(p)
		if got, ok := m.q.NextOf(p); ok != wantOK || ok && (got.Offset != want || got.Priority != p) {
			t.Fatalf("next of priority %d is %+v, %v; want %d, %v", p, got, ok, want, wantOK)
		}
	}
}

// check asserts the invariants of the package comment.
func (q *Queue) check(t *rapid.T) {
	if Offset(q.Head()) > q.cursor || Frontier(q.cursor) > q.end || q.visible > q.end {
		t.Fatalf("head %d, cursor %d, visible %d, end %d", q.Head(), q.cursor, q.visible, q.end)
	}
	if q.highest > 0 && (q.cursor != Offset(q.end) || q.fresh != tally{} || q.gone != nil) {
		t.Fatalf("with priorities: cursor %d, end %d, fresh %+v, gone %v", q.cursor, q.end, q.fresh, q.gone)
	}
	sets := map[string]*set{"unacked": &q.unacked}
	var listed tally
	for p := range q.listed.sets {
		s := &q.listed.sets[p]
		sets[fmt.Sprint("listed ", p)] = s
		listed.Count += s.Count
		listed.Bytes += s.Bytes
		s.all(func(e entry) {
			if int(e.priority) != p || q.Unacked(e.off) {
				t.Fatalf("%d of priority %d is listed with %d; unacked: %v", e.off, e.priority, p, q.Unacked(e.off))
			}
		})
	}
	if listed != q.listed.tally {
		t.Fatalf("listed are %+v, counted %+v", listed, q.listed.tally)
	}
	for name, s := range sets {
		s.check(t, name)
		s.all(func(e entry) {
			if e.off >= q.cursor {
				t.Fatalf("%s holds %d, cursor is %d", name, e.off, q.cursor)
			}
		})
	}
	for i, x := range q.gone {
		if x.From >= x.To || x.From < q.cursor || i > 0 && x.From <= q.gone[i-1].To {
			t.Fatalf("gone is %v, cursor %d", q.gone, q.cursor)
		}
	}
}

func (s *set) check(t *rapid.T, name string) {
	var sum tally
	last, begun := Offset(0), false
	for i, b := range s.blocks {
		if b.head >= b.tail {
			t.Fatalf("%s: block %d is empty", name, i)
		}
		for _, e := range b.live() {
			if begun && e.off <= last {
				t.Fatalf("%s: %d after %d", name, e.off, last)
			}
			last, begun = e.off, true
			sum.add(e.size)
		}
	}
	if sum != s.tally {
		t.Fatalf("%s: counted %+v, has %+v", name, s.tally, sum)
	}
	if n := len(s.blocks); n > 4 && uint64(n) > 4*s.Count/blockLen+4 {
		t.Fatalf("%s: %d blocks for %d entries", name, n, s.Count)
	}
}

func TestQueueAgainstTwin(t *testing.T) {
	for _, highest := range []uint8{0, 3} {
		t.Run(fmt.Sprint("priority ", highest), func(t *testing.T) { againstTwin(t, highest) })
	}
}

func againstTwin(t *testing.T, highest uint8) {
	rapid.Check(t, func(t *rapid.T) {
		m := &machine{q: New(highest), w: twin{highest: highest}}
		actions := rapid.StateMachineActions(m)
		actions["Deliver2"], actions["Append2"], actions["Settle2"] = m.Deliver, m.Append, m.Settle
		actions[""] = m.Check
		t.Repeat(actions)
	})
}

// TestBacklogIsSmall pins that a backlog takes no room, and a snapshot of it neither.
func TestBacklogIsSmall(t *testing.T) {
	var q Queue
	for i := range Offset(1_000_000) {
		q.Append(i*101, 100, 102400)
		q.Event(i*101 + 100)
	}
	if n := len(q.AppendSnapshot(nil)); n > 64 {
		t.Errorf("snapshot of %d messages takes %d bytes", q.Totals().Ready, n)
	}
	if got := q.Totals().Ready; got != 100_000_000 {
		t.Errorf("%d ready", got)
	}
	if n := testing.AllocsPerRun(10, func() { q.Append(Offset(q.End()), 100, 1); q.Event(Offset(q.End())) }); n != 0 {
		t.Errorf("%v allocations per append", n)
	}
}

// TestDeliverSettleAllocates pins that the usual way of a message through the state allocates nothing.
func TestDeliverSettleAllocates(t *testing.T) {
	var q Queue
	var record []byte
	var offs []Offset
	way := func() {
		q.Append(Offset(q.End()), 100, 100)
		q.Visible(q.End())
		for {
			m, ok := q.Next()
			if !ok {
				break
			}
			q.Delivered(m, 1, false)
			if offs = append(offs, m.Offset); len(offs) > 1000 {
				q.Settle(offs[:100])
				offs = append(offs[:0], offs[100:]...)
			}
		}
		record = q.AppendSettled(record[:0])
		q.Event(Offset(q.End()))
	}
	for range 100 {
		way()
	}
	if n := testing.AllocsPerRun(100, way); n > 0 {
		t.Errorf("%v allocations per 100 messages", n)
	}
}
