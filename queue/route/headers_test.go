package route

import (
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

var (
	anyValue = rapid.SampledFrom([]any{
		"1", "a", int8(1), int32(1), int64(1), uint16(2), float32(1), float64(1), true, false, []byte("a"), nil,
		time.Unix(1, 0).UTC(), Decimal{Scale: 1, Value: 1}, []any{int32(1)}, []any{int64(1)}, map[string]any{"k": "v"},
	})
	fieldNames  = rapid.SampledFrom([]string{"a", "b", "c", "x-a", "x-b"})
	bindingArgs = rapid.Custom(func(t *rapid.T) map[string]any {
		args := rapid.MapOfN(fieldNames, anyValue, 0, 4).Draw(t, "args")
		if mode := rapid.SampledFrom([]string{"", "all", "any", "all-with-x", "any-with-x"}).Draw(t, "x-match"); mode != "" {
			args["x-match"] = mode
		}
		return args
	})
	messageHeaders = rapid.MapOfN(rapid.OneOf(fieldNames, rapid.Just("x-match")), anyValue, 0, 5)
)

// headersMatch is the rule as it reads.
func headersMatch(args, have map[string]any) bool {
	mode, _ := args["x-match"].(string)
	matching, counting := 0, 0
	for k, v := range args {
		if k == "x-match" || strings.HasPrefix(k, "x-") && !strings.HasSuffix(mode, "-with-x") {
			continue
		}
		counting++
		if h, ok := have[k]; ok && (v == nil || Equal(v, h)) {
			matching++
		}
	}
	if strings.HasPrefix(mode, "any") {
		return matching > 0
	}
	return matching == counting
}

func TestHeaders(t *testing.T) {
	for _, c := range []struct {
		name       string
		args, have map[string]any
		want       bool
	}{
		{"no arguments match all", nil, nil, true},
		{"no arguments match none with any", map[string]any{"x-match": "any"}, map[string]any{"a": "1"}, false},
		{"default is all", map[string]any{"a": "1", "b": "2"}, map[string]any{"a": "1"}, false},
		{"all", map[string]any{"x-match": "all", "a": "1", "b": int32(2)}, map[string]any{"a": "1", "b": int64(2), "c": "3"}, true},
		{"any", map[string]any{"x-match": "any", "a": "1", "b": "2"}, map[string]any{"b": "2"}, true},
		{"void is presence", map[string]any{"a": nil}, map[string]any{"a": "anything"}, true},
		{"void wants presence", map[string]any{"a": nil}, map[string]any{"b": "anything"}, false},
		{"x- does not count", map[string]any{"x-a": "1"}, nil, true},
		{"x- does not count with any", map[string]any{"x-match": "any", "x-a": "1"}, map[string]any{"x-a": "1"}, false},
		{"x- counts with all-with-x", map[string]any{"x-match": "all-with-x", "x-a": "1"}, map[string]any{"x-a": "2"}, false},
		{"x- counts with any-with-x", map[string]any{"x-match": "any-with-x", "x-a": "1", "b": "2"}, map[string]any{"x-a": "1"}, true},
		{"x-match never counts", map[string]any{"x-match": "all-with-x"}, map[string]any{"x-match": "no"}, true},
		{"text is no number", map[string]any{"a": int32(1)}, map[string]any{"a": "1"}, false},
		{"an integer is no fraction", map[string]any{"a": int32(1)}, map[string]any{"a": float64(1)}, false},
		{"no headers", map[string]any{"a": "1"}, nil, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := mustNew(t, Headers)
			x.BindQueue("q", "ignored", c.args)
			m := Message{Headers: func() map[string]any { return c.have }}
			if got := len(routed(x, m)) == 1; got != c.want {
				t.Errorf("match is %v, want %v", got, c.want)
			}
			if headersMatch(c.args, c.have) != c.want {
				t.Error("the twin is wrong")
			}
		})
	}
}

func TestHeadersAreAskedForOnce(t *testing.T) {
	x, y := mustNew(t, Headers), mustNew(t, Headers)
	x.BindExchange(y, "", nil)
	y.BindQueue("q", "", map[string]any{"a": "1"})
	asked := 0
	wantRoute(t, x, Message{Headers: func() map[string]any { asked++; return map[string]any{"a": "1"} }}, "q")
	if asked != 1 {
		t.Errorf("headers were asked for %d times", asked)
	}
	wantRoute(t, y, Message{}) // and a message need not have any
}

// TestHeadersIdentity: arguments that match alike may still be different bindings.
func TestHeadersIdentity(t *testing.T) {
	x := mustNew(t, Headers)
	x.BindQueue("q", "k", map[string]any{"a": int32(1)})
	for _, other := range []map[string]any{{"a": int64(1)}, {"a": "1"}, {"b": int32(1)}, {}, {"a": int32(1), "b": nil}} {
		if x.UnbindQueue("q", "k", other) {
			t.Errorf("unbound with %v", other)
		}
	}
	if x.UnbindQueue("q", "other", map[string]any{"a": int32(1)}) || x.UnbindQueue("p", "k", map[string]any{"a": int32(1)}) {
		t.Error("unbound with another key or queue")
	}
	if !x.UnbindQueue("q", "k", map[string]any{"a": int32(1)}) || x.Bindings() != 0 {
		t.Error("not unbound")
	}
}

