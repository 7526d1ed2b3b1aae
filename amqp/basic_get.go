package amqp

// BasicGet asks for one message.
type BasicGet struct {
	Queue string
	NoAck bool
}

func (*BasicGet) ClassMethod() (class, method uint16) { return ClassBasic, 70 }
func (*BasicGet) Name() string                        { return "basic.get" }

func (m *BasicGet) decode(r *reader) {
	r.short() // ticket
	m.Queue = r.shortstr()
	r.bits(&m.NoAck)
}

func (m *BasicGet) appendTo(b []byte) []byte {
	b = appendShort(b, 0)
	b = appendShortstr(b, m.Queue)
	return appendBits(b, m.NoAck)
}

// BasicGetOk announces the message. Its names alias the payload.
type BasicGetOk struct {
	DeliveryTag          uint64
	Redelivered          bool
	Exchange, RoutingKey []byte
	MessageCount         uint32 // ready messages left in the queue
}

func (*BasicGetOk) ClassMethod() (class, method uint16) { return ClassBasic, 71 }
func (*BasicGetOk) Name() string                        { return "basic.get-ok" }

func (m *BasicGetOk) decode(r *reader) {
	m.DeliveryTag = r.longlong()
	r.bits(&m.Redelivered)
	m.Exchange = r.shortBytes()
	m.RoutingKey = r.shortBytes()
	m.MessageCount = r.long()
}

func (m *BasicGetOk) appendTo(b []byte) []byte {
	b = appendLonglong(b, m.DeliveryTag)
	b = appendBits(b, m.Redelivered)
	b = appendShortstr(b, m.Exchange)
	b = appendShortstr(b, m.RoutingKey)
	return appendLong(b, m.MessageCount)
}

// BasicGetEmpty says that there is none.
type BasicGetEmpty struct{}

func (*BasicGetEmpty) ClassMethod() (class, method uint16) { return ClassBasic, 72 }
func (*BasicGetEmpty) Name() string                        { return "basic.get-empty" }

func (*BasicGetEmpty) decode(r *reader)         { r.shortBytes() } // cluster id
func (*BasicGetEmpty) appendTo(b []byte) []byte { return append(b, 0) }
