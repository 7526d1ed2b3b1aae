package amqp

// ConnectionClose ends the connection, from either side.
type ConnectionClose struct {
	ReplyCode         ReplyCode
	ReplyText         string // cut to 255 octets on output
	ClassID, MethodID uint16 // the method that failed, 0 if there is none
}

func (*ConnectionClose) ClassMethod() (class, method uint16) { return ClassConnection, 50 }
func (*ConnectionClose) Name() string                        { return "connection.close" }

func (m *ConnectionClose) decode(r *reader) {
	m.ReplyCode = ReplyCode(r.short())
	m.ReplyText = string(r.shortBytes())
	m.ClassID = r.short()
	m.MethodID = r.short()
}

func (m *ConnectionClose) appendTo(b []byte) []byte {
	b = appendShort(b, uint16(m.ReplyCode))
	b = appendShortstr(b, fitReplyText(m.ReplyText))
	b = appendShort(b, m.ClassID)
	return appendShort(b, m.MethodID)
}

// ConnectionCloseOk is the last method on a connection.
type ConnectionCloseOk struct{ noArguments }

func (*ConnectionCloseOk) ClassMethod() (class, method uint16) { return ClassConnection, 51 }
func (*ConnectionCloseOk) Name() string                        { return "connection.close-ok" }
