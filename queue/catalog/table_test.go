package catalog

import (
	"bytes"
	"encoding/json"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/warrenmq/warren/queue/route"
)

// anyValue draws values of all types a field table has.
func anyValue(depth int) *rapid.Generator[any] {
	some := []*rapid.Generator[any]{
		rapid.Just[any](nil), rapid.Bool().AsAny(), rapid.String().AsAny(),
		rapid.Custom(func(t *rapid.T) any { return string(rapid.SliceOfN(rapid.Byte(), 0, 9).Draw(t, "bytes")) }),
		rapid.Int8().AsAny(), rapid.Uint8().AsAny(), rapid.Int16().AsAny(), rapid.Uint16().AsAny(), rapid.Int32().AsAny(),
		rapid.Uint32().AsAny(), rapid.Int64().AsAny(), rapid.Float32().AsAny(), rapid.Float64().AsAny(),
		rapid.SampledFrom([]any{math.Inf(1), float32(math.Inf(-1)), math.NaN(), math.Copysign(0, -1), float32(math.NaN())}),
		rapid.Custom(func(t *rapid.T) any { return time.Unix(rapid.Int64Range(0, 1<<40).Draw(t, "time"), 0).UTC() }),
		rapid.Custom(func(t *rapid.T) any {
			return route.Decimal{Scale: rapid.Uint8().Draw(t, "scale"), Value: rapid.Uint32().Draw(t, "value")}
		}),
		rapid.SliceOfN(rapid.Byte(), 0, 9).AsAny(),
	}
	if depth > 0 {
		some = append(some, rapid.SliceOfN(anyValue(depth-1), 0, 3).AsAny(), anyTable(depth-1).AsAny())
	}
	return rapid.OneOf(some...)
}

func anyTable(depth int) *rapid.Generator[map[string]any] {
	return rapid.MapOfN(rapid.StringN(0, 5, 20), anyValue(depth), 0, 4)
}

func TestTablesSurvive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		given := anyTable(3).Draw(t, "table")
		if err := checkTable(given); err != nil {
			t.Fatal(err)
		}
		b := appendTable(nil, given)
		var got table
		if err := json.Unmarshal(b, &got); err != nil {
			t.Fatalf("%s: %v", b, err)
		}
		if !route.Identical(given, map[string]any(got)) {
			t.Fatalf("%#v came back as %#v, written %s", given, got, b)
		}
		if again := appendTable(nil, got); !bytes.Equal(b, again) {
			t.Fatalf("written %s and then %s", b, again)
		}
	})
}

// TestTableFormat pins the bytes: they are on disk.
func TestTableFormat(t *testing.T) {
	given := map[string]any{
		"S": "a\"é", "odd": "\xff", "b": int8(-1), "B": uint8(1), "s": int16(-2), "u": uint16(2), "I": int32(-3), "i": uint32(3),
		"l": int64(math.MinInt64), "f": float32(0.1), "d": 0.1, "nan": math.NaN(), "t": true, "D": route.Decimal{Scale: 2, Value: 314},
		"T": time.Unix(1700000000, 0).UTC(), "x": []byte("abc"), "A": []any{int32(1), nil}, "F": map[string]any{"k": "v"}, "V": nil,
	}
	const want = `[["A","A",[["I",1],["V",null]]],["B","B",1],["D","D",[2,314]],["F","F",[["k","S","v"]]],["I","I",-3],` +
		`["S","S","a\"é"],["T","T",1700000000],["V","V",null],["b","b",-1],["d","d",0.1],["f","f",0.1],["i","i",3],` +
		`["l","l",-9223372036854775808],["nan","d","7ff8000000000001"],["odd","S",{"b64":"/w=="}],["s","s",-2],["t","t",true],` +
		`["u","u",2],["x","x","YWJj"]]`
	if got := string(appendTable(nil, given)); got != want {
		t.Errorf("written\n%s, want\n%s", got, want)
	}
}

func TestBadTables(t *testing.T) {
	for _, b := range []string{
		`{}`, `[1]`, `[["a"]]`, `[["a","S"]]`, `[["a","S","b","c"]]`, `[["a","?",1]]`, `[["a","I",2147483648]]`, `[["a","B",-1]]`,
		`[["a","D",[1]]]`, `[["a","D",[1,2,3]]]`, `[["a","A",[1]]]`, `[["a","A",[["S"]]]]`, `[["a","x","%"]]`, `[["a","T","now"]]`,
		`[["a","d","7ff"]]`, `[["a","S",1]]`, `[[1,"S","b"]]`, `[["a",1,1]]`, `[["a","F",[1]]]`, `[["a","S",{"b64":"%"}]]`,
	} {
		if got, err := parseTable([]byte(b)); err == nil {
			t.Errorf("%s was read as %v", b, got)
		}
	}
	for _, v := range []any{1, []any{uint(1)}, map[string]any{"a": struct{}{}}} {
		if checkValue(v) == nil {
			t.Errorf("%#v passes for a value", v)
		}
	}
}

func FuzzTable(f *testing.F) {
	f.Add([]byte(`[["A","A",[["I",1],["V",null]]],["odd","S",{"b64":"/w=="}],["d","d","7ff8000000000001"],["F","F",[]]]`))
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := parseTable(b)
		if err != nil {
			return
		}
		if err := checkTable(got); err != nil {
			t.Fatal(err)
		}
		again, err := parseTable(appendTable(nil, got))
		if err != nil || !route.Identical(got, again) {
			t.Fatalf("%s: %#v, then %#v, %v", b, got, again, err)
		}
	})
}

