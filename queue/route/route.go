// Package route decides which queues a message goes to. It is a pure value: no locks, no clock, no I/O.
// What a publish finds depends on the bindings and the message alone.
//
// # The graph
//
// Every exchange is an Exchange. Its bindings lead to queues (opaque comparable handles Q, usually a pointer,
// so that routing hands out what the caller enqueues to without a name lookup) and to other exchanges:
//
//	           "orders.#"                    ""
//	publish ──▶ topic ─────▶ queue A   ┌───▶ fanout ──▶ queue B
//	              │                    │       │
//	              └── "*.eu" ──────────┘       └──────▶ queue A   (already has it: not delivered twice)
//
// Route walks the graph breadth first. Two rules of AMQP brokers bound the walk, cycles included: an exchange
// is visited once, and a queue gets the message once, however many bindings match.
//
// An exchange that finds no destination of its own, neither queue nor exchange, hands the message to its
// alternate exchange, if it has one; a chain of them is followed, a cycle of them ends.
//
// # Matchers
//
//	direct   binding key equals the routing key: one map lookup
//	fanout   every binding
//	topic    binding keys are patterns over words separated by '.'; see topic.go
//	headers  binding arguments are compared with the message's headers; see headers.go
//
// # Who may call what at once
//
// Any number of Route calls, each with a Walk of its own, may run at the same time; Bind, Unbind and
// SetAlternate need exclusion from them and from each other. A call of Route allocates nothing once its Walk
// and the caller's slice have grown to the size of the answers.
package route

// Message is what routing looks at.
type Message struct {
	Key []byte
	// MoreKeys are further routing keys (the CC and BCC headers): a binding matches if it matches any key.
	MoreKeys [][]byte
	// Headers returns the message's headers table, nil when it has none. It is called at most once in a
	// walk, and only when a headers exchange is met. A nil func means no headers.
	Headers func() map[string]any
}

// The exchange types this package can match for.
const (
	Direct  = "direct"
	Fanout  = "fanout"
	Topic   = "topic"
	Headers = "headers"
)

// Types returns the names of the known exchange types.
func Types() []string { return []string{Direct, Fanout, Headers, Topic} }

// Known reports whether New knows the exchange type.
func Known(typ string) bool {
	switch typ {
	case Direct, Fanout, Topic, Headers:
		return true
	}
	return false
}

// CheckBinding returns what is wrong with a binding to an exchange of the type, in RabbitMQ's words, or "".
func CheckBinding(typ string, args map[string]any) string {
	if typ == Headers {
		return checkHeadersArgs(args)
	}
	return ""
}

// Exchange is one exchange with its bindings. Make it with New.
//
// Bindings are counted, not named: a destination bound twice with the same key (two bindings that differ in
// their arguments) needs two unbinds.
type Exchange[Q comparable] struct {
	matcher   matcher[Q]
	alternate *Exchange[Q]
	bindings  int
}

// dest is where a binding leads: to the exchange if that is not nil, else to the queue.
type dest[Q comparable] struct {
	queue    Q
	exchange *Exchange[Q]
}

// matcher finds the destinations of one exchange.
type matcher[Q comparable] interface {
	bind(d dest[Q], key string, args map[string]any)
	// unbind reports whether there was such a binding.
	unbind(d dest[Q], key string, args map[string]any) bool
	// match gives every destination of w.message to w, possibly several times.
	match(w *Walk[Q])
}

// New returns an exchange without bindings. ok is false if the type is not known.
func New[Q comparable](typ string) (x *Exchange[Q], ok bool) {
	var m matcher[Q]
	switch typ {
	case Direct:
		m = &direct[Q]{keys: make(map[string]*bag[Q])}
	case Fanout:
		m = &fanout[Q]{}
	case Topic:
		m = &topic[Q]{}
	case Headers:
		m = &headers[Q]{}
	default:
		return nil, false
	}
	return &Exchange[Q]{matcher: m}, true
}

// BindQueue adds a binding from x to a queue.
func (x *Exchange[Q]) BindQueue(q Q, key string, args map[string]any) {
	x.bind(dest[Q]{queue: q}, key, args)
}

// BindExchange adds a binding from x to another exchange, or to itself.
func (x *Exchange[Q]) BindExchange(to *Exchange[Q], key string, args map[string]any) {
	x.bind(dest[Q]{exchange: to}, key, args)
}

// UnbindQueue takes one such binding away and reports whether there was one.
func (x *Exchange[Q]) UnbindQueue(q Q, key string, args map[string]any) bool {
	return x.unbind(dest[Q]{queue: q}, key, args)
}

// UnbindExchange takes one such binding away and reports whether there was one. An exchange that goes away
// must be unbound from every exchange that leads to it, and taken back as alternate.
func (x *Exchange[Q]) UnbindExchange(to *Exchange[Q], key string, args map[string]any) bool {
	return x.unbind(dest[Q]{exchange: to}, key, args)
}

// SetAlternate names the exchange that gets what x finds no destination for; nil for none.
func (x *Exchange[Q]) SetAlternate(alt *Exchange[Q]) { x.alternate = alt }

// Bindings returns the number of bindings from x.
func (x *Exchange[Q]) Bindings() int { return x.bindings }

func (x *Exchange[Q]) bind(d dest[Q], key string, args map[string]any) {
	x.matcher.bind(d, key, args)
	x.bindings++
}

func (x *Exchange[Q]) unbind(d dest[Q], key string, args map[string]any) bool {
	if !x.matcher.unbind(d, key, args) {
		return false
	}
	x.bindings--
	return true
}

// direct matches equal keys.
type direct[Q comparable] struct {
	keys map[string]*bag[Q]
}

func (x *direct[Q]) bind(d dest[Q], key string, _ map[string]any) {
	b := x.keys[key]
	if b == nil {
		b = &bag[Q]{}
		x.keys[key] = b
	}
	b.add(d)
}

func (x *direct[Q]) unbind(d dest[Q], key string, _ map[string]any) bool {
	b := x.keys[key]
	if b == nil || !b.remove(d) {
		return false
	}
	if b.empty() {
		delete(x.keys, key)
	}
	return true
}

func (x *direct[Q]) match(w *Walk[Q]) {
	if b := x.keys[string(w.message.Key)]; b != nil {
		w.takeBag(b)
	}
	for _, key := range w.message.MoreKeys {
		if b := x.keys[string(key)]; b != nil {
			w.takeBag(b)
		}
	}
}

// fanout matches everything.
type fanout[Q comparable] struct {
	all bag[Q]
}

func (x *fanout[Q]) bind(d dest[Q], _ string, _ map[string]any)        { x.all.add(d) }
func (x *fanout[Q]) unbind(d dest[Q], _ string, _ map[string]any) bool { return x.all.remove(d) }
func (x *fanout[Q]) match(w *Walk[Q])                                  { w.takeBag(&x.all) }
