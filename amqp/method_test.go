package amqp

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// allMethods returns a zero value of each method of the protocol.
func allMethods() []Method {
	var all []Method
	for class := range uint16(100) {
		for method := range uint16(256) {
			if m := newMethod(class, method); m != nil {
				all = append(all, m)
			}
		}
	}
	return all
}

// TestMethodIdentity checks that each method stands where it says it does, and that no two are alike.
func TestMethodIdentity(t *testing.T) {
	const standard, ours = 55, 11 // RabbitMQ's: blocked, unblocked, update-secret, exchange.bind and unbind, nack, confirm
	all := allMethods()
	if len(all) != standard+ours {
		t.Errorf("%d methods, want %d", len(all), standard+ours)
	}
	seen := map[string]bool{}
	for _, m := range all {
		class, method := m.ClassMethod()
		if got := newMethod(class, method); reflect.TypeOf(got) != reflect.TypeOf(m) {
			t.Errorf("%s: %d,%d is %T", m.Name(), class, method, got)
		}
		if seen[m.Name()] {
			t.Errorf("%s twice", m.Name())
		}
		seen[m.Name()] = true
		// The Go name spells the wire name: BasicGetEmpty, basic.get-empty.
		spelled := wireName(strings.TrimPrefix(reflect.TypeOf(m).String(), "*amqp."))
		if spelled != strings.ReplaceAll(m.Name(), ".", "-") {
			t.Errorf("%T is named %s", m, m.Name())
		}
	}
}

// drawMethod fills in a method's fields, whatever they are.
func drawMethod(t *rapid.T, m Method) {
	v := reflect.ValueOf(m).Elem()
	for field, value := range v.Fields() {
		if !field.IsExported() {
			continue // noArguments
		}
		switch p := value.Addr().Interface().(type) {
		case *string:
			*p = rapid.StringN(-1, -1, maxShortstr).Draw(t, field.Name)
		case *bool:
			*p = rapid.Bool().Draw(t, field.Name)
		case *uint8:
			*p = rapid.Uint8().Draw(t, field.Name)
		case *uint16:
			*p = rapid.Uint16().Draw(t, field.Name)
		case *ReplyCode:
			*p = ReplyCode(rapid.Uint16().Draw(t, field.Name))
		case *uint32:
			*p = rapid.Uint32().Draw(t, field.Name)
		case *uint64:
			*p = rapid.Uint64().Draw(t, field.Name)
		case *[]byte:
			if strings.HasSuffix(field.Name, "Properties") || field.Name == "Arguments" {
				*p = append([]byte{}, AppendTable(nil, drawTable(t, 3))...)
			} else {
				*p = rapid.SliceOfN(rapid.Byte(), 0, maxShortstr).Draw(t, field.Name)
			}
		default:
			t.Fatalf("%s has a field of type %s", m.Name(), field.Type)
		}
	}
}

func TestMethodRoundTrip(t *testing.T) {
	var d Decoder
	for _, zero := range allMethods() {
		t.Run(zero.Name(), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				m := newMethod(zero.ClassMethod())
				drawMethod(t, m)
				ch := rapid.Uint16().Draw(t, "channel")
				wire := AppendMethod([]byte("before"), ch, m)[len("before"):]
				f, n, err := ParseFrame(wire, 0)
				if err != nil || n != len(wire) || f.Type != FrameMethod || f.Channel != ch {
					t.Fatalf("%+v, %d, %v", f, n, err)
				}
				got, err := d.Decode(f.Payload)
				if err != nil || !reflect.DeepEqual(got, m) {
					t.Fatalf("got %+v, %v\nwant %+v", got, err, m)
				}
			})
		})
	}
}

// TestMethodDamage cuts each method short at each octet, and lengthens it by one.
func TestMethodDamage(t *testing.T) {
	var d Decoder
	for _, m := range allMethods() {
		class, method := m.ClassMethod()
		f, _, _ := ParseFrame(AppendMethod(nil, 1, m), 0)
		for n := range f.Payload {
			_, err := d.Decode(f.Payload[:n])
			checkSyntaxError(t, m, err, ErrTruncated)
		}
		_, err := d.Decode(append(f.Payload, 0))
		checkSyntaxError(t, m, err, ErrTrailing)
		if _, err := d.Decode(f.Payload); err != nil {
			t.Errorf("%s (%d,%d): %v", m.Name(), class, method, err)
		}
	}
}

func checkSyntaxError(t *testing.T, m Method, err, want error) {
	t.Helper()
	var syntax *SyntaxError
	if !errors.As(err, &syntax) || !errors.Is(err, want) {
		t.Errorf("%s: got %v, want %v", m.Name(), err, want)
	}
}

func TestUnknownMethod(t *testing.T) {
	var d Decoder
	for _, payload := range []string{"\x00\x3c\x00\x01", "\x00\x63\x00\x0a", "\xff\xff\xff\xff"} {
		_, err := d.Decode([]byte(payload))
		var unknown *UnknownMethodError
		if !errors.As(err, &unknown) || unknown.Class != be16([]byte(payload)) || unknown.Method != be16([]byte(payload[2:])) {
			t.Errorf("%x: %v", payload, err)
		}
	}
}

