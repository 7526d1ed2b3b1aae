package main

// Binding and unbinding queues and exchanges.
var bindingChapter = chapter{"binding", []scenario{
	{"bind, publish, unbind", func(s *stage) {
		a := s.channel()
		a.do(declareExchange("x", "direct", 0), declareQueue("q", 0), bindQueue("q", "x", "k"))
		a.do(publish("x", "k", "1"), publish("x", "other", "2"))
		a.do(unbindQueue("q", "x", "k"), publish("x", "k", "3"))
		a.do(get("q", noAck), get("q", noAck))
	}},
	{"a missing queue", func(s *stage) {
		a := s.channel()
		a.do(declareExchange("x", "direct", 0))
		a.do(bindQueue("q", "x", "k"))
	}},
	{"a missing exchange", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0))
		a.do(bindQueue("q", "x", "k"))
	}},
	{"both missing", func(s *stage) { s.channel().do(bindQueue("q", "x", "k")) }},
	{"exchanges: a missing source", func(s *stage) {
		a := s.channel()
		a.do(declareExchange("y", "direct", 0))
		a.do(bindExchange("y", "x", "k"))
	}},
	{"exchanges: a missing destination", func(s *stage) {
		a := s.channel()
		a.do(declareExchange("x", "direct", 0))
		a.do(bindExchange("y", "x", "k"))
	}},
	{"exchanges: both missing", func(s *stage) { s.channel().do(bindExchange("y", "x", "k")) }},
	{"unbind what is not bound", func(s *stage) {
		a := s.channel()
		a.do(declareExchange("x", "direct", 0), declareQueue("q", 0), unbindQueue("q", "x", "k"))
	}},
	{"unbind from a missing exchange", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0))
		a.do(unbindQueue("q", "x", "k"))
	}},
	{"unbind a missing queue", func(s *stage) {
		a := s.channel()
		a.do(declareExchange("x", "direct", 0))
		a.do(unbindQueue("q", "x", "k"))
	}},
	{"exchanges: unbind what is not bound", func(s *stage) {
		a := s.channel()
		a.do(declareExchange("x", "direct", 0), declareExchange("y", "direct", 0), unbindExchange("y", "x", "k"))
	}},
	{"exchanges: unbind from a missing one", func(s *stage) {
		a := s.channel()
		a.do(declareExchange("y", "direct", 0))
		a.do(unbindExchange("y", "x", "k"))
	}},
	{"the default exchange", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0))
		a.do(bindQueue("q", "", "k"))
	}},
	{"unbind from the default exchange", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0))
		a.do(unbindQueue("q", "", "q"))
	}},
	{"exchanges: from the default exchange", func(s *stage) {
		a := s.channel()
		a.do(declareExchange("x", "direct", 0))
		a.do(bindExchange("x", "", "k"))
	}},
	{"exchanges: to the default exchange", func(s *stage) {
		a := s.channel()
		a.do(declareExchange("x", "direct", 0))
		a.do(bindExchange("", "x", "k"))
	}},
	{"twice is once", func(s *stage) {
		a := s.channel()
		a.do(declareExchange("x", "direct", 0), declareQueue("q", 0), bindQueue("q", "x", "k"), bindQueue("q", "x", "k"))
		a.do(publish("x", "k", "m"), get("q", noAck), get("q", noAck))
		a.do(unbindQueue("q", "x", "k"), publish("x", "k", "m"), get("q", noAck))
	}},
	{"two matching bindings deliver once", func(s *stage) {
		a := s.channel()
		a.do(declareExchange("x", "topic", 0), declareQueue("q", 0), bindQueue("q", "x", "a.*"), bindQueue("q", "x", "#"))
		a.do(publish("x", "a.b", "m"), get("q", noAck), get("q", noAck))
	}},
	{"arguments are part of a binding", func(s *stage) {
		a := s.channel()
		a.do(declareExchange("x", "direct", 0), declareQueue("q", 0))
		a.do(bindQueue("q", "x", "k", "n", 1), bindQueue("q", "x", "k", "n", 2), unbindQueue("q", "x", "k", "n", 1))
		a.do(publish("x", "k", "m"), get("q", noAck), get("q", noAck))
		a.do(unbindQueue("q", "x", "k"), publish("x", "k", "m"), get("q", noAck))
	}},
	{"the last declared queue and its name as key", func(s *stage) {
		a := s.channel()
		a.do(declareExchange("x", "direct", 0), declareQueue("q", 0))
		a.do(bindQueue("", "x", ""), publish("x", "q", "by name"), publish("x", "", "by nothing"))
		a.do(get("q", noAck), get("q", noAck))
	}},
	{"the last declared queue and a key", func(s *stage) {
		a := s.channel()
		a.do(declareExchange("x", "direct", 0), declareQueue("q", 0))
		a.do(bindQueue("", "x", "k"), publish("x", "k", "by key"), get("q", noAck))
	}},
	{"no queue declared before", func(s *stage) { s.channel().do(bindQueue("", "amq.direct", "k")) }},
	{"a fanout ignores keys", func(s *stage) {
		a := s.channel()
		a.do(declareExchange("x", "fanout", 0), declareQueue("q", 0), declareQueue("r", 0), bindQueue("q", "x", "k"), bindQueue("r", "x", ""))
		a.do(publish("x", "other", "m"), get("q", noAck), get("r", noAck))
	}},
	{"exchanges in a chain", func(s *stage) {
		a := s.channel()
		a.do(declareExchange("x", "direct", 0), declareExchange("y", "topic", 0), declareQueue("q", 0))
		a.do(bindExchange("y", "x", "a.b"), bindQueue("q", "y", "a.*"))
		a.do(publish("x", "a.b", "m"), publish("x", "a.c", "n"), get("q", noAck), get("q", noAck))
		a.do(unbindExchange("y", "x", "a.b"), publish("x", "a.b", "o"), get("q", noAck))
	}},
	{"exchanges in a ring", func(s *stage) {
		a := s.channel()
		a.do(declareExchange("x", "fanout", 0), declareExchange("y", "fanout", 0), declareQueue("q", 0))
		a.do(bindExchange("y", "x", ""), bindExchange("x", "y", ""), bindQueue("q", "x", ""), bindQueue("q", "y", ""))
		a.do(publish("x", "", "m"), get("q", noAck), get("q", noAck))
	}},
	{"an exchange to itself", func(s *stage) {
		a := s.channel()
		a.do(declareExchange("x", "fanout", 0), declareQueue("q", 0), bindExchange("x", "x", ""), bindQueue("q", "x", ""))
		a.do(publish("x", "", "m"), get("q", noAck), get("q", noAck))
	}},
	{"a durable queue to a transient exchange", func(s *stage) {
		a := s.channel()
		a.do(declareExchange("x", "direct", 0), declareQueue("q", durable), bindQueue("q", "x", "k"))
	}},
	{"a transient queue to a durable exchange", func(s *stage) {
		a := s.channel()
		a.do(declareExchange("x", "direct", durable), declareQueue("q", 0), bindQueue("q", "x", "k"))
	}},
	{"queues with the same key", func(s *stage) {
		a := s.channel()
		a.do(declareExchange("x", "direct", 0), declareQueue("q", 0), declareQueue("r", 0), bindQueue("q", "x", "k"), bindQueue("r", "x", "k"))
		a.do(publish("x", "k", "m"), get("q", noAck), get("r", noAck))
	}},
	{"deleting a queue removes its bindings", func(s *stage) {
		a := s.channel()
		a.do(declareExchange("x", "direct", 0), declareQueue("q", 0), bindQueue("q", "x", "k"))
		a.do(deleteQueue("q", 0), declareQueue("q", 0), publish("x", "k", "m"), get("q", noAck))
		a.do(deleteExchange("x", ifUnused))
	}},
}}
