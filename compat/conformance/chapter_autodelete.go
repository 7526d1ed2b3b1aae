package main

// Queues and exchanges that go when nothing needs them.
var autoDeleteChapter = chapter{"auto-delete", []scenario{
	{"a queue goes with its last consumer", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", autoDelete), consume("q", "c", 0), consume("q", "d", 0))
		a.do(cancel("c", 0), declareQueue("q", passive))
		a.do(cancel("d", 0), declareQueue("q", passive))
	}},
	{"a queue without a consumer stays", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", autoDelete), publish("", "q", "m"), get("q", noAck))
		a.do(declareQueue("q", passive))
	}},
	{"a queue stays behind a connection that never consumed", func(s *stage) {
		a, b := s.channel(), s.channel()
		a.do(declareQueue("q", autoDelete))
		a.client.do(closeConnection())
		b.do(declareQueue("q", passive))
	}},
	{"a queue goes with its consumer's channel", func(s *stage) {
		a := s.channel()
		b := a.client.channel(2)
		b.do(declareQueue("q", autoDelete), consume("q", "c", 0))
		b.do(closeChannel())
		a.do(declareQueue("q", passive))
	}},
	{"a queue goes with its consumer's connection", func(s *stage) {
		a, b := s.channel(), s.channel()
		b.do(declareQueue("q", autoDelete), consume("q", "c", 0))
		b.client.do(closeConnection())
		a.do(declareQueue("q", passive))
	}},
	{"a queue goes with its messages, unacknowledged ones too", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", autoDelete), publish("", "q", "1"), publish("", "q", "2"))
		a.do(qos(1, 0), consume("q", "c", 0))
		a.do(cancel("c", 0))
		a.do(ack(1))
		a.do(declareQueue("q", passive))
	}},
	{"cancel with no-wait", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", autoDelete), consume("q", "c", 0))
		a.do(cancel("c", noWait))
		a.do(declareQueue("q", passive))
	}},
	{"an exchange goes with its last queue", func(s *stage) {
		a := s.channel()
		a.do(declareExchange("x", "direct", autoDelete), declareQueue("q", 0), bindQueue("q", "x", "a"), bindQueue("q", "x", "b"))
		a.do(unbindQueue("q", "x", "a"), declareExchange("x", "", passive))
		a.do(unbindQueue("q", "x", "b"), declareExchange("x", "", passive))
	}},
	{"an exchange that was never bound stays", func(s *stage) {
		a := s.channel()
		a.do(declareExchange("x", "direct", autoDelete), publish("x", "k", "m"), declareExchange("x", "", passive))
	}},
	{"an exchange goes when its queue is deleted", func(s *stage) {
		a := s.channel()
		a.do(declareExchange("x", "direct", autoDelete), declareQueue("q", 0), bindQueue("q", "x", "a"))
		a.do(deleteQueue("q", 0), declareExchange("x", "", passive))
	}},
	{"an exchange goes when the exchange behind it is unbound", func(s *stage) {
		a := s.channel()
		a.do(declareExchange("x", "direct", autoDelete), declareExchange("y", "direct", 0), bindExchange("y", "x", "k"))
		a.do(unbindExchange("y", "x", "k"), declareExchange("x", "", passive))
	}},
	{"a destination stays when it is unbound", func(s *stage) {
		a := s.channel()
		a.do(declareExchange("x", "direct", 0), declareExchange("y", "direct", autoDelete), bindExchange("y", "x", "k"))
		a.do(unbindExchange("y", "x", "k"), declareExchange("y", "", passive))
	}},
	{"a chain of exchanges goes together", func(s *stage) {
		a := s.channel()
		a.do(declareExchange("x", "direct", autoDelete), declareExchange("y", "direct", autoDelete), declareQueue("q", autoDelete))
		a.do(bindExchange("y", "x", "k"), bindQueue("q", "y", "k"), consume("q", "c", 0))
		a.do(cancel("c", 0))
		a.do(declareExchange("x", "", passive))
		a.client.channel(2).do(declareExchange("y", "", passive))
	}},
}}
