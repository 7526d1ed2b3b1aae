package main

// Mandatory messages.
var returnChapter = chapter{"return", []scenario{
	{"no queue", func(s *stage) { s.channel().do(publish("", "missing", "m", mandatory, headers("h", 1))) }},
	{"no binding", func(s *stage) { s.channel().do(publish("amq.direct", "k", "m", mandatory)) }},
	{"an empty body", func(s *stage) { s.channel().do(publish("amq.direct", "k", "", mandatory)) }},
	{"a long body", func(s *stage) { s.channel().do(publish("amq.direct", "k", string(make([]byte, 200000)), mandatory)) }},
	{"a routed one does not come back", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0), publish("", "q", "m", mandatory))
	}},
	{"the return comes before the confirm", func(s *stage) {
		a := s.channel()
		a.do(confirmSelect())
		a.do(publish("", "missing", "1", mandatory))
		a.do(publish("", "missing", "2", mandatory))
	}},
	{"among routed ones", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0))
		a.do(publish("", "q", "1", mandatory), publish("", "missing", "2", mandatory), publish("", "q", "3", mandatory), publish("", "missing", "4", mandatory))
		a.do(get("q", noAck), get("q", noAck), get("q", noAck))
	}},
	{"blind copies are not shown to their sender", func(s *stage) {
		s.channel().do(publish("", "missing", "m", mandatory, headers("BCC", []any{"nobody"}, "CC", []any{"nobody either"})))
	}},
	{"an exchange bound to nothing behind", func(s *stage) {
		a := s.channel()
		a.do(declareExchange("x", "fanout", 0), declareExchange("y", "fanout", 0), bindExchange("y", "x", ""))
		a.do(publish("x", "k", "m", mandatory))
	}},
	{"an alternate exchange takes it", func(s *stage) {
		a := s.channel()
		a.do(declareExchange("y", "fanout", 0), declareExchange("x", "direct", 0, "alternate-exchange", "y"), declareQueue("q", 0), bindQueue("q", "y", ""))
		a.do(publish("x", "k", "m", mandatory), get("q", noAck))
	}},
	{"an alternate exchange that has no queue either", func(s *stage) {
		a := s.channel()
		a.do(declareExchange("y", "fanout", 0), declareExchange("x", "direct", 0, "alternate-exchange", "y"))
		a.do(publish("x", "k", "m", mandatory))
	}},
	{"a full queue that rejects is a route", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0, "x-max-length", 0, "x-overflow", "reject-publish"))
		a.do(publish("", "q", "m", mandatory))
	}},
}}
