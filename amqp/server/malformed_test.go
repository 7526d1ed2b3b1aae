package server

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/warrenmq/warren/amqp"
)

// frame builds a frame with any contents.
func rawFrame(typ byte, ch uint16, payload []byte) []byte {
	b := amqp.AppendFrameHeader(nil, typ, ch, uint32(len(payload)))
	return append(append(b, payload...), amqp.FrameEnd)
}

// nested is the payload of a queue.declare whose arguments are tables within tables.
func nested(depth int) []byte {
	entries := []byte{}
	for range depth {
		inner := binary.BigEndian.AppendUint32([]byte("\x01aF"), uint32(len(entries)))
		entries = append(inner, entries...)
	}
	b := []byte{0, 50, 0, 10, 0, 0, 1, 'q', 0}
	b = binary.BigEndian.AppendUint32(b, uint32(len(entries)))
	return append(b, entries...)
}

// TestMalformedInput sends each of these on a connection of its own. The answer is the right error, or a closed
// socket, and a connection beside it does not notice.
func TestMalformedInput(t *testing.T) {
	open := func(rest ...[]byte) []byte { return append(handshake(0), bytes.Join(rest, nil)...) }
	channel := amqp.AppendMethod(nil, 1, &amqp.ChannelOpen{})
	long := bytes.Repeat([]byte("x"), 9<<10)
	for name, test := range map[string]struct {
		send []byte
		want string // in the answer; "" = only the end
	}{
		"a header that stops": {[]byte("AMQP"), ""},
		"a frame above 8 KiB before login": {
			append([]byte(amqp.ProtocolHeader), amqp.AppendMethod(nil, 0, startOk("PLAIN", string(long)))...),
			"FRAME_ERROR - type 1, all octets = <<>>: {frame_too_large,"},
		"an unknown frame type":      {open(rawFrame(9, 0, nil)), "FRAME_ERROR - type 9, all octets = <<>>: unknown_frame"},
		"a wrong end octet":          {open([]byte{8, 0, 0, 0, 0, 0, 0, 1}), "{invalid_frame_end_marker,1}"},
		"a length of four gigabytes": {open([]byte{1, 0, 1, 255, 255, 255, 255}), "{frame_too_large,4294967295,131064}"},
		"a heartbeat on a channel":   {open(channel, rawFrame(8, 1, nil)), "UNEXPECTED_FRAME - type 8, all octets = <<>>"},
		"a body on channel 0":        {open(rawFrame(3, 0, []byte("x"))), `UNEXPECTED_FRAME - type 3, all octets = <<"x">>`},
		"an empty method":            {open(channel, rawFrame(1, 1, nil)), "FRAME_ERROR - "},
		"a method cut short":         {open(channel, rawFrame(1, 1, []byte{0, 50, 0, 10, 0})), "FRAME_ERROR - "},
		"tables nested 10,000 deep":  {open(channel, rawFrame(1, 1, nested(10_000))), "FRAME_ERROR - "},
		"a table longer than its frame": {
			open(channel, rawFrame(1, 1, []byte{0, 50, 0, 10, 0, 0, 1, 'q', 0, 255, 255, 255, 255})), "FRAME_ERROR - "},
		"a header cut short": {
			open(channel, amqp.AppendPublish(nil, 1, nil, []byte("q")), rawFrame(2, 1, []byte{0, 60})), "FRAME_ERROR - "},
		"properties that are not there": {
			open(channel, amqp.AppendPublish(nil, 1, nil, []byte("q")),
				rawFrame(2, 1, append([]byte{0, 60, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}, 0xff, 0xff))), "FRAME_ERROR - "},
		"a class nobody has": {open(rawFrame(1, 0, []byte{0, 99, 0, 1})), "COMMAND_INVALID - "},
		"a negative body": {
			open(channel, amqp.AppendPublish(nil, 1, nil, []byte("q")), amqp.AppendHeader(nil, 1, 60, 1<<63, nil)),
			"FRAME_ERROR - content body size"},
		"a wrong password": {
			append([]byte(amqp.ProtocolHeader), amqp.AppendMethod(nil, 0, startOk("PLAIN", "\x00guest\x00x"))...),
			"ACCESS_REFUSED - Login was refused"},
		"text": {[]byte("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"), amqp.ProtocolHeader},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newServer(t, Options{})
				beside := opened(t, s, 0)
				p := connect(t, s)
				p.send(test.send)
				heard, _ := p.after(100 * time.Millisecond)
				if !strings.Contains(string(heard), test.want) {
					t.Errorf("heard %q", heard)
				}
				if _, ended := p.after(time.Minute); !ended {
					t.Error("the connection goes on")
				}
				beside.send(channel)
				if heard, ended := beside.after(time.Second); ended || !bytes.Equal(heard, amqp.AppendMethod(nil, 1, &amqp.ChannelOpenOk{})) {
					t.Errorf("beside it: %q, ended %v", heard, ended)
				}
				beside.close()
				p.close()
			})
		})
	}
}

// TestAnnouncedBodiesCostNothing announces a large body on each of many channels and sends little of them.
func TestAnnouncedBodiesCostNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, Options{MaxMessageSize: 1 << 20})
		p := opened(t, s, 0)
		piece := make([]byte, 100<<10)
		for ch := uint16(1); ch <= 40; ch++ {
			b := amqp.AppendMethod(nil, ch, &amqp.ChannelOpen{})
			b = amqp.AppendPublish(b, ch, nil, []byte("q"))
			b = amqp.AppendHeader(b, ch, amqp.ClassBasic, 1<<20, nil)
			p.send(amqp.AppendBody(b, ch, piece, 131064))
		}
		heard, _ := p.after(time.Second)
		if !strings.Contains(string(heard), "RESOURCE_ERROR - too many octets in unfinished messages") {
			t.Errorf("heard %q", heard)
		}
		p.close()
	})
}
