package catalog

import "fmt"

// Kind says what sort of refusal an Error is: the reply code of AMQP 0-9-1 without its number. The wire layer
// and the HTTP API map it to theirs.
type Kind uint8

// Soft errors close the channel.
const (
	ContentTooLarge    Kind = iota + 1 // 311
	NoRoute                            // 312
	NoConsumers                        // 313
	AccessRefused                      // 403
	NotFound                           // 404
	ResourceLocked                     // 405
	PreconditionFailed                 // 406
)

// Hard errors close the connection.
const (
	ConnectionForced Kind = iota + 16 // 320
	InvalidPath                       // 402
	FrameError                        // 501
	SyntaxError                       // 502
	CommandInvalid                    // 503
	ChannelError                      // 504
	UnexpectedFrame                   // 505
	ResourceError                     // 506
	NotAllowed                        // 530
	NotImplemented                    // 540
	Internal                          // 541
)

// Hard reports whether the error ends the connection and not only the channel.
func (k Kind) Hard() bool { return k >= ConnectionForced }

// Error refuses something to a client. Text is RabbitMQ's explanation, without the name of the code in front.
// It is the one error type of package queue that may be shown to a client.
type Error struct {
	Kind Kind
	Text string
}

func (e *Error) Error() string { return e.Text }

func refuse(k Kind, format string, args ...any) *Error {
	return &Error{Kind: k, Text: fmt.Sprintf(format, args...)}
}

// NoQueue is the refusal for a queue that does not exist.
func NoQueue(vhost, name string) *Error {
	return refuse(NotFound, "no queue '%s' in vhost '%s'", name, vhost)
}

// NoExchange is the refusal for an exchange that does not exist.
func NoExchange(vhost, name string) *Error {
	return refuse(NotFound, "no exchange '%s' in vhost '%s'", name, vhost)
}

// NoVHost is the refusal for a vhost that does not exist.
func NoVHost(name string) *Error { return refuse(NotAllowed, "vhost %s not found", name) }

// Locked is the refusal for another connection's exclusive queue.
func Locked(vhost, queue string) *Error {
	return refuse(ResourceLocked, "cannot obtain exclusive access to locked queue '%s' in vhost '%s'. "+
		"It could be originally declared on another connection or the exclusive property value "+
		"does not match that of the original declaration.", queue, vhost)
}
