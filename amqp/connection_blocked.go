package amqp

// ConnectionBlocked tells a publisher that the server has stopped reading from it.
type ConnectionBlocked struct {
	Reason string
}

func (*ConnectionBlocked) ClassMethod() (class, method uint16) { return ClassConnection, 60 }
func (*ConnectionBlocked) Name() string                        { return "connection.blocked" }

func (m *ConnectionBlocked) decode(r *reader)         { m.Reason = r.shortstr() }
func (m *ConnectionBlocked) appendTo(b []byte) []byte { return appendShortstr(b, m.Reason) }

// ConnectionUnblocked takes [ConnectionBlocked] back.
type ConnectionUnblocked struct{ noArguments }

func (*ConnectionUnblocked) ClassMethod() (class, method uint16) { return ClassConnection, 61 }
func (*ConnectionUnblocked) Name() string                        { return "connection.unblocked" }
