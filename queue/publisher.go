package queue

import (
	"sync"

	"github.com/warrenmq/warren/keratin"
	"github.com/warrenmq/warren/queue/catalog"
	"github.com/warrenmq/warren/queue/header"
	"github.com/warrenmq/warren/queue/route"
)

// Message is a message to publish. Its bytes may be reused after Publish has returned.
type Message struct {
	Exchange, RoutingKey []byte
	MoreKeys             [][]byte // further routing keys: the CC and BCC headers
	Properties           []byte   // property flags and list as received
	Body                 []byte
	Persistent           bool                  // delivery-mode 2
	Mandatory            bool                  // counted as returned, not as dropped, when unroutable
	Headers              func() map[string]any // the headers property, asked for by headers exchanges only; nil: none
}

// Publisher routes and stores the messages of one connection. It is used by one goroutine.
type Publisher struct {
	s     *Session
	count Counters // since the last Flush

	// The cache of routes holds as long as generation is the vhost's.
	generation uint64
	routes     map[string]*destination // by exchange, NUL, routing key
	targets    map[*Queue]*target
	last       *destination // the route of the message before, found again without hashing
	key        []byte

	touched  []*target // loads not yet staged
	idle     []*load   // empty ones: their memory serves whichever queue is next
	clock    int64     // Unix milliseconds of this batch, once somebody has asked
	unrouted []run     // confirmed with the next Flush: a return must come first

	// Routing's working memory, and what it needs of the message at hand.
	walk     route.Walk[*Queue]
	queues   []*Queue
	message  *Message
	headers  func() map[string]any // p.askHeaders, bound once
	asked    bool                  // the route depends on the headers, so it is not cached
	uncached destination
}

// destination is where one exchange and routing key lead.
type destination struct {
	key     string
	targets []*target
	err     error // *Error: may not be published to
}

// target is a queue with the batch this publisher is filling for it.
type target struct {
	q       *Queue
	touched bool
	load    *load // nil while empty
	gate    keratin.Mark
	waiting *waiting // the messages in the load that want a confirm
}

// maxRoutes bounds a publisher's cache of routes; beyond, it begins anew.
const maxRoutes = 4096

// NewPublisher returns a publisher for the use of one goroutine.
func (s *Session) NewPublisher() *Publisher {
	p := &Publisher{s: s}
	p.headers = p.askHeaders
	p.forget()
	return p
}

// Publish routes a message and encodes it into the batches of the queues it goes to. routed is false when no queue
// took it: the caller returns it if it was mandatory; its confirm comes with Flush. c may be nil: no confirm.
// err is an *Error: no exchange, access refused, internal exchange; seq is then not used up.
func (p *Publisher) Publish(m *Message, c *Confirms, seq uint64) (routed bool, err error) {
	d := p.find(m)
	if d.err != nil {
		return false, d.err
	}
	p.count.Publish++
	if len(d.targets) == 0 {
		if m.Mandatory {
			p.count.ReturnUnroutable++
		} else {
			p.count.DropUnroutable++
		}
		if c != nil {
			c.begin(seq, 1, &p.s.vhost.meter)
			p.unrouted = addRun(p.unrouted, c, seq)
		}
		return false, nil
	}
	if c != nil {
		c.begin(seq, len(d.targets), &p.s.vhost.meter)
	}
	for _, t := range d.targets {
		p.put(t, m, c, seq)
	}
	return true, nil
}

// Check tells the error that Publish would give now, without publishing (transactions).
func (p *Publisher) Check(m *Message) error { return p.find(m).err }

// pieceBytes is how much of a batch is staged at a time: a little less than the pieces of memory that a
// keratin.Batch takes, beyond which it would have to move what it holds.
const pieceBytes = 60 << 10

