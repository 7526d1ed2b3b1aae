package state

import "encoding/binary"

// The first byte of a snapshot.
const (
	plainVersion    = 1
	priorityVersion = 2 // of a queue with priorities
)

func snapshotVersion(highest uint8) byte {
	if highest > 0 {
		return priorityVersion
	}
	return plainVersion
}

// AppendSnapshot appends what all records below End add up to:
//
//	version | uvarints: end, cursor, fresh messages, fresh bytes, redelivered-below
//	        | uvarint number of messages below the cursor | each: uvarint distance from the one before,
//	          uvarint size, uvarint deliveries; in version 2 its priority, a byte
//	        | spans gone, as in a settle record
//
// Unacked messages are written as ready ones: no consumer outlives the process.
func (q *Queue) AppendSnapshot(dst []byte) []byte {
	dst = append(dst, snapshotVersion(q.highest))
	for _, v := range [...]uint64{
		uint64(q.end), uint64(q.cursor), q.fresh.Count, q.fresh.Bytes,
		uint64(q.redeliveredBelow), q.listed.Count + q.unacked.Count,
	} {
		dst = binary.AppendUvarint(dst, v)
	}
	var last Offset
	ascending(func(e entry) {
		dst = binary.AppendUvarint(dst, uint64(e.off-last))
		dst = binary.AppendUvarint(dst, uint64(e.size))
		dst = binary.AppendUvarint(dst, uint64(e.deliveries))
		if q.highest > 0 {
			dst = append(dst, e.priority)
		}
		last = e.off
	}, append(q.listed.all(), &q.unacked)...)
	return appendSpans(dst, q.gone)
}

func decodeSnapshot(data []byte, highest uint8) (Queue, error) {
	if data[0] != snapshotVersion(highest) {
		return Queue{}, ErrCorrupt
	}
	d := decoder{data: data[1:]}
	q := Queue{highest: highest, end: Frontier(d.uvarint()), cursor: Offset(d.uvarint())}
	q.fresh = tally{Count: d.uvarint(), Bytes: d.uvarint()}
	q.redeliveredBelow = Frontier(d.uvarint())
	n, off := d.length(3), Offset(0)
	for i := range n {
		step := Offset(d.uvarint())
		e := entry{off: off + step, size: d.uint32(), deliveries: uint16(min(d.uvarint(), maxDeliveries))}
		if highest > 0 {
			e.priority = d.byte()
		}
		if d.bad || e.off < off || (step == 0 && i > 0) || e.off >= q.cursor || e.priority > highest {
			return Queue{}, ErrCorrupt
		}
		off = e.off
		q.listed.add(e)
	}
	end := Offset(0)
	for i := range d.length(2) {
		from := end + Offset(d.uvarint())
		to := from + Offset(d.uvarint())
		if d.bad || from < max(end, q.cursor) || (from == end && i > 0) || to <= from || to > Offset(q.end) {
			return Queue{}, ErrCorrupt
		}
		q.gone = append(q.gone, Span{from, to})
		end = to
	}
	fits := q.cursor == Offset(q.end) || highest == 0 && q.cursor < Offset(q.end)
	if !d.done() || !fits || q.fresh.Count > uint64(q.end)-uint64(q.cursor) {
		return Queue{}, ErrCorrupt
	}
	return q, nil
}

// decoder reads what appendSpans and AppendSnapshot write. bad is sticky.
type decoder struct {
	data []byte
	bad  bool
}

func (d *decoder) uvarint() uint64 {
	v, n := binary.Uvarint(d.data)
	if n <= 0 {
		d.bad, d.data = true, nil
		return 0
	}
	d.data = d.data[n:]
	return v
}

func (d *decoder) byte() byte {
	if len(d.data) == 0 {
		d.bad = true
		return 0
	}
	b := d.data[0]
	d.data = d.data[1:]
	return b
}

func (d *decoder) uint32() uint32 {
	v := d.uvarint()
	if v > 1<<32-1 {
		d.bad = true
	}
	return uint32(v)
}

// length reads a number of items that take at least size bytes each.
func (d *decoder) length(size int) int {
	n := d.uvarint()
	if n > uint64(len(d.data)/size) {
		d.bad = true
		return 0
	}
	return int(n)
}

func (d *decoder) done() bool { return !d.bad && len(d.data) == 0 }
