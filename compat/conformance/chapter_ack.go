package main

import "strings"

// Settling deliveries.
var ackChapter = chapter{"ack", join(
	each([]item{
		ack(82), ack(0), ackAll(82), nack(82, requeue), nack(82, multiple|requeue), nack(0, 0), reject(82, requeue), reject(0, 0),
		ack(1 << 63), ackAll(0), nack(0, multiple), nack(0, multiple|requeue),
	}, func(it item) string { return "nothing delivered: " + it.line },
		func(s *stage, it item) { s.channel().do(it) }),
	each([]item{
		ack(2), ackAll(2), ackAll(3), ackAll(0), ack(0), ackAll(4), nack(2, 0), nack(2, multiple), nack(2, multiple|requeue), nack(0, multiple|requeue), reject(2, 0), reject(2, requeue),
	}, func(it item) string { return "three delivered: " + it.line },
		func(s *stage, it item) {
			a := s.channel()
			a.do(declareQueue("q", 0), publish("", "q", "1"), publish("", "q", "2"), publish("", "q", "3"))
			a.do(get("q", 0), get("q", 0), get("q", 0))
			a.do(it)
			if a.open {
				a.do(get("q", 0), get("q", 0), get("q", 0), get("q", 0))
			}
			b := s.channel()
			b.do(declareQueue("q", passive))
			a.client.do(closeConnection())
			b.do(get("q", noAck), get("q", noAck), get("q", noAck), get("q", noAck))
		}),
	each([][]item{
		{ack(1), ack(1)}, {ackAll(2), ack(1)}, {ackAll(2), ackAll(2)}, {ack(2), ackAll(2)}, {ack(1), ack(3), ackAll(2)}, {nack(1, requeue), ack(1)}, {reject(1, 0), reject(1, 0)},
		{ack(2), ack(1), ack(3)}, {ackAll(3), ackAll(0)}, {ack(3), ackAll(3)}, {ack(3), nack(3, multiple|requeue)},
	}, func(items []item) string {
		name := "three delivered, in a row:"
		for _, it := range items {
			name += " " + it.line + ","
		}
		return strings.TrimSuffix(name, ",")
	},
		func(s *stage, items []item) {
			a := s.channel()
			a.do(declareQueue("q", 0), publish("", "q", "1"), publish("", "q", "2"), publish("", "q", "3"))
			a.do(get("q", 0), get("q", 0), get("q", 0))
			for _, it := range items {
				a.do(it)
			}
		}),
	[]scenario{
		{"the tag of another channel is unknown", func(s *stage) {
			a := s.channel()
			b := a.client.channel(2)
			a.do(declareQueue("q", 0), publish("", "q", "m"), get("q", 0))
			b.do(ack(1))
			a.do(ack(1))
		}},
		{"a delivery of a cancelled consumer can be settled", func(s *stage) {
			a := s.channel()
			a.do(declareQueue("q", 0), publish("", "q", "m"), consume("q", "c", 0))
			a.do(cancel("c", 0))
			a.do(ack(1))
			a.do(declareQueue("q", passive))
		}},
		{"a delivery of a deleted queue can be settled", func(s *stage) {
			a := s.channel()
			a.do(declareQueue("q", 0), publish("", "q", "1"), publish("", "q", "2"), get("q", 0), get("q", 0))
			a.do(deleteQueue("q", 0))
			a.do(ack(1), nack(2, requeue))
			a.do(flow(true))
		}},
		{"multiple spans queues", func(s *stage) {
			a := s.channel()
			a.do(declareQueue("q", 0), declareQueue("r", 0), publish("", "q", "1"), publish("", "r", "2"), get("q", 0), get("r", 0))
			a.do(ackAll(2))
			a.do(recoverAll(requeue), declareQueue("q", passive), declareQueue("r", passive))
		}},
	},
)}
