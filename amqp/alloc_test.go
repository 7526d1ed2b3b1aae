package amqp

import "testing"

// What comes once per message.
var (
	hotProps   = AppendProperties(nil, &Properties{ContentType: "application/octet-stream", DeliveryMode: Persistent, Headers: Table{"trace": "0af7651916cd43dd"}})
	hotBody    = make([]byte, 1024)
	hotPayload = map[string][]byte{
		"publish": payloadOf(AppendPublish(nil, 1, []byte("amq.topic"), []byte("orders.eu.created"))),
		"deliver": payloadOf(AppendDeliver(nil, 1, "amq.ctag-1", 77, false, []byte("amq.topic"), []byte("orders.eu.created"))),
		"ack":     payloadOf(AppendAck(nil, 1, 77, true)),
		"nack":    payloadOf(AppendNack(nil, 1, 77, true, true)),
		"reject":  payloadOf(AppendReject(nil, 1, 77, true)),
	}
)

func payloadOf(frame []byte) []byte { return frame[frameHeaderSize : len(frame)-1] }

// hotPath runs every function that a message passes through, encoded into dst.
func hotPath(d *Decoder, dst []byte) ([]byte, error) {
	for _, payload := range hotPayload {
		if _, err := d.Decode(payload); err != nil {
			return nil, err
		}
	}
	x, k := []byte("amq.topic"), []byte("orders.eu.created")
	dst = AppendPublish(dst, 1, x, k)
	dst = AppendDeliver(dst, 1, "amq.ctag-1", 77, false, x, k)
	dst = AppendHeader(dst, 1, ClassBasic, uint64(len(hotBody)), hotProps)
	dst = AppendBody(dst, 1, hotBody, 131064)
	dst = AppendAck(dst, 1, 77, true)
	dst = AppendNack(dst, 1, 77, true, false)
	dst = AppendReject(dst, 1, 77, true)
	dst = AppendHeartbeat(dst)
	for rest := dst; len(rest) > 0; {
		f, n, err := ParseFrame(rest, 131064)
		if err != nil {
			return nil, err
		}
		if f.Type == FrameHeader {
			_, _, props, err := ParseHeader(f.Payload)
			if err != nil {
				return nil, err
			}
			if _, err := PropertiesInfo(props); err != nil {
				return nil, err
			}
		}
		rest = rest[n:]
	}
	return dst, nil
}

func TestHotPathAllocatesNothing(t *testing.T) {
	d, dst := new(Decoder), make([]byte, 0, 4096)
	allocs := testing.AllocsPerRun(100, func() {
		if _, err := hotPath(d, dst); err != nil {
			t.Fatal(err)
		}
	})
	if allocs != 0 {
		t.Errorf("%v allocations", allocs)
	}
}

func BenchmarkDecode(b *testing.B) {
	for _, name := range []string{"publish", "deliver", "ack"} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			d := new(Decoder)
			for b.Loop() {
				if _, err := d.Decode(hotPayload[name]); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkPropertiesInfo(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := PropertiesInfo(hotProps); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkMessageIn parses the three frames of a published message.
func BenchmarkMessageIn(b *testing.B) {
	wire := AppendPublish(nil, 1, nil, []byte("orders"))
	wire = AppendHeader(wire, 1, ClassBasic, uint64(len(hotBody)), hotProps)
	wire = AppendBody(wire, 1, hotBody, 131064)
	d := new(Decoder)
	b.ReportAllocs()
	for b.Loop() {
		for rest := wire; len(rest) > 0; {
			f, n, err := ParseFrame(rest, 131064)
			if err == nil && f.Type == FrameMethod {
				_, err = d.Decode(f.Payload)
			} else if err == nil && f.Type == FrameHeader {
				_, _, _, err = ParseHeader(f.Payload)
			}
			if err != nil {
				b.Fatal(err)
			}
			rest = rest[n:]
		}
	}
}

// BenchmarkMessageOut appends the three frames of a delivery.
func BenchmarkMessageOut(b *testing.B) {
	x, k := []byte("amq.topic"), []byte("orders.eu.created")
	dst := make([]byte, 0, 4096)
	b.ReportAllocs()
	for b.Loop() {
		dst = AppendDeliver(dst[:0], 1, "amq.ctag-1", 77, false, x, k)
		dst = AppendHeader(dst, 1, ClassBasic, uint64(len(hotBody)), hotProps)
		dst = AppendBody(dst, 1, hotBody, 131064)
	}
}
