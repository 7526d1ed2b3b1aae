package amqp

import (
	"encoding/binary"
	"unicode/utf8"
)

// maxShortstr is the longest short string, in octets.
const maxShortstr = 255

func appendShort(b []byte, v uint16) []byte    { return binary.BigEndian.AppendUint16(b, v) }
func appendLong(b []byte, v uint32) []byte     { return binary.BigEndian.AppendUint32(b, v) }
func appendLonglong(b []byte, v uint64) []byte { return binary.BigEndian.AppendUint64(b, v) }

// appendShortstr cuts what is too long for the field: names are checked where they enter, and a
// peer must not be able to break the stream by making us echo a text.
func appendShortstr[T string | []byte](b []byte, s T) []byte {
	if len(s) > maxShortstr {
		s = T(cutText(string(s), maxShortstr))
	}
	b = append(b, byte(len(s)))
	return append(b, s...)
}

func appendLongstr[T string | []byte](b []byte, s T) []byte {
	b = appendLong(b, uint32(len(s)))
	return append(b, s...)
}

// appendBits packs up to eight bits into an octet, the first in the lowest place.
func appendBits(b []byte, bits ...bool) []byte {
	var octet byte
	for i, bit := range bits {
		if bit {
			octet |= 1 << i
		}
	}
	return append(b, octet)
}

// cutText shortens s to at most n octets without splitting a character.
func cutText(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
