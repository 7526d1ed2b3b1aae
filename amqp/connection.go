package amqp

// The life of a connection, the server's methods on the right:
//
//	"AMQP" 0 0 9 1
//	                 connection.start
//	start-ok
//	                 [secure ...]
//	[secure-ok ...]
//	                 tune
//	tune-ok, open
//	                 open-ok
//	channels; update-secret and update-secret-ok; blocked, unblocked
//	close            close-ok              (or the other way round)

// newConnectionMethod returns a zero method of class connection.
func newConnectionMethod(method uint16) Method {
	switch method {
	case 10:
		return new(ConnectionStart)
	case 11:
		return new(ConnectionStartOk)
	case 20:
		return new(ConnectionSecure)
	case 21:
		return new(ConnectionSecureOk)
	case 30:
		return new(ConnectionTune)
	case 31:
		return new(ConnectionTuneOk)
	case 40:
		return new(ConnectionOpen)
	case 41:
		return new(ConnectionOpenOk)
	case 50:
		return new(ConnectionClose)
	case 51:
		return new(ConnectionCloseOk)
	case 60:
		return new(ConnectionBlocked)
	case 61:
		return new(ConnectionUnblocked)
	case 70:
		return new(ConnectionUpdateSecret)
	case 71:
		return new(ConnectionUpdateSecretOk)
	}
	return nil
}
