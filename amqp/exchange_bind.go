package amqp

// ExchangeBind makes messages flow from one exchange to another.
type ExchangeBind struct {
	Destination, Source, RoutingKey string
	NoWait                          bool
	Arguments                       []byte // a table's entries, see ParseTable
}

func (*ExchangeBind) ClassMethod() (class, method uint16) { return ClassExchange, 30 }
func (*ExchangeBind) Name() string                        { return "exchange.bind" }

func (m *ExchangeBind) decode(r *reader) {
	r.short() // ticket
	m.Destination = r.shortstr()
	m.Source = r.shortstr()
	m.RoutingKey = r.shortstr()
	r.bits(&m.NoWait)
	m.Arguments = r.table()
}

func (m *ExchangeBind) appendTo(b []byte) []byte {
	b = appendShort(b, 0)
	b = appendShortstr(b, m.Destination)
	b = appendShortstr(b, m.Source)
	b = appendShortstr(b, m.RoutingKey)
	b = appendBits(b, m.NoWait)
	return appendLongstr(b, m.Arguments)
}

// ExchangeBindOk says that the binding exists.
type ExchangeBindOk struct{ noArguments }

func (*ExchangeBindOk) ClassMethod() (class, method uint16) { return ClassExchange, 31 }
func (*ExchangeBindOk) Name() string                        { return "exchange.bind-ok" }

// ExchangeUnbind removes the binding of the same fields; those of [ExchangeBind].
type ExchangeUnbind struct {
	Destination, Source, RoutingKey string
	NoWait                          bool
	Arguments                       []byte
}

func (*ExchangeUnbind) ClassMethod() (class, method uint16) { return ClassExchange, 40 }
func (*ExchangeUnbind) Name() string                        { return "exchange.unbind" }

func (m *ExchangeUnbind) decode(r *reader)         { (*ExchangeBind)(m).decode(r) }
func (m *ExchangeUnbind) appendTo(b []byte) []byte { return (*ExchangeBind)(m).appendTo(b) }

// ExchangeUnbindOk says that the binding does not exist.
type ExchangeUnbindOk struct{ noArguments }

func (*ExchangeUnbindOk) ClassMethod() (class, method uint16) { return ClassExchange, 51 }
func (*ExchangeUnbindOk) Name() string                        { return "exchange.unbind-ok" }
