package amqp

import (
	"bytes"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func drawTable(t *rapid.T, depth int) Table {
	table := Table{}
	for range rapid.IntRange(0, 4).Draw(t, "entries") {
		name := string(rapid.SliceOfN(rapid.Byte(), 0, 20).Draw(t, "name"))
		table[name] = drawValue(t, depth)
	}
	return table
}

func drawValue(t *rapid.T, depth int) any {
	kinds := 15
	if depth > 0 {
		kinds = 17
	}
	switch rapid.IntRange(0, kinds-1).Draw(t, "kind") {
	case 0:
		return nil
	case 1:
		return rapid.String().Draw(t, "S")
	case 2:
		return rapid.SliceOf(rapid.Byte()).Draw(t, "x")
	case 3:
		return rapid.Int16().Draw(t, "s")
	case 4:
		return rapid.Uint16().Draw(t, "u")
	case 5:
		return rapid.Int8().Draw(t, "b")
	case 6:
		return rapid.Uint8().Draw(t, "B")
	case 7:
		return rapid.Int32().Draw(t, "I")
	case 8:
		return rapid.Uint32().Draw(t, "i")
	case 9:
		return rapid.Int64().Draw(t, "l")
	case 10:
		return rapid.Float32().Draw(t, "f")
	case 11:
		return rapid.Float64().Draw(t, "d")
	case 12:
		return rapid.Bool().Draw(t, "t")
	case 13:
		return Decimal{rapid.Uint8().Draw(t, "scale"), rapid.Uint32().Draw(t, "value")}
	case 14:
		return time.Unix(rapid.Int64Range(-1<<40, 1<<40).Draw(t, "T"), 0).UTC()
	case 15:
		return drawTable(t, depth-1)
	default:
		a := []any{}
		for range rapid.IntRange(0, 4).Draw(t, "elements") {
			a = append(a, drawValue(t, depth-1))
		}
		return a
	}
}

// TestTableRoundTrip checks that values come back with their Go types.
func TestTableRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := drawTable(t, 4)
		if err := CheckTable(want); err != nil {
			t.Fatal(err)
		}
		raw := AppendTable(nil, want)
		got, err := ParseTable(raw)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("got %#v, %v\nwant %#v", got, err, want)
		}
		for n := range raw {
			if _, err := ParseTable(raw[:n]); err != nil && !errors.Is(err, ErrTruncated) {
				t.Fatalf("cut to %d octets: %v", n, err)
			}
		}
	})
}

func TestTableFromTheWire(t *testing.T) {
	tests := []struct {
		name, raw string
		want      Table
	}{
		{"s is a number, not a string", "\x01ks\xff\xfe", Table{"k": int16(-2)}},
		{"L is signed", "\x01kL\xff\xff\xff\xff\xff\xff\xff\xff", Table{"k": int64(-1)}},
		{"l is signed", "\x01kl\xff\xff\xff\xff\xff\xff\xff\xff", Table{"k": int64(-1)}},
		{"any octet but 0 is true", "\x01at\x00\x01bt\x07", Table{"a": false, "b": true}},
		{"the last of a name counts", "\x01kB\x01\x01kB\x02", Table{"k": uint8(2)}},
		{"empty name", "\x00V", Table{"": nil}},
		{"empty table and array", "\x01tF\x00\x00\x00\x00\x01aA\x00\x00\x00\x00", Table{"t": Table{}, "a": []any{}}},
		{"infinity", "\x01kf\x7f\x80\x00\x00", Table{"k": float32(math.Inf(1))}},
		{"a time beyond the calendar", "\x01kT\xff\xff\xff\xff\xff\xff\xff\xff", Table{"k": time.Unix(-1, 0).UTC()}},
	}
	for _, test := range tests {
		got, err := ParseTable([]byte(test.raw))
		if err != nil || !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s: got %#v, %v", test.name, got, err)
		}
	}
}

func TestTableErrors(t *testing.T) {
	tests := []struct {
		name, raw string
		want      error
	}{
		{"name longer than the table", "\x05abc", ErrTruncated},
		{"no type", "\x01a", ErrTruncated},
		{"unknown type", "\x01aZ", ErrFieldType},
		{"string of 4 GiB", "\x01aS\xff\xff\xff\xff", ErrTruncated},
		{"array of 4 GiB", "\x01aA\xff\xff\xff\xff", ErrTruncated},
		{"table longer than its parent", "\x01aF\x00\x00\x00\x09\x01bV", ErrTruncated},
		{"unknown type in an array", "\x01aA\x00\x00\x00\x01!", ErrFieldType},
	}
	for _, test := range tests {
		_, err := ParseTable([]byte(test.raw))
		var syntax *SyntaxError
		if !errors.As(err, &syntax) || !errors.Is(err, test.want) {
			t.Errorf("%s: got %v, want %v", test.name, err, test.want)
		}
	}
}

