package amqp

// ConnectionSecure asks for another step of the SASL mechanism.
type ConnectionSecure struct {
	Challenge []byte
}

func (*ConnectionSecure) ClassMethod() (class, method uint16) { return ClassConnection, 20 }
func (*ConnectionSecure) Name() string                        { return "connection.secure" }

func (m *ConnectionSecure) decode(r *reader)         { m.Challenge = r.longBytes() }
func (m *ConnectionSecure) appendTo(b []byte) []byte { return appendLongstr(b, m.Challenge) }

// ConnectionSecureOk answers a challenge.
type ConnectionSecureOk struct {
	Response []byte
}

func (*ConnectionSecureOk) ClassMethod() (class, method uint16) { return ClassConnection, 21 }
func (*ConnectionSecureOk) Name() string                        { return "connection.secure-ok" }

func (m *ConnectionSecureOk) decode(r *reader)         { m.Response = r.longBytes() }
func (m *ConnectionSecureOk) appendTo(b []byte) []byte { return appendLongstr(b, m.Response) }
