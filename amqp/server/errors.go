package server

import (
	"errors"
	"fmt"

	"github.com/warrenmq/warren/amqp"
	"github.com/warrenmq/warren/queue"
)

// codes gives each kind of error its reply code.
var codes = map[queue.Kind]amqp.ReplyCode{
	queue.ContentTooLarge:    amqp.CodeContentTooLarge,
	queue.NoRoute:            amqp.CodeNoRoute,
	queue.NoConsumers:        amqp.CodeNoConsumers,
	queue.AccessRefused:      amqp.CodeAccessRefused,
	queue.NotFound:           amqp.CodeNotFound,
	queue.ResourceLocked:     amqp.CodeResourceLocked,
	queue.PreconditionFailed: amqp.CodePreconditionFailed,
	queue.ConnectionForced:   amqp.CodeConnectionForced,
	queue.InvalidPath:        amqp.CodeInvalidPath,
	queue.FrameError:         amqp.CodeFrameError,
	queue.SyntaxError:        amqp.CodeSyntaxError,
	queue.CommandInvalid:     amqp.CodeCommandInvalid,
	queue.ChannelError:       amqp.CodeChannelError,
	queue.UnexpectedFrame:    amqp.CodeUnexpectedFrame,
	queue.ResourceError:      amqp.CodeResourceError,
	queue.NotAllowed:         amqp.CodeNotAllowed,
	queue.NotImplemented:     amqp.CodeNotImplemented,
	queue.Internal:           amqp.CodeInternalError,
}

// refuse makes an error that the peer is told.
func refuse(kind queue.Kind, format string, args ...any) error {
	return &queue.Error{Kind: kind, Text: fmt.Sprintf(format, args...)}
}

// fault is a failure in the words of the protocol.
type fault struct {
	code amqp.ReplyCode
	text string // whole reply text
}

// faultOf sorts err into the three kinds of failure. ours tells that the peer has no part in it: err is to be
// logged, and is not told.
func faultOf(err error) (f fault, ours bool) {
	var (
		refused *queue.Error
		frame   *amqp.FrameError
		syntax  *amqp.SyntaxError
		unknown *amqp.UnknownMethodError
	)
	switch {
	case errors.As(err, &refused):
		code, known := codes[refused.Kind]
		if !known || code == amqp.CodeInternalError && refused.Text == "" {
			return internalFault, true
		}
		return fault{code, code.Text(refused.Text)}, false
	case errors.As(err, &frame):
		return fault{amqp.CodeFrameError, amqp.CodeFrameError.Text(frame.Error())}, false
	case errors.As(err, &syntax):
		return fault{amqp.CodeFrameError, amqp.CodeFrameError.Text(syntax.Error())}, false
	case errors.As(err, &unknown):
		return fault{amqp.CodeCommandInvalid, amqp.CodeCommandInvalid.Text(unknown.Error())}, false
	}
	return internalFault, true
}

var internalFault = fault{amqp.CodeInternalError, amqp.CodeInternalError.Name()}
