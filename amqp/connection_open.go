package amqp

// ConnectionOpen chooses the vhost.
type ConnectionOpen struct {
	VirtualHost string
}

func (*ConnectionOpen) ClassMethod() (class, method uint16) { return ClassConnection, 40 }
func (*ConnectionOpen) Name() string                        { return "connection.open" }

func (m *ConnectionOpen) decode(r *reader) {
	m.VirtualHost = r.shortstr()
	r.shortBytes() // capabilities
	r.octet()      // insist
}

func (m *ConnectionOpen) appendTo(b []byte) []byte {
	b = appendShortstr(b, m.VirtualHost)
	return append(b, 0, 0)
}

// ConnectionOpenOk says that channels may be opened.
type ConnectionOpenOk struct{}

func (*ConnectionOpenOk) ClassMethod() (class, method uint16) { return ClassConnection, 41 }
func (*ConnectionOpenOk) Name() string                        { return "connection.open-ok" }

func (*ConnectionOpenOk) decode(r *reader)         { r.shortBytes() } // known hosts
func (*ConnectionOpenOk) appendTo(b []byte) []byte { return append(b, 0) }
