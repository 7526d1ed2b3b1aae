package server

import (
	"encoding/binary"
	"net"

	"github.com/warrenmq/warren/amqp"
)

const (
	inputIdle = 8 << 10   // what a quiet connection's buffer holds
	inputBusy = 256 << 10 // what it grows to under load; a larger frame-max grows it further
	inputCalm = 16        // reads in a row that would have fitted the next smaller size before it is taken
)

// input is a connection's read buffer. Frames are handed out where they lie: they are valid until the next fill.
//
//	buf  ░░░░░░░░ consumed ░░░░░░░░│ read, not yet consumed │ free
//	     0                         r                        w
type input struct {
	buf   []byte
	r, w  int
	calm  int
	limit int // octets of the largest frame there may be; 0 until frames begin
}

// next returns the next whole frame, ok false when there is none in the buffer.
func (in *input) next(maxPayload uint32) (f amqp.Frame, ok bool, err error) {
	f, n, err := amqp.ParseFrame(in.buf[in.r:in.w], maxPayload)
	in.r += n
	return f, n > 0 && err == nil, err
}

// take returns the next n octets, nil when there are not that many.
func (in *input) take(n int) []byte {
	if in.w-in.r < n {
		return nil
	}
	in.r += n
	return in.buf[in.r-n : in.r]
}

func (in *input) peek() []byte { return in.buf[in.r:in.w] }

// discard drops what has been read.
func (in *input) discard() { in.r, in.w = 0, 0 }

// fill makes one read. Whatever had been handed out is void.
func (in *input) fill(nc net.Conn) (int, error) {
	in.makeRoom()
	n, err := nc.Read(in.buf[in.w:])
	in.w += n
	return n, err
}

// makeRoom moves the rest to the front, and changes the buffer's size: up when the last read filled it or the frame
// that has begun does not fit, down when it has been too large for a while.
func (in *input) makeRoom() {
	filled := in.w == len(in.buf) && in.w > 0
	used := in.w
	rest := in.buf[in.r:in.w]
	size := max(len(in.buf), inputIdle)
	switch {
	case filled && size < inputBusy:
		size = min(8*size, inputBusy)
	case used <= size/8 && size > inputIdle:
		if in.calm++; in.calm >= inputCalm {
			size = max(size/8, inputIdle)
		}
	default:
		in.calm = 0
	}
	size = max(size, min(frameSize(rest), in.limit))
	if size != len(in.buf) {
		in.calm = 0
		buf := make([]byte, size)
		copy(buf, rest)
		in.buf = buf
	} else {
		copy(in.buf, rest)
	}
	in.r, in.w = 0, len(rest)
}

// frameSize is the size of the frame that begins in b, as far as is known.
func frameSize(b []byte) int {
	const sizeAt = 3
	if len(b) < sizeAt+4 {
		return 0
	}
	return int(binary.BigEndian.Uint32(b[sizeAt:])) + amqp.FrameOverhead
}

// large reports whether the buffer could be given back.
func (in *input) large() bool { return len(in.buf) > inputIdle }

// shrink gives a large buffer back if what it holds fits a small one.
func (in *input) shrink() {
	if rest := in.buf[in.r:in.w]; in.large() && max(len(rest), frameSize(rest)) <= inputIdle {
		in.buf = append(make([]byte, 0, inputIdle), rest...)[:inputIdle]
		in.r, in.w, in.calm = 0, len(rest), 0
	}
}
