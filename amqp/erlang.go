package amqp

import (
	"strconv"
	"strings"
)

// describeOctets renders a payload's beginning as RabbitMQ does in its error texts: all of it if
// that is all there was, in Erlang's notation for binaries.
func describeOctets(snippet []byte, size int) string {
	which := "all"
	if size > len(snippet) {
		which = "first " + strconv.Itoa(len(snippet))
	}
	return which + " octets = " + erlangBinary(snippet)
}

// erlangBinary writes b as Erlang prints a binary: as a string if every octet is printable,
// as numbers otherwise.
func erlangBinary(b []byte) string {
	if len(b) == 0 {
		return "<<>>"
	}
	var s strings.Builder
	if erlangPrintable(b) {
		s.WriteString(`<<"`)
		for _, c := range b {
			if c == '"' || c == '\\' {
				s.WriteByte('\\')
			}
			s.WriteByte(c)
		}
		s.WriteString(`">>`)
		return s.String()
	}
	s.WriteString("<<")
	for i, c := range b {
		if i > 0 {
			s.WriteByte(',')
		}
		s.WriteString(strconv.Itoa(int(c)))
	}
	s.WriteString(">>")
	return s.String()
}

func erlangPrintable(b []byte) bool {
	for _, c := range b {
		if c < ' ' || c > '~' {
			return false
		}
	}
	return true
}
