package keratin

import (
	"fmt"

	"github.com/warrenmq/warren/keratin/segment"
)

// load makes the logs what the checkpoint says they were.
func (r *recovery) load(c *checkpointFile) {
	r.epoch = c.epoch
	for _, k := range c.logs {
		l := r.s.newLog(k.id)
		for i := range k.segments {
			l.older.files = append(l.older.files, &k.segments[i])
		}
		l.older.next, l.older.made = k.moved, len(k.segments)
		l.trim.wanted, l.trim.head = k.head, k.head
		l.marks.durable = k.durable // what must be found, until replay is done
		l.marks.staged = max(k.moved, k.head)
		l.state.bytes, l.state.at = k.state, k.at
		r.logs[k.id] = l
	}
}

// log returns the log with that id, a new one if there was none.
func (r *recovery) log(id LogID) *Log {
	l := r.logs[id]
	if l == nil {
		l = r.s.newLog(id)
		r.logs[id] = l
	}
	return l
}

// replay gives the records to their logs.
func (r *recovery) replay() error {
	for i := range r.entries {
		e := &r.entries[i]
		var err error
		if e.bad == nil && e.until == 0 {
			err = e.EachBlock(e.file.generation, e.blocks, func(b segment.Block, records []byte, err error) {
				r.give(b, records, err, e, e.pos)
			})
		} else {
			err = r.salvage(e)
		}
		if err != nil {
			return err
		}
	}
	for _, l := range r.logs {
		if l.failed == nil && l.marks.staged < l.marks.durable {
			why := fmt.Sprintf("log %d ends at %d, %d was durable", l.id, l.marks.staged, l.marks.durable)
			l.damaged(&CorruptError{File: checkpointName, Why: why}, l.marks.durable)
		}
		if l.failed != nil {
			l.tail = tail{} // nobody reads it, and the journal is kept
			l.held = max(l.held, 1)
			r.s.stats.failedLogs.Add(1)
			continue
		}
		l.marks.written, l.marks.durable = l.marks.staged, l.marks.staged
		l.dropDead()
		if l.tail.oldest() != unstamped {
			l.aged = true
			r.s.ages.push(l, l.tail.oldest())
		}
	}
	return nil
}

// damaged puts a log out of service. That it had come as far as durable will be in every checkpoint, so that it
// stays out.
func (l *Log) damaged(why *CorruptError, durable uint64) {
	if l.failed == nil {
		l.failed = why
	}
	l.marks.durable = max(l.marks.durable, durable)
}

// give appends a block to its log, or what of it is new. pos is where it stands.
func (r *recovery) give(b segment.Block, records []byte, bad error, e *readEntry, pos int64) {
	l := r.log(LogID(b.Log))
	if b.End() <= l.marks.staged {
		return
	}
	l.held = e.file.generation
	if bad != nil || b.First > l.marks.staged {
		where := &CorruptError{File: e.file.name(), Offset: pos, Why: fmt.Sprintf("log %d continues at %d, %d was expected", l.id, b.First, l.marks.staged)}
		if bad != nil {
			where.Why = bad.Error()
		}
		l.damaged(where, b.End())
	}
	if bad != nil || l.failed != nil {
		return
	}
	c := chunk{first: b.First, count: b.Count, data: records, stamp: e.stamp}
	if b.First < l.marks.staged {
		c = chunk{first: l.marks.staged, count: uint32(b.End() - l.marks.staged), data: c.from(l.marks.staged), stamp: e.stamp}
	}
	l.tail.chunks = append(l.tail.chunks, c)
	l.marks.staged = c.end()
}
