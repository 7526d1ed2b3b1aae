package amqp

import (
	"bytes"
	"encoding/binary"
	"errors"
	"testing"

	"pgregory.net/rapid"
)

func TestParseFrameNeedsAllOctets(t *testing.T) {
	whole := AppendBody(nil, 3, []byte("hello"), 0)
	for n := range whole {
		f, took, err := ParseFrame(whole[:n], 4088)
		if took != 0 || err != nil || f.Payload != nil {
			t.Fatalf("of %d octets: took %d, %v", n, took, err)
		}
	}
	f, took, err := ParseFrame(append(whole, "next"...), 4088)
	if err != nil || took != len(whole) || f.Type != FrameBody || f.Channel != 3 || string(f.Payload) != "hello" {
		t.Fatalf("got %+v, %d, %v", f, took, err)
	}
	if cap(f.Payload) != len(f.Payload) {
		t.Error("appending to the payload would overwrite what follows it")
	}
}

func TestFrameErrors(t *testing.T) {
	sized := func(typ uint8, size int, end byte) []byte {
		b := append(AppendFrameHeader(nil, typ, 1, uint32(size)), make([]byte, size)...)
		return append(b, end)
	}
	tests := []struct {
		name  string
		input []byte
		max   uint32
		kind  FrameErrorKind
		text  string
	}{
		{"too large", AppendFrameHeader(nil, FrameBody, 1, 8193), 8184, TooLarge,
			"type 3, all octets = <<>>: {frame_too_large,8193,8184}"},
		{"within the grace", sized(FrameBody, 8192, FrameEnd), 8184, 0, ""},
		{"larger than anything", AppendFrameHeader(nil, FrameBody, 1, 1<<32-1), 0, TooLarge,
			"type 3, all octets = <<>>: {frame_too_large,4294967295,536870912}"},
		{"limit larger than anything", AppendFrameHeader(nil, FrameBody, 1, 1<<32-1), 1<<32 - 1, TooLarge,
			"type 3, all octets = <<>>: {frame_too_large,4294967295,536870912}"},
		{"bad end", sized(FrameMethod, 2, 0xCD), 4088, BadEnd,
			"type 1, all octets = <<0,0>>: {invalid_frame_end_marker,205}"},
		{"unknown type", sized(0, 17, FrameEnd), 4088, UnknownType,
			"type 0, first 16 octets = <<0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0>>: unknown_frame"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, _, err := ParseFrame(test.input, test.max)
			if test.kind == 0 {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			var fault *FrameError
			if !errors.As(err, &fault) || fault.Kind != test.kind || err.Error() != test.text {
				t.Fatalf("got %v, want %s", err, test.text)
			}
		})
	}
}

func TestUnexpectedFrameText(t *testing.T) {
	for payload, want := range map[string]string{
		"":                  "type 8, all octets = <<>>",
		`say "hi"`:          `type 8, all octets = <<"say \"hi\"">>`,
		"\x01\xff":          "type 8, all octets = <<1,255>>",
		"0123456789abcdefg": `type 8, first 16 octets = <<"0123456789abcdef">>`,
	} {
		if got := UnexpectedFrameText(Frame{Type: 8, Payload: []byte(payload)}); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestSpokenProtocol(t *testing.T) {
	for header, want := range map[string]bool{
		"": true, "AM": true, "AMQP\x00\x00\x09\x01": true, "AMQP\x01\x01\x00\x09": true, "AMQP\x01": true,
		"GET ": false, "AMQP\x03\x01\x00\x00": false, "AMQP\x00\x00\x09\x02": false, "\x16\x03\x01": false,
		"AMQP\x00\x00\x09\x01\x01": true,
	} {
		if got := SpokenProtocol([]byte(header)); got != want {
			t.Errorf("%q: %v", header, got)
		}
	}
}

// TestBodyFrames cuts bodies into frames and puts them together again.
func TestBodyFrames(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		body := rapid.SliceOfN(rapid.Byte(), 0, 300).Draw(t, "body")
		limit := rapid.Uint32Range(1, 100).Draw(t, "limit")
		wire := AppendBody([]byte("before"), 9, body, limit)[len("before"):]
		var got []byte
		frames := 0
		for len(wire) > 0 {
			f, n, err := ParseFrame(wire, limit)
			if err != nil || n == 0 || f.Type != FrameBody || f.Channel != 9 || len(f.Payload) > int(limit) {
				t.Fatalf("%+v, %d, %v", f, n, err)
			}
			got = append(got, f.Payload...)
			wire = wire[n:]
			frames++
		}
		if want := (len(body) + int(limit) - 1) / int(limit); frames != want {
			t.Fatalf("%d frames, want %d", frames, want)
		}
		if !bytes.Equal(got, body) {
			t.Fatal("body changed")
		}
	})
}

func FuzzParseFrame(f *testing.F) {
	f.Add(AppendHeartbeat(nil), uint32(4088))
	f.Add(AppendBody(nil, 1, []byte("hello"), 0), uint32(0))
	f.Add(AppendAck(nil, 1, 1, false), uint32(4))
	f.Add([]byte(ProtocolHeader), uint32(131064))
	f.Add([]byte{1, 0, 0, 0xff, 0xff, 0xff, 0xff, 0}, uint32(0xffffffff))
	f.Fuzz(func(t *testing.T, b []byte, limit uint32) {
		frame, n, err := ParseFrame(b, limit)
		if err != nil {
			_ = err.Error()
			return
		}
		if n == 0 {
			if len(b) >= frameHeaderSize && len(b) > frameHeaderSize+int(binary.BigEndian.Uint32(b[3:])) {
				t.Fatal("a whole frame was not taken")
			}
			return
		}
		again := AppendFrameHeader(nil, frame.Type, frame.Channel, uint32(len(frame.Payload)))
		again = append(append(again, frame.Payload...), FrameEnd)
		if !bytes.Equal(again, b[:n]) {
			t.Fatalf("%x became %x", b[:n], again)
		}
	})
}
