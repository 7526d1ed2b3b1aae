package queue

import (
	"time"

	"github.com/warrenmq/warren/keratin"
	"github.com/warrenmq/warren/queue/header"
	"github.com/warrenmq/warren/queue/route"
	"github.com/warrenmq/warren/queue/state"
)

const (
	reasonRejected  = header.Rejected
	reasonExpired   = header.Expired
	reasonMaxLength = header.MaxLen
)

// dying is a message on its way from its queue to the dead-letter exchange. Until it has got there it is unacked: if
// the process ends before, it is still in its queue. The records of its arrival are staged before the one of its
// settling.
type dying struct {
	Delivery // without Offset, if it has never been in the queue
	stored   bool
	reason   string
}

// dropLocked takes the message that readLocked has returned out of the queue, for good or to be dead-lettered.
func (q *Queue) dropLocked(m state.Message, d *Delivery, reason string) {
	if q.rules == nil || !q.rules.deadLetter {
		q.st.Drop(m, uint32(len(d.Body)))
	} else {
		q.dying = append(q.dying, dying{*d, true, reason})
		q.st.Delivered(m, uint32(len(d.Body)), false)
	}
	q.readAway()
}

// unlock releases the queue's lock and sees those off that are dying. It reports whether it has staged something.
func (q *Queue) unlock() (staged bool) {
	dead := q.dying
	q.dying = nil
	q.mu.Unlock()
	if len(dead) == 0 {
		return false
	}
	q.bury(dead)
	var offsets []Offset
	for _, d := range dead {
		if d.stored {
			offsets = append(offsets, d.Offset)
		}
	}
	q.mu.Lock()
	q.st.Settle(offsets)
	q.recordLocked()
	return q.unlock() || true
}

// rejectLocked settles messages that a consumer refused, or sends them to the dead-letter exchange.
func (q *Queue) rejectLocked(offsets []Offset) {
	if q.rules == nil || !q.rules.deadLetter || q.failed != nil {
		q.st.Settle(offsets)
		return
	}
	var c keratin.Cursor
	for _, off := range offsets {
		if !q.st.Unacked(off) {
			continue
		}
		d := dying{Delivery{Queue: q, Offset: off}, true, reasonRejected}
		r, err := q.log.Next(&c, off, q.st.End())
		if err == nil {
			err = decodeMessage(r.Data, &d.Delivery)
		}
		if err != nil {
			q.failLocked(err)
			return
		}
		q.dying = append(q.dying, d)
	}
}

// bury publishes dead messages to the queue's dead-letter exchange, in order. What cannot be routed is dropped, and
// so is what would go round in a cycle without anybody having rejected it. No lock is held.
func (q *Queue) bury(dead []dying) {
	u := undertaker{v: q.v, batches: make(map[*Queue]*burial)}
	now := q.v.b.o.Now()
	for i := range dead {
		u.take(q, &dead[i], now)
	}
	u.stage()
}

// undertaker gathers dead messages in batches by the queue they go to.
type undertaker struct {
	v       *vhost
	walk    route.Walk[*Queue]
	found   []*Queue
	batches map[*Queue]*burial
	order   []*burial
}

type burial struct {
	q *Queue
	load
}

func (u *undertaker) take(from *Queue, d *dying, now time.Time) {
	x := from.rules
	keys := append([]string{string(d.RoutingKey)}, header.Copies(d.Properties)...)
	properties, history, err := header.Bury(d.Properties, d.buried, header.Death{
		Queue: from.rec.Name, Reason: d.reason, Exchange: string(d.Exchange), Keys: keys, Time: now.Unix(),
	})
	if err != nil {
		return // not the properties of a message: a client cannot have sent them
	}
	m := Message{
		Exchange: []byte(x.exchange), RoutingKey: d.RoutingKey, Properties: properties, Body: d.Body,
		Persistent: d.persistent,
	}
	for _, key := range keys[1:] {
		m.MoreKeys = append(m.MoreKeys, []byte(key))
	}
	if x.keySet {
		m.RoutingKey, m.MoreKeys = []byte(x.key), nil
	}
	u.v.mu.RLock()
	u.found = u.found[:0]
	if to := u.v.exchanges[x.exchange]; to != nil {
		u.found = to.Route(&u.walk, route.Message{
			Key: m.RoutingKey, MoreKeys: m.MoreKeys,
			Headers: func() map[string]any { return header.Table(properties) },
		}, u.found)
	}
	u.v.mu.RUnlock()
	for _, to := range u.found {
		if d.reason == reasonRejected || !history.Cycle(to.rec.Name) {
			u.put(to, &m, now)
		}
	}
}

func (u *undertaker) put(to *Queue, m *Message, now time.Time) {
	b := u.batches[to]
	if b == nil {
		b = &burial{q: to}
		u.batches[to] = b
		u.order = append(u.order, b)
	}
	e := envelope{buried: true}
	e.expires, e.atOnce = to.expiry(now.UnixMilli, 0, false)
	b.add(to, m, e)
	if to.rules.refuses() {
		b.stage() // or not: each message for itself
	}
}

func (u *undertaker) stage() {
	for _, b := range u.order {
		if b.Len() > 0 {
			b.stage()
		}
	}
}

// stage gives the batch to its queue. If that does not take it, since it has failed, is gone or is full, the messages
// are lost, as they are at a dead-letter exchange that no queue is bound to.
func (b *burial) stage() { _ = b.q.append(&b.load, keratin.Written, nil) }