// FuzzReplay: a log record from anywhere is refused or can be written again.
func FuzzReplay(f *testing.F) {
	for _, r := range allKinds() {
		f.Add(encodeChanges([]Change{{Record: r}, {Delete: true, Record: r}}))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		s := NewState()
		if s.replay(b) != nil {
			return
		}
		snapshot := appendSnapshot(nil, &s.View, s.nextLog)
		if err := NewState().restore(snapshot); err != nil {
			t.Fatalf("%s: %v", snapshot, err)
		}
	})
}

// allKinds returns a record of every kind with every field set, and odd strings.
func allKinds() []Record {
	args := map[string]any{"k": int8(1)}
	perm, err := new(patterns).permission(Permission{User: "u\xff", VHost: "v", Configure: "^a", Write: ".*"})
	if err != nil {
		panic(err)
	}
	return []Record{
		&VHost{"v", "a vhost", []string{"t"}, TypeQuorum, true, true},
		&User{"u\xff", "hash", HashSHA512, []string{"administrator"}, map[string]int64{"max-channels": 3}},
		perm, &TopicPermission{"u\xff", "v", "x", "w", "r"},
		&Exchange{"v", "x", "topic", true, true, true, args},
		&Queue{VHost: "v", Name: "q", Type: TypeStream, Durable: true, AutoDelete: true, Args: args, LogID: 7},
		newBinding(Binding{VHost: "v", Source: "x", Destination: "q", Key: "\x80", Args: args, Durable: true}),
		newBinding(Binding{VHost: "v", Source: "x", Destination: "x", Kind: ToExchange, Durable: true}),
		&Policy{"v", "p", "^q", "queues", -1, args, true},
		&Parameter{"c", "v", "n", []any{args, nil}},
	}
}

// TestRecordsSurvive: whatever a record holds is there after a restart, and a deleted one is not.
func TestRecordsSurvive(t *testing.T) {
	for _, r := range allKinds() {
		put, del := encodeChanges([]Change{{Record: r}}), encodeChanges([]Change{{Delete: true, Record: r}})
		s := NewState()
		if err := s.replay(put); err != nil {
			t.Fatal(err)
		}
		if got := dump(&s.View, true); len(got) != 1 || got[0] != render(r) {
			t.Errorf("%s came back as %q", render(r), got)
		}
		if err := s.replay(del); err != nil {
			t.Fatal(err)
		}
		if got := dump(&s.View, true); len(got) != 0 {
			t.Errorf("%s was deleted and is there: %q", render(r), got)
		}
	}
}

func TestNewerFormatsAreRefused(t *testing.T) {
	for _, err := range []error{NewState().replay([]byte(`{"v":2,"changes":[]}`)), NewState().restore([]byte(`{"v":2,"next_log":1}`))} {
		if e, ok := err.(*VersionError); !ok || e.Version != 2 {
			t.Errorf("%v, want a VersionError", err)
		}
	}
	for _, b := range []string{``, `{`, `{"v":0}`, `{"v":1,"changes":[{"put":"ghost","is":{}}]}`, `{"v":1,"changes":[{"put":"queue","is":[]}]}`} {
		if NewState().replay([]byte(b)) == nil {
			t.Errorf("%q was replayed", b)
		}
	}
}

func TestPasswords(t *testing.T) {
	// The vector of RabbitMQ's documentation of its hashes.
	known := HashPassword([4]byte{0x90, 0x8d, 0xc6, 0x0a}, "test12")
	if known != "kI3GCqW5JLMJa4iX1lo7X4D6XbYqlLgxIs30+P6tENUV2POR" {
		t.Errorf("hash is %s", known)
	}
	for _, c := range []struct {
		u        User
		password string
		want     bool
	}{
		{User{PasswordHash: known, Hashing: HashSHA256}, "test12", true}, {User{PasswordHash: known}, "test12", true},
		{User{PasswordHash: known}, "test13", false}, {User{PasswordHash: known, Hashing: HashSHA512}, "test12", false},
		{User{PasswordHash: "", Hashing: HashSHA256}, "", false}, {User{PasswordHash: "%%"}, "", false},
		{User{PasswordHash: "kI3GCg=="}, "", false}, {User{PasswordHash: known, Hashing: "rot13"}, "test12", false},
		{User{PasswordHash: "AAAAAPGA3rdLyfvlU3o8CiOhPDcwsQwbpcKGVM3eskbdxaGRhv/ITwPzRQ+0zYUnv62LDfq3vT8mTSvzPTdn91FQTQg=", Hashing: HashSHA512}, "x", false},
	} {
		if got := c.u.Verify(c.password); got != c.want {
			t.Errorf("%+v with %q: %v", c.u, c.password, got)
		}
	}
	for _, hashing := range []string{HashSHA512, HashMD5} {
		salt := []byte{1, 2, 3, 4}
		u := User{PasswordHash: encode64(append(salt, digest(hashing, salt, "pw")...)), Hashing: hashing}
		if !u.Verify("pw") || u.Verify("pw ") {
			t.Errorf("%s does not tell right from wrong", hashing)
		}
	}
}
