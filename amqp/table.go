package amqp

import (
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"
)

// MaxDepth is how deep tables and arrays may be nested, the outermost counted.
const MaxDepth = 64

// Table is a field table. Its values, and those of the arrays in it, have these types, in
// both directions, so that what a client sent comes back with the type it had:
//
//	S string       I int32     f float32    D Decimal
//	x []byte       i uint32    d float64    T time.Time, UTC, whole seconds
//	s int16        l int64     t bool       F Table
//	u uint16       L int64     V nil        A []any
//	b int8         B uint8
//
// L and l are the same type, and written as l. RabbitMQ departs from the standard in s, which
// there is a short string.
type Table = map[string]any

// Decimal is Value divided by 10 to the power of Scale. It is an alias, so that packages that do not know this one can
// name the same type.
type Decimal = struct {
	Scale uint8
	Value uint32
}

// ParseTable parses the entries of a table: what follows its length, as methods and
// properties hold it. The result shares no memory with raw. Of entries with the same name the last one
// counts. The error is a *[SyntaxError].
func ParseTable(raw []byte) (Table, error) {
	if err := checkTable(raw, 1); err != nil {
		return nil, &SyntaxError{What: "table", Err: err}
	}
	return readTable(raw), nil
}

// AppendTable appends the entries of a table, sorted by name, without their length. It panics if a
// name or a value has no form on the wire; [CheckTable] tells beforehand.
func AppendTable(dst []byte, t Table) []byte {
	for _, name := range slices.Sorted(maps.Keys(t)) {
		if len(name) > maxShortstr {
			panic("amqp: table name longer than 255 octets")
		}
		dst = appendShortstr(dst, name)
		dst = appendValue(dst, t[name])
	}
	return dst
}

// CheckTable returns an error if t is not a table that [AppendTable] can write and [ParseTable]
// would read: for tables that come from elsewhere than the wire.
func CheckTable(t Table) error { return checkGoTable(t, 1) }

// checkTable checks the entries of a table that is depth deep, without allocating.
func checkTable(raw []byte, depth int) error {
	if depth > MaxDepth {
		return ErrTooDeep
	}
	r := reader{buf: raw}
	for len(r.buf) > 0 {
		r.shortBytes()
		checkValue(&r, depth)
	}
	return r.err
}

// checkArray does the same for an array.
func checkArray(raw []byte, depth int) error {
	if depth > MaxDepth {
		return ErrTooDeep
	}
	r := reader{buf: raw}
	for len(r.buf) > 0 {
		checkValue(&r, depth)
	}
	return r.err
}

func checkValue(r *reader, depth int) {
	var err error
	switch r.octet() {
	case 'V':
	case 'b', 'B', 't':
		r.take(1)
	case 's', 'u':
		r.take(2)
	case 'I', 'i', 'f':
		r.take(4)
	case 'D':
		r.take(5)
	case 'l', 'L', 'd', 'T':
		r.take(8)
	case 'S', 'x':
		r.longBytes()
	case 'F':
		err = checkTable(r.longBytes(), depth+1)
	case 'A':
		err = checkArray(r.longBytes(), depth+1)
	default:
		err = ErrFieldType
	}
	if err != nil {
		r.fail(err)
	}
}

// readTable reads entries that have been checked.
func readTable(raw []byte) Table {
	t := Table{}
	r := reader{buf: raw}
	for len(r.buf) > 0 {
		name := string(r.shortBytes())
		t[name] = readValue(&r)
	}
	return t
}

func readArray(raw []byte) []any {
	a := []any{}
	r := reader{buf: raw}
	for len(r.buf) > 0 {
		a = append(a, readValue(&r))
	}
	return a
}

func readValue(r *reader) any {
	switch r.octet() {
	case 'S':
		return r.longstr()
	case 'x':
		return append([]byte{}, r.longBytes()...)
	case 's':
		return int16(r.short())
	case 'u':
		return r.short()
	case 'b':
		return int8(r.octet())
	case 'B':
		return r.octet()
	case 'I':
		return int32(r.long())
	case 'i':
		return r.long()
	case 'l', 'L':
		return int64(r.longlong())
	case 'f':
		return math.Float32frombits(r.long())
	case 'd':
		return math.Float64frombits(r.longlong())
	case 't':
		return r.octet() != 0
	case 'D':
		return Decimal{Scale: r.octet(), Value: r.long()}
	case 'T':
		return readTimestamp(r)
	case 'F':
		return readTable(r.longBytes())
	case 'A':
		return readArray(r.longBytes())
	}
	return nil // V: the value has been checked
}

func readTimestamp(r *reader) time.Time { return time.Unix(int64(r.longlong()), 0).UTC() }

func appendValue(b []byte, value any) []byte {
	switch v := value.(type) {
	case nil:
		return append(b, 'V')
	case string:
		return appendLongstr(append(b, 'S'), v)
	case []byte:
		return appendLongstr(append(b, 'x'), v)
	case int16:
		return appendShort(append(b, 's'), uint16(v))
	case uint16:
		return appendShort(append(b, 'u'), v)
	case int8:
		return append(b, 'b', byte(v))
	case uint8:
		return append(b, 'B', v)
	case int32:
		return appendLong(append(b, 'I'), uint32(v))
	case uint32:
		return appendLong(append(b, 'i'), v)
	case int64:
		return appendLonglong(append(b, 'l'), uint64(v))
	case float32:
		return appendLong(append(b, 'f'), math.Float32bits(v))
	case float64:
		return appendLonglong(append(b, 'd'), math.Float64bits(v))
	case bool:
		return append(b, 't', octetOf(v))
	case Decimal:
		return appendLong(append(b, 'D', v.Scale), v.Value)
	case time.Time:
		return appendLonglong(append(b, 'T'), uint64(v.Unix()))
	case Table:
		start := len(b)
		return endLong(AppendTable(append(b, 'F', 0, 0, 0, 0), v), start+1)
	case []any:
		start := len(b)
		b = append(b, 'A', 0, 0, 0, 0)
		for _, element := range v {
			b = appendValue(b, element)
		}
		return endLong(b, start+1)
	}
	panic(fmt.Sprintf("amqp: %T in a table", value))
}

// endLong fills in the length at start of what was appended after it.
func endLong(b []byte, start int) []byte {
	binary.BigEndian.PutUint32(b[start:], uint32(len(b)-start-4))
	return b
}

func checkGoTable(t Table, depth int) error {
	if depth > MaxDepth {
		return ErrTooDeep
	}
	for name, value := range t {
		if len(name) > maxShortstr {
			return fmt.Errorf("table name %.20q… is longer than %d octets", name, maxShortstr)
		}
		if err := checkGoValue(value, depth); err != nil {
			return err
		}
	}
	return nil
}

func checkGoValue(value any, depth int) error {
	switch v := value.(type) {
	case nil, string, []byte, int8, uint8, int16, uint16, int32, uint32, int64, float32, float64, bool, Decimal, time.Time:
		return nil
	case Table:
		return checkGoTable(v, depth+1)
	case []any:
		if depth+1 > MaxDepth {
			return ErrTooDeep
		}
		for _, element := range v {
			if err := checkGoValue(element, depth+1); err != nil {
				return err
			}
		}
		return nil
	}
	return fmt.Errorf("%w: Go's %T", ErrFieldType, value)
}
