package queue

import (
	"sync"
	"sync/atomic"

	"go.uber.org/zap"

	"github.com/warrenmq/warren/queue/catalog"
	"github.com/warrenmq/warren/queue/route"
)

// vhost is a vhost at work: what the catalog says of it, made to run.
type vhost struct {
	b     *Broker
	name  string
	meter meter

	// generation moves with everything that routing or the right to publish depends on.
	generation atomic.Uint64

	mu         sync.RWMutex
	queues     map[string]*Queue
	exchanges  map[string]*route.Exchange[*Queue]
	alternates map[string]string // exchange to the name of its alternate exchange
	sessions   map[*Session]struct{}
}

func (v *vhost) queue(name string) *Queue {
	v.mu.RLock()
	defer v.mu.RUnlock()
	return v.queues[name]
}

func (v *vhost) allQueues() []*Queue {
	v.mu.RLock()
	defer v.mu.RUnlock()
	all := make([]*Queue, 0, len(v.queues))
	for _, q := range v.queues {
		all = append(all, q)
	}
	return all
}

// build makes everything that the recovered catalog knows.
func (b *Broker) build() {
	view := b.catalog.View()
	for h := range view.VHosts() {
		b.apply(catalog.Change{Record: h})
	}
	for x := range view.Exchanges("") {
		b.apply(catalog.Change{Record: x})
	}
	for q := range view.Queues("") {
		b.apply(catalog.Change{Record: q})
	}
	for x := range view.Bindings("") {
		b.apply(catalog.Change{Record: x})
	}
}

// applied follows the catalog. It is called for one result at a time, in the order of decision.
func (b *Broker) applied(r *catalog.Result) {
	for _, c := range r.Changes {
		b.apply(c)
	}
}

func (b *Broker) apply(c catalog.Change) {
	switch r := c.Record.(type) {
	case *catalog.VHost:
		b.applyVHost(r, c.Delete)
	case *catalog.Exchange:
		b.vhost(r.VHost).applyExchange(r, c.Delete)
	case *catalog.Queue:
		if c.Delete {
			b.vhost(r.VHost).removeQueue(r)
		} else {
			b.vhost(r.VHost).addQueue(r)
		}
	case *catalog.Binding:
		b.vhost(r.VHost).applyBinding(r, c.Delete)
	case *catalog.Permission:
		b.vhost(r.VHost).generation.Add(1)
	case *catalog.TopicPermission:
		b.vhost(r.VHost).generation.Add(1)
	}
}

func (b *Broker) applyVHost(r *catalog.VHost, gone bool) {
	b.mu.Lock()
	v := b.vhosts[r.Name]
	switch {
	case gone:
		delete(b.vhosts, r.Name)
		c := v.meter.read()
		b.retired.add(&c)
	case v == nil:
		b.vhosts[r.Name] = &vhost{
			b: b, name: r.Name,
			queues:     make(map[string]*Queue),
			exchanges:  make(map[string]*route.Exchange[*Queue]),
			alternates: make(map[string]string),
			sessions:   make(map[*Session]struct{}),
		}
	}
	b.mu.Unlock()
	if gone {
		v.endSessions(refuse(ConnectionForced, "vhost '%s' is deleted", v.name))
	}
}

func (v *vhost) applyExchange(r *catalog.Exchange, gone bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	defer v.generation.Add(1)
	if gone {
		delete(v.exchanges, r.Name)
		delete(v.alternates, r.Name)
	} else {
		x, ok := route.New[*Queue](r.Type)
		if !ok {
			v.b.log.Error("exchange of a type unknown to this release", zap.String("exchange", r.Name),
				zap.String("vhost", v.name), zap.String("type", r.Type))
			return
		}
		v.exchanges[r.Name] = x
		if alt, ok := r.Args["alternate-exchange"].(string); ok {
			v.alternates[r.Name] = alt
			x.SetAlternate(v.exchanges[alt])
		}
	}
	for name, alt := range v.alternates {
		if alt == r.Name {
			v.exchanges[name].SetAlternate(v.exchanges[alt])
		}
	}
}

func (v *vhost) applyBinding(r *catalog.Binding, gone bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	defer v.generation.Add(1)
	from := v.exchanges[r.Source]
	if from == nil {
		return // of an unknown type
	}
	if r.Kind == catalog.ToQueue {
		q := v.queues[r.Destination]
		if gone {
			from.UnbindQueue(q, r.Key, r.Args)
		} else {
			from.BindQueue(q, r.Key, r.Args)
		}
		return
	}
	to := v.exchanges[r.Destination]
	if to == nil {
		return
	}
	if gone {
		from.UnbindExchange(to, r.Key, r.Args)
	} else {
		from.BindExchange(to, r.Key, r.Args)
	}
}

// addQueue opens the queue and binds it to the default exchange under its name. A queue that cannot be opened is
// there all the same, out of service.
func (v *vhost) addQueue(r *catalog.Queue) {
	q, err := openQueue(v, r)
	if err != nil {
		v.b.log.Error("queue is out of service", zap.String("queue", r.Name), zap.String("vhost", v.name), zap.Error(err))
	}
	v.mu.Lock()
	v.queues[r.Name] = q
	v.exchanges[""].BindQueue(q, r.Name, nil)
	v.generation.Add(1)
	v.mu.Unlock()
	v.b.created.Add(1)
}

func (v *vhost) removeQueue(r *catalog.Queue) {
	v.mu.Lock()
	q := v.queues[r.Name]
	delete(v.queues, r.Name)
	v.exchanges[""].UnbindQueue(q, r.Name, nil)
	v.generation.Add(1)
	v.mu.Unlock()
	q.remove()
	v.b.deleted.Add(1)
}

// join adds a session unless the vhost has max of them.
func (v *vhost) join(s *Session, max int64, limited bool) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	if limited && int64(len(v.sessions)) >= max {
		return false
	}
	v.sessions[s] = struct{}{}
	return true
}

func (v *vhost) leave(s *Session) {
	v.mu.Lock()
	delete(v.sessions, s)
	v.mu.Unlock()
}

func (v *vhost) endSessions(why *Error) {
	v.mu.Lock()
	sessions := v.sessions
	v.sessions = nil
	v.mu.Unlock()
	for s := range sessions {
		s.end(why)
	}
}
