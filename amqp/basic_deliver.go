package amqp

// BasicDeliver announces a message for a consumer. Its names alias the payload.
type BasicDeliver struct {
	ConsumerTag          []byte
	DeliveryTag          uint64 // from 1, per channel
	Redelivered          bool
	Exchange, RoutingKey []byte
}

func (*BasicDeliver) ClassMethod() (class, method uint16) { return ClassBasic, 60 }
func (*BasicDeliver) Name() string                        { return "basic.deliver" }

func (m *BasicDeliver) decode(r *reader) {
	m.ConsumerTag = r.shortBytes()
	m.DeliveryTag = r.longlong()
	r.bits(&m.Redelivered)
	m.Exchange = r.shortBytes()
	m.RoutingKey = r.shortBytes()
}

func (m *BasicDeliver) appendTo(b []byte) []byte {
	b = appendShortstr(b, m.ConsumerTag)
	b = appendLonglong(b, m.DeliveryTag)
	b = appendBits(b, m.Redelivered)
	b = appendShortstr(b, m.Exchange)
	return appendShortstr(b, m.RoutingKey)
}

// AppendDeliver appends a basic.deliver frame.
func AppendDeliver(dst []byte, ch uint16, consumerTag string, tag uint64, redelivered bool, exchange, routingKey []byte) []byte {
	start := len(dst)
	dst = appendMethodHeader(dst, ch, ClassBasic, 60)
	dst = appendShortstr(dst, consumerTag)
	dst = appendLonglong(dst, tag)
	dst = append(dst, octetOf(redelivered))
	dst = appendShortstr(dst, exchange)
	dst = appendShortstr(dst, routingKey)
	return endFrame(dst, start)
}
