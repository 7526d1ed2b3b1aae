package queue

import (
	"fmt"

	"github.com/warrenmq/warren/keratin"
	"github.com/warrenmq/warren/queue/catalog"
	"github.com/warrenmq/warren/queue/state"
)

// openQueue opens a queue's log and brings its state to the log's end. If that fails the queue is there all the
// same, out of service.
func openQueue(v *vhost, r *catalog.Queue) (*Queue, error) {
	q := &Queue{v: v, rec: r, relaxed: !r.Durable || r.Args["x-durability"] == "buffered", rules: rulesOf(r)}
	q.mu.Lock() // against a checkpoint that asks for a snapshot before there is a state
	defer q.mu.Unlock()
	log, rec, err := v.b.store.OpenLog(r.LogID, keratin.LogOptions{Ephemeral: !r.Durable}, (*owner)(q))
	if err != nil {
		q.failed = err
		return q, err
	}
	q.log = log
	if err := q.recoverLocked(rec); err != nil {
		q.failed = err
		return q, err
	}
	q.head = rec.Marks.Head
	q.touchLocked()
	return q, nil
}

// wake does after a restart what time or a rule asks for. There must be exchanges and bindings: what has expired is
// perhaps dead-lettered.
func (q *Queue) wake() {
	if q.rules == nil {
		return
	}
	q.mu.Lock()
	q.deliverLocked()
	q.unlock()
}

func (q *Queue) recoverLocked(rec keratin.Recovered) error {
	st, err := state.Restore(rec.State, rec.Marks.Head, q.rules.priorities())
	if err != nil {
		return err
	}
	var c keratin.Cursor
	for off := Offset(st.End()); rec.Marks.Staged.Covers(off); off++ {
		r, err := q.log.Next(&c, off, rec.Marks.Staged)
		if err == nil {
			err = replay(&st, r)
		}
		if err != nil {
			return fmt.Errorf("replaying record %d: %w", off, err)
		}
	}
	st.Recovered(rec.Unclean)
	q.st = st
	q.perishable = st.Totals().Ready > 0 // a snapshot does not tell
	return nil
}

func replay(st *state.Queue, r keratin.Record) error {
	switch r.Kind {
	case kindMessage:
		var d Delivery
		if err := decodeMessage(r.Data, &d); err != nil {
			return err
		}
		st.ReplayMessage(r.Offset, arrival(d.Properties, d.Body))
		return nil
	case kindSettled:
		return st.ReplaySettled(r.Offset, r.Data)
	}
	return errRecord
}

// owner is a queue as its log sees it.
type owner Queue

// Written tells that all records below upTo have been written: they may be delivered.
func (o *owner) Written(upTo keratin.Frontier) {
	q := (*Queue)(o)
	q.mu.Lock()
	q.st.Visible(upTo)
	q.deliverLocked()
	q.unlock() // what these have staged is written by the commit that is running
}

// Snapshot appends the queue's state.
func (o *owner) Snapshot(dst []byte) ([]byte, keratin.Frontier) {
	q := (*Queue)(o)
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.st.AppendSnapshot(dst), q.st.End()
}
