package queue

import (
	"fmt"

	"github.com/warrenmq/warren/queue/catalog"
)

// Kind says what went wrong in the words of AMQP. amqp/server maps it to a reply code, admin to an HTTP status.
type Kind = catalog.Kind

// The soft kinds close a channel.
const (
	ContentTooLarge    = catalog.ContentTooLarge    // 311
	NoRoute            = catalog.NoRoute            // 312
	NoConsumers        = catalog.NoConsumers        // 313
	AccessRefused      = catalog.AccessRefused      // 403
	NotFound           = catalog.NotFound           // 404
	ResourceLocked     = catalog.ResourceLocked     // 405
	PreconditionFailed = catalog.PreconditionFailed // 406
)

// The hard kinds close the connection.
const (
	ConnectionForced = catalog.ConnectionForced // 320
	InvalidPath      = catalog.InvalidPath      // 402
	FrameError       = catalog.FrameError       // 501
	SyntaxError      = catalog.SyntaxError      // 502
	CommandInvalid   = catalog.CommandInvalid   // 503
	ChannelError     = catalog.ChannelError     // 504
	UnexpectedFrame  = catalog.UnexpectedFrame  // 505
	ResourceError    = catalog.ResourceError    // 506
	NotAllowed       = catalog.NotAllowed       // 530
	NotImplemented   = catalog.NotImplemented   // 540
	Internal         = catalog.Internal         // 541
)

// Error is the one error type whose text reaches a client, without the leading "NOT_FOUND - ". Any other error is
// the broker's own fault: it is logged once and told as Internal without detail.
type Error = catalog.Error

func refuse(k Kind, format string, args ...any) *Error {
	return &Error{Kind: k, Text: fmt.Sprintf(format, args...)}
}
