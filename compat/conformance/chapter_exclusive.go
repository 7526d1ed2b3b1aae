package main

// Queues that belong to one connection, as others see them.
var exclusiveChapter = chapter{"exclusive", join(
	each([]item{
		declareQueue("q", 0), declareQueue("q", exclusive), declareQueue("q", passive), declareQueue("q", durable|exclusive, "x-max-length", 5),
		consume("q", "c", 0), consume("q", "c", exclusive), get("q", 0), purgeQueue("q", 0), deleteQueue("q", 0), deleteQueue("q", ifUnused),
		bindQueue("q", "amq.direct", "k"), unbindQueue("q", "amq.direct", "k"),
	}, func(it item) string { return "another connection's " + it.line },
		func(s *stage, it item) {
			a, b := s.channel(), s.channel()
			a.do(declareQueue("q", exclusive))
			b.do(it)
		}),
	[]scenario{
		{"another connection unbinds it", func(s *stage) {
			a, b := s.channel(), s.channel()
			a.do(declareQueue("q", exclusive), bindQueue("q", "amq.direct", "k"))
			b.do(unbindQueue("q", "amq.direct", "k"))
		}},
		{"publishing to it is free", func(s *stage) {
			a, b := s.channel(), s.channel()
			a.do(declareQueue("q", exclusive))
			b.do(publish("", "q", "m", mandatory))
			a.do(get("q", 0))
		}},
		{"another channel of the connection may use it", func(s *stage) {
			a := s.channel()
			b := a.client.channel(2)
			a.do(declareQueue("q", exclusive))
			b.do(declareQueue("q", exclusive), publish("", "q", "m"), get("q", noAck), consume("q", "c", 0), deleteQueue("q", 0))
		}},
		{"it outlives its channel", func(s *stage) {
			a := s.channel()
			b := a.client.channel(2)
			a.do(declareQueue("q", exclusive), publish("", "q", "m"))
			a.do(closeChannel())
			b.do(get("q", noAck))
		}},
		{"it goes with its connection", func(s *stage) {
			a, b := s.channel(), s.channel()
			a.do(declareQueue("q", exclusive|durable))
			a.client.do(closeConnection())
			b.do(declareQueue("q", passive))
		}},
		{"it goes with a connection that an error ends", func(s *stage) {
			a, b := s.channel(), s.channel()
			a.do(declareQueue("q", exclusive))
			a.do(qosOctets(5))
			b.do(declareQueue("q", passive))
		}},
		{"declared by its owner without the flag", func(s *stage) {
			a := s.channel()
			a.do(declareQueue("q", exclusive))
			a.do(declareQueue("q", 0))
		}},
		{"a shared queue declared exclusive", func(s *stage) {
			a := s.channel()
			a.do(declareQueue("q", 0))
			a.do(declareQueue("q", exclusive))
		}},
		{"its consumers on other exchanges' messages", func(s *stage) {
			a, b := s.channel(), s.channel()
			a.do(declareQueue("", exclusive))
			a.do(bindQueue("", "amq.fanout", ""), consume("", "c", noAck))
			b.do(publish("amq.fanout", "anything", "m"))
		}},
	},
)}
