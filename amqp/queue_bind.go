package amqp

// QueueBind makes messages flow from an exchange to a queue.
type QueueBind struct {
	Queue, Exchange, RoutingKey string
	NoWait                      bool
	Arguments                   []byte // a table's entries, see ParseTable
}

func (*QueueBind) ClassMethod() (class, method uint16) { return ClassQueue, 20 }
func (*QueueBind) Name() string                        { return "queue.bind" }

func (m *QueueBind) decode(r *reader) {
	r.short() // ticket
	m.Queue = r.shortstr()
	m.Exchange = r.shortstr()
	m.RoutingKey = r.shortstr()
	r.bits(&m.NoWait)
	m.Arguments = r.table()
}

func (m *QueueBind) appendTo(b []byte) []byte {
	b = appendShort(b, 0)
	b = appendShortstr(b, m.Queue)
	b = appendShortstr(b, m.Exchange)
	b = appendShortstr(b, m.RoutingKey)
	b = appendBits(b, m.NoWait)
	return appendLongstr(b, m.Arguments)
}

// QueueBindOk says that the binding exists.
type QueueBindOk struct{ noArguments }

func (*QueueBindOk) ClassMethod() (class, method uint16) { return ClassQueue, 21 }
func (*QueueBindOk) Name() string                        { return "queue.bind-ok" }

// QueueUnbind removes the binding of the same fields. It has no NoWait.
type QueueUnbind struct {
	Queue, Exchange, RoutingKey string
	Arguments                   []byte // a table's entries, see ParseTable
}

func (*QueueUnbind) ClassMethod() (class, method uint16) { return ClassQueue, 50 }
func (*QueueUnbind) Name() string                        { return "queue.unbind" }

func (m *QueueUnbind) decode(r *reader) {
	r.short() // ticket
	m.Queue = r.shortstr()
	m.Exchange = r.shortstr()
	m.RoutingKey = r.shortstr()
	m.Arguments = r.table()
}

func (m *QueueUnbind) appendTo(b []byte) []byte {
	b = appendShort(b, 0)
	b = appendShortstr(b, m.Queue)
	b = appendShortstr(b, m.Exchange)
	b = appendShortstr(b, m.RoutingKey)
	return appendLongstr(b, m.Arguments)
}

// QueueUnbindOk says that the binding does not exist.
type QueueUnbindOk struct{ noArguments }

func (*QueueUnbindOk) ClassMethod() (class, method uint16) { return ClassQueue, 51 }
func (*QueueUnbindOk) Name() string                        { return "queue.unbind-ok" }
