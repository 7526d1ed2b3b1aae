package amqp

// ConnectionTune proposes the connection's limits; zero means none.
type ConnectionTune struct {
	ChannelMax uint16 // the highest channel number
	FrameMax   uint32 // octets in a whole frame
	Heartbeat  uint16 // seconds
}

func (*ConnectionTune) ClassMethod() (class, method uint16) { return ClassConnection, 30 }
func (*ConnectionTune) Name() string                        { return "connection.tune" }

func (m *ConnectionTune) decode(r *reader) {
	m.ChannelMax = r.short()
	m.FrameMax = r.long()
	m.Heartbeat = r.short()
}

func (m *ConnectionTune) appendTo(b []byte) []byte {
	b = appendShort(b, m.ChannelMax)
	b = appendLong(b, m.FrameMax)
	return appendShort(b, m.Heartbeat)
}

// ConnectionTuneOk settles the limits; the fields are those of [ConnectionTune].
type ConnectionTuneOk struct {
	ChannelMax uint16
	FrameMax   uint32
	Heartbeat  uint16
}

func (*ConnectionTuneOk) ClassMethod() (class, method uint16) { return ClassConnection, 31 }
func (*ConnectionTuneOk) Name() string                        { return "connection.tune-ok" }

func (m *ConnectionTuneOk) decode(r *reader)         { (*ConnectionTune)(m).decode(r) }
func (m *ConnectionTuneOk) appendTo(b []byte) []byte { return (*ConnectionTune)(m).appendTo(b) }
