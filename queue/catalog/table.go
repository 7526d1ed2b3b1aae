package catalog

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/warrenmq/warren/queue/route"
)

// A field table is written as a list of [key, tag, value], sorted by key, so that equal tables are equal bytes:
//
//	tag                 Go type                value
//	S                   string                 text
//	b B s u I i l       (u)int8 … int64        number
//	f d                 float32, float64       number; not a number and infinities: the bits, in hex, as text
//	t                   bool                   true, false
//	D                   route.Decimal          [scale, value]
//	T                   time.Time              seconds since 1970
//	x                   []byte                 base64 text
//	A                   []any                  [[tag, value], …]
//	F                   map[string]any         table
//	V                   nil                    null
//
// Policies' and parameters' values are written in the same way.
type table map[string]any

func (t *table) UnmarshalJSON(b []byte) error {
	decoded, err := parseTable(b)
	*t = decoded
	return err
}

// value is a value of its own, as [tag, value].
type value struct{ v any }

func (v *value) UnmarshalJSON(b []byte) (err error) {
	var pair [2]json.RawMessage
	if err := parseList(b, pair[:]); err != nil {
		return err
	}
	v.v, err = parseValue(pair[0], pair[1])
	return err
}

// text is a string of any bytes.
type text string

func (s *text) UnmarshalJSON(b []byte) error {
	if len(b) > 1 && b[0] == '"' {
		if plainText(b[1 : len(b)-1]) {
			*s = text(b[1 : len(b)-1])
			return nil
		}
		return json.Unmarshal(b, (*string)(s))
	}
	var odd struct {
		B64 []byte `json:"b64"`
	}
	err := json.Unmarshal(b, &odd)
	*s = text(odd.B64)
	return err
}

// plainText reports whether the text stands in JSON as it is.
func plainText[T string | []byte](s T) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c >= utf8.RuneSelf || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}

func appendText(dst []byte, s string) []byte {
	if plainText(s) {
		return append(append(append(dst, '"'), s...), '"')
	}
	if !utf8.ValidString(s) {
		dst = append(dst, `{"b64":"`...)
		dst = base64.StdEncoding.AppendEncode(dst, []byte(s))
		return append(dst, `"}`...)
	}
	quoted, err := json.Marshal(s)
	if err != nil {
		panic(err) // a string always marshals
	}
	return append(dst, quoted...)
}

func appendTable(dst []byte, t map[string]any) []byte {
	dst = append(dst, '[')
	for i, key := range slices.Sorted(maps.Keys(t)) {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, '[')
		dst = appendText(dst, key)
		dst = append(dst, ',')
		dst = appendValue(dst, t[key])
		dst = append(dst, ']')
	}
	return append(dst, ']')
}

// checkTable refuses values of types that no field table can hold.
func checkTable(t map[string]any) error {
	for _, v := range t {
		if err := checkValue(v); err != nil {
			return err
		}
	}
	return nil
}

func checkValue(v any) error {
	switch v := v.(type) {
	case nil, string, bool, float32, float64, []byte, route.Decimal, time.Time:
		return nil
	case map[string]any:
		return checkTable(v)
	case []any:
		for _, e := range v {
			if err := checkValue(e); err != nil {
				return err
			}
		}
		return nil
	}
	if _, ok := route.Integer(v); !ok {
		return refuse(PreconditionFailed, "a field table cannot hold a value of type %T", v)
	}
	return nil
}

// appendValue appends the tag and the value, separated by a comma. The value has passed checkValue.
func appendValue(dst []byte, v any) []byte {
	tagged := func(tag byte) []byte { return append(dst, '"', tag, '"', ',') }
	switch v := v.(type) {
	case nil:
		return append(tagged('V'), "null"...)
	case string:
		return appendText(tagged('S'), v)
	case bool:
		return strconv.AppendBool(tagged('t'), v)
	case float32:
		return appendFloat(tagged('f'), float64(v), 32)
	case float64:
		return appendFloat(tagged('d'), v, 64)
	case []byte:
		return append(base64.StdEncoding.AppendEncode(append(tagged('x'), '"'), v), '"')
	case route.Decimal:
		return fmt.Appendf(tagged('D'), "[%d,%d]", v.Scale, v.Value)
	case time.Time:
		return strconv.AppendInt(tagged('T'), v.Unix(), 10)
	case map[string]any:
		return appendTable(tagged('F'), v)
	case []any:
		dst = append(tagged('A'), '[')
		for i, e := range v {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(appendValue(append(dst, '['), e), ']')
		}
		return append(dst, ']')
	}
	n, ok := route.Integer(v)
	if !ok {
		panic(fmt.Sprintf("catalog: %T in a field table", v))
	}
	return strconv.AppendInt(tagged(integerTag(v)), n, 10)
}

