package amqp

// BasicQos limits how many deliveries may be outstanding; 0 means no limit.
type BasicQos struct {
	PrefetchSize  uint32 // octets
	PrefetchCount uint16 // messages
	Global        bool   // one limit for the channel, rather than one for each later consumer
}

func (*BasicQos) ClassMethod() (class, method uint16) { return ClassBasic, 10 }
func (*BasicQos) Name() string                        { return "basic.qos" }

func (m *BasicQos) decode(r *reader) {
	m.PrefetchSize = r.long()
	m.PrefetchCount = r.short()
	r.bits(&m.Global)
}

func (m *BasicQos) appendTo(b []byte) []byte {
	b = appendLong(b, m.PrefetchSize)
	b = appendShort(b, m.PrefetchCount)
	return appendBits(b, m.Global)
}

// BasicQosOk says that the limit is in force.
type BasicQosOk struct{ noArguments }

func (*BasicQosOk) ClassMethod() (class, method uint16) { return ClassBasic, 11 }
func (*BasicQosOk) Name() string                        { return "basic.qos-ok" }
