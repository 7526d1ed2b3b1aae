package queue

import (
	"time"

	"github.com/warrenmq/warren/queue/catalog"
	"github.com/warrenmq/warren/queue/state"
)

// QueueStats is a queue as the HTTP API shows it. Args must not be changed.
type QueueStats struct {
	Name, VHost                    string
	Type                           string
	Durable, Exclusive, AutoDelete bool
	Args                           map[string]any
	Owner                          string // the connection of an exclusive queue
	state.Totals
	Consumers         int
	ExclusiveConsumer string    // its tag
	ActiveConsumer    string    // the tag of the single active one
	IdleSince         time.Time // no activity was seen since, at the grain of the calls that look; zero: active
	Failed            error     // why the queue is out of service
	Counters
}

// activity is what Stats has seen the last time it looked.
type activity struct {
	sum uint64
	at  time.Time
}

// stats tells everything about the queue.
func (q *Queue) stats(now time.Time) QueueStats {
	r := q.rec
	s := QueueStats{
		Name: r.Name, VHost: r.VHost, Type: r.Type,
		Durable: r.Durable, Exclusive: r.Exclusive, AutoDelete: r.AutoDelete, Args: r.Args,
		Owner: q.v.connectionName(r.Owner),
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	s.Totals, s.Counters, s.Consumers, s.Failed = q.st.Totals(), q.counters, len(q.consumers), q.failed
	if _, x := q.st.Consumers(); x != nil {
		s.ExclusiveConsumer = x.Value.(*Consumer).Tag()
	}
	if q.rules.singleActive() && len(q.consumers) > 0 {
		s.ActiveConsumer = q.consumers[0].Tag()
	}
	sum := s.Publish + s.DeliverGet() + s.GetEmpty + s.Ack + uint64(s.Consumers)
	switch {
	case q.seen.at.IsZero() || q.seen.sum != sum:
		q.seen = activity{sum, now}
	default:
		s.IdleSince = q.seen.at
	}
	return s
}

// connectionName returns the name of the connection of a session, "" for none.
func (v *vhost) connectionName(session string) string {
	if session == "" {
		return ""
	}
	v.mu.RLock()
	defer v.mu.RUnlock()
	for s := range v.sessions {
		if s.id == session {
			return s.name
		}
	}
	return ""
}

// Queues returns the queues of a vhost, "" for all, in the order of vhost and name.
func (b *Broker) Queues(vhost string) []QueueStats {
	now := b.o.Now()
	all := []QueueStats{}
	for r := range b.catalog.View().Queues(vhost) {
		if q := b.find(r); q != nil {
			all = append(all, q.stats(now))
		}
	}
	return all
}

// Queue returns one queue.
func (b *Broker) Queue(vhost, name string) (QueueStats, bool) {
	r := b.catalog.View().Queue(vhost, name)
	if r == nil {
		return QueueStats{}, false
	}
	q := b.find(r)
	if q == nil {
		return QueueStats{}, false
	}
	return q.stats(b.o.Now()), true
}

// find returns the queue at work for a record, nil if it is on its way in or out.
func (b *Broker) find(r *catalog.Queue) *Queue {
	v := b.vhost(r.VHost)
	if v == nil {
		return nil
	}
	if q := v.queue(r.Name); q != nil && q.rec.LogID == r.LogID {
		return q
	}
	return nil
}

// ConsumerInfo is a consumer as the HTTP API shows it.
type ConsumerInfo struct {
	Tag, Queue, VHost string
	Connection, User  string
	NoAck, Exclusive  bool
	Active            bool // false: waits for the single active consumer to leave
	Args              map[string]any
}

// Consumers returns the consumers of a vhost, "" for all, in the order of their queues.
func (b *Broker) Consumers(vhost string) []ConsumerInfo {
	all := []ConsumerInfo{}
	for r := range b.catalog.View().Queues(vhost) {
		if q := b.find(r); q != nil {
			all = q.appendConsumers(all)
		}
	}
	return all
}

func (q *Queue) appendConsumers(all []ConsumerInfo) []ConsumerInfo {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, c := range q.consumers {
		all = append(all, ConsumerInfo{
			Tag: c.options.Tag, Queue: q.rec.Name, VHost: q.v.name,
			Connection: c.session.name, User: c.session.user.Name,
			NoAck: c.options.NoAck, Exclusive: c.options.Exclusive, Active: q.activeLocked(c), Args: c.options.Args,
		})
	}
	return all
}

// Summary is numbers over many queues.
type Summary struct {
	Queues, Exchanges, Consumers int
	state.Totals
	Counters
}

func (s *Summary) add(o *Summary) {
	s.Queues += o.Queues
	s.Exchanges += o.Exchanges
	s.Consumers += o.Consumers
	s.Ready += o.Ready
	s.Unacked += o.Unacked
	s.ReadyBytes += o.ReadyBytes
	s.UnackedBytes += o.UnackedBytes
	s.Counters.add(&o.Counters)
}

func (v *vhost) summary() Summary {
	v.mu.RLock()
	exchanges := len(v.exchanges)
	v.mu.RUnlock()
	s := Summary{Exchanges: exchanges, Counters: v.meter.read()}
	for _, q := range v.allQueues() {
		q.mu.Lock()
		s.add(&Summary{Queues: 1, Consumers: len(q.consumers), Totals: q.st.Totals()})
		q.mu.Unlock()
	}
	return s
}

// BrokerStats is the whole broker in numbers. What counts events counts since the start, what is gone included.
type BrokerStats struct {
	Summary
	QueuesDeclared, QueuesCreated, QueuesDeleted uint64
}

// Stats returns the whole broker in numbers.
func (b *Broker) Stats() BrokerStats {
	s := BrokerStats{
		QueuesDeclared: b.declared.Load(), QueuesCreated: b.created.Load(), QueuesDeleted: b.deleted.Load(),
	}
	for _, v := range b.allVHosts() {
		sum := v.summary()
		s.add(&sum)
	}
	b.mu.RLock()
	s.Counters.add(&b.retired)
	b.mu.RUnlock()
	return s
}

// Counters returns what has been counted in all vhosts since the start. It takes no queue's lock.
func (b *Broker) Counters() Counters {
	var sum Counters
	for _, v := range b.allVHosts() {
		c := v.meter.read()
		sum.add(&c)
	}
	b.mu.RLock()
	defer b.mu.RUnlock()
	sum.add(&b.retired)
	return sum
}