func TestCheckBinding(t *testing.T) {
	for _, c := range []struct {
		v    any
		want string
	}{
		{"all", ""}, {"any", ""}, {"all-with-x", ""}, {"any-with-x", ""},
		{"foo", `Invalid x-match field value <<"foo">>; expected all, any, all-with-x, or any-with-x`},
		{int32(1), `Invalid x-match field type signedint (value 1); expected longstr`},
	} {
		if got := CheckBinding(Headers, map[string]any{"x-match": c.v}); got != c.want {
			t.Errorf("x-match %v: %q, want %q", c.v, got, c.want)
		}
		if got := CheckBinding(Topic, map[string]any{"x-match": c.v}); got != "" {
			t.Errorf("a topic exchange refuses x-match %v: %q", c.v, got)
		}
	}
}

func TestEqual(t *testing.T) {
	second := time.Unix(5, 0).UTC()
	for _, c := range []struct {
		a, b             any
		equal, identical bool
	}{
		{int32(1), int32(1), true, true}, {int32(1), int64(1), true, false}, {uint8(1), int16(1), true, false},
		{int8(-1), uint8(255), false, false}, {"1", int32(1), false, false}, {int32(1), float64(1), false, false},
		{float32(0.5), float64(0.5), true, false}, {math.NaN(), math.NaN(), true, true}, {"a", []byte("a"), true, false},
		{[]byte("a"), "a", true, false}, {[]byte("a"), []byte("a"), true, true}, {"", nil, false, false}, {nil, nil, true, true},
		{nil, false, false, false}, {true, true, true, true}, {true, int8(1), false, false}, {second, int64(5), true, false},
		{second, time.Unix(5, 0), true, true}, {Decimal{1, 2}, Decimal{1, 2}, true, true}, {Decimal{1, 2}, Decimal{1, 3}, false, false},
		{[]any{int32(1)}, []any{int32(1)}, true, true}, {[]any{int32(1)}, []any{int64(1)}, false, false},
		{[]any{}, []any{nil}, false, false}, {[]any{}, "", false, false}, {Decimal{}, nil, false, false},
		{map[string]any{"a": "b"}, map[string]any{"a": "b"}, true, true},
		{map[string]any{"a": "b"}, map[string]any{"a": []byte("b")}, false, false},
		{map[string]any{"a": nil}, map[string]any{"b": nil}, false, false}, {map[string]any{}, []any{}, false, false},
	} {
		if Equal(c.a, c.b) != c.equal || Equal(c.b, c.a) != c.equal {
			t.Errorf("Equal(%#v, %#v) is not %v both ways", c.a, c.b, c.equal)
		}
		if Identical(c.a, c.b) != c.identical || Identical(c.b, c.a) != c.identical {
			t.Errorf("Identical(%#v, %#v) is not %v both ways", c.a, c.b, c.identical)
		}
	}
}

func TestTerm(t *testing.T) {
	for _, c := range []struct {
		v          any
		term, name string
	}{
		{nil, "undefined", "void"}, {"a b", `<<"a b">>`, "longstr"}, {`a"\`, `<<"a\"\\">>`, "longstr"}, {"", "<<>>", "longstr"},
		{"\xff\x00", "<<255,0>>", "longstr"}, {"é", `<<"é"/utf8>>`, "longstr"}, {[]byte("x"), `<<"x">>`, "binary"},
		{true, "true", "bool"}, {int8(-1), "-1", "byte"}, {uint8(1), "1", "unsignedbyte"}, {int16(1), "1", "short"},
		{uint16(1), "1", "unsignedshort"}, {int32(1), "1", "signedint"}, {uint32(1), "1", "unsignedint"}, {int64(1), "1", "long"},
		{float32(0.5), "0.5", "float"}, {float64(1), "1.0", "double"}, {1e100, "1.0e100", "double"}, {2.5e-7, "2.5e-7", "double"},
		{Decimal{2, 314}, "{2,314}", "decimal"}, {time.Unix(7, 0), "7", "timestamp"},
		{[]any{int32(1), "a"}, `[{signedint,1},{longstr,<<"a">>}]`, "array"},
		{map[string]any{"b": true, "a": nil}, `[{<<"a">>,void,undefined},{<<"b">>,bool,true}]`, "table"},
	} {
		if got := Term(c.v); got != c.term {
			t.Errorf("Term(%#v) = %s, want %s", c.v, got, c.term)
		}
		if got := TypeName(c.v); got != c.name {
			t.Errorf("TypeName(%#v) = %s, want %s", c.v, got, c.name)
		}
	}
}
