package amqp

import (
	"bytes"
	"errors"
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func drawProperties(t *rapid.T) Properties {
	var p Properties
	draw := func(flag PropertyFlags, fill func()) {
		if rapid.Bool().Draw(t, "present") {
			p.Present |= flag
			fill()
		}
	}
	text := func(flag PropertyFlags, field *string) {
		draw(flag, func() { *field = string(rapid.SliceOfN(rapid.Byte(), 0, maxShortstr).Draw(t, "text")) })
	}
	text(HasContentType, &p.ContentType)
	text(HasContentEncoding, &p.ContentEncoding)
	draw(HasHeaders, func() { p.Headers = drawTable(t, 3) })
	draw(HasDeliveryMode, func() { p.DeliveryMode = rapid.Uint8().Draw(t, "mode") })
	draw(HasPriority, func() { p.Priority = rapid.Uint8().Draw(t, "priority") })
	text(HasCorrelationID, &p.CorrelationID)
	text(HasReplyTo, &p.ReplyTo)
	text(HasExpiration, &p.Expiration)
	text(HasMessageID, &p.MessageID)
	draw(HasTimestamp, func() { p.Timestamp = time.Unix(rapid.Int64Range(0, 1<<40).Draw(t, "time"), 0).UTC() })
	text(HasType, &p.Type)
	text(HasUserID, &p.UserID)
	text(HasAppID, &p.AppID)
	text(HasClusterID, &p.ClusterID)
	return p
}

func TestHeaderRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := drawProperties(t)
		raw := AppendProperties(nil, &want)
		size := rapid.Uint64().Draw(t, "size")
		f, _, err := ParseFrame(AppendHeader([]byte("before"), 5, ClassBasic, size, raw)[len("before"):], 0)
		if err != nil || f.Type != FrameHeader || f.Channel != 5 {
			t.Fatal(f, err)
		}
		class, gotSize, props, err := ParseHeader(f.Payload)
		if err != nil || class != ClassBasic || gotSize != size || !bytes.Equal(props, raw) {
			t.Fatal(class, gotSize, props, err)
		}
		got, err := ParseProperties(props)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("got %+v, %v\nwant %+v", got, err, want)
		}
		info, err := PropertiesInfo(props)
		if err != nil {
			t.Fatal(err)
		}
		checkInfo(t, info, &want)
		for n := range raw {
			if _, err := PropertiesInfo(raw[:n]); err == nil {
				t.Fatalf("%d of %d octets pass", n, len(raw))
			}
		}
	})
}

func checkInfo(t *rapid.T, info Info, p *Properties) {
	text := func(flag PropertyFlags, got []byte, want string) {
		if string(got) != want || (got != nil) != (p.Present&flag != 0) {
			t.Fatalf("got %q, want %q", got, want)
		}
	}
	text(HasReplyTo, info.ReplyTo, p.ReplyTo)
	text(HasExpiration, info.Expiration, p.Expiration)
	text(HasUserID, info.UserID, p.UserID)
	if info.Present != p.Present || info.DeliveryMode != p.DeliveryMode || info.Priority != p.Priority {
		t.Fatalf("got %+v, want %+v", info, p)
	}
	if info.HasHeaders != (p.Headers != nil) || !bytes.Equal(info.Headers, AppendTable(nil, p.Headers)) {
		t.Fatalf("headers: got %q, want %v", info.Headers, p.Headers)
	}
}

// TestPresence tells properties that are empty from those that are absent.
func TestPresence(t *testing.T) {
	for _, test := range []struct {
		p    Properties
		want string
	}{
		{Properties{}, "\x00\x00"},
		{Properties{Headers: Table{}}, "\x00\x00"},
		{Properties{Present: HasHeaders}, "\x20\x00\x00\x00\x00\x00"},
		{Properties{Present: HasPriority | HasClusterID}, "\x08\x04\x00\x00"},
		{Properties{DeliveryMode: Persistent}, "\x10\x00\x02"},
		{Properties{Present: 3}, "\x00\x00"},
	} {
		if got := AppendProperties(nil, &test.p); string(got) != test.want {
			t.Errorf("%+v: got %x, want %x", test.p, got, test.want)
		}
	}
}

func TestHeaderErrors(t *testing.T) {
	const fixed = "\x00\x3c\x00\x00\x00\x00\x00\x00\x00\x00\x00\x05"
	for _, test := range []struct {
		name, payload string
		want          error
	}{
		{"nothing", "", ErrTruncated},
		{"no flags", fixed, ErrTruncated},
		{"weight", "\x00\x3c\x00\x01\x00\x00\x00\x00\x00\x00\x00\x05\x00\x00", ErrWeight},
		{"second flag word", fixed + "\x00\x01\x00\x00", ErrFlags},
		{"unknown flag", fixed + "\x00\x02", ErrFlags},
		{"property missing", fixed + "\x80\x00", ErrTruncated},
		{"goes on", fixed + "\x10\x00\x02\x00", ErrTrailing},
		{"bad headers", fixed + "\x20\x00\x00\x00\x00\x02\x00Z", ErrFieldType},
	} {
		_, _, _, err := ParseHeader([]byte(test.payload))
		var syntax *SyntaxError
		if !errors.As(err, &syntax) || !errors.Is(err, test.want) {
			t.Errorf("%s: got %v, want %v", test.name, err, test.want)
		}
	}
}

// TestHeaderOfAnotherClass is for the server, whose answer depends on the class alone.
func TestHeaderOfAnotherClass(t *testing.T) {
	class, _, _, err := ParseHeader([]byte("\x0c\x22\x00\x00\x00\x00\x00\x00\x00\x00\x00\x05\xff\xff"))
	if class != 3106 || err != nil {
		t.Error(class, err)
	}
}

func FuzzParseHeader(f *testing.F) {
	const fixed = "\x00\x3c\x00\x00\x00\x00\x00\x00\x00\x00\x00\x05"
	f.Add([]byte(fixed + "\x00\x00"))
	f.Add([]byte(fixed + "\x10\x00\x02"))
	f.Add([]byte(fixed + "\xff\xfc"))
	f.Add([]byte(fixed + "\x20\x00\xff\xff\xff\xff"))
	full := Properties{Present: 0xfffc, ContentType: "text/plain", Headers: Table{"k": []any{int32(1), "v"}}, Expiration: "60000"}
	f.Add(AppendProperties([]byte(fixed), &full))
	f.Fuzz(func(t *testing.T, payload []byte) {
		class, size, raw, err := ParseHeader(payload)
		if err != nil || class != ClassBasic {
			return
		}
		p, err := ParseProperties(raw)
		if err != nil {
			t.Fatalf("checked, but %v", err)
		}
		describeHeader(payload)
		wire := AppendProperties(nil, &p)
		again, err := ParseProperties(wire)
		if err != nil || again.Present != p.Present {
			t.Fatalf("%+v became %+v, %v", p, again, err)
		}
		if !bytes.Equal(AppendProperties(nil, &again), wire) {
			t.Fatalf("%+v became %+v", p, again)
		}
		frame, _, err := ParseFrame(AppendHeader(nil, 1, class, size, raw), 0)
		if err != nil || !bytes.Equal(frame.Payload, payload) {
			t.Fatalf("%x became %x, %v", payload, frame.Payload, err)
		}
	})
}
