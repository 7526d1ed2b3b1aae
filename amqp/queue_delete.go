package amqp

// QueueDelete deletes a queue and its messages.
type QueueDelete struct {
	Queue                     string
	IfUnused, IfEmpty, NoWait bool
}

func (*QueueDelete) ClassMethod() (class, method uint16) { return ClassQueue, 40 }
func (*QueueDelete) Name() string                        { return "queue.delete" }

func (m *QueueDelete) decode(r *reader) {
	r.short() // ticket
	m.Queue = r.shortstr()
	r.bits(&m.IfUnused, &m.IfEmpty, &m.NoWait)
}

func (m *QueueDelete) appendTo(b []byte) []byte {
	b = appendShort(b, 0)
	b = appendShortstr(b, m.Queue)
	return appendBits(b, m.IfUnused, m.IfEmpty, m.NoWait)
}

// QueueDeleteOk counts the messages that went with the queue.
type QueueDeleteOk struct {
	MessageCount uint32
}

func (*QueueDeleteOk) ClassMethod() (class, method uint16) { return ClassQueue, 41 }
func (*QueueDeleteOk) Name() string                        { return "queue.delete-ok" }

func (m *QueueDeleteOk) decode(r *reader)         { m.MessageCount = r.long() }
func (m *QueueDeleteOk) appendTo(b []byte) []byte { return appendLong(b, m.MessageCount) }
