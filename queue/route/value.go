package route

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Decimal is the Go type of a field table's decimal value (tag D). It is an alias of the unnamed struct, so
// that the codec, which shares no package with this one, can use the same type.
type Decimal = struct {
	Scale uint8
	Value uint32
}

// instant is what this package knows of time.Time, the Go type of a timestamp (tag T, whole seconds).
type instant interface{ Unix() int64 }

// Equal compares two field table values as RabbitMQ compares arguments and headers: by value, without the
// outermost type tag. An integer of one width equals that of another, and a timestamp; a long string equals
// the byte array with the same bytes; 1 and "1", or 1 and 1.0, differ. Inside arrays and tables the tags count.
func Equal(a, b any) bool {
	switch a := a.(type) {
	case nil:
		return b == nil
	case bool:
		b, ok := b.(bool)
		return ok && a == b
	case string:
		switch b := b.(type) {
		case string:
			return a == b
		case []byte:
			return a == string(b)
		}
		return false
	case []byte:
		switch b := b.(type) {
		case string:
			return string(a) == b
		case []byte:
			return bytes.Equal(a, b)
		}
		return false
	case float32, float64:
		x, _ := float(a)
		y, ok := float(b)
		return ok && (x == y || x != x && y != y)
	case []any, map[string]any, Decimal:
		return Identical(a, b)
	}
	x, ok := Integer(a)
	y, same := Integer(b)
	return ok && same && x == y
}

// Identical compares two field table values with their type tags: what the wire would tell apart, differs.
// It is the equality of binding arguments, which are part of a binding's identity.
func Identical(a, b any) bool {
	switch a := a.(type) {
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, Identical)
	case map[string]any:
		b, ok := b.(map[string]any)
		return ok && identicalTables(a, b)
	case Decimal:
		b, ok := b.(Decimal)
		return ok && a == b
	}
	return TypeName(a) == TypeName(b) && Equal(a, b)
}

func identicalTables(a, b map[string]any) bool { return maps.EqualFunc(a, b, Identical) }

// Integer returns the value of any of the integer types, or of a timestamp as seconds.
func Integer(v any) (n int64, ok bool) {
	switch v := v.(type) {
	case int8:
		return int64(v), true
	case uint8:
		return int64(v), true
	case int16:
		return int64(v), true
	case uint16:
		return int64(v), true
	case int32:
		return int64(v), true
	case uint32:
		return int64(v), true
	case int64:
		return v, true
	case instant:
		return v.Unix(), true
	}
	return 0, false
}

func float(v any) (f float64, ok bool) {
	switch v := v.(type) {
	case float32:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}

// TypeName returns the name RabbitMQ's error texts have for the type of a field table value.
func TypeName(v any) string {
	switch v.(type) {
	case nil:
		return "void"
	case string:
		return "longstr"
	case bool:
		return "bool"
	case int8:
		return "byte"
	case uint8:
		return "unsignedbyte"
	case int16:
		return "short"
	case uint16:
		return "unsignedshort"
	case int32:
		return "signedint"
	case uint32:
		return "unsignedint"
	case int64:
		return "long"
	case float32:
		return "float"
	case float64:
		return "double"
	case []byte:
		return "binary"
	case []any:
		return "array"
	case map[string]any:
		return "table"
	case Decimal:
		return "decimal"
	case instant:
		return "timestamp"
	}
	return fmt.Sprintf("%T", v)
}

// Term prints a field table value as RabbitMQ's error texts do: as the Erlang term it holds it in.
func Term(v any) string {
	switch v := v.(type) {
	case nil:
		return "undefined"
	case string:
		return binaryTerm(v)
	case []byte:
		return binaryTerm(string(v))
	case bool:
		return strconv.FormatBool(v)
	case float32, float64:
		f, _ := float(v)
		return floatTerm(f)
	case Decimal:
		return fmt.Sprintf("{%d,%d}", v.Scale, v.Value)
	case []any:
		items := make([]string, len(v))
		for i, e := range v {
			items[i] = "{" + TypeName(e) + "," + Term(e) + "}"
		}
		return "[" + strings.Join(items, ",") + "]"
	case map[string]any:
		items := make([]string, 0, len(v))
		for _, k := range slices.Sorted(maps.Keys(v)) {
			items = append(items, "{"+binaryTerm(k)+","+TypeName(v[k])+","+Term(v[k])+"}")
		}
		return "[" + strings.Join(items, ",") + "]"
	}
	n, _ := Integer(v)
	return strconv.FormatInt(n, 10)
}

// binaryTerm prints an Erlang binary: as a string if it is printable text, as numbers otherwise.
func binaryTerm(s string) string {
	switch {
	case s == "":
		return "<<>>"
	case printable(s, 0x7e):
		return `<<"` + quoteTerm(s) + `">>`
	case utf8.ValidString(s) && printable(s, utf8.MaxRune):
		return `<<"` + quoteTerm(s) + `"/utf8>>`
	}
	octets := make([]string, len(s))
	for i := range octets {
		octets[i] = strconv.Itoa(int(s[i]))
	}
	return "<<" + strings.Join(octets, ",") + ">>"
}

func printable(s string, last rune) bool {
	for _, c := range s {
		if c < ' ' || c > last || 0x7f <= c && c < 0xa0 {
			return false
		}
	}
	return true
}

func quoteTerm(s string) string { return strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) }

// floatTerm prints the shortest digits that read back as f, always with a fraction: 1.0, 2.5e-7.
func floatTerm(f float64) string {
	s := strconv.FormatFloat(f, 'g', -1, 64)
	mantissa, exponent, scaled := strings.Cut(s, "e")
	if !strings.Contains(mantissa, ".") {
		mantissa += ".0"
	}
	if !scaled {
		return mantissa
	}
	n, _ := strconv.Atoi(exponent)
	return mantissa + "e" + strconv.Itoa(n)
}
