package amqp

// QueuePurge removes the ready messages of a queue.
type QueuePurge struct {
	Queue  string
	NoWait bool
}

func (*QueuePurge) ClassMethod() (class, method uint16) { return ClassQueue, 30 }
func (*QueuePurge) Name() string                        { return "queue.purge" }

func (m *QueuePurge) decode(r *reader) {
	r.short() // ticket
	m.Queue = r.shortstr()
	r.bits(&m.NoWait)
}

func (m *QueuePurge) appendTo(b []byte) []byte {
	b = appendShort(b, 0)
	b = appendShortstr(b, m.Queue)
	return appendBits(b, m.NoWait)
}

// QueuePurgeOk counts the messages removed.
type QueuePurgeOk struct {
	MessageCount uint32
}

func (*QueuePurgeOk) ClassMethod() (class, method uint16) { return ClassQueue, 31 }
func (*QueuePurgeOk) Name() string                        { return "queue.purge-ok" }

func (m *QueuePurgeOk) decode(r *reader)         { m.MessageCount = r.long() }
func (m *QueuePurgeOk) appendTo(b []byte) []byte { return appendLong(b, m.MessageCount) }
