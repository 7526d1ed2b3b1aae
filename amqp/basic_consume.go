package amqp

// BasicConsume starts a consumer. An empty tag asks for a new one.
type BasicConsume struct {
	Queue, ConsumerTag                string
	NoLocal, NoAck, Exclusive, NoWait bool
	Arguments                         []byte // a table's entries, see ParseTable
}

func (*BasicConsume) ClassMethod() (class, method uint16) { return ClassBasic, 20 }
func (*BasicConsume) Name() string                        { return "basic.consume" }

func (m *BasicConsume) decode(r *reader) {
	r.short() // ticket
	m.Queue = r.shortstr()
	m.ConsumerTag = r.shortstr()
	r.bits(&m.NoLocal, &m.NoAck, &m.Exclusive, &m.NoWait)
	m.Arguments = r.table()
}

func (m *BasicConsume) appendTo(b []byte) []byte {
	b = appendShort(b, 0)
	b = appendShortstr(b, m.Queue)
	b = appendShortstr(b, m.ConsumerTag)
	b = appendBits(b, m.NoLocal, m.NoAck, m.Exclusive, m.NoWait)
	return appendLongstr(b, m.Arguments)
}

// BasicConsumeOk names the consumer; its deliveries follow.
type BasicConsumeOk struct {
	ConsumerTag string
}

func (*BasicConsumeOk) ClassMethod() (class, method uint16) { return ClassBasic, 21 }
func (*BasicConsumeOk) Name() string                        { return "basic.consume-ok" }

func (m *BasicConsumeOk) decode(r *reader)         { m.ConsumerTag = r.shortstr() }
func (m *BasicConsumeOk) appendTo(b []byte) []byte { return appendShortstr(b, m.ConsumerTag) }
