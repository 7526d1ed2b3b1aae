package amqp

import (
	"encoding/binary"
	"errors"
	"fmt"
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

// SyntaxError is a payload that does not have the fields it should have: reply code 501,
// FRAME_ERROR, as in RabbitMQ.
type SyntaxError struct {
	What string // a method's name, "content header", "properties" or "table"
	Err  error  // one of the errors above
}

func (e *SyntaxError) Error() string { return e.What + " " + e.Err.Error() }
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
	if uint64(len(r.buf)) < uint64(n) || r.err != nil {
		r.fail(ErrTruncated)
		return nil
	}
	b := r.buf[:n:n]
	r.buf = r.buf[n:]
	return b
}

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
	if b := r.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (r *reader) short() uint16 {
	if b := r.take(2); b != nil {
		return binary.BigEndian.Uint16(b)
	}
	return 0
}

func (r *reader) long() uint32 {
	if b := r.take(4); b != nil {
		return binary.BigEndian.Uint32(b)
	}
	return 0
}

func (r *reader) longlong() uint64 {
	if b := r.take(8); b != nil {
		return binary.BigEndian.Uint64(b)
	}
	return 0
}

func (r *reader) shortstr() string   { return string(r.shortBytes()) }
func (r *reader) shortBytes() []byte { return r.take(uint32(r.octet())) }
func (r *reader) longstr() string    { return string(r.longBytes()) }
func (r *reader) longBytes() []byte  { return r.take(r.long()) }
func (r *reader) bits(bits ...*bool) { spreadBits(r.octet(), bits) }

// table returns the entries of a table, checked.
func (r *reader) table() []byte {
	raw := r.longBytes()
	if err := checkTable(raw, 1); err != nil {
		r.fail(err)
		return nil
	}
	return raw
}

func spreadBits(octet uint8, bits []*bool) {
	for i, bit := range bits {
		*bit = octet&(1<<i) != 0
	}
}
