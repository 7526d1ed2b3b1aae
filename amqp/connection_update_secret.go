package amqp

// ConnectionUpdateSecret replaces the credential of a running connection, before it expires.
type ConnectionUpdateSecret struct {
	NewSecret []byte
	Reason    string
}

func (*ConnectionUpdateSecret) ClassMethod() (class, method uint16) { return ClassConnection, 70 }
func (*ConnectionUpdateSecret) Name() string                        { return "connection.update-secret" }

func (m *ConnectionUpdateSecret) decode(r *reader) {
	m.NewSecret = r.longBytes()
	m.Reason = r.shortstr()
}

func (m *ConnectionUpdateSecret) appendTo(b []byte) []byte {
	b = appendLongstr(b, m.NewSecret)
	return appendShortstr(b, m.Reason)
}

// ConnectionUpdateSecretOk accepts the new secret.
type ConnectionUpdateSecretOk struct{ noArguments }

func (*ConnectionUpdateSecretOk) ClassMethod() (class, method uint16) { return ClassConnection, 71 }
func (*ConnectionUpdateSecretOk) Name() string                        { return "connection.update-secret-ok" }
