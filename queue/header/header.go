// Package header reads and changes the few properties of a message that the broker itself decides on: expiration,
// priority and the history of a dead-lettered message. Everything else in the properties stays as the publisher has
// encoded it, byte for byte.
//
// Properties are, as in a content header frame, a 16-bit field of flags and the fields whose flags are set, in
// descending order of the flags:
//
//	bit 15 content-type       shortstr     bit 8 expiration   shortstr
//	bit 14 content-encoding   shortstr     bit 7 message-id   shortstr
//	bit 13 headers            table        bit 6 timestamp    8 octets
//	bit 12 delivery-mode      octet        bit 5 type         shortstr
//	bit 11 priority           octet        bit 4 user-id      shortstr
//	bit 10 correlation-id     shortstr     bit 3 app-id       shortstr
//	bit  9 reply-to           shortstr     bit 2 cluster-id   shortstr
//
// What the protocol's codec has let pass is well-formed; this package checks every length all the same, for what it
// reads comes back from a disk.
package header

import (
	"encoding/binary"
	"errors"
	"strconv"
)

// ErrMalformed says that properties are not encoded as they should be.
var ErrMalformed = errors.New("header: malformed properties")

const (
	flagHeaders    = 1 << 13
	flagPriority   = 1 << 11
	flagExpiration = 1 << 8
	flagTimestamp  = 1 << 6
	flagMode       = 1 << 12
	lastFlag       = 1 << 2
)

// HasExpiration reports whether there is an expiration, at the price of a comparison.
func HasExpiration(properties []byte) bool {
	return len(properties) > 1 && properties[0]&(flagExpiration>>8) != 0
}

// Expiration returns the message's time to live in milliseconds. ok is false if there is none or it is not a number.
func Expiration(properties []byte) (ms int64, ok bool) {
	f, err := split(properties)
	if err != nil || f.flags&flagExpiration == 0 {
		return 0, false
	}
	n, err := strconv.ParseUint(string(f.value(flagExpiration)[1:]), 10, 63)
	return int64(n), err == nil
}

// Priority returns the message's priority, 0 if there is none.
func Priority(properties []byte) uint8 {
	if len(properties) < 2 || properties[0]&(flagPriority>>8) == 0 {
		return 0
	}
	f, err := split(properties)
	if err != nil {
		return 0
	}
	return f.value(flagPriority)[0]
}

// fields is properties taken apart.
type fields struct {
	flags uint16
	raw   [16][]byte // by the number of the flag's bit, as encoded
}

func (f *fields) value(flag uint16) []byte {
	for bit := range f.raw {
		if flag == 1<<bit {
			return f.raw[bit]
		}
	}
	return nil
}

// split takes properties apart. The fields alias them.
func split(properties []byte) (f fields, err error) {
	switch len(properties) {
	case 0: // of a message that did not come over the wire
		return f, nil
	case 1:
		return f, ErrMalformed
	}
	f.flags = binary.BigEndian.Uint16(properties)
	rest := properties[2:]
	for bit := 15; bit >= 2; bit-- {
		flag := uint16(1) << bit
		if f.flags&flag == 0 {
			continue
		}
		n := fieldLen(flag, rest)
		if n < 0 || n > len(rest) {
			return f, ErrMalformed
		}
		f.raw[bit], rest = rest[:n:n], rest[n:]
	}
	if len(rest) > 0 || f.flags&(lastFlag-1) != 0 {
		return f, ErrMalformed
	}
	return f, nil
}

// fieldLen returns the encoded length of the field that b begins with, -1 if b is too short to tell.
func fieldLen(flag uint16, b []byte) int {
	switch flag {
	case flagMode, flagPriority:
		return 1
	case flagTimestamp:
		return 8
	case flagHeaders:
		if len(b) < 4 {
			return -1
		}
		return longLen(b)
	}
	if len(b) < 1 {
		return -1
	}
	return 1 + int(b[0])
}

// longLen returns the length of what begins with its length in 4 octets, -1 if it cannot be so long.
func longLen(b []byte) int {
	if len(b) < 4 || uint64(binary.BigEndian.Uint32(b)) > uint64(len(b)-4) {
		return -1
	}
	return 4 + int(binary.BigEndian.Uint32(b))
}

// join puts fields together.
func (f *fields) join() []byte {
	n := 2
	for _, raw := range f.raw {
		n += len(raw)
	}
	out := binary.BigEndian.AppendUint16(make([]byte, 0, n), f.flags)
	for bit := 15; bit >= 2; bit-- {
		if f.flags&(1<<bit) != 0 {
			out = append(out, f.raw[bit]...)
		}
	}
	return out
}

// entry is one field of a table, encoded.
type entry struct {
	name  string
	tag   byte
	value []byte
}

// table calls f for every field of an encoded table, its length in front.
func table(b []byte, f func(entry)) error {
	n := longLen(b)
	if n != len(b) {
		return ErrMalformed
	}
	for b = b[4:]; len(b) > 0; {
		if len(b) < 2+int(b[0]) {
			return ErrMalformed
		}
		e := entry{name: string(b[1 : 1+b[0]]), tag: b[1+b[0]]}
		b = b[2+b[0]:]
		if n = valueLen(e.tag, b); n < 0 || n > len(b) {
			return ErrMalformed
		}
		e.value, b = b[:n:n], b[n:]
		f(e)
	}
	return nil
}

// valueLen returns the encoded length of a value, -1 if that cannot be told.
func valueLen(tag byte, b []byte) int {
	switch tag {
	case 't', 'b', 'B':
		return 1
	case 's', 'u':
		return 2
	case 'I', 'i', 'f':
		return 4
	case 'D':
		return 5
	case 'l', 'L', 'd', 'T':
		return 8
	case 'S', 'x', 'A', 'F':
		return longLen(b)
	case 'V':
		return 0
	}
	return -1
}

func appendName(dst []byte, name string, tag byte) []byte {
	dst = append(dst, byte(len(name)))
	dst = append(dst, name...)
	return append(dst, tag)
}

func appendText(dst []byte, name, value string) []byte {
	dst = appendName(dst, name, 'S')
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(value)))
	return append(dst, value...)
}

// begin reserves room for a length, end fills it in.
func begin(dst []byte) ([]byte, int) { return append(dst, 0, 0, 0, 0), len(dst) + 4 }
func end(dst []byte, from int) []byte {
	binary.BigEndian.PutUint32(dst[from-4:], uint32(len(dst)-from))
	return dst
}