// TestDecoderReuse checks that nothing of one method shows in the next of its kind.
func TestDecoderReuse(t *testing.T) {
	var d Decoder
	decode := func(m Method) Method {
		f, _, _ := ParseFrame(AppendMethod(nil, 1, m), 0)
		got, err := d.Decode(f.Payload)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	decode(&BasicPublish{Exchange: []byte("x"), RoutingKey: []byte("k"), Mandatory: true, Immediate: true})
	got := decode(&BasicPublish{}).(*BasicPublish)
	if len(got.Exchange) != 0 || len(got.RoutingKey) != 0 || got.Mandatory || got.Immediate {
		t.Errorf("got %+v", got)
	}
}

func TestShortcutsEqualMethods(t *testing.T) {
	x, k := []byte("x"), []byte("key")
	for _, test := range []struct {
		got  []byte
		want Method
	}{
		{AppendPublish(nil, 7, x, k), &BasicPublish{Exchange: x, RoutingKey: k}},
		{AppendDeliver(nil, 7, "c", 1<<40, true, x, k), &BasicDeliver{[]byte("c"), 1 << 40, true, x, k}},
		{AppendDeliver(nil, 7, "c", 1, false, nil, nil), &BasicDeliver{ConsumerTag: []byte("c"), DeliveryTag: 1}},
		{AppendAck(nil, 7, 1<<40, true), &BasicAck{1 << 40, true}},
		{AppendAck(nil, 7, 1, false), &BasicAck{1, false}},
		{AppendReject(nil, 7, 2, true), &BasicReject{2, true}},
		{AppendNack(nil, 7, 3, true, false), &BasicNack{3, true, false}},
		{AppendNack(nil, 7, 3, false, true), &BasicNack{3, false, true}},
	} {
		if want := AppendMethod(nil, 7, test.want); string(test.got) != string(want) {
			t.Errorf("%s: got %x, want %x", test.want.Name(), test.got, want)
		}
	}
}

func TestLongTextsAreCut(t *testing.T) {
	long := strings.Repeat("é", 200)
	text := CodeNotFound.Text(long)
	if len(text) > maxShortstr || !strings.HasPrefix(text, "NOT_FOUND - é") || !strings.HasSuffix(text, "é...") {
		t.Errorf("got %q", text)
	}
	if got := CodeNotFound.Text("no"); got != "NOT_FOUND - no" {
		t.Errorf("got %q", got)
	}
	var d Decoder
	f, _, _ := ParseFrame(AppendMethod(nil, 0, &ConnectionClose{ReplyText: "x" + long}), 0)
	m, err := d.Decode(f.Payload)
	if err != nil {
		t.Fatal(err)
	}
	if got := m.(*ConnectionClose).ReplyText; len(got) > maxShortstr || !strings.HasSuffix(got, "é...") {
		t.Errorf("got %q", got)
	}
	f, _, _ = ParseFrame(AppendMethod(nil, 1, &BasicConsumeOk{ConsumerTag: long}), 0)
	m, err = d.Decode(f.Payload)
	if err != nil {
		t.Fatal(err)
	}
	if got := m.(*BasicConsumeOk).ConsumerTag; got != long[:254] {
		t.Errorf("got %d octets", len(got))
	}
}

func TestReplyCodes(t *testing.T) {
	hard := []ReplyCode{320, 402, 501, 502, 503, 504, 505, 506, 530, 540, 541}
	soft := []ReplyCode{311, 312, 313, 403, 404, 405, 406}
	names := map[string]bool{}
	for _, c := range append(hard, soft...) {
		names[c.Name()] = true
	}
	if len(names) != len(hard)+len(soft) || names["UNKNOWN"] {
		t.Errorf("names: %v", names)
	}
	for _, c := range hard {
		if !c.IsHard() {
			t.Errorf("%s is not hard", c.Name())
		}
	}
	for _, c := range soft {
		if c.IsHard() {
			t.Errorf("%s is hard", c.Name())
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, m := range allMethods() {
		frame, _, _ := ParseFrame(AppendMethod(nil, 1, m), 0)
		f.Add(frame.Payload)
	}
	arguments := AppendTable(nil, Table{"x-queue-type": "quorum", "n": []any{int32(1), Table{"d": 1.5}}})
	for _, m := range []Method{
		&QueueDeclare{Queue: "q", Durable: true, Arguments: arguments},
		&ConnectionStartOk{ClientProperties: arguments, Mechanism: "PLAIN", Response: []byte("\x00guest\x00guest"), Locale: "en_US"},
		&BasicDeliver{ConsumerTag: []byte("c"), DeliveryTag: 1, Exchange: []byte("x"), RoutingKey: []byte("k")},
	} {
		frame, _, _ := ParseFrame(AppendMethod(nil, 1, m), 0)
		f.Add(frame.Payload)
	}
	f.Fuzz(func(t *testing.T, payload []byte) {
		var d Decoder
		m, err := d.Decode(payload)
		if err != nil {
			_ = err.Error()
			return
		}
		describeMethod(m)
		frame, _, err := ParseFrame(AppendMethod(nil, 1, m), 0)
		if err != nil {
			t.Fatal(err)
		}
		var d2 Decoder
		again, err := d2.Decode(frame.Payload)
		if err != nil || !reflect.DeepEqual(again, m) {
			t.Fatalf("%+v became %+v, %v", m, again, err)
		}
	})
}

func TestShortStringsAreUTF8(t *testing.T) {
	frame := AppendMethod(nil, 1, &QueueDeclare{Queue: "\xff"})
	var d Decoder
	_, err := d.Decode(frame[frameHeaderSize : len(frame)-1])
	if !errors.Is(err, ErrUTF8) || err.Error() != "Malformed UTF-8 in shortstr" {
		t.Error(err)
	}
}
