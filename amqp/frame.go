package amqp

import (
	"encoding/binary"
	"fmt"
)

// Frame types.
const (
	FrameMethod    = 1
	FrameHeader    = 2
	FrameBody      = 3
	FrameHeartbeat = 8
)

const (
	// FrameEnd is the octet that ends each frame.
	FrameEnd = 0xCE
	// FrameOverhead is what a frame takes besides its payload: seven octets before, one after.
	FrameOverhead = frameHeaderSize + 1
	// MinFrameMax is the smallest frame-max that may be negotiated.
	MinFrameMax = 4096

	frameHeaderSize = 7
	// frameFudge is how far RabbitMQ lets a payload exceed frame-max - 8: there are
	// clients that compare frame-max with the payload's size.
	frameFudge = 8
	// unnegotiatedMax bounds payloads where no frame-max was agreed: RabbitMQ's bound of a
	// whole content body.
	unnegotiatedMax = 512 << 20
)

// Frame is one frame. Payload aliases the buffer it was parsed from.
type Frame struct {
	Type    uint8
	Channel uint16
	Payload []byte
}

// ParseFrame takes the first frame off buf and says how many octets it took. While buf
// holds less than a whole frame, n is 0 and err nil. maxPayload is the negotiated
// frame-max - [FrameOverhead]; 0 says that no limit was agreed, and 512 MiB holds. A frame
// too large is refused as soon as its header is there. Errors are *[FrameError]; after TooLarge the
// stream cannot be read further, after the others n is set.
func ParseFrame(buf []byte, maxPayload uint32) (f Frame, n int, err error) {
	if len(buf) < frameHeaderSize {
		return Frame{}, 0, nil
	}
	size := binary.BigEndian.Uint32(buf[3:])
	if limit := payloadLimit(maxPayload); size > limit+frameFudge {
		return Frame{}, 0, &FrameError{Kind: TooLarge, Type: buf[0], Channel: be16(buf[1:]), Size: size, Max: limit}
	}
	end := frameHeaderSize + int(size)
	if len(buf) <= end {
		return Frame{}, 0, nil
	}
	f = Frame{Type: buf[0], Channel: be16(buf[1:]), Payload: buf[frameHeaderSize:end:end]}
	if buf[end] != FrameEnd {
		return Frame{}, end + 1, newFrameError(BadEnd, f, buf[end])
	}
	switch f.Type {
	case FrameMethod, FrameHeader, FrameBody, FrameHeartbeat:
		return f, end + 1, nil
	}
	return Frame{}, end + 1, newFrameError(UnknownType, f, FrameEnd)
}

func payloadLimit(maxPayload uint32) uint32 {
	if maxPayload == 0 {
		return unnegotiatedMax
	}
	return min(maxPayload, unnegotiatedMax)
}

// FrameErrorKind says what is wrong with a frame.
type FrameErrorKind uint8

const (
	TooLarge    FrameErrorKind = iota + 1 // the payload exceeds what was negotiated
	BadEnd                                // the octet after the payload is not FrameEnd
	UnknownType                           // none of the four types
)

// FrameError is a violation of the framing: reply code 501, FRAME_ERROR.
type FrameError struct {
	Kind    FrameErrorKind
	Type    uint8
	Channel uint16
	Size    uint32 // of the payload, as claimed
	Max     uint32 // of the payload, as negotiated
	End     uint8  // what stands in the place of FrameEnd

	snippet []byte // the payload's beginning, a copy
}

// snippetSize is how much of a bad payload an error text shows, as in RabbitMQ.
const snippetSize = 16

func newFrameError(kind FrameErrorKind, f Frame, end uint8) *FrameError {
	return &FrameError{
		Kind: kind, Type: f.Type, Channel: f.Channel, Size: uint32(len(f.Payload)), End: end,
		snippet: append([]byte(nil), f.Payload[:min(len(f.Payload), snippetSize)]...),
	}
}

// Error is RabbitMQ's explanation of the fault, without the reply code's name.
func (e *FrameError) Error() string {
	octets := describeOctets(e.snippet, int(e.Size))
	switch e.Kind {
	case TooLarge:
		return fmt.Sprintf("type %d, all octets = <<>>: {frame_too_large,%d,%d}", e.Type, e.Size, e.Max)
	case BadEnd:
		return fmt.Sprintf("type %d, %s: {invalid_frame_end_marker,%d}", e.Type, octets, e.End)
	default:
		return fmt.Sprintf("type %d, %s: unknown_frame", e.Type, octets)
	}
}

// Check returns a *[FrameError] of kind UnknownType if the payload is not one that a frame of its type may have:
// RabbitMQ tells such frames from those of a type that does not exist no further.
func (f Frame) Check() error {
	ok := true
	switch f.Type {
	case FrameMethod:
		ok = len(f.Payload) >= 4
	case FrameHeader:
		ok = len(f.Payload) >= 12 // class, weight and size
	case FrameHeartbeat:
		ok = len(f.Payload) == 0
	}
	if ok {
		return nil
	}
	return newFrameError(UnknownType, f, FrameEnd)
}

// UnexpectedFrameText is RabbitMQ's explanation, under 505 UNEXPECTED_FRAME, of a frame that is
// well formed and in the wrong place, such as a heartbeat on a channel other than 0.
func UnexpectedFrameText(f Frame) string {
	snippet := f.Payload[:min(len(f.Payload), snippetSize)]
	return fmt.Sprintf("type %d, %s", f.Type, describeOctets(snippet, len(f.Payload)))
}

// AppendFrameHeader appends a frame's first seven octets, for a sender that writes the payload
// and [FrameEnd] itself.
func AppendFrameHeader(dst []byte, typ uint8, ch uint16, size uint32) []byte {
	return append(dst, typ, byte(ch>>8), byte(ch), byte(size>>24), byte(size>>16), byte(size>>8), byte(size))
}

// AppendHeartbeat appends a heartbeat frame.
func AppendHeartbeat(dst []byte) []byte {
	return append(dst, FrameHeartbeat, 0, 0, 0, 0, 0, 0, FrameEnd)
}

// AppendBody appends the body frames of a message: none for an empty body. maxPayload is the
// peer's frame-max - [FrameOverhead], 0 if no limit was agreed.
func AppendBody(dst []byte, ch uint16, body []byte, maxPayload uint32) []byte {
	limit := int(payloadLimit(maxPayload))
	for len(body) > 0 {
		piece := body[:min(len(body), limit)]
		body = body[len(piece):]
		dst = AppendFrameHeader(dst, FrameBody, ch, uint32(len(piece)))
		dst = append(dst, piece...)
		dst = append(dst, FrameEnd)
	}
	return dst
}

// endFrame closes the frame whose header was appended at start with a size of 0.
func endFrame(dst []byte, start int) []byte {
	binary.BigEndian.PutUint32(dst[start+3:], uint32(len(dst)-start-frameHeaderSize))
	return append(dst, FrameEnd)
}

func be16(b []byte) uint16 { return binary.BigEndian.Uint16(b) }
