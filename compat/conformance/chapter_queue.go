package main

// Declaring, purging and deleting queues.
var queueChapter = chapter{"queue", []scenario{
	{"declare, again, passive", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0), declareQueue("q", 0), declareQueue("q", passive))
	}},
	{"declare a durable one", func(s *stage) { s.channel().do(declareQueue("q", durable), declareQueue("q", durable)) }},
	{"declare with no-wait", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", noWait))
		a.do(declareQueue("q", passive))
	}},
	{"declare counts messages and consumers", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0), publish("", "q", "1"), publish("", "q", "2"))
		a.do(declareQueue("q", 0))
		a.do(qos(1, 0), consume("q", "c", 0), consume("q", "d", 0))
		a.do(declareQueue("q", passive))
	}},
	{"passive declare of a missing one", func(s *stage) { s.channel().do(declareQueue("q", passive)) }},
	{"passive declare with no-wait of a missing one", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", passive|noWait))
	}},
	{"passive ignores flags and arguments", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0))
		a.do(declareQueue("q", passive|durable|autoDelete, "x-max-length", 3))
	}},
	{"the broker chooses a name", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("", exclusive))
		a.do(publish("", a.queue, "m"))
		a.do(get("", 0))
	}},
	{"the broker chooses two names", func(s *stage) { s.channel().do(declareQueue("", exclusive), declareQueue("", exclusive)) }},
	{"passive without a name", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0))
		a.do(declareQueue("", passive))
	}},
	{"passive without a name and nothing declared", func(s *stage) { s.channel().do(declareQueue("", passive)) }},
	{"the last one passively declared is remembered", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0), declareQueue("r", 0), publish("", "q", "m"))
		a.do(declareQueue("q", passive))
		a.do(purgeQueue("", 0))
	}},
	{"a reserved name", func(s *stage) { s.channel().do(declareQueue("amq.mine", 0)) }},
	{"a reserved name, passive", func(s *stage) { s.channel().do(declareQueue("amq.mine", passive)) }},
	{"a name of the broker's, declared again", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("", exclusive))
		a.do(declareQueue(a.queue, exclusive))
	}},
	{"line breaks in a name", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q\r\nr", 0))
		a.do(declareQueue("qr", passive))
		a.do(deleteQueue("qr", 0))
	}},
	{"a name of 255 octets", func(s *stage) {
		a := s.channel()
		a.do(declareQueue(longName, 0), publish("", longName, "m"), get(longName, 0))
		a.do(declareQueue(longName, durable))
	}},
	{"a name beyond ASCII", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("kö'\"né", 0))
		a.do(declareQueue("kö'\"né", durable))
	}},
	{"a name that is not UTF-8", func(s *stage) { s.channel().do(declareQueue("\xff\xfe", exclusive)) }},
	{"purge", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0), publish("", "q", "1"), publish("", "q", "2"), publish("", "q", "3"))
		a.do(get("q", 0))
		a.do(purgeQueue("q", 0), purgeQueue("q", 0))
		a.do(reject(1, requeue))
		a.do(get("q", 0))
	}},
	{"purge with no-wait", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0), publish("", "q", "1"))
		a.do(purgeQueue("q", noWait))
		a.do(get("q", 0))
	}},
	{"purge of a missing one", func(s *stage) { s.channel().do(purgeQueue("q", 0)) }},
	{"purge of none", func(s *stage) { s.channel().do(purgeQueue("", 0)) }},
	{"delete counts messages", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0), publish("", "q", "1"), publish("", "q", "2"))
		a.do(deleteQueue("q", 0))
		a.do(declareQueue("q", passive))
	}},
	{"delete counts ready messages only", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0), publish("", "q", "1"), publish("", "q", "2"))
		a.do(get("q", 0))
		a.do(deleteQueue("q", 0))
		a.do(ack(1))
	}},
	{"delete of a missing one", func(s *stage) { s.channel().do(deleteQueue("q", 0), deleteQueue("q", ifUnused|ifEmpty)) }},
	{"delete of none", func(s *stage) { s.channel().do(deleteQueue("", 0)) }},
	{"delete of the last declared one", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0), deleteQueue("", 0))
		a.do(declareQueue("q", passive))
	}},
	{"delete with no-wait", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0), deleteQueue("q", noWait))
		a.do(declareQueue("q", passive))
	}},
	{"delete if empty", func(s *stage) { s.channel().do(declareQueue("q", 0), deleteQueue("q", ifEmpty)) }},
	{"delete if empty, and it is not", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0), publish("", "q", "m"))
		a.do(deleteQueue("q", ifEmpty))
	}},
	{"delete if empty, with one message out", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0), publish("", "q", "m"))
		a.do(get("q", 0))
		a.do(deleteQueue("q", ifEmpty))
	}},
	{"delete if unused, and it is", func(s *stage) { s.channel().do(declareQueue("q", 0), deleteQueue("q", ifUnused)) }},
	{"delete if unused, with a consumer", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0), consume("q", "c", 0))
		a.do(deleteQueue("q", ifUnused))
	}},
	{"delete if unused and empty, being neither", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0), publish("", "q", "m"))
		a.do(qos(1, 0), consume("q", "c", 0), publish("", "q", "n"))
		a.do(deleteQueue("q", ifUnused|ifEmpty))
	}},
	{"delete cancels the consumer on the same channel", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0), consume("q", "c", 0))
		a.do(deleteQueue("q", 0))
	}},
	{"messages do not survive delete and declare", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", durable), publish("", "q", "m", persistent))
		a.do(deleteQueue("q", 0), declareQueue("q", durable), get("q", 0))
	}},
}}
