package amqp

// BasicAck settles deliveries, from a consumer, or confirms publishes, from a server.
type BasicAck struct {
	DeliveryTag uint64
	Multiple    bool // and all before it; of a consumer's tag 0: all
}

func (*BasicAck) ClassMethod() (class, method uint16) { return ClassBasic, 80 }
func (*BasicAck) Name() string                        { return "basic.ack" }

func (m *BasicAck) decode(r *reader) {
	m.DeliveryTag = r.longlong()
	r.bits(&m.Multiple)
}

func (m *BasicAck) appendTo(b []byte) []byte {
	return appendBits(appendLonglong(b, m.DeliveryTag), m.Multiple)
}

// BasicReject gives one delivery back.
type BasicReject struct {
	DeliveryTag uint64
	Requeue     bool
}

func (*BasicReject) ClassMethod() (class, method uint16) { return ClassBasic, 90 }
func (*BasicReject) Name() string                        { return "basic.reject" }

func (m *BasicReject) decode(r *reader) {
	m.DeliveryTag = r.longlong()
	r.bits(&m.Requeue)
}

func (m *BasicReject) appendTo(b []byte) []byte {
	return appendBits(appendLonglong(b, m.DeliveryTag), m.Requeue)
}

// BasicNack gives deliveries back, or, from a server, tells that publishes failed.
type BasicNack struct {
	DeliveryTag       uint64
	Multiple, Requeue bool
}

func (*BasicNack) ClassMethod() (class, method uint16) { return ClassBasic, 120 }
func (*BasicNack) Name() string                        { return "basic.nack" }

func (m *BasicNack) decode(r *reader) {
	m.DeliveryTag = r.longlong()
	r.bits(&m.Multiple, &m.Requeue)
}

func (m *BasicNack) appendTo(b []byte) []byte {
	return appendBits(appendLonglong(b, m.DeliveryTag), m.Multiple, m.Requeue)
}

// AppendAck appends a basic.ack frame.
func AppendAck(dst []byte, ch uint16, tag uint64, multiple bool) []byte {
	return appendTagFrame(dst, ch, 80, tag, octetOf(multiple))
}

// AppendReject appends a basic.reject frame.
func AppendReject(dst []byte, ch uint16, tag uint64, requeue bool) []byte {
	return appendTagFrame(dst, ch, 90, tag, octetOf(requeue))
}

// AppendNack appends a basic.nack frame.
func AppendNack(dst []byte, ch uint16, tag uint64, multiple, requeue bool) []byte {
	return appendTagFrame(dst, ch, 120, tag, octetOf(multiple)|octetOf(requeue)<<1)
}

// appendTagFrame appends a frame of class basic whose arguments are a delivery tag and bits.
func appendTagFrame(dst []byte, ch, method uint16, tag uint64, bits byte) []byte {
	dst = AppendFrameHeader(dst, FrameMethod, ch, 4+8+1)
	dst = append(dst, 0, ClassBasic, byte(method>>8), byte(method))
	dst = appendLonglong(dst, tag)
	return append(dst, bits, FrameEnd)
}

func octetOf(bit bool) byte {
	if bit {
		return 1
	}
	return 0
}
