package queue

import (
	"time"

	"github.com/warrenmq/warren/queue/catalog"
	"github.com/warrenmq/warren/queue/header"
	"github.com/warrenmq/warren/queue/route"
	"github.com/warrenmq/warren/queue/state"
)

// rules are what a queue's arguments ask for beyond keeping messages. Most queues have none.
type rules struct {
	ttl         time.Duration // x-message-ttl; negative: none
	expires     time.Duration // x-expires; 0: none
	maxLength   int64         // x-max-length; negative: none
	maxBytes    int64         // x-max-length-bytes; negative: none
	reject      bool          // over the limit new messages are refused; else old ones go
	deadLetter  bool
	exchange    string // of dead letters
	key         string // of dead letters, if keySet
	keySet      bool
	rejectedDie bool  // refused messages are dead-lettered
	single      bool  // x-single-active-consumer
	highest     uint8 // x-max-priority; 0: none
}

// rulesOf reads a queue's arguments, which the catalog has checked. nil: there are no rules.
func rulesOf(r *catalog.Queue) *rules {
	x := &rules{ttl: -1, maxLength: -1, maxBytes: -1}
	number := func(arg string, set func(int64)) (there bool) {
		n, ok := route.Integer(r.Args[arg])
		if ok {
			set(n)
		}
		return ok
	}
	some := number("x-message-ttl", func(n int64) { x.ttl = time.Duration(n) * time.Millisecond })
	some = number("x-expires", func(n int64) { x.expires = time.Duration(n) * time.Millisecond }) || some
	some = number("x-max-length", func(n int64) { x.maxLength = n }) || some
	some = number("x-max-length-bytes", func(n int64) { x.maxBytes = n }) || some
	some = number("x-max-priority", func(n int64) { x.highest = uint8(n) }) || some
	switch r.Args["x-overflow"] {
	case "reject-publish":
		x.reject = true
	case "reject-publish-dlx":
		x.reject, x.rejectedDie = true, true
	}
	x.exchange, x.deadLetter = r.Args["x-dead-letter-exchange"].(string)
	x.key, x.keySet = r.Args["x-dead-letter-routing-key"].(string)
	x.single = r.Args["x-single-active-consumer"] == true
	if !some && !x.deadLetter && !x.single {
		return nil
	}
	return x
}

// singleActive reports whether one consumer gets all messages until it leaves, and then the next.
func (x *rules) singleActive() bool { return x != nil && x.single }

// priorities returns the highest priority that the queue tells from others, 0 if it has none.
func (x *rules) priorities() uint8 {
	if x == nil {
		return 0
	}
	return x.highest
}

// arrival is what a queue with priorities keeps of a message.
func arrival(properties, body []byte) state.Arrival {
	return state.Arrival{Size: uint32(len(body)), Priority: header.Priority(properties)}
}

// limited reports whether the queue has a greatest length.
func (x *rules) limited() bool { return x != nil && (x.maxLength >= 0 || x.maxBytes >= 0) }

// refuses reports whether new messages are refused when the queue is full.
func (x *rules) refuses() bool { return x.limited() && x.reject }

// overLocked reports whether the ready messages, and more of them, are too many.
func (q *Queue) overLocked(more, bytes uint64) bool {
	x, t := q.rules, q.st.Totals()
	return x.maxLength >= 0 && t.Ready+more > uint64(x.maxLength) ||
		x.maxBytes >= 0 && t.ReadyBytes+bytes > uint64(x.maxBytes)
}

// trimLocked drops messages from the head while there are too many. Those that are not written yet wait for it. With
// priorities the head is the oldest message of the highest one, as it is in RabbitMQ's classic queues.
func (q *Queue) trimLocked() {
	if !q.rules.limited() || q.rules.reject {
		return
	}
	for q.overLocked(0, 0) {
		m, d, ok := q.readLocked()
		if !ok || m.Priority < q.st.Highest() {
			break
		}
		q.dropLocked(m, d, reasonMaxLength)
	}
}

// unixMilli is the broker's clock, in the unit of expiry.
func (b *Broker) unixMilli() int64 { return b.o.Now().UnixMilli() }

// expiry returns when a message that is published now, with that expiration, expires in this queue: a time in Unix
// milliseconds, never if 0. A message that may live for no time at all is delivered at once or not at all.
func (q *Queue) expiry(now func() int64, own int64, hasOwn bool) (at int64, atOnce bool) {
	ttl := own
	if x := q.rules; x != nil && x.ttl >= 0 {
		if ms := x.ttl.Milliseconds(); !hasOwn || ms < ttl {
			ttl = ms
		}
		hasOwn = true
	}
	if !hasOwn {
		return 0, false
	}
	return now() + ttl, ttl == 0
}

