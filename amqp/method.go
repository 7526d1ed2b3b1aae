package amqp

// Classes.
const (
	ClassConnection = 10
	ClassChannel    = 20
	ClassAccess     = 30
	ClassExchange   = 40
	ClassQueue      = 50
	ClassBasic      = 60
	ClassConfirm    = 85
	ClassTx         = 90
)

// Method is one of the protocol's methods: a pointer to one of the structs of this package that
// are named for class and method, such as *[QueueDeclare]. Fields that the standard reserves are not in the
// structs: ignored on input, zero on output.
type Method interface {
	// ClassMethod returns the two numbers that stand for the method on the wire.
	ClassMethod() (class, method uint16)
	// Name is the method's name in the standard, such as "queue.declare-ok".
	Name() string

	appendTo(dst []byte) []byte // appends the arguments
	decode(r *reader)           // reads the arguments; the error is in r
}

// AppendMethod appends a whole method frame.
func AppendMethod(dst []byte, ch uint16, m Method) []byte {
	start := len(dst)
	class, method := m.ClassMethod()
	dst = m.appendTo(appendMethodHeader(dst, ch, class, method))
	return endFrame(dst, start)
}

// appendMethodHeader begins a method frame whose size endFrame fills in.
func appendMethodHeader(dst []byte, ch, class, method uint16) []byte {
	return append(dst, FrameMethod, byte(ch>>8), byte(ch), 0, 0, 0, 0,
		byte(class>>8), byte(class), byte(method>>8), byte(method))
}

// Decoder decodes method frames. The zero value is ready; it is not safe for concurrent use.
type Decoder struct {
	r reader

	// The methods that come once per message are decoded in place.
	publish BasicPublish
	deliver BasicDeliver
	ack     BasicAck
	nack    BasicNack
	reject  BasicReject
}

// Decode decodes a method frame's payload. The method is valid until the next Decode, and its byte
// slices as long as the payload. Errors are *[SyntaxError] and *[UnknownMethodError].
func (d *Decoder) Decode(payload []byte) (Method, error) {
	if len(payload) < 4 {
		return nil, &SyntaxError{What: "method frame", Err: ErrTruncated}
	}
	class, method := be16(payload), be16(payload[2:])
	m := d.method(class, method)
	if m == nil {
		return nil, &UnknownMethodError{Class: class, Method: method}
	}
	d.r = reader{buf: payload[4:]}
	m.decode(&d.r)
	if err := d.r.end(); err != nil {
		return nil, &SyntaxError{What: m.Name(), Err: err}
	}
	return m, nil
}

// method returns the value to decode a method into, nil if there is no such method.
func (d *Decoder) method(class, method uint16) Method {
	if class == ClassBasic {
		switch method {
		case 40:
			return &d.publish
		case 60:
			return &d.deliver
		case 80:
			return &d.ack
		case 90:
			return &d.reject
		case 120:
			return &d.nack
		}
	}
	return newMethod(class, method)
}

// newMethod returns a zero method, nil if there is no such method.
func newMethod(class, method uint16) Method {
	switch class {
	case ClassConnection:
		return newConnectionMethod(method)
	case ClassChannel:
		return newChannelMethod(method)
	case ClassAccess:
		return newAccessMethod(method)
	case ClassExchange:
		return newExchangeMethod(method)
	case ClassQueue:
		return newQueueMethod(method)
	case ClassBasic:
		return newBasicMethod(method)
	case ClassConfirm:
		return newConfirmMethod(method)
	case ClassTx:
		return newTxMethod(method)
	}
	return nil
}

// noArguments makes a method of which there is nothing to say but its name.
type noArguments struct{}

func (noArguments) appendTo(b []byte) []byte { return b }
func (noArguments) decode(*reader)           {}
