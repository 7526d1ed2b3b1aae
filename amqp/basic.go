package amqp

// newBasicMethod returns a zero method of class basic.
func newBasicMethod(method uint16) Method {
	switch method {
	case 10:
		return new(BasicQos)
	case 11:
		return new(BasicQosOk)
	case 20:
		return new(BasicConsume)
	case 21:
		return new(BasicConsumeOk)
	case 30:
		return new(BasicCancel)
	case 31:
		return new(BasicCancelOk)
	case 40:
		return new(BasicPublish)
	case 50:
		return new(BasicReturn)
	case 60:
		return new(BasicDeliver)
	case 70:
		return new(BasicGet)
	case 71:
		return new(BasicGetOk)
	case 72:
		return new(BasicGetEmpty)
	case 80:
		return new(BasicAck)
	case 90:
		return new(BasicReject)
	case 100:
		return new(BasicRecoverAsync)
	case 110:
		return new(BasicRecover)
	case 111:
		return new(BasicRecoverOk)
	case 120:
		return new(BasicNack)
	}
	return nil
}