// put encodes m into the batch of t. A batch has one gate: where that changes, the batch so far goes on its way.
func (p *Publisher) put(t *target, m *Message, c *Confirms, seq uint64) {
	gate := t.q.gate(m.Persistent)
	if t.touched && (t.gate != gate || t.load.Bytes()+len(m.Body) > pieceBytes) {
		_ = t.stage() // the confirms have been told
	}
	if !t.touched {
		t.touched = true
		p.touched = append(p.touched, t)
	}
	t.gate = gate
	if t.load == nil {
		t.load = p.emptyLoad()
	}
	t.load.add(t.q, m, p.envelope(t.q, m))
	if c != nil {
		if t.waiting == nil {
			t.waiting = newWaiting(t.q)
		}
		t.waiting.runs = addRun(t.waiting.runs, c, seq)
	}
	if t.q.rules.refuses() {
		p.offer(t, m)
	}
}

// offer stages a message for itself, because the queue may refuse it.
func (p *Publisher) offer(t *target, m *Message) {
	x := t.q.rules
	if err := t.stage(); err == errFull && x.rejectedDie && x.deadLetter {
		t.q.bury([]dying{{
			Delivery: Delivery{
				Exchange: m.Exchange, RoutingKey: m.RoutingKey, Properties: m.Properties, Body: m.Body,
				persistent: m.Persistent,
			},
			reason: reasonMaxLength,
		}})
	}
}

// envelope returns what a queue notes on a message.
func (p *Publisher) envelope(q *Queue, m *Message) (e envelope) {
	own, hasOwn := int64(0), false
	if header.HasExpiration(m.Properties) {
		own, hasOwn = header.Expiration(m.Properties)
	}
	if hasOwn || q.rules != nil {
		e.expires, e.atOnce = q.expiry(p.now, own, hasOwn)
	}
	return e
}

// now returns the time of this batch.
func (p *Publisher) now() int64 {
	if p.clock == 0 {
		p.clock = p.s.vhost.b.unixMilli()
	}
	return p.clock
}

// Flush stages what Publish has encoded, once per queue, and commits.
func (p *Publisher) Flush() {
	p.stage()
	p.clock = 0
	if len(p.unrouted) > 0 {
		passAll(p.unrouted, false)
		clear(p.unrouted)
		p.unrouted = p.unrouted[:0]
	}
	if p.count != (Counters{}) {
		p.s.vhost.meter.add(&p.count)
		p.count = Counters{}
		holdBack()
		p.s.vhost.b.store.Commit()
	}
}

// stage hands all batches to their queues.
func (p *Publisher) stage() {
	for i, t := range p.touched {
		t.touched = false
		_ = t.stage() // the confirms have been told
		if t.load != nil && len(p.idle) < maxIdle {
			p.idle = append(p.idle, t.load)
		}
		t.load = nil
		p.touched[i] = nil
	}
	p.touched = p.touched[:0]
}

// maxIdle is how many empty loads a publisher keeps, which hold up to 64 KiB each.
const maxIdle = 256

func (p *Publisher) emptyLoad() *load {
	n := len(p.idle)
	if n == 0 {
		return new(load)
	}
	l := p.idle[n-1]
	p.idle = p.idle[:n-1]
	return l
}

// stage hands the load to the queue.
func (t *target) stage() error {
	if t.load == nil || t.load.Len() == 0 {
		return nil
	}
	w := t.waiting
	t.waiting = nil
	if confirmEarly && w != nil {
		w.Committed(nil)
		w = nil
	}
	err := t.q.append(t.load, t.gate, w)
	if err != nil && w != nil {
		w.Committed(err)
	}
	return err
}

// find returns where m goes. The result is valid until the next call.
func (p *Publisher) find(m *Message) *destination {
	if g := p.s.vhost.generation.Load(); g != p.generation {
		p.forget()
		p.generation = g
	}
	if m.MoreKeys != nil {
		return p.route(m)
	}
	p.key = append(append(append(p.key[:0], m.Exchange...), 0), m.RoutingKey...)
	if p.last != nil && p.last.key == string(p.key) {
		return p.last
	}
	if d := p.routes[string(p.key)]; d != nil {
		p.last = d
		return d
	}
	if len(p.routes) >= maxRoutes {
		p.forget()
	}
	d := p.route(m)
	if p.asked {
		return d
	}
	kept := &destination{key: string(p.key), targets: append([]*target(nil), d.targets...), err: d.err}
	p.routes[kept.key] = kept
	p.last = kept
	return kept
}

