package amqp

// BasicRecover asks for the channel's outstanding deliveries again.
type BasicRecover struct {
	Requeue bool // to any consumer; servers refuse false
}

func (*BasicRecover) ClassMethod() (class, method uint16) { return ClassBasic, 110 }
func (*BasicRecover) Name() string                        { return "basic.recover" }

func (m *BasicRecover) decode(r *reader)         { r.bits(&m.Requeue) }
func (m *BasicRecover) appendTo(b []byte) []byte { return appendBits(b, m.Requeue) }

// BasicRecoverOk says that they have been requeued.
type BasicRecoverOk struct{ noArguments }

func (*BasicRecoverOk) ClassMethod() (class, method uint16) { return ClassBasic, 111 }
func (*BasicRecoverOk) Name() string                        { return "basic.recover-ok" }

// BasicRecoverAsync is [BasicRecover] without an answer.
type BasicRecoverAsync struct {
	Requeue bool
}

func (*BasicRecoverAsync) ClassMethod() (class, method uint16) { return ClassBasic, 100 }
func (*BasicRecoverAsync) Name() string                        { return "basic.recover-async" }

func (m *BasicRecoverAsync) decode(r *reader)         { r.bits(&m.Requeue) }
func (m *BasicRecoverAsync) appendTo(b []byte) []byte { return appendBits(b, m.Requeue) }
