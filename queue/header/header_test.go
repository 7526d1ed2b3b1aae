package header

import (
	"bytes"
	"encoding/binary"
	"reflect"
	"testing"

	"pgregory.net/rapid"
)

// properties puts an encoded property list together.
func properties(flags uint16, fields ...string) []byte {
	b := binary.BigEndian.AppendUint16(nil, flags)
	for _, f := range fields {
		b = append(b, f...)
	}
	return b
}

func long(s string) string { return string(binary.BigEndian.AppendUint32(nil, uint32(len(s)))) + s }

func TestExpiration(t *testing.T) {
	for _, c := range []struct {
		properties []byte
		ms         int64
		ok         bool
	}{
		{nil, 0, false},
		{properties(0), 0, false},
		{properties(flagExpiration, "\x041000"), 1000, true},
		{properties(flagMode|flagExpiration|flagTimestamp, "\x02", "\x010", "12345678"), 0, true},
		{properties(1<<15|flagHeaders|flagExpiration, "\x03abc", long("\x01kSxxxx"[:0]), "\x0212"), 12, true},
		{properties(flagExpiration, "\x02-1"), 0, false},
		{properties(flagExpiration, "\x021x"), 0, false},
		{properties(flagExpiration, "\x05100"), 0, false},
	} {
		ms, ok := Expiration(c.properties)
		if ms != c.ms || ok != c.ok {
			t.Errorf("%q: %d, %v", c.properties, ms, ok)
		}
		if c.ok && !HasExpiration(c.properties) {
			t.Errorf("%q: not seen", c.properties)
		}
	}
}

func TestPriority(t *testing.T) {
	for _, c := range []struct {
		properties []byte
		priority   uint8
	}{
		{nil, 0},
		{properties(0), 0},
		{properties(flagPriority)[:1], 0},
		{properties(flagPriority, "\x07"), 7},
		{properties(flagMode|flagPriority|flagExpiration, "\x02", "\xff", "\x010"), 255},
		{properties(1<<15|flagHeaders|flagMode, "\x03abc", long(""), "\x02"), 0},
		{properties(1<<15|flagHeaders|flagPriority, "\x03abc", long("\x01kV"), "\x03"), 3},
		{properties(flagMode|flagPriority, "\x02"), 0},
	} {
		if p := Priority(c.properties); p != c.priority {
			t.Errorf("%q: %d", c.properties, p)
		}
	}
}

// TestBuryKeepsTheRest checks that everything but expiration and the headers of its own is kept byte for byte.
func TestBuryKeepsTheRest(t *testing.T) {
	headers := "\x01aI\x00\x00\x00\x07" + "\x01bF" + long("\x01xV") + "\x07x-deathS" + long("forged") + "\x01tT12345678"
	p := properties(1<<15|flagHeaders|flagMode|flagExpiration|1<<7|1<<2,
		"\x04text", long(headers), "\x02", "\x03500", "\x02id", "\x01c")
	out, h, err := Bury(p, false, Death{Queue: "q", Reason: Expired, Exchange: "x", Keys: []string{"k", "cc"}, Time: 1700000000})
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(h, History{{"q", Expired}}) {
		t.Errorf("history is %v", h)
	}
	f, err := split(out)
	if err != nil {
		t.Fatal(err)
	}
	if f.flags != 1<<15|flagHeaders|flagMode|1<<7|1<<2 {
		t.Errorf("flags are %x", f.flags)
	}
	for bit, want := range map[int]string{15: "\x04text", 12: "\x02", 7: "\x02id", 2: "\x01c", 8: ""} {
		if string(f.raw[bit]) != want {
			t.Errorf("field %d is %q", bit, f.raw[bit])
		}
	}
	if kept := "\x01aI\x00\x00\x00\x07" + "\x01bF" + long("\x01xV") + "\x01tT12345678"; !bytes.HasPrefix(f.raw[13][4:], []byte(kept)) {
		t.Errorf("headers are %q", f.raw[13])
	}
	table := Table(out)
	death := table["x-death"].([]any)[0].(map[string]any)
	for k, want := range map[string]any{
		"count": int64(1), "queue": "q", "reason": "expired", "exchange": "x", "original-expiration": "500",
		"routing-keys": []any{"k", "cc"},
	} {
		if !reflect.DeepEqual(death[k], want) {
			t.Errorf("%s is %v", k, death[k])
		}
	}
	if table["a"] != int32(7) || table["x-first-death-queue"] != "q" || table["x-last-death-reason"] != "expired" {
		t.Errorf("headers are %v", table)
	}
}

