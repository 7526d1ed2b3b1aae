package main

// Fetching single messages.
var getChapter = chapter{"get", []scenario{
	{"from an empty queue", func(s *stage) { s.channel().do(declareQueue("q", 0), get("q", 0), get("q", noAck)) }},
	{"counts what is left", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0), publish("", "q", "1"), publish("", "q", "2"), publish("", "q", "3"))
		a.do(get("q", 0), get("q", 0), get("q", 0), get("q", 0))
	}},
	{"without acknowledgement", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0), publish("", "q", "1"), get("q", noAck))
		a.do(ack(1))
	}},
	{"from a missing queue", func(s *stage) { s.channel().do(get("q", 0)) }},
	{"no queue declared before", func(s *stage) { s.channel().do(get("", 0)) }},
	{"from the last declared queue", func(s *stage) { s.channel().do(declareQueue("q", 0), publish("", "q", "m"), get("", 0)) }},
	{"from a queue with a consumer", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0), qos(1, 0), consume("q", "c", 0), publish("", "q", "1"), publish("", "q", "2"))
		a.do(get("q", 0))
	}},
	{"prefetch does not hold it back", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0), qos(1, global), publish("", "q", "1"), publish("", "q", "2"))
		a.do(get("q", 0), get("q", 0))
	}},
	{"the exchange and the key are the publisher's", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0), bindQueue("q", "amq.fanout", ""), publish("amq.fanout", "what ever", "m"), get("q", 0))
	}},
	{"a redelivered message", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0), publish("", "q", "m"), get("q", 0))
		a.do(nack(1, requeue), get("q", 0))
		a.do(nack(2, requeue), get("q", 0))
	}},
}}
