package amqp

import (
	"bytes"
	"strings"
	"testing"
)

func TestTracerTakesPiecesOfAnySize(t *testing.T) {
	_, frames := readGolden(t, "client.golden")
	var wire []byte
	var want strings.Builder
	for _, g := range frames {
		wire = append(wire, g.octets...)
		want.WriteString("> " + g.line + "\n")
	}
	for _, size := range []int{1, 7, 8, 100, len(wire)} {
		var printed bytes.Buffer
		tracer := Tracer{W: &printed, Prefix: "> "}
		for rest := wire; len(rest) > 0; {
			piece := rest[:min(size, len(rest))]
			rest = rest[len(piece):]
			if n, err := tracer.Write(piece); n != len(piece) || err != nil {
				t.Fatal(n, err)
			}
		}
		if printed.String() != want.String() {
			t.Errorf("in pieces of %d:\n%s", size, printed.String())
		}
	}
}

func TestTracerAndFaults(t *testing.T) {
	wire := AppendHeartbeat(nil)
	wire = append(AppendFrameHeader(wire, FrameMethod, 1, 4), "\x00\x3c\x00\x01\xce"...)
	wire = append(AppendFrameHeader(wire, FrameMethod, 1, 5), "\x00\x3c\x00\x50\x00\xce"...)
	wire = append(AppendFrameHeader(wire, FrameHeader, 1, 1), "\x00\xce"...)
	wire = AppendHeader(wire, 1, 10, 3, nil)
	wire = AppendBody(wire, 2, bytes.Repeat([]byte("x"), 33), 0)
	wire = append(wire, "HTTP/1.1 400 Bad Request"...)
	wire = AppendHeartbeat(wire)
	var printed bytes.Buffer
	tracer := Tracer{W: &printed}
	for range 2 {
		if _, err := tracer.Write(wire); err != nil {
			t.Fatal(err)
		}
	}
	const want = `0 heartbeat
1 method: unknown method id {60,1}
1 method: basic.ack ends within a field
1 header: content header ends within a field
1 header class=10 size=3
2 body size=33 "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"...
not a frame: type 72, all octets = <<>>: {frame_too_large,1345270062,536870912}
`
	if printed.String() != want {
		t.Errorf("got\n%s", printed.String())
	}
}
