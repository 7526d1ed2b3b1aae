package amqp

// BasicPublish announces a message for an exchange. Its names alias the payload.
type BasicPublish struct {
	Exchange, RoutingKey []byte
	Mandatory, Immediate bool
}

func (*BasicPublish) ClassMethod() (class, method uint16) { return ClassBasic, 40 }
func (*BasicPublish) Name() string                        { return "basic.publish" }

func (m *BasicPublish) decode(r *reader) {
	r.short() // ticket
	m.Exchange = r.shortBytes()
	m.RoutingKey = r.shortBytes()
	r.bits(&m.Mandatory, &m.Immediate)
}

func (m *BasicPublish) appendTo(b []byte) []byte {
	b = appendShort(b, 0)
	b = appendShortstr(b, m.Exchange)
	b = appendShortstr(b, m.RoutingKey)
	return appendBits(b, m.Mandatory, m.Immediate)
}

// AppendPublish appends a basic.publish frame without the flags.
func AppendPublish(dst []byte, ch uint16, exchange, routingKey []byte) []byte {
	start := len(dst)
	dst = appendMethodHeader(dst, ch, ClassBasic, 40)
	dst = appendShort(dst, 0)
	dst = appendShortstr(dst, exchange)
	dst = appendShortstr(dst, routingKey)
	return endFrame(append(dst, 0), start)
}
