package state

// known is what a recovery without a usable snapshot knows of every record since the log's head. There, a settle
// record may count messages below the head, of which nothing is known any more; so the totals in it do not tell
// what is left, and the messages it names are looked up one by one. It takes four bytes a record, until Recovered. With
// priorities nothing is looked up in it: all live messages are listed.
type known struct {
	head  Offset
	sizes []uint32 // notMessage for an event or a message settled
}

const notMessage = 1<<32 - 1

// Restore begins a recovery: snapshot is what AppendSnapshot gave at some time, or empty, and head is where the log
// begins now. The records from the result's End on are to be replayed, then Recovered is to be called. highest is what
// New was given at the queue's beginning.
//
// A log is cut at its head only when the settle records that allow it are durable or lie below the head
// themselves. Hence if the head has passed the snapshot, everything the snapshot tells of is settled, and otherwise
// all settle records since the snapshot are there to be replayed.
func Restore(snapshot []byte, head Frontier, highest uint8) (q Queue, err error) {
	q = New(highest)
	if len(snapshot) > 0 {
		if q, err = decodeSnapshot(snapshot, highest); err != nil {
			return Queue{}, err
		}
	}
	if head > q.end {
		q = Queue{highest: highest, cursor: Offset(head), end: head, known: &known{head: Offset(head)}}
	}
	return q, nil
}

// ReplayMessage tells of a message found at off. Its priority does not matter in a queue without.
func (q *Queue) ReplayMessage(off Offset, m Arrival) {
	if q.highest > 0 {
		q.AppendEach(off, []Arrival{m})
		return
	}
	size := m.Size
	q.note(size)
	q.Append(off, 1, uint64(size))
}

// ReplayEvent tells of a record at off that is not a message.
func (q *Queue) ReplayEvent(off Offset) {
	q.note(notMessage)
	if q.fresh.Count > 0 {
		// Counted as gone, so that the intervals to both sides become one.
		q.gone.add(off, off+1)
		q.cursor = q.gone.pass(q.cursor)
	}
	q.Event(off)
}

func (q *Queue) note(size uint32) {
	if q.known != nil && q.highest == 0 {
		q.known.sizes = append(q.known.sizes, size)
	}
}

// ReplaySettled applies a settle record found at off.
func (q *Queue) ReplaySettled(off Offset, data []byte) error {
	d := decoder{data: data}
	total := tally{Count: d.uvarint(), Bytes: d.uvarint()}
	n := d.length(2)
	var found tally
	var end Offset
	for range n {
		from := end + Offset(d.uvarint())
		to := from + Offset(d.uvarint())
		if d.bad || from < end || to <= from || to > off {
			return ErrCorrupt
		}
		end = to
		q.replaySpan(from, to, &found)
	}
	if !d.done() || total.Count < found.Count || total.Bytes < found.Bytes {
		return ErrCorrupt
	}
	if q.known == nil {
		total.Count -= found.Count
		total.Bytes -= found.Bytes
		if q.fresh.Count < total.Count || q.fresh.Bytes < total.Bytes {
			return ErrCorrupt
		}
		q.fresh.Count -= total.Count
		q.fresh.Bytes -= total.Bytes
	}
	q.ReplayEvent(off)
	if q.fresh.Count > uint64(q.end)-uint64(q.cursor) {
		return ErrCorrupt
	}
	return nil
}

// replaySpan settles the messages in [from, to): it adds up in found those that can be told one by one, and
// remembers the part at or above the cursor as gone.
func (q *Queue) replaySpan(from, to Offset, found *tally) {
	q.listed.removeSpan(from, to, found)
	if to <= q.cursor {
		return
	}
	from = max(from, q.cursor)
	q.gone.add(from, to)
	if k := q.known; k != nil {
		for i := from - k.head; i < to-k.head && i < Offset(len(k.sizes)); i++ {
			if size := k.sizes[i]; size != notMessage {
				k.sizes[i] = notMessage
				q.fresh.sub(size)
				found.add(size)
			}
		}
	}
}

// Recovered ends a recovery: all records have been replayed and are on the disk. After an unclean stop, deliveries
// may have been forgotten, so every message counts as delivered before.
func (q *Queue) Recovered(unclean bool) {
	q.known = nil
	q.visible = q.end
	if unclean {
		q.redeliveredBelow = q.end
	}
}
