package amqp

// newAccessMethod returns a zero method of class access.
func newAccessMethod(method uint16) Method {
	switch method {
	case 10:
		return new(AccessRequest)
	case 11:
		return new(AccessRequestOk)
	}
	return nil
}

// AccessRequest is a remnant of AMQP 0-8 that clients may still send: it asks for a ticket.
type AccessRequest struct {
	Realm                                   string
	Exclusive, Passive, Active, Write, Read bool
}

func (*AccessRequest) ClassMethod() (class, method uint16) { return ClassAccess, 10 }
func (*AccessRequest) Name() string                        { return "access.request" }

func (m *AccessRequest) decode(r *reader) {
	m.Realm = r.shortstr()
	r.bits(&m.Exclusive, &m.Passive, &m.Active, &m.Write, &m.Read)
}

func (m *AccessRequest) appendTo(b []byte) []byte {
	b = appendShortstr(b, m.Realm)
	return appendBits(b, m.Exclusive, m.Passive, m.Active, m.Write, m.Read)
}

// AccessRequestOk gives a ticket, which nothing checks.
type AccessRequestOk struct {
	Ticket uint16
}

func (*AccessRequestOk) ClassMethod() (class, method uint16) { return ClassAccess, 11 }
func (*AccessRequestOk) Name() string                        { return "access.request-ok" }

func (m *AccessRequestOk) decode(r *reader)         { m.Ticket = r.short() }
func (m *AccessRequestOk) appendTo(b []byte) []byte { return appendShort(b, m.Ticket) }