// forget empties the cache. What is in the batches goes on its way first: a queue has only one target at a time, or
// its messages might come out of order.
func (p *Publisher) forget() {
	p.stage()
	p.routes, p.targets, p.last = make(map[string]*destination), make(map[*Queue]*target), nil
	p.uncached = destination{}
}

// route finds where m goes by walking the graph.
func (p *Publisher) route(m *Message) *destination {
	d := &p.uncached
	d.targets, d.err = d.targets[:0], nil
	p.asked = false
	if d.err = p.check(m); d.err != nil {
		return d
	}
	p.message = m
	v := p.s.vhost
	v.mu.RLock()
	x := v.exchanges[string(m.Exchange)]
	if x == nil {
		v.mu.RUnlock()
		d.err = catalog.NoExchange(v.name, string(m.Exchange))
		return d
	}
	p.queues = x.Route(&p.walk, route.Message{Key: m.RoutingKey, MoreKeys: m.MoreKeys, Headers: p.headers}, p.queues[:0])
	v.mu.RUnlock()
	p.message = nil
	for _, q := range p.queues {
		d.targets = append(d.targets, p.target(q))
	}
	clear(p.queues)
	return d
}

func (p *Publisher) askHeaders() map[string]any {
	p.asked = true
	if p.message.Headers == nil {
		return nil
	}
	return p.message.Headers()
}

func (p *Publisher) target(q *Queue) *target {
	t := p.targets[q]
	if t == nil {
		t = &target{q: q}
		p.targets[q] = t
	}
	return t
}

// check is what stands between a message and its exchange, in RabbitMQ's order.
func (p *Publisher) check(m *Message) error {
	s, name := p.s, string(m.Exchange)
	view := s.vhost.b.catalog.View()
	if err := s.check(view, catalog.KindExchange, name, catalog.Write); err != nil {
		return err
	}
	x := view.Exchange(s.vhost.name, name)
	switch {
	case x == nil:
		return catalog.NoExchange(s.vhost.name, name)
	case x.Internal:
		return refuse(AccessRefused, "cannot publish to internal exchange '%s' in vhost '%s'", name, s.vhost.name)
	}
	return nil
}

// waiting is the messages of one staged batch that want a confirm. It is the batch's keratin.Waiter.
type waiting struct {
	q    *Queue
	runs []run
}

var waitings = sync.Pool{New: func() any { return new(waiting) }}

func newWaiting(q *Queue) *waiting {
	w := waitings.Get().(*waiting)
	w.q = q
	return w
}

// Committed opens the gate of the batch's messages. A queue that was deleted meanwhile has passed it: as far as the
// publisher can tell, the message was in the queue before.
func (w *waiting) Committed(err error) {
	passAll(w.runs, err != nil && !w.q.isGone())
	clear(w.runs)
	w.q, w.runs = nil, w.runs[:0]
	waitings.Put(w)
}

// addRun appends message seq of c to runs.
func addRun(runs []run, c *Confirms, seq uint64) []run {
	if n := len(runs); n > 0 && runs[n-1].c == c && runs[n-1].to+1 == seq {
		runs[n-1].to = seq
		return runs
	}
	return append(runs, run{c, seq, seq})
}

// passAll opens a gate of all messages in runs, channel by channel.
func passAll(runs []run, nack bool) {
	for len(runs) > 0 {
		n := 1
		for n < len(runs) && runs[n].c == runs[0].c {
			n++
		}
		runs[0].c.pass(runs[:n], nack)
		runs = runs[n:]
	}
}
