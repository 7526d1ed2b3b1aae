package amqp

// newConfirmMethod returns a zero method of class confirm.
func newConfirmMethod(method uint16) Method {
	switch method {
	case 10:
		return new(ConfirmSelect)
	case 11:
		return new(ConfirmSelectOk)
	}
	return nil
}

// ConfirmSelect turns on publisher confirms for the channel, counted from 1.
type ConfirmSelect struct {
	NoWait bool
}

func (*ConfirmSelect) ClassMethod() (class, method uint16) { return ClassConfirm, 10 }
func (*ConfirmSelect) Name() string                        { return "confirm.select" }

func (m *ConfirmSelect) decode(r *reader)         { r.bits(&m.NoWait) }
func (m *ConfirmSelect) appendTo(b []byte) []byte { return appendBits(b, m.NoWait) }

// ConfirmSelectOk says that confirms are on.
type ConfirmSelectOk struct{ noArguments }

func (*ConfirmSelectOk) ClassMethod() (class, method uint16) { return ClassConfirm, 11 }
func (*ConfirmSelectOk) Name() string                        { return "confirm.select-ok" }
