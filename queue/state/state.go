package state

import "github.com/warrenmq/warren/keratin"

// Offset and Frontier are the log's: a record's number, and the mark before the next one.
type (
	Offset   = keratin.Offset
	Frontier = keratin.Frontier
)

// Queue is the state of one queue. The zero value is a new, empty one without priorities at the beginning of its log.
type Queue struct {
	cursor  Offset   // the first offset not yet delivered
	visible Frontier // what has been written
	end     Frontier // the log's next offset

	fresh   tally // the messages at and above cursor
	listed  byPriority
	unacked set
	highest uint8 // priority that is told from others; 0: the queue has none

	gone             spans    // settled at or above cursor; after a recovery only
	redeliveredBelow Frontier // an unclean stop may have forgotten deliveries of these
	known            *known   // during some recoveries

	settled   Settled // since the last TakeSettled
	consumers ring
}

// Message is the next one to deliver.
type Message struct {
	Offset      Offset
	Deliveries  uint32 // how often it has been delivered before, as far as the log tells
	Redelivered bool
	Priority    uint8 // in a queue with priorities
}

// Append tells that count messages with bodies of size bytes in all were staged at first and after, in a queue without
// priorities.
func (q *Queue) Append(first Offset, count, bytes uint64) {
	q.drained()
	q.fresh.Count += count
	q.fresh.Bytes += bytes
	q.end = Frontier(first) + Frontier(count)
}

// Event tells that a record that is not a message was staged at off.
func (q *Queue) Event(off Offset) {
	q.end = Frontier(off) + 1
	q.drained()
}

// drained moves the cursor to the end when nothing fresh is left, over the event records in between.
func (q *Queue) drained() {
	if q.fresh.Count == 0 {
		q.cursor = Offset(q.end)
		q.gone = nil
		q.fresh.Bytes = 0
	}
}

// Visible tells that all records below f have been written.
func (q *Queue) Visible(f Frontier) { q.visible = max(q.visible, f) }

// Next returns the message whose turn it is. It may turn out not to be a message but an event record, to be told
// with Skip. ok is false if nothing is ready that is also visible.
func (q *Queue) Next() (m Message, ok bool) {
	for p := len(q.listed.sets) - 1; p > 0; p-- {
		if m, ok = q.NextOf(uint8(p)); ok {
			return m, true
		}
	}
	return q.NextOf(0)
}

// NextOf is Next among the messages of one priority.
func (q *Queue) NextOf(priority uint8) (m Message, ok bool) {
	if e, ok := q.listed.first(priority); ok {
		return Message{
			Offset: e.off, Deliveries: uint32(e.deliveries), Priority: priority,
			Redelivered: e.deliveries > 0 || q.redeliveredBelow.Covers(e.off),
		}, q.visible.Covers(e.off)
	}
	if q.fresh.Count == 0 || priority > 0 {
		return Message{}, false
	}
	if q.gone != nil {
		q.cursor = q.gone.pass(q.cursor)
	}
	if !q.visible.Covers(q.cursor) {
		return Message{}, false
	}
	return Message{Offset: q.cursor, Redelivered: q.redeliveredBelow.Covers(q.cursor)}, true
}

// Skip tells that the record at off, which Next has named, is not a message. It answers false if the state knows that
// it is: one of them is wrong.
func (q *Queue) Skip(off Offset) bool {
	if off != q.cursor {
		return false
	}
	q.cursor++
	q.settled.skip(off)
	return true
}

// Delivered tells that the message that Next has named went out. With noAck it is settled by that, otherwise it is
// unacked from now on.
func (q *Queue) Delivered(m Message, size uint32, noAck bool) {
	q.take(m, size)
	if noAck {
		q.settled.add(m.Offset, size)
		return
	}
	n := uint16(min(m.Deliveries, maxDeliveries-1)) + 1
	q.unacked.add(entry{off: m.Offset, size: size, deliveries: n, priority: m.Priority})
}

// Drop settles the message that Next has named without a delivery (expired, over the limit, unreadable).
func (q *Queue) Drop(m Message, size uint32) {
	q.take(m, size)
	q.settled.add(m.Offset, size)
}

// take removes a message from the ready ones.
func (q *Queue) take(m Message, size uint32) {
	if m.Offset < q.cursor {
		q.listed.remove(m.Offset, m.Priority)
		return
	}
	q.cursor = m.Offset + 1
	q.fresh.sub(size)
	q.drained()
}

// Unacked reports whether the message at off is out with a consumer.
func (q *Queue) Unacked(off Offset) bool {
	e, ok := q.unacked.ceil(off)
	return ok && e.off == off
}

// Settle removes delivered messages for good and returns how many of the offsets were unacked.
func (q *Queue) Settle(offsets []Offset) (n int) {
	for _, off := range offsets {
		if e, ok := q.unacked.remove(off); ok {
			q.settled.add(off, e.size)
			n++
		}
	}
	return n
}

// Requeue makes delivered messages ready again, at their original position, and returns how many of the offsets
// were unacked.
func (q *Queue) Requeue(offsets []Offset) (n int) {
	for _, off := range offsets {
		if e, ok := q.unacked.remove(off); ok {
			q.listed.add(e)
			n++
		}
	}
	return n
}

// Purge settles all ready messages and returns their number.
func (q *Queue) Purge() uint64 {
	n := q.ready()
	ascending(func(e entry) { q.settled.add(e.off, e.size) }, q.listed.all()...)
	q.listed.clear()
	if q.fresh.Count > 0 {
		q.settled.addSpan(q.cursor, Offset(q.end), q.fresh)
		q.fresh = tally{}
	}
	q.drained()
	return n
}

// Head returns the lowest live offset, or the end if there is none: the log below it is not needed any more.
func (q *Queue) Head() Frontier {
	head := q.end
	if q.fresh.Count > 0 {
		head = Frontier(q.cursor)
	}
	for p := range q.listed.sets {
		if e, ok := q.listed.sets[p].min(); ok {
			head = min(head, Frontier(e.off))
		}
	}
	if e, ok := q.unacked.min(); ok {
		head = min(head, Frontier(e.off))
	}
	return head
}

// End returns the offset that the log's next record will have.
func (q *Queue) End() Frontier { return q.end }

// Written reports whether all ready messages are visible. With priorities it may find that only when all records are.
func (q *Queue) Written() bool {
	if q.highest > 0 {
		return q.listed.Count == 0 || q.visible >= q.end
	}
	return q.fresh.Count == 0 || q.visible >= q.end
}

func (q *Queue) ready() uint64 { return q.fresh.Count + q.listed.Count }

// Totals are the numbers of a queue's messages and of their bodies' bytes.
type Totals struct{ Ready, Unacked, ReadyBytes, UnackedBytes uint64 }

// Totals returns the queue's totals. Ready counts what has been staged, visible or not.
func (q *Queue) Totals() Totals {
	return Totals{
		Ready:        q.ready(),
		Unacked:      q.unacked.Count,
		ReadyBytes:   q.fresh.Bytes + q.listed.Bytes,
		UnackedBytes: q.unacked.Bytes,
	}
}
