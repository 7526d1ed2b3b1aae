package main

// Publisher confirms. That each of them comes, and whether as an ack or a nack, is compared; their grouping is free.
var confirmChapter = chapter{"confirm", []scenario{
	{"select twice", func(s *stage) { s.channel().do(confirmSelect(), confirmSelect()) }},
	{"a routed message", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0), confirmSelect(), publish("", "q", "m"))
	}},
	{"a persistent message to a durable queue", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", durable), confirmSelect(), publish("", "q", "m", persistent))
	}},
	{"an unroutable message", func(s *stage) { s.channel().do(confirmSelect(), publish("", "missing", "m")) }},
	{"many messages", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", durable), declareQueue("r", 0), confirmSelect())
		a.do(append(times(20, publish("", "q", "m", persistent)), times(20, publish("", "r", "m"))...)...)
	}},
	{"messages before select are not counted", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0), publish("", "q", "0"))
		a.do(confirmSelect())
		a.do(publish("", "q", "1"))
	}},
	{"a message to several queues is confirmed once", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", durable), declareQueue("r", 0), bindQueue("q", "amq.fanout", ""), bindQueue("r", "amq.fanout", ""), confirmSelect())
		a.do(publish("amq.fanout", "", "m", persistent))
	}},
	{"a missing exchange", func(s *stage) {
		a := s.channel()
		a.do(confirmSelect())
		a.do(publish("x", "k", "m"))
	}},
	{"earlier ones when a later one fails", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0), confirmSelect())
		a.do(publish("", "q", "1"))
		a.do(publish("x", "k", "2"))
	}},
	{"a full queue that rejects", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0, "x-max-length", 1, "x-overflow", "reject-publish"), confirmSelect())
		a.do(publish("", "q", "1"))
		a.do(publish("", "q", "2"))
		a.do(get("q", noAck))
		a.do(publish("", "q", "3"))
		a.do(get("q", noAck), get("q", noAck))
	}},
	{"a queue for nothing rejects all", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0, "x-max-length", 0, "x-overflow", "reject-publish"), confirmSelect())
		a.do(publish("", "q", "1"))
	}},
	{"one of two queues rejects", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0, "x-max-length", 0, "x-overflow", "reject-publish"), declareQueue("r", 0))
		a.do(bindQueue("q", "amq.fanout", ""), bindQueue("r", "amq.fanout", ""), confirmSelect())
		a.do(publish("amq.fanout", "", "m"))
		a.do(get("r", noAck))
	}},
	{"a full queue that drops its head confirms", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0, "x-max-length", 1), confirmSelect())
		a.do(publish("", "q", "1"), publish("", "q", "2"))
		a.do(get("q", noAck), get("q", noAck))
	}},
	{"a message that expires at once is confirmed", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0), confirmSelect())
		a.do(publish("", "q", "1", expiration("0")))
		a.do(get("q", noAck))
	}},
	{"tx.select behind it", func(s *stage) { s.channel().do(confirmSelect(), txSelect()) }},
	{"a channel starts counting anew when opened again", func(s *stage) {
		a := s.channel()
		a.do(confirmSelect())
		a.do(publish("", "missing", "1"), publish("", "missing", "2"))
		a.do(closeChannel())
		a.do(openChannel())
		a.do(confirmSelect())
		a.do(publish("", "missing", "1"))
	}},
	{"channels count for themselves", func(s *stage) {
		a := s.channel()
		b := a.client.channel(2)
		a.do(confirmSelect(), publish("", "missing", "m"))
		b.do(confirmSelect(), publish("", "missing", "m"))
		a.do(publish("", "missing", "m"))
	}},
	{"a client's ack of its own publish", func(s *stage) {
		a := s.channel()
		a.do(confirmSelect(), publish("", "missing", "m"))
		a.do(ack(1))
	}},
}}
