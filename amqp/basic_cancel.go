package amqp

// BasicCancel ends a consumer. RabbitMQ's servers send it too, when the queue has gone.
type BasicCancel struct {
	ConsumerTag string
	NoWait      bool
}

func (*BasicCancel) ClassMethod() (class, method uint16) { return ClassBasic, 30 }
func (*BasicCancel) Name() string                        { return "basic.cancel" }

func (m *BasicCancel) decode(r *reader) {
	m.ConsumerTag = r.shortstr()
	r.bits(&m.NoWait)
}

func (m *BasicCancel) appendTo(b []byte) []byte {
	b = appendShortstr(b, m.ConsumerTag)
	return appendBits(b, m.NoWait)
}

// BasicCancelOk says that no more deliveries follow.
type BasicCancelOk struct {
	ConsumerTag string
}

func (*BasicCancelOk) ClassMethod() (class, method uint16) { return ClassBasic, 31 }
func (*BasicCancelOk) Name() string                        { return "basic.cancel-ok" }

func (m *BasicCancelOk) decode(r *reader)         { m.ConsumerTag = r.shortstr() }
func (m *BasicCancelOk) appendTo(b []byte) []byte { return appendShortstr(b, m.ConsumerTag) }
