package main

import "fmt"

// What must not be reordered, and things done in odd orders.
var orderChapter = chapter{"order", []scenario{
	{"a pipelined session", func(s *stage) {
		a := s.connect(hello{}).at(1)
		a.pipeline(openChannel(), declareExchange("x", "direct", 0), declareQueue("q", 0), bindQueue("q", "x", "k"), publish("x", "k", "m"), get("q", 0), ack(1), deleteQueue("q", 0), deleteExchange("x", 0), closeChannel())
	}},
	{"an ack before the next get, pipelined", func(s *stage) {
		a := s.channel()
		a.pipeline(declareQueue("q", 0), publish("", "q", "1"), publish("", "q", "2"), get("q", 0), ack(1), get("q", 0), ack(2), declareQueue("q", passive))
	}},
	{"an ack of a delivery that cannot have come", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0))
		a.do(ack(1))
	}},
	{"publish and cancel in one write", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0), consume("q", "c", noAck))
		a.pipeline(cancel("c", 0), publish("", "q", "m"))
		a.do(get("q", noAck))
	}},
	{"redelivered before new", func(s *stage) {
		a := s.channel()
		b := a.client.channel(2)
		a.do(declareQueue("q", 0), publish("", "q", "1"), publish("", "q", "2"))
		b.do(consume("q", "c", 0))
		b.do(closeChannel())
		a.do(publish("", "q", "3"))
		a.do(consume("q", "d", noAck))
	}},
	{"two publishers, one queue", func(s *stage) {
		a, b := s.channel(), s.channel()
		a.do(declareQueue("q", 0))
		for i := range 3 {
			a.do(publish("", "q", fmt.Sprint("a", i)))
			b.do(publish("", "q", fmt.Sprint("b", i)))
		}
		a.do(consume("q", "c", noAck))
	}},
	{"two channels of one connection, in turn", func(s *stage) {
		a := s.channel()
		b := a.client.channel(2)
		a.do(declareQueue("q", 0), confirmSelect())
		b.do(confirmSelect())
		for i := range 3 {
			a.do(publish("", "q", fmt.Sprint("a", i)))
			b.do(publish("", "q", fmt.Sprint("b", i)))
		}
		a.do(consume("q", "c", noAck))
	}},
	{"a queue deleted under a publisher, pipelined", func(s *stage) {
		a := s.channel()
		a.pipeline(declareQueue("q", 0), bindQueue("q", "amq.direct", "k"), publish("amq.direct", "k", "1"), deleteQueue("q", 0), publish("amq.direct", "k", "2", mandatory))
	}},
	{"an exchange deleted under a publisher", func(s *stage) {
		a := s.channel()
		a.do(declareExchange("x", "fanout", 0), publish("x", "", "1"), deleteExchange("x", 0))
		a.do(publish("x", "", "2"))
	}},
	{"bound and unbound on the way, pipelined", func(s *stage) {
		a := s.channel()
		a.pipeline(declareQueue("q", 0), bindQueue("q", "amq.direct", "k"), publish("amq.direct", "k", "1"), unbindQueue("q", "amq.direct", "k"), publish("amq.direct", "k", "2"), bindQueue("q", "amq.direct", "k"), publish("amq.direct", "k", "3"))
		a.do(consume("q", "c", noAck))
	}},
	{"many messages, acknowledged from the end", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0))
		a.do(times(10, publish("", "q", "m"))...)
		a.do(consume("q", "c", 0))
		for tag := uint64(10); tag > 0; tag-- {
			a.send(ack(tag))
		}
		a.do(declareQueue("q", passive))
		a.do(ack(5))
	}},
	{"connection.close with everything open", func(s *stage) {
		a, b := s.channel(), s.channel()
		a.do(declareQueue("q", 0), publish("", "q", "1"), txSelect(), publish("", "q", "2"), qos(1, 0), consume("q", "c", 0))
		a.client.do(closeConnection())
		b.do(get("q", 0), get("q", 0))
	}},
	{"a channel opened again at once", func(s *stage) {
		a := s.channel()
		a.do(closeChannel(), openChannel(), closeChannel(), openChannel(), declareQueue("q", exclusive))
	}},
}}
