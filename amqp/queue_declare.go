package amqp

// QueueDeclare creates a queue, or asserts that it exists. An empty name asks for a new one.
type QueueDeclare struct {
	Queue                                           string
	Passive, Durable, Exclusive, AutoDelete, NoWait bool
	Arguments                                       []byte // a table's entries, see ParseTable
}

func (*QueueDeclare) ClassMethod() (class, method uint16) { return ClassQueue, 10 }
func (*QueueDeclare) Name() string                        { return "queue.declare" }

func (m *QueueDeclare) decode(r *reader) {
	r.short() // ticket
	m.Queue = r.shortstr()
	r.bits(&m.Passive, &m.Durable, &m.Exclusive, &m.AutoDelete, &m.NoWait)
	m.Arguments = r.table()
}

func (m *QueueDeclare) appendTo(b []byte) []byte {
	b = appendShort(b, 0)
	b = appendShortstr(b, m.Queue)
	b = appendBits(b, m.Passive, m.Durable, m.Exclusive, m.AutoDelete, m.NoWait)
	return appendLongstr(b, m.Arguments)
}

// QueueDeclareOk names the queue and counts its ready messages and its consumers.
type QueueDeclareOk struct {
	Queue                       string
	MessageCount, ConsumerCount uint32
}

func (*QueueDeclareOk) ClassMethod() (class, method uint16) { return ClassQueue, 11 }
func (*QueueDeclareOk) Name() string                        { return "queue.declare-ok" }

func (m *QueueDeclareOk) decode(r *reader) {
	m.Queue = r.shortstr()
	m.MessageCount = r.long()
	m.ConsumerCount = r.long()
}

func (m *QueueDeclareOk) appendTo(b []byte) []byte {
	b = appendShortstr(b, m.Queue)
	b = appendLong(b, m.MessageCount)
	return appendLong(b, m.ConsumerCount)
}
