package queue

import (
	"sync"

	"github.com/warrenmq/warren/keratin"
	"github.com/warrenmq/warren/queue/catalog"
	"github.com/warrenmq/warren/queue/state"
)

// work is what a queue needs to deliver.
type work struct {
	cursor keratin.Cursor
	next   Delivery // decoded, if ready: refused by one consumer, offered to the next
	ready  bool
}

// recorder is what it takes to stage a settle record. The queues share some.
type recorder struct {
	batch   keratin.Batch
	scratch []byte
}

var recorders = sync.Pool{New: func() any { return new(recorder) }}

// maxScratch is the room for settle records that is kept between two.
const maxScratch = 16 << 10

func (q *Queue) workLocked() *work {
	if q.work == nil {
		q.work = &work{next: Delivery{Queue: q}}
	}
	return q.work
}

// deliverLocked offers ready messages to the consumers in turn, until there is no message or nobody who takes one.
// It reports whether it has staged something.
func (q *Queue) deliverLocked() (staged bool) {
	var n Counters
	for {
		turn := q.st.Turn()
		if turn == nil {
			break
		}
		m, d, ok := q.nextLocked()
		if !ok {
			break
		}
		c := turn.Value.(*Consumer)
		if !c.sink.Deliver(c, d) {
			q.st.Block(turn)
			continue
		}
		q.st.Served(turn)
		q.takenLocked(m, d, turn.NoAck)
		n.out(turn.NoAck, m.Redelivered)
	}
	if n != (Counters{}) {
		q.countLocked(&n)
	}
	q.trimLocked()
	q.expireLocked()
	return q.recordLocked()
}

func (c *Counters) out(noAck, redelivered bool) {
	if noAck {
		c.DeliverNoAck++
	} else {
		c.Deliver++
	}
	if redelivered {
		c.Redeliver++
	}
}

// nextLocked reads the message whose turn it is, past those that have expired. d is valid until the next call.
func (q *Queue) nextLocked() (m state.Message, d *Delivery, ok bool) {
	for {
		m, d, ok = q.readLocked()
		if !ok || d.expires == 0 || !d.expired(q.v.b.unixMilli()) {
			return m, d, ok
		}
		q.dropLocked(m, d, reasonExpired)
	}
}

// readLocked reads the message whose turn it is. d is valid until the next call.
func (q *Queue) readLocked() (m state.Message, d *Delivery, ok bool) {
	for q.failed == nil {
		if m, ok = q.st.Next(); !ok {
			break
		}
		if d, ok = q.fetchLocked(m); ok {
			return m, d, true
		}
	}
	return m, nil, false
}

// fetchLocked reads a message that the state has named. ok is false if that is no message, which the state is told, or
// if the log fails. d is valid until the next call.
func (q *Queue) fetchLocked(m state.Message) (d *Delivery, ok bool) {
	w := q.workLocked()
	d = &w.next
	if w.ready && d.Offset == m.Offset {
		return d, true
	}
	r, err := q.log.Next(&w.cursor, m.Offset, q.st.End())
	switch {
	case err == nil && r.Kind == kindMessage:
		err = decodeMessage(r.Data, d)
	case err == nil && q.st.Skip(m.Offset):
		return nil, false
	case err == nil:
		err = errRecord
	}
	if err != nil {
		q.failLocked(err)
		return nil, false
	}
	d.Offset, d.Redelivered, w.ready = m.Offset, m.Redelivered, true
	return d, true
}

// takenLocked tells the state that the message went out.
func (q *Queue) takenLocked(m state.Message, d *Delivery, noAck bool) {
	q.st.Delivered(m, uint32(len(d.Body)), noAck)
	q.readAway()
}

// readAway tells that the message that was read is not ready any more. The last one takes with it what is held of
// the log.
func (q *Queue) readAway() {
	q.work.ready = false
	if q.st.Totals().Ready == 0 {
		q.letGo()
		q.perishable = false
	}
}

// letGo lets go of what is held of the log.
func (q *Queue) letGo() {
	w := q.work
	w.cursor, w.next, w.ready = keratin.Cursor{}, Delivery{Queue: q}, false
}

// recordLocked stages the record of what has been settled, and trims the log. It reports whether it has staged
// something. The log of a queue that does not survive a restart needs no such record.
func (q *Queue) recordLocked() (staged bool) {
	if q.st.Unrecorded() {
		if q.rec.Durable && q.failed == nil && !q.gone.Load() {
			staged = q.stageSettledLocked()
		} else {
			q.st.ForgetSettled()
		}
	}
	if head := q.st.Head(); head > q.head && q.failed == nil {
		q.log.Trim(head)
		q.head = head
	}
	return staged
}

func (q *Queue) stageSettledLocked() bool {
	r := recorders.Get().(*recorder)
	defer recorders.Put(r)
	r.scratch = q.st.AppendSettled(r.scratch[:0])
	copy(r.batch.Reserve(kindSettled, len(r.scratch)), r.scratch)
	if cap(r.scratch) > maxScratch {
		r.scratch = nil
	}
	off, err := q.log.Stage(&r.batch, keratin.Written, nil)
	if err != nil {
		r.batch.Reset()
		q.failLocked(err)
		return false
	}
	q.st.Event(off)
	return true
}

// Get takes one message. remaining counts the ready messages left.
func (s *Session) Get(queue string, noAck bool, d *Delivery) (found bool, remaining int, err error) {
	q, err := s.reach(queue, catalog.Read)
	if err != nil {
		return false, 0, err
	}
	q.mu.Lock()
	found, remaining, err = q.getLocked(noAck, d)
	if staged := q.recordLocked(); q.unlock() || staged {
		s.Commit()
	}
	return found, remaining, err
}

func (q *Queue) getLocked(noAck bool, d *Delivery) (found bool, remaining int, err error) {
	if err := q.usableLocked(); err != nil {
		return false, 0, err
	}
	q.touchLocked()
	m, next, ok := q.nextLocked()
	if !ok && !q.st.Written() || ok && m.Priority < q.st.Highest() {
		// What has been published before must be seen, but it is still on its way to the disk.
		q.awaitLocked()
		m, next, ok = q.nextLocked()
	}
	if !ok {
		q.countLocked(&Counters{GetEmpty: 1})
		return false, 0, nil
	}
	*d = *next
	q.takenLocked(m, next, noAck)
	n := Counters{Get: 1}
	if noAck {
		n = Counters{GetNoAck: 1}
	}
	if m.Redelivered {
		n.Redeliver = 1
	}
	q.countLocked(&n)
	q.expireLocked() // the next one has got to the head
	return true, int(q.st.Totals().Ready), nil
}

// awaitLocked waits, with the lock released, until everything staged so far is written, unless the log fails.
func (q *Queue) awaitLocked() {
	q.mu.Unlock()
	q.v.b.store.Write()
	q.mu.Lock()
	if q.log != nil {
		q.st.Visible(q.log.Marks().Written)
	}
}
