package amqp

// newExchangeMethod returns a zero method of class exchange.
func newExchangeMethod(method uint16) Method {
	switch method {
	case 10:
		return new(ExchangeDeclare)
	case 11:
		return new(ExchangeDeclareOk)
	case 20:
		return new(ExchangeDelete)
	case 21:
		return new(ExchangeDeleteOk)
	case 30:
		return new(ExchangeBind)
	case 31:
		return new(ExchangeBindOk)
	case 40:
		return new(ExchangeUnbind)
	case 51: // not 41: the number is RabbitMQ's
		return new(ExchangeUnbindOk)
	}
	return nil
}
