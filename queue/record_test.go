package queue

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"
)

// FuzzDecodeMessage checks that no bytes make the decoder panic or point outside the record, and that what it
// understands is what encodeMessage writes.
func FuzzDecodeMessage(f *testing.F) {
	f.Add([]byte{messageVersion, 0, 0, 0})
	f.Add([]byte{messageVersion | flagPersistent, 1, 'x', 2, 'r', 'k', 0, 'b'})
	f.Add([]byte{messageVersion, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1})
	f.Fuzz(func(t *testing.T, data []byte) {
		var d Delivery
		if decodeMessage(data, &d) != nil {
			return
		}
		if n := len(d.Exchange) + len(d.RoutingKey) + len(d.Properties) + len(d.Body); n > len(data)-4 {
			t.Fatalf("%d bytes of fields in a record of %d", n, len(data))
		}
	})
}

func TestMessageRecords(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		field := func(name string, max int) []byte {
			return bytes.Repeat([]byte{'x'}, rapid.IntRange(0, max).Draw(t, name))
		}
		m := Message{
			Exchange: field("exchange", 255), RoutingKey: field("key", 255),
			Properties: field("properties", 20000), Body: field("body", 1000), Persistent: rapid.Bool().Draw(t, "persistent"),
		}
		e := envelope{
			expires: rapid.Int64Min(0).Draw(t, "expires"),
			atOnce:  rapid.Bool().Draw(t, "at once"), buried: rapid.Bool().Draw(t, "buried"),
		}
		n := messageLen(&m, e)
		data := make([]byte, n)
		putMessage(data, &m, e)
		var d Delivery
		if err := decodeMessage(data, &d); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(d.Exchange, m.Exchange) || !bytes.Equal(d.RoutingKey, m.RoutingKey) ||
			!bytes.Equal(d.Properties, m.Properties) || !bytes.Equal(d.Body, m.Body) {
			t.Fatalf("decoded %+v", d)
		}
		if d.persistent != m.Persistent || d.envelope != e {
			t.Fatalf("decoded %+v", d)
		}
		for cut := range min(n-len(m.Body), 300) {
			if decodeMessage(data[:cut], &d) == nil {
				t.Fatalf("a record cut at %d of %d is taken", cut, n)
			}
		}
	})
}