func TestDeathsAreCountedAndOrdered(t *testing.T) {
	p := properties(0)
	var h History
	var err error
	for i, d := range []Death{
		{Queue: "a", Reason: Rejected}, {Queue: "b", Reason: Expired}, {Queue: "a", Reason: Expired}, {Queue: "a", Reason: Rejected},
	} {
		if p, h, err = Bury(p, i > 0, d); err != nil {
			t.Fatal(err)
		}
	}
	if want := (History{{"a", Rejected}, {"a", Expired}, {"b", Expired}}); !reflect.DeepEqual(h, want) {
		t.Errorf("history is %v", h)
	}
	table := Table(p)
	var counts []any
	for _, d := range table["x-death"].([]any) {
		counts = append(counts, d.(map[string]any)["count"])
	}
	if !reflect.DeepEqual(counts, []any{int64(2), int64(1), int64(1)}) {
		t.Errorf("counts are %v", counts)
	}
	if table["x-first-death-reason"] != Rejected || table["x-first-death-queue"] != "a" {
		t.Errorf("first death is %v", table)
	}
	// What a publisher copies into a new message is not history.
	_, h, err = Bury(p, false, Death{Queue: "z", Reason: MaxLen})
	if err != nil || len(h) != 1 {
		t.Errorf("history of a copy is %v, %v", h, err)
	}
}

func TestCycles(t *testing.T) {
	h := History{{"c", Expired}, {"b", MaxLen}, {"a", Rejected}, {"z", Expired}}
	for queue, want := range map[string]bool{"c": true, "b": true, "a": false, "z": false, "new": false} {
		if h.Cycle(queue) != want {
			t.Errorf("going to %s is a cycle: %v", queue, !want)
		}
	}
}

func TestCopies(t *testing.T) {
	cc := "\x02CCA" + long("S"+long("one")+"I1234"+"S"+long("two"))
	if got := Copies(properties(flagHeaders, long(cc))); !reflect.DeepEqual(got, []string{"one", "two"}) {
		t.Errorf("copies go to %q", got)
	}
	if got := Copies(properties(0)); got != nil {
		t.Errorf("copies go to %q", got)
	}
}

// TestTableTypes checks every type of value.
func TestTableTypes(t *testing.T) {
	enc := "\x01at\x01" + "\x01bb\xff" + "\x01cB\xff" + "\x01ds\xff\xff" + "\x01eu\xff\xff" + "\x01fI\xff\xff\xff\xff" +
		"\x01gi\xff\xff\xff\xff" + "\x01hl\xff\xff\xff\xff\xff\xff\xff\xff" + "\x01iS" + long("x") + "\x01jx" + long("y") +
		"\x01kV" + "\x01lA" + long("t\x00V") + "\x01mF" + long("\x01nI\x00\x00\x00\x01") + "\x01of\x3f\x80\x00\x00" +
		"\x01pd\x3f\xf0\x00\x00\x00\x00\x00\x00"
	got := Table(properties(flagHeaders, long(enc)))
	want := map[string]any{
		"a": true, "b": int8(-1), "c": uint8(255), "d": int16(-1), "e": uint16(65535), "f": int32(-1), "g": uint32(1<<32 - 1),
		"h": int64(-1), "i": "x", "j": []byte("y"), "k": nil, "l": []any{false, nil}, "m": map[string]any{"n": int32(1)},
		"o": float32(1), "p": float64(1),
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v", got)
	}
}

// FuzzBury checks that nothing makes this package panic, and that what it writes it can read.
func FuzzBury(f *testing.F) {
	f.Add(properties(flagHeaders|flagExpiration, long("\x07x-deathA"+long("F"+long("\x05countl12345678"))), "\x011"), true)
	f.Add(properties(0), false)
	f.Add([]byte{0xff, 0xff}, false)
	f.Fuzz(func(t *testing.T, p []byte, genuine bool) {
		Expiration(p)
		Table(p)
		Copies(p)
		out, h, err := Bury(p, genuine, Death{Queue: "q", Reason: Expired})
		if err != nil {
			return
		}
		if _, again, err := Bury(out, true, Death{Queue: "q", Reason: Expired}); err != nil || len(again) != len(h) {
			t.Fatalf("%q became %q with history %v, then %v, %v", p, out, h, again, err)
		}
	})
}

func TestSplitJoin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := properties(0)
		flags := uint16(rapid.IntRange(0, 1<<14-1).Draw(t, "flags")) << 2
		binary.BigEndian.PutUint16(p, flags)
		for bit := 15; bit >= 2; bit-- {
			if flags&(1<<bit) == 0 {
				continue
			}
			switch flag := uint16(1) << bit; flag {
			case flagMode, flagPriority:
				p = append(p, 1)
			case flagTimestamp:
				p = append(p, "12345678"...)
			case flagHeaders:
				p = append(p, long("\x01kV")...)
			default:
				p = append(p, 2, 'a', 'b')
			}
		}
		f, err := split(p)
		if err != nil || !bytes.Equal(f.join(), p) {
			t.Fatalf("%q became %q, %v", p, f.join(), err)
		}
		if _, err := split(p[:len(p)-1]); err == nil && len(p) > 1 {
			t.Fatalf("%q cut short is taken", p)
		}
	})
}
