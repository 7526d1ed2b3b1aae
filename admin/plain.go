package admin

import (
	"fmt"
	"math"
	"strconv"
	"time"
)

// plain turns the values of a field table (queue arguments, client properties) into values that JSON has: bytes
// become text, times Unix seconds, and what JSON has no word for (NaN, decimals) its text.
func plain(v any) any {
	switch v := v.(type) {
	case nil, bool, string, int8, int16, int32, int64, int, uint8, uint16, uint32, uint64:
		return v
	case float32:
		return plainFloat(float64(v), 32)
	case float64:
		return plainFloat(v, 64)
	case []byte:
		return string(v)
	case time.Time:
		return v.Unix()
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = plain(v[i])
		}
		return list
	case map[string]any:
		return plainTable(v)
	}
	return fmt.Sprint(v)
}

// plainTable is plain for a table; nil gives {}, since clients do not take null for an object.
func plainTable(t map[string]any) map[string]any {
	m := make(map[string]any, len(t))
	for k, v := range t {
		m[k] = plain(v)
	}
	return m
}

func plainFloat(f float64, bits int) any {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return strconv.FormatFloat(f, 'g', -1, bits)
	}
	return f
}
