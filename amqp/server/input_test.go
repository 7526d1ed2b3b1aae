package server

import (
	"bytes"
	"net"
	"testing"

	"pgregory.net/rapid"

	"github.com/warrenmq/warren/amqp"
)

// pieces is a connection that delivers a stream in reads of given sizes.
type pieces struct {
	net.Conn
	stream []byte
	sizes  []int
}

func (p *pieces) Read(b []byte) (int, error) {
	n := min(len(b), len(p.stream))
	if len(p.sizes) > 0 {
		n = min(n, p.sizes[0])
		p.sizes = p.sizes[1:]
	}
	copy(b, p.stream[:n])
	p.stream = p.stream[n:]
	return n, nil
}

func TestInputFindsEveryFrame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		bodies := rapid.SliceOfN(rapid.IntRange(1, 40_000), 1, 40).Draw(t, "bodies")
		nc := &pieces{sizes: rapid.SliceOfN(rapid.IntRange(1, 100_000), 0, 200).Draw(t, "reads")}
		for i, size := range bodies {
			nc.stream = amqp.AppendBody(nc.stream, uint16(i), bytes.Repeat([]byte{byte(i)}, size), 50_000)
		}
		in := input{limit: 50_000 + amqp.FrameOverhead}
		for i := 0; i < len(bodies); {
			if _, err := in.fill(nc); err != nil {
				t.Fatal(err)
			}
			for {
				f, ok, err := in.next(50_000)
				if err != nil {
					t.Fatal(err)
				}
				if !ok {
					break
				}
				if int(f.Channel) != i || len(f.Payload) != bodies[i] || bytes.Count(f.Payload, []byte{byte(i)}) != bodies[i] {
					t.Fatalf("frame %d is not what was sent", i)
				}
				i++
			}
			if len(in.buf) > inputBusy {
				t.Fatalf("buffer of %d", len(in.buf))
			}
		}
	})
}

func TestInputGrowsUnderLoadAndShrinksAfter(t *testing.T) {
	nc := &pieces{stream: bytes.Repeat(amqp.AppendHeartbeat(nil), 1<<20)}
	var in input
	take := func() {
		if _, err := in.fill(nc); err != nil {
			t.Fatal(err)
		}
		for ok := true; ok; {
			_, ok, _ = in.next(4096)
		}
	}
	for range 10 {
		take()
	}
	if len(in.buf) != inputBusy {
		t.Fatalf("%d octets under load", len(in.buf))
	}
	for range 10 * inputCalm {
		nc.sizes = []int{8}
		take()
	}
	if in.large() {
		t.Fatalf("%d octets in calm", len(in.buf))
	}
}

// TestProtocolHeaderIsNoFrame: seven of its octets look like the beginning of a frame of more than a gigabyte.
func TestProtocolHeaderIsNoFrame(t *testing.T) {
	nc := &pieces{stream: []byte(amqp.ProtocolHeader), sizes: []int{7, 1}}
	var in input
	for range 2 {
		if _, err := in.fill(nc); err != nil {
			t.Fatal(err)
		}
	}
	if len(in.buf) != inputIdle || !amqp.SpokenProtocol(in.peek()) {
		t.Fatalf("%q in a buffer of %d octets", in.peek(), len(in.buf))
	}
}
