package amqp

// BasicReturn announces a mandatory message that no queue took. Its names alias the payload.
type BasicReturn struct {
	ReplyCode            ReplyCode
	ReplyText            string
	Exchange, RoutingKey []byte
}

func (*BasicReturn) ClassMethod() (class, method uint16) { return ClassBasic, 50 }
func (*BasicReturn) Name() string                        { return "basic.return" }

func (m *BasicReturn) decode(r *reader) {
	m.ReplyCode = ReplyCode(r.short())
	m.ReplyText = string(r.shortBytes())
	m.Exchange = r.shortBytes()
	m.RoutingKey = r.shortBytes()
}

func (m *BasicReturn) appendTo(b []byte) []byte {
	b = appendShort(b, uint16(m.ReplyCode))
	b = appendShortstr(b, fitReplyText(m.ReplyText))
	b = appendShortstr(b, m.Exchange)
	return appendShortstr(b, m.RoutingKey)
}
