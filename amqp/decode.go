package amqp

import (
	"encoding/binary"
	"errors"
	"fmt"
	"unicode/utf8"
)

// What a [SyntaxError] may wrap.
var (
	ErrTruncated = errors.New("ends within a field")
	ErrTrailing  = errors.New("goes on after its last field")
	ErrFieldType = errors.New("has a value of unknown type")
	ErrTooDeep   = errors.New("has tables nested too deep")
	ErrFlags     = errors.New("has unknown property flags")
	ErrWeight    = errors.New("has a weight other than 0")
)

// ErrUTF8 is a short string that is no text, in RabbitMQ's words.
//
//lint:ignore ST1005 they are told to clients
var ErrUTF8 = errors.New("Malformed UTF-8 in shortstr")

// SyntaxError is a payload that does not have the fields it should have: reply code 501,
// FRAME_ERROR, as in RabbitMQ.
type SyntaxError struct {
	What string // a method's name, "content header", "properties" or "table"
	Err  error  // one of the errors above
}

func (e *SyntaxError) Error() string {
	if e.Err == ErrUTF8 { // says it all
		return e.Err.Error()
	}
	return e.What + " " + e.Err.Error()
}
func (e *SyntaxError) Unwrap() error { return e.Err }

// UnknownMethodError is a method that the protocol does not have.
type UnknownMethodError struct {
	Class, Method uint16
}

func (e *UnknownMethodError) Error() string {
	return fmt.Sprintf("unknown method id {%d,%d}", e.Class, e.Method)
}

// reader takes fields off a payload. Its error sticks: after the first failure every field reads
// as zero, so that a decoder checks once, at the end.
type reader struct {
	buf []byte // not yet read
	err error
}

// take returns the next n octets, aliasing the payload; nil when there are not that many.
func (r *reader) take(n uint32) []byte {
	if uint64(n) > uint64(len(r.buf)) {
		r.fail(ErrTruncated)
		return nil
	}
	b := r.buf[:n:n]
	r.buf = r.buf[n:]
	return b
}

// fail also drops what is left to read, so that whatever follows fails too and loops end.
func (r *reader) fail(err error) {
	if r.err == nil {
		r.err = err
	}
	r.buf = nil
}

// end is the error of the whole payload.
func (r *reader) end() error {
	if r.err == nil && len(r.buf) > 0 {
		return ErrTrailing
	}
	return r.err
}

func (r *reader) octet() uint8 {
	if len(r.buf) == 0 {
		r.fail(ErrTruncated)
		return 0
	}
	v := r.buf[0]
	r.buf = r.buf[1:]
	return v
}

func (r *reader) short() uint16 {
	if len(r.buf) < 2 {
		r.fail(ErrTruncated)
		return 0
	}
	v := binary.BigEndian.Uint16(r.buf)
	r.buf = r.buf[2:]
	return v
}

func (r *reader) long() uint32 {
	if len(r.buf) < 4 {
		r.fail(ErrTruncated)
		return 0
	}
	v := binary.BigEndian.Uint32(r.buf)
	r.buf = r.buf[4:]
	return v
}

func (r *reader) longlong() uint64 {
	if len(r.buf) < 8 {
		r.fail(ErrTruncated)
		return 0
	}
	v := binary.BigEndian.Uint64(r.buf)
	r.buf = r.buf[8:]
	return v
}

func (r *reader) shortBytes() []byte {
	if len(r.buf) == 0 || int(r.buf[0]) >= len(r.buf) {
		r.fail(ErrTruncated)
		return nil
	}
	n := 1 + int(r.buf[0])
	b := r.buf[1:n:n]
	r.buf = r.buf[n:]
	return b
}

// shortstr is a short string of a method other than those that come once per message.
func (r *reader) shortstr() string {
	b := r.shortBytes()
	if !utf8.Valid(b) {
		r.fail(ErrUTF8)
	}
	return string(b)
}

func (r *reader) longBytes() []byte { return r.take(r.long()) }
func (r *reader) longstr() string   { return string(r.longBytes()) }

// bits spreads an octet over up to eight bits, the lowest first.
func (r *reader) bits(bits ...*bool) {
	octet := r.octet()
	for i, bit := range bits {
		*bit = octet&(1<<i) != 0
	}
}

// table returns the entries of a table, checked.
func (r *reader) table() []byte {
	raw := r.longBytes()
	if err := checkTable(raw, 1); err != nil {
		r.fail(err)
		return nil
	}
	return raw
}
