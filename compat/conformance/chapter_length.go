package main

// Length limits.
var lengthChapter = chapter{"length", []scenario{
	{"the head is dropped", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0, "x-max-length", 2), publish("", "q", "1"), publish("", "q", "2"), publish("", "q", "3"))
		a.do(get("q", noAck), get("q", noAck), get("q", noAck))
	}},
	{"none may wait", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0, "x-max-length", 0), publish("", "q", "1"))
		a.do(get("q", noAck))
	}},
	{"none may wait, with a consumer", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0, "x-max-length", 0), consume("q", "c", noAck), publish("", "q", "1"))
	}},
	{"octets of bodies", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0, "x-max-length-bytes", 10), publish("", "q", "12345", headers("h", "a long header that does not count")), publish("", "q", "67890"))
		a.do(declareQueue("q", passive))
		a.do(publish("", "q", "x"), declareQueue("q", passive), get("q", noAck))
	}},
	{"a message larger than the octets", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0, "x-max-length-bytes", 10), publish("", "q", "12345"), publish("", "q", "longer than ten octets"))
		a.do(declareQueue("q", passive))
	}},
	{"both limits", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0, "x-max-length", 2, "x-max-length-bytes", 3), publish("", "q", "ab"), publish("", "q", "cd"), publish("", "q", "e"), publish("", "q", ""))
		a.do(get("q", noAck), get("q", noAck), get("q", noAck))
	}},
	{"delivered messages do not count", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0, "x-max-length", 1), publish("", "q", "1"), get("q", 0), publish("", "q", "2"))
		a.do(declareQueue("q", passive))
		a.do(reject(1, requeue))
		a.do(declareQueue("q", passive), get("q", noAck))
	}},
	{"rejecting drops in silence without confirms", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0, "x-max-length", 1, "x-overflow", "reject-publish"), publish("", "q", "1"), publish("", "q", "2"))
		a.do(get("q", noAck), get("q", noAck))
	}},
	{"rejecting by octets", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0, "x-max-length-bytes", 5, "x-overflow", "reject-publish"), confirmSelect())
		a.do(publish("", "q", "1234"))
		a.do(publish("", "q", "5678"))
		a.do(publish("", "q", "9"))
		a.do(get("q", noAck), get("q", noAck), get("q", noAck))
	}},
	{"a queue that rejects takes requeued messages", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0, "x-max-length", 1, "x-overflow", "reject-publish"), publish("", "q", "1"), get("q", 0), publish("", "q", "2"))
		a.do(reject(1, requeue), get("q", noAck), get("q", noAck))
	}},
	{"dropped messages are dead-lettered", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("d", 0), declareQueue("q", 0, "x-max-length", 1, "x-dead-letter-exchange", "", "x-dead-letter-routing-key", "d"))
		a.do(publish("", "q", "1"), publish("", "q", "2"))
		a.do(get("d", noAck))
	}},
	{"rejected publishes are not dead-lettered", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("d", 0), declareQueue("q", 0, "x-max-length", 1, "x-overflow", "reject-publish", "x-dead-letter-exchange", "", "x-dead-letter-routing-key", "d"), confirmSelect())
		a.do(publish("", "q", "1"))
		a.do(publish("", "q", "2"))
		a.do(get("d", noAck))
	}},
	{"unless reject-publish-dlx says so", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("d", 0), declareQueue("q", 0, "x-max-length", 1, "x-overflow", "reject-publish-dlx", "x-dead-letter-exchange", "", "x-dead-letter-routing-key", "d"), confirmSelect())
		a.do(publish("", "q", "1"))
		a.do(publish("", "q", "2"))
		a.do(get("d", noAck))
	}},
}}
