package amqp

// ExchangeDelete deletes an exchange and its bindings.
type ExchangeDelete struct {
	Exchange         string
	IfUnused, NoWait bool
}

func (*ExchangeDelete) ClassMethod() (class, method uint16) { return ClassExchange, 20 }
func (*ExchangeDelete) Name() string                        { return "exchange.delete" }

func (m *ExchangeDelete) decode(r *reader) {
	r.short() // ticket
	m.Exchange = r.shortstr()
	r.bits(&m.IfUnused, &m.NoWait)
}

func (m *ExchangeDelete) appendTo(b []byte) []byte {
	b = appendShort(b, 0)
	b = appendShortstr(b, m.Exchange)
	return appendBits(b, m.IfUnused, m.NoWait)
}

// ExchangeDeleteOk says that the exchange does not exist.
type ExchangeDeleteOk struct{ noArguments }

func (*ExchangeDeleteOk) ClassMethod() (class, method uint16) { return ClassExchange, 21 }
func (*ExchangeDeleteOk) Name() string                        { return "exchange.delete-ok" }
