package amqp

// ConnectionStart is the server's first method.
type ConnectionStart struct {
	VersionMajor, VersionMinor uint8  // 0, 9
	ServerProperties           []byte // a table's entries, see ParseTable
	Mechanisms                 string // SASL mechanisms, separated by spaces
	Locales                    string // separated by spaces
}

func (*ConnectionStart) ClassMethod() (class, method uint16) { return ClassConnection, 10 }
func (*ConnectionStart) Name() string                        { return "connection.start" }

func (m *ConnectionStart) decode(r *reader) {
	m.VersionMajor = r.octet()
	m.VersionMinor = r.octet()
	m.ServerProperties = r.table()
	m.Mechanisms = r.longstr()
	m.Locales = r.longstr()
}

func (m *ConnectionStart) appendTo(b []byte) []byte {
	b = append(b, m.VersionMajor, m.VersionMinor)
	b = appendLongstr(b, m.ServerProperties)
	b = appendLongstr(b, m.Mechanisms)
	return appendLongstr(b, m.Locales)
}

// ConnectionStartOk chooses a SASL mechanism and begins it.
type ConnectionStartOk struct {
	ClientProperties []byte // a table's entries, see ParseTable
	Mechanism        string
	Response         []byte // the mechanism's, opaque; for AMQPLAIN a table's entries
	Locale           string
}

func (*ConnectionStartOk) ClassMethod() (class, method uint16) { return ClassConnection, 11 }
func (*ConnectionStartOk) Name() string                        { return "connection.start-ok" }

func (m *ConnectionStartOk) decode(r *reader) {
	m.ClientProperties = r.table()
	m.Mechanism = r.shortstr()
	m.Response = r.longBytes()
	m.Locale = r.shortstr()
}

func (m *ConnectionStartOk) appendTo(b []byte) []byte {
	b = appendLongstr(b, m.ClientProperties)
	b = appendShortstr(b, m.Mechanism)
	b = appendLongstr(b, m.Response)
	return appendShortstr(b, m.Locale)
}
