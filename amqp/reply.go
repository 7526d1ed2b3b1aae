package amqp

// ReplyCode is the reason in connection.close, channel.close and basic.return.
type ReplyCode uint16

// The reply codes of AMQP 0-9-1.
const (
	CodeSuccess            ReplyCode = 200
	CodeContentTooLarge    ReplyCode = 311
	CodeNoRoute            ReplyCode = 312
	CodeNoConsumers        ReplyCode = 313
	CodeConnectionForced   ReplyCode = 320
	CodeInvalidPath        ReplyCode = 402
	CodeAccessRefused      ReplyCode = 403
	CodeNotFound           ReplyCode = 404
	CodeResourceLocked     ReplyCode = 405
	CodePreconditionFailed ReplyCode = 406
	CodeFrameError         ReplyCode = 501
	CodeSyntaxError        ReplyCode = 502
	CodeCommandInvalid     ReplyCode = 503
	CodeChannelError       ReplyCode = 504
	CodeUnexpectedFrame    ReplyCode = 505
	CodeResourceError      ReplyCode = 506
	CodeNotAllowed         ReplyCode = 530
	CodeNotImplemented     ReplyCode = 540
	CodeInternalError      ReplyCode = 541
)

// Name is the code's constant in the standard, such as "NOT_FOUND", with which reply texts
// begin. It is "UNKNOWN" for a number the standard does not have.
func (c ReplyCode) Name() string {
	switch c {
	case CodeSuccess:
		return "SUCCESS"
	case CodeContentTooLarge:
		return "CONTENT_TOO_LARGE"
	case CodeNoRoute:
		return "NO_ROUTE"
	case CodeNoConsumers:
		return "NO_CONSUMERS"
	case CodeConnectionForced:
		return "CONNECTION_FORCED"
	case CodeInvalidPath:
		return "INVALID_PATH"
	case CodeAccessRefused:
		return "ACCESS_REFUSED"
	case CodeNotFound:
		return "NOT_FOUND"
	case CodeResourceLocked:
		return "RESOURCE_LOCKED"
	case CodePreconditionFailed:
		return "PRECONDITION_FAILED"
	case CodeFrameError:
		return "FRAME_ERROR"
	case CodeSyntaxError:
		return "SYNTAX_ERROR"
	case CodeCommandInvalid:
		return "COMMAND_INVALID"
	case CodeChannelError:
		return "CHANNEL_ERROR"
	case CodeUnexpectedFrame:
		return "UNEXPECTED_FRAME"
	case CodeResourceError:
		return "RESOURCE_ERROR"
	case CodeNotAllowed:
		return "NOT_ALLOWED"
	case CodeNotImplemented:
		return "NOT_IMPLEMENTED"
	case CodeInternalError:
		return "INTERNAL_ERROR"
	}
	return "UNKNOWN"
}

// IsHard reports whether the code ends the connection; the others end a channel.
func (c ReplyCode) IsHard() bool {
	switch c {
	case CodeConnectionForced, CodeInvalidPath:
		return true
	}
	return c >= CodeFrameError
}

// Text composes a reply text, "NAME - explanation", cut to the 255 octets that the field holds.
func (c ReplyCode) Text(explanation string) string {
	return fitReplyText(c.Name() + " - " + explanation)
}

// fitReplyText cuts a text to a shortstr as RabbitMQ does, which shows that it was cut.
func fitReplyText(text string) string {
	const ellipsis = "..."
	if len(text) <= maxShortstr {
		return text
	}
	return cutText(text, maxShortstr-len(ellipsis)) + ellipsis
}
