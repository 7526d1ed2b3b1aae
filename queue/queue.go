package queue

import (
	"errors"
	"sync"
	"sync/atomic"

	"go.uber.org/zap"

	"github.com/warrenmq/warren/keratin"
	"github.com/warrenmq/warren/queue/catalog"
	"github.com/warrenmq/warren/queue/state"
)

// Queue is one queue at work: a state machine and its log, under one lock. While it has nothing to do it takes a
// few hundred bytes.
type Queue struct {
	v       *vhost
	rec     *catalog.Queue
	log     Log    // nil if it could not be opened
	relaxed bool   // written is enough for every confirm: x-durability=buffered, or not durable
	rules   *rules // nil: none

	gone atomic.Bool // deleted; set under mu

	mu        sync.Mutex
	st        state.Queue
	consumers []*Consumer
	unused    bool             // on its way out, by auto-delete or x-expires
	failed    error            // of the log: the queue does nothing any more
	work      *work            // nil while nothing is delivered
	head      keratin.Frontier // as the log has been told
	counted
	ruled
}

// counted is what happened to a queue.
type counted struct {
	counters Counters
	seen     activity
}

// ruled is what rules, and messages that expire, make of a queue.
type ruled struct {
	perishable bool   // messages may expire
	looked     []look // by priority; kept so that a head is read once
	timers     *alarms
	dying      []dying // to be dead-lettered when the lock is released
}

// Name returns the queue's name.
func (q *Queue) Name() string { return q.rec.Name }

// gate returns the mark that confirms a message.
func (q *Queue) gate(persistent bool) keratin.Mark {
	if persistent && !q.relaxed {
		return keratin.Durable
	}
	return keratin.Written
}

func (q *Queue) isGone() bool { return q.gone.Load() }

// usableLocked tells why the queue cannot be used, as an *Error.
func (q *Queue) usableLocked() error {
	switch {
	case q.gone.Load() || q.unused:
		return catalog.NoQueue(q.v.name, q.rec.Name)
	case q.failed != nil:
		return refuse(NotFound, "queue '%s' in vhost '%s' is out of service: its log has failed", q.rec.Name, q.v.name)
	}
	return nil
}

// errFull says that a queue takes no message because of its greatest length.
var errFull = errors.New("the queue is full")

// load is a batch of messages to be staged.
type load struct {
	keratin.Batch
	bytes      uint64          // of their bodies
	perishable bool            // one of them expires some time
	each       []state.Arrival // for a queue with priorities
}

// add encodes a message for q.
func (l *load) add(q *Queue, m *Message, e envelope) {
	encodeMessage(&l.Batch, m, e)
	l.bytes += uint64(len(m.Body))
	l.perishable = l.perishable || e.expires != 0
	if q.rules.priorities() > 0 {
		l.each = append(l.each, arrival(m.Properties, m.Body))
	}
}

// append stages a load, which is empty afterwards, come what may.
func (q *Queue) append(l *load, gate keratin.Mark, w *waiting) error {
	n, bytes, perishable, each := uint64(l.Len()), l.bytes, l.perishable, l.each
	l.bytes, l.perishable, l.each = 0, false, each[:0]
	var waiter keratin.Waiter
	if w != nil {
		waiter = w
	}
	l.Seal()
	q.mu.Lock()
	defer q.mu.Unlock()
	err := q.failed
	switch {
	case q.gone.Load():
		err = keratin.ErrClosed
	case err == nil && q.rules.refuses() && q.overLocked(n, bytes):
		err = errFull
	}
	if err != nil {
		l.Reset()
		return err
	}
	first, err := q.log.Stage(&l.Batch, gate, waiter)
	if err != nil {
		l.Reset()
		q.failLocked(err)
		return err
	}
	if q.rules.priorities() > 0 {
		q.st.AppendEach(first, each)
	} else {
		q.st.Append(first, n, bytes)
	}
	q.counters.Publish += n
	q.perishable = q.perishable || perishable
	return nil
}

// Settle removes messages that were delivered and acknowledged. Offsets come in any order; unknown ones are
// ignored. Session.Commit writes it.
func (q *Queue) Settle(offsets []Offset) {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := q.st.Settle(offsets)
	q.countLocked(&Counters{Ack: uint64(n)})
	q.recordLocked()
}

// Reject removes messages that were delivered and refused without requeue. They are dead-lettered if the queue's
// arguments say so.
func (q *Queue) Reject(offsets []Offset) {
	q.mu.Lock()
	q.rejectLocked(offsets)
	q.recordLocked()
	q.unlock()
}

// Requeue puts delivered messages back to their original position, flagged redelivered.
func (q *Queue) Requeue(offsets []Offset) {
	q.mu.Lock()
	if q.st.Requeue(offsets) > 0 {
		q.perishable = true // perhaps
		q.deliverLocked()
	}
	q.unlock()
}

func (q *Queue) purge() (int, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if err := q.usableLocked(); err != nil {
		return 0, err
	}
	n := q.st.Purge()
	q.recordLocked()
	return int(n), nil
}

// size returns the numbers of ready messages and consumers. Messages over a limit are still counted until they are
// written; so that is waited for.
func (q *Queue) size() (messages, consumers int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.rules.limited() && !q.st.Written() {
		q.awaitLocked()
	}
	return int(q.st.Totals().Ready), len(q.consumers)
}

// countLocked adds to the queue's counters and its vhost's.
func (q *Queue) countLocked(c *Counters) {
	q.counters.add(c)
	q.v.meter.add(c)
}

// failLocked takes the queue out of service. Its log is poisoned or damaged; what is on the disk stays there.
func (q *Queue) failLocked(err error) {
	if q.failed != nil {
		return
	}
	q.failed = err // also of a deleted queue, whose log is closed: whoever reads on must come to an end
	q.stopAlarmsLocked()
	if !q.gone.Load() {
		q.v.b.log.Error("queue is out of service", zap.String("queue", q.rec.Name),
			zap.String("vhost", q.v.name), zap.Error(err))
	}
}

// stop ends all deliveries, for good.
func (q *Queue) stop() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.failed == nil {
		q.failed = errStopped
	}
	q.stopAlarmsLocked()
}

// remove follows the queue's deletion from the catalog.
func (q *Queue) remove() {
	q.mu.Lock()
	q.gone.Store(true)
	if q.failed == nil {
		q.failed = keratin.ErrClosed // nothing is read or written any more
	}
	q.stopAlarmsLocked()
	consumers := q.consumers
	for _, c := range consumers {
		q.st.Cancel(&c.turn)
	}
	q.consumers, q.work = nil, nil
	q.mu.Unlock()
	for _, c := range consumers {
		c.sink.Cancelled(c)
	}
	if q.log == nil && !q.rec.Durable {
		return
	}
	if err := q.v.b.store.RemoveLog(q.rec.LogID); err != nil {
		q.v.b.log.Error("removing a deleted queue's log", zap.String("queue", q.rec.Name),
			zap.String("vhost", q.v.name), zap.Error(err))
	}
}