func integerTag(v any) byte {
	switch v.(type) {
	case int8:
		return 'b'
	case uint8:
		return 'B'
	case int16:
		return 's'
	case uint16:
		return 'u'
	case int32:
		return 'I'
	case uint32:
		return 'i'
	}
	return 'l'
}

func appendFloat(dst []byte, f float64, bits int) []byte {
	switch {
	case !math.IsNaN(f) && !math.IsInf(f, 0):
		return strconv.AppendFloat(dst, f, 'g', -1, bits)
	case bits == 32:
		return fmt.Appendf(dst, `"%08x"`, math.Float32bits(float32(f)))
	}
	return fmt.Appendf(dst, `"%016x"`, math.Float64bits(f))
}

var errTable = errors.New("malformed field table")

// parseList splits a JSON list of exactly len(into) items.
func parseList(b []byte, into []json.RawMessage) error {
	var items []json.RawMessage
	if err := json.Unmarshal(b, &items); err != nil {
		return err
	}
	if len(items) != len(into) {
		return errTable
	}
	copy(into, items)
	return nil
}

// parseTable returns nil for a table without fields.
func parseTable(b []byte) (map[string]any, error) {
	var fields [][]json.RawMessage
	if err := json.Unmarshal(b, &fields); err != nil || len(fields) == 0 {
		return nil, err
	}
	t := make(map[string]any, len(fields))
	for _, f := range fields {
		if len(f) != 3 {
			return nil, errTable
		}
		var key text
		if err := key.UnmarshalJSON(f[0]); err != nil {
			return nil, err
		}
		v, err := parseValue(f[1], f[2])
		if err != nil {
			return nil, err
		}
		t[string(key)] = v
	}
	return t, nil
}

func parseValue(tag, b json.RawMessage) (any, error) {
	if len(tag) != 3 || tag[0] != '"' {
		return nil, errTable
	}
	switch tag[1] {
	case 'V':
		return nil, nil
	case 'S':
		var s text
		err := s.UnmarshalJSON(b)
		return string(s), err
	case 't':
		return decode[bool](b)
	case 'x':
		return decode[[]byte](b)
	case 'f', 'd':
		return parseFloat(tag[1], b)
	case 'D':
		return parseDecimal(b)
	case 'T':
		n, err := decode[int64](b)
		if err != nil {
			return nil, err
		}
		return time.Unix(n.(int64), 0).UTC(), nil
	case 'F':
		t, err := parseTable(b)
		if t == nil {
			t = map[string]any{}
		}
		return t, err
	case 'A':
		return parseArray(b)
	}
	return parseInteger(tag[1], b)
}

func decode[T any](b []byte) (any, error) {
	var v T
	if err := json.Unmarshal(b, &v); err != nil {
		return nil, err
	}
	return v, nil
}

func parseInteger(tag byte, b []byte) (any, error) {
	switch tag {
	case 'b':
		return decode[int8](b)
	case 'B':
		return decode[uint8](b)
	case 's':
		return decode[int16](b)
	case 'u':
		return decode[uint16](b)
	case 'I':
		return decode[int32](b)
	case 'i':
		return decode[uint32](b)
	case 'l':
		return decode[int64](b)
	}
	return nil, fmt.Errorf("%w: tag %q", errTable, tag)
}

func parseFloat(tag byte, b []byte) (any, error) {
	switch {
	case tag == 'f' && len(b) == 10 && b[0] == '"':
		bits, err := strconv.ParseUint(string(b[1:9]), 16, 32)
		return math.Float32frombits(uint32(bits)), err
	case tag == 'd' && len(b) == 18 && b[0] == '"':
		bits, err := strconv.ParseUint(string(b[1:17]), 16, 64)
		return math.Float64frombits(bits), err
	case tag == 'f':
		return decode[float32](b)
	}
	return decode[float64](b)
}

func parseDecimal(b []byte) (any, error) {
	var parts [2]json.RawMessage
	if err := parseList(b, parts[:]); err != nil {
		return nil, err
	}
	var d route.Decimal
	if err := json.Unmarshal(parts[0], &d.Scale); err != nil {
		return nil, err
	}
	err := json.Unmarshal(parts[1], &d.Value)
	return d, err
}

func parseArray(b []byte) (any, error) {
	var items []value
	if err := json.Unmarshal(b, &items); err != nil {
		return nil, err
	}
	a := make([]any, len(items))
	for i := range items {
		a[i] = items[i].v
	}
	return a, nil
}
