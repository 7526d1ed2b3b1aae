package amqp

// ExchangeDeclare creates an exchange, or asserts that it exists.
type ExchangeDeclare struct {
	Exchange, Type                                 string
	Passive, Durable, AutoDelete, Internal, NoWait bool
	Arguments                                      []byte // a table's entries, see ParseTable
}

func (*ExchangeDeclare) ClassMethod() (class, method uint16) { return ClassExchange, 10 }
func (*ExchangeDeclare) Name() string                        { return "exchange.declare" }

func (m *ExchangeDeclare) decode(r *reader) {
	r.short() // ticket
	m.Exchange = r.shortstr()
	m.Type = r.shortstr()
	r.bits(&m.Passive, &m.Durable, &m.AutoDelete, &m.Internal, &m.NoWait)
	m.Arguments = r.table()
}

func (m *ExchangeDeclare) appendTo(b []byte) []byte {
	b = appendShort(b, 0)
	b = appendShortstr(b, m.Exchange)
	b = appendShortstr(b, m.Type)
	b = appendBits(b, m.Passive, m.Durable, m.AutoDelete, m.Internal, m.NoWait)
	return appendLongstr(b, m.Arguments)
}

// ExchangeDeclareOk says that the exchange exists.
type ExchangeDeclareOk struct{ noArguments }

func (*ExchangeDeclareOk) ClassMethod() (class, method uint16) { return ClassExchange, 11 }
func (*ExchangeDeclareOk) Name() string                        { return "exchange.declare-ok" }
