package header

import (
	"encoding/binary"
	"math"
	"time"

	"github.com/warrenmq/warren/queue/route"
)

// Table returns the headers, with the Go types that routing by headers compares. nil: there are none.
func Table(properties []byte) map[string]any {
	f, err := split(properties)
	if err != nil || f.flags&flagHeaders == 0 {
		return nil
	}
	return parseTable(f.raw[13], 0)
}

// maxDepth is how deep a table is looked into; the protocol's codec lets no deeper one pass.
const maxDepth = 128

func parseTable(b []byte, depth int) map[string]any {
	t := make(map[string]any)
	_ = table(b, func(e entry) { t[e.name] = parseValue(e.tag, e.value, depth) }) // malformed: what was found so far
	return t
}

// parseValue returns a value, whose length has been checked.
func parseValue(tag byte, b []byte, depth int) any {
	be := binary.BigEndian
	switch tag {
	case 't':
		return b[0] != 0
	case 'b':
		return int8(b[0])
	case 'B':
		return b[0]
	case 's':
		return int16(be.Uint16(b))
	case 'u':
		return be.Uint16(b)
	case 'I':
		return int32(be.Uint32(b))
	case 'i':
		return be.Uint32(b)
	case 'l', 'L':
		return int64(be.Uint64(b))
	case 'f':
		return math.Float32frombits(be.Uint32(b))
	case 'd':
		return math.Float64frombits(be.Uint64(b))
	case 'D':
		return route.Decimal{Scale: b[0], Value: be.Uint32(b[1:])}
	case 'T':
		return time.Unix(int64(be.Uint64(b)), 0).UTC()
	case 'S':
		return string(b[4:])
	case 'x':
		return b[4:]
	case 'F':
		if depth < maxDepth {
			return parseTable(b, depth+1)
		}
	case 'A':
		if depth < maxDepth {
			return parseArray(b[4:], depth+1)
		}
	}
	return nil
}

func parseArray(b []byte, depth int) []any {
	all := []any{}
	for len(b) > 0 {
		n := valueLen(b[0], b[1:])
		if n < 0 || n > len(b)-1 {
			break
		}
		all = append(all, parseValue(b[0], b[1:1+n], depth))
		b = b[1+n:]
	}
	return all
}
