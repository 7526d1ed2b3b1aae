package main

// What a user may do who may do things with names that begin with "own" alone.
var accessChapter = chapter{"access", join(
	each([]item{
		declareQueue("other", 0), declareQueue("own.q", 0), declareQueue("", exclusive), declareQueue("other", passive), deleteQueue("other", 0), purgeQueue("other", 0),
		declareExchange("other", "fanout", 0), declareExchange("own.x", "fanout", 0), declareExchange("amq.direct", "direct", passive), deleteExchange("other", 0),
		bindQueue("own.q", "other", "k"), bindQueue("other", "own.x", "k"), unbindQueue("other", "own.x", "k"), bindExchange("other", "own.x", "k"), bindExchange("own.x", "other", "k"),
		publish("other", "k", "m"), publish("own.x", "k", "m"), publish("", "own.q", "m"), publish("amq.fanout", "", "m"),
		consume("other", "c", 0), get("other", 0),
		declareQueue("own.dead", 0, "x-dead-letter-exchange", "other"), declareExchange("own.alt", "fanout", 0, "alternate-exchange", "other"),
		declareQueue("missing", passive), declareExchange("missing", "fanout", passive), bindQueue("own.q", "missing", "k"),
	}, func(it item) string { return it.line },
		func(s *stage, it item) {
			owner := s.channel()
			owner.do(declareQueue("other", 0), declareExchange("other", "fanout", 0), declareQueue("own.q", 0), declareExchange("own.x", "fanout", 0))
			s.connect(hello{user: limitedUser, password: limitedUser}).channel(1).do(it)
		}),
)}
