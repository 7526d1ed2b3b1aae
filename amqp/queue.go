package amqp

// newQueueMethod returns a zero method of class queue.
func newQueueMethod(method uint16) Method {
	switch method {
	case 10:
		return new(QueueDeclare)
	case 11:
		return new(QueueDeclareOk)
	case 20:
		return new(QueueBind)
	case 21:
		return new(QueueBindOk)
	case 30:
		return new(QueuePurge)
	case 31:
		return new(QueuePurgeOk)
	case 40:
		return new(QueueDelete)
	case 41:
		return new(QueueDeleteOk)
	case 50:
		return new(QueueUnbind)
	case 51:
		return new(QueueUnbindOk)
	}
	return nil
}