// expired reports whether a message that Next has named has expired. One that lives for no time gets its one chance.
func (d *Delivery) expired(now int64) bool {
	return d.expires != 0 && now >= d.expires && (!d.atOnce || d.Redelivered)
}

// look is what was found at the head of the messages of one priority.
type look struct {
	behind Offset // its offset plus one; 0: nobody has looked
	at     int64  // when it expires, in Unix milliseconds; 0: never
}

// expireLocked drops expired messages from the head, or with priorities from the head of each, and sets the alarm for
// the next one that will be there.
func (q *Queue) expireLocked() {
	if !q.perishable {
		return
	}
	next := int64(0)
	for p := q.st.Priorities() - 1; p >= 0; p-- {
		if at := q.expireOfLocked(uint8(p)); at != 0 && (next == 0 || at < next) {
			next = at
		}
	}
	if next != 0 && next != q.alarms().head.at {
		after := time.Duration(next-q.v.b.unixMilli()) * time.Millisecond
		q.alarms().head.set(q, next, after, (*Queue).headExpired)
	}
}

// expireOfLocked drops expired messages of one priority. It returns when the one that is at their head then expires; 0:
// never, or there is none.
func (q *Queue) expireOfLocked(priority uint8) (at int64) {
	for q.failed == nil {
		m, ok := q.st.NextOf(priority)
		if !ok {
			break
		}
		for int(priority) >= len(q.looked) {
			q.looked = append(q.looked, look{})
		}
		l := &q.looked[priority]
		if l.behind == m.Offset+1 {
			return l.at
		}
		d, ok := q.fetchLocked(m)
		if !ok {
			continue
		}
		if d.expires == 0 || q.v.b.unixMilli() < d.expires {
			*l = look{m.Offset + 1, d.expires}
			if q.st.Turn() == nil {
				q.letGo() // it may be long before somebody takes it
			}
			return l.at
		}
		q.dropLocked(m, d, reasonExpired)
	}
	return 0
}

// headExpired is what the alarm of expireLocked does.
func (q *Queue) headExpired() {
	q.mu.Lock()
	if !q.gone.Load() && q.failed == nil {
		q.alarms().head.at = 0
		clear(q.looked)
		q.expireLocked()
		q.recordLocked()
	}
	q.unlock()
	q.v.b.store.Commit()
}

func (q *Queue) touch() {
	q.mu.Lock()
	q.touchLocked()
	q.mu.Unlock()
}

// touchLocked tells that the queue is in use, which puts off its deletion by x-expires.
func (q *Queue) touchLocked() {
	if q.rules == nil || q.rules.expires == 0 || q.gone.Load() {
		return
	}
	a := q.alarms()
	a.used = q.v.b.o.Now()
	if a.lease.at == 0 {
		a.lease.set(q, 1, q.rules.expires, (*Queue).leaseOver)
	}
}

// leaseOver deletes the queue if it has not been used for as long as x-expires says, and otherwise waits on.
func (q *Queue) leaseOver() {
	q.mu.Lock()
	a := q.alarms()
	a.lease.at = 0
	left := q.rules.expires - q.v.b.o.Now().Sub(a.used)
	over := left <= 0 && len(q.consumers) == 0
	switch {
	case q.gone.Load() || q.failed != nil:
		over = false
	case over:
		q.unused = true
	case len(q.consumers) == 0: // otherwise the last one to leave sets the alarm again
		a.lease.set(q, 1, left, (*Queue).leaseOver)
	}
	q.mu.Unlock()
	if over {
		q.deleteUnused()
	}
}

// alarms are a queue's timers.
type alarms struct {
	head  alarm // the message at the head expires
	lease alarm // the queue expires
	used  time.Time
}

func (q *Queue) alarms() *alarms {
	if q.timers == nil {
		q.timers = &alarms{}
	}
	return q.timers
}

// alarm is one timer. The broker waits for those that run when it is closed.
type alarm struct {
	timer *time.Timer
	at    int64 // what it is set for, in the words of the caller; 0: nothing
}

// set sets the alarm, unless it is set for the same already. The queue's lock is held.
func (a *alarm) set(q *Queue, at int64, after time.Duration, f func(*Queue)) {
	if a.at == at {
		return
	}
	a.stop(q)
	if q.failed != nil {
		return
	}
	a.at = at
	b := q.v.b
	b.running.Add(1)
	a.timer = time.AfterFunc(after, func() {
		defer b.running.Done()
		f(q)
	})
}

func (a *alarm) stop(q *Queue) {
	if a.timer != nil && a.timer.Stop() {
		q.v.b.running.Done()
	}
	a.timer, a.at = nil, 0
}

// stopAlarmsLocked stops the timers for good: a queue that has failed or is gone sets none.
func (q *Queue) stopAlarmsLocked() {
	if q.timers != nil {
		q.timers.head.stop(q)
		q.timers.lease.stop(q)
	}
}
