package main

import (
	"fmt"
	"math"

	"github.com/warrenmq/warren/amqp"
)

// Properties come out as they went in, octet by octet.
var propertiesChapter = chapter{"properties", join(
	each([]amqp.Properties{
		{},
		{ContentType: "text/plain", ContentEncoding: "utf-8", DeliveryMode: 2, Priority: 7, CorrelationID: "c", ReplyTo: "r", Expiration: "60000",
			MessageID: "m", Timestamp: unixTime(1700000000), Type: "t", UserID: "guest", AppID: "a", ClusterID: "l"},
		{Present: amqp.HasHeaders}, {Present: amqp.HasPriority}, {Present: amqp.HasDeliveryMode}, {Present: amqp.HasContentType},
		{Present: amqp.HasTimestamp, Timestamp: unixTime(0)}, {Present: amqp.HasCorrelationID | amqp.HasMessageID | amqp.HasReplyTo},
		{DeliveryMode: 1}, {DeliveryMode: 2}, {DeliveryMode: 3}, {Priority: 255}, {ClusterID: "l"}, {ReplyTo: "amq.mine"},
	}, func(p amqp.Properties) string { return describeProperties(amqp.AppendProperties(nil, &p)) },
		func(s *stage, p amqp.Properties) {
			a := s.channel()
			a.do(declareQueue("q", 0), publish("", "q", "m", properties(p)), get("q", 0))
		}),
	each([]any{
		nil, true, false, int8(-1), uint8(200), int16(-300), uint16(60000), -70000, uint32(4000000000), int64(-1) << 40,
		float32(1.5), 2.25, math.Inf(1), amqp.Decimal{Scale: 2, Value: 12345}, "", "text", []byte("\x00\xff"), unixTime(1), unixTime(1700000000),
		[]any{}, []any{1, "two", nil, []any{true}}, amqp.Table{}, amqp.Table{"nested": amqp.Table{"deep": int64(1)}}, string(make([]byte, 3000)),
	}, func(v any) string { return fmt.Sprintf("a header of type %.60s", describeTable(table("h", v))) },
		func(s *stage, v any) {
			a := s.channel()
			a.do(declareQueue("q", 0), publish("", "q", "m", headers("h", v)), consume("q", "c", noAck))
		}),
	[]scenario{
		{"headers in an order of their own", func(s *stage) {
			a := s.channel()
			a.do(declareQueue("q", 0), publishRaw("", "q", "m", rawHeaders("\x01zt\x01\x01aI\x00\x00\x00\x01\x01mV"), false, false), get("q", 0))
		}},
		{"a header twice", func(s *stage) {
			a := s.channel()
			a.do(declareQueue("q", 0), publishRaw("", "q", "m", rawHeaders("\x01aI\x00\x00\x00\x01\x01aI\x00\x00\x00\x02"), false, false), get("q", 0))
		}},
		{"a header with the tag L", func(s *stage) {
			a := s.channel()
			a.do(declareQueue("q", 0), publishRaw("", "q", "m", rawHeaders("\x01aL\x00\x00\x00\x00\x00\x00\x00\x01"), false, false), get("q", 0))
		}},
		{"a header without a name", func(s *stage) {
			a := s.channel()
			a.do(declareQueue("q", 0), publishRaw("", "q", "m", rawHeaders("\x00t\x01"), false, false), get("q", 0))
		}},
		{"a header of an unknown type", func(s *stage) {
			a := s.channel()
			a.do(declareQueue("q", 0), publishRaw("", "q", "m", rawHeaders("\x01aZ\x01"), false, false))
			a.do(get("q", 0))
		}},
		{"a header cut short", func(s *stage) {
			a := s.channel()
			a.do(declareQueue("q", 0), publishRaw("", "q", "m", rawHeaders("\x01aI\x00\x00"), false, false))
			a.do(get("q", 0))
		}},
		{"properties cut short", func(s *stage) {
			a := s.channel()
			a.do(declareQueue("q", 0), publishRaw("", "q", "m", []byte("\x80\x00\x09text"), false, false))
			a.do(get("q", 0))
		}},
		{"octets behind the properties", func(s *stage) {
			a := s.channel()
			a.do(declareQueue("q", 0), publishRaw("", "q", "m", []byte("\x80\x00\x04text\x00\x00"), false, false))
			a.do(get("q", 0))
		}},
		{"a property flag that has no property", func(s *stage) {
			a := s.channel()
			a.do(declareQueue("q", 0), publishRaw("", "q", "m", []byte("\x00\x02"), false, false))
			a.do(get("q", 0))
		}},
	},
)}

// rawHeaders are properties that are headers alone, from a table's entries.
func rawHeaders(entries string) []byte {
	return append([]byte{0x20, 0, 0, 0, 0, byte(len(entries))}, entries...)
}