// nestedTable returns the entries of a table depth deep, of tables or of arrays.
func nestedTable(depth int, kind byte) []byte {
	var raw []byte
	for range depth - 1 {
		inner := raw
		raw = nil
		if kind == 'F' || len(inner) == 0 {
			raw = append(raw, 0)
		}
		raw = appendLongstr(append(raw, kind), inner)
	}
	if kind == 'A' && depth > 1 && raw[0] != 0 {
		raw = append([]byte{0}, raw...)
	}
	return raw
}

func TestNestingIsBounded(t *testing.T) {
	if _, err := ParseTable(nestedTable(MaxDepth, 'F')); err != nil {
		t.Errorf("%d deep: %v", MaxDepth, err)
	}
	for _, depth := range []int{MaxDepth + 1, 10_000} {
		raw := nestedTable(depth, 'F')
		if _, err := ParseTable(raw); !errors.Is(err, ErrTooDeep) {
			t.Errorf("%d deep: %v", depth, err)
		}
		f, _, _ := ParseFrame(AppendMethod(nil, 1, &QueueDeclare{Arguments: raw}), 0)
		var d Decoder
		if _, err := d.Decode(f.Payload); !errors.Is(err, ErrTooDeep) {
			t.Errorf("queue.declare, %d deep: %v", depth, err)
		}
		props := appendLongstr([]byte{0x20, 0}, raw)
		if _, err := PropertiesInfo(props); !errors.Is(err, ErrTooDeep) {
			t.Errorf("headers, %d deep: %v", depth, err)
		}
	}
	deep := any(nil)
	for range MaxDepth {
		deep = []any{deep}
	}
	if err := CheckTable(Table{"a": deep}); !errors.Is(err, ErrTooDeep) {
		t.Errorf("arrays: %v", err)
	}
	if _, err := ParseTable(AppendTable(nil, Table{"a": deep})); !errors.Is(err, ErrTooDeep) {
		t.Errorf("arrays on the wire: %v", err)
	}
}

// TestBadTableCostsNothing refuses a table whose every level claims 4 GiB.
func TestBadTableCostsNothing(t *testing.T) {
	raw := bytes.Repeat([]byte("\x00F\xff\xff\xff\xff"), 20_000)
	allocs := testing.AllocsPerRun(10, func() {
		if _, err := ParseTable(raw); !errors.Is(err, ErrTruncated) {
			t.Fatal(err)
		}
	})
	if allocs > 1 { // the error
		t.Errorf("%v allocations", allocs)
	}
}

func TestCheckTable(t *testing.T) {
	for _, bad := range []Table{
		{"a": 1}, {"a": uint64(1)}, {"a": struct{}{}}, {"a": []string{"b"}}, {"a": Table{"b": []any{1}}},
		{strings.Repeat("n", 256): nil},
	} {
		if CheckTable(bad) == nil {
			t.Errorf("%v passes", bad)
		}
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%v is written", bad)
				}
			}()
			AppendTable(nil, bad)
		}()
	}
}

func FuzzParseTable(f *testing.F) {
	f.Add([]byte{})
	f.Add(nestedTable(3, 'F'))
	f.Add(nestedTable(MaxDepth+1, 'F'))
	f.Add([]byte("\x01aA\x00\x00\x00\x06VVt\x01b\xff\x01bD\x02\x00\x00\x01\x3a"))
	f.Add([]byte("\x01aS\xff\xff\xff\xff"))
	f.Add(AppendTable(nil, Table{"S": "s", "x": []byte("x"), "s": int16(1), "u": uint16(1), "i": uint32(1), "l": int64(1),
		"f": float32(1), "d": 1.0, "T": time.Unix(1, 0), "F": Table{"k": nil}}))
	f.Fuzz(func(t *testing.T, raw []byte) {
		table, err := ParseTable(raw)
		if err != nil {
			return
		}
		if err := CheckTable(table); err != nil {
			t.Fatal(err)
		}
		wire := AppendTable(nil, table)
		again, err := ParseTable(wire)
		if err != nil {
			t.Fatal(err)
		}
		// By its octets: a NaN does not equal itself.
		if !bytes.Equal(AppendTable(nil, again), wire) {
			t.Fatalf("%v became %v", table, again)
		}
	})
}
