package main

// Alternate exchanges.
var alternateChapter = chapter{"alternate exchange", []scenario{
	{"takes what has no route", func(s *stage) {
		a := s.channel()
		a.do(declareExchange("y", "fanout", 0), declareExchange("x", "direct", 0, "alternate-exchange", "y"))
		a.do(declareQueue("q", 0), declareQueue("r", 0), bindQueue("q", "x", "k"), bindQueue("r", "y", ""))
		a.do(publish("x", "k", "routed"), publish("x", "other", "unrouted"))
		a.do(get("q", noAck), get("q", noAck), get("r", noAck), get("r", noAck))
	}},
	{"in a chain", func(s *stage) {
		a := s.channel()
		a.do(declareExchange("z", "fanout", 0), declareExchange("y", "direct", 0, "alternate-exchange", "z"), declareExchange("x", "direct", 0, "alternate-exchange", "y"))
		a.do(declareQueue("q", 0), bindQueue("q", "z", ""), publish("x", "k", "m"), get("q", noAck))
	}},
	{"in a ring", func(s *stage) {
		a := s.channel()
		a.do(declareExchange("x", "direct", 0, "alternate-exchange", "y"), declareExchange("y", "direct", 0, "alternate-exchange", "x"))
		a.do(publish("x", "k", "m", mandatory))
	}},
	{"itself", func(s *stage) {
		a := s.channel()
		a.do(declareExchange("x", "direct", 0, "alternate-exchange", "x"))
		a.do(publish("x", "k", "m", mandatory))
	}},
	{"that does not exist", func(s *stage) {
		a := s.channel()
		a.do(declareExchange("x", "direct", 0, "alternate-exchange", "y"))
		a.do(publish("x", "k", "m", mandatory))
	}},
	{"that is declared later", func(s *stage) {
		a := s.channel()
		a.do(declareExchange("x", "direct", 0, "alternate-exchange", "y"), declareExchange("y", "fanout", 0), declareQueue("q", 0), bindQueue("q", "y", ""))
		a.do(publish("x", "k", "m"), get("q", noAck))
	}},
	{"of the default exchange's queue", func(s *stage) {
		a := s.channel()
		a.do(declareExchange("x", "direct", 0, "alternate-exchange", ""), declareQueue("q", 0))
		a.do(publish("x", "q", "m", mandatory), get("q", noAck))
	}},
	{"behind an exchange that is bound to it", func(s *stage) {
		a := s.channel()
		a.do(declareExchange("y", "fanout", 0), declareExchange("x", "direct", 0, "alternate-exchange", "y"), declareExchange("front", "fanout", 0))
		a.do(declareQueue("q", 0), bindQueue("q", "y", ""), bindExchange("x", "front", ""))
		a.do(publish("front", "k", "m"), get("q", noAck))
	}},
	{"that is internal", func(s *stage) {
		a := s.channel()
		a.do(declareExchange("y", "fanout", internal), declareExchange("x", "direct", 0, "alternate-exchange", "y"), declareQueue("q", 0), bindQueue("q", "y", ""))
		a.do(publish("x", "k", "m"), get("q", noAck))
	}},
}}
