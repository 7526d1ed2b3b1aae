package main

// Prefetch limits.
var qosChapter = chapter{"qos", join([]scenario{
	{"octets cannot be limited", func(s *stage) { s.channel().do(qosOctets(1000)) }},
	{"a consumer gets no more than its limit", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0), qos(2, 0), consume("q", "c", 0))
		a.do(times(4, publish("", "q", "m"))...)
		a.do(ack(1))
		a.do(ackAll(3))
	}},
	{"each consumer has a limit of its own", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0), qos(1, 0), consume("q", "c", 0), consume("q", "d", 0))
		for range 3 {
			a.do(publish("", "q", "m"))
		}
	}},
	{"a later limit does not change a running consumer", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0), qos(1, 0), consume("q", "c", 0), qos(10, 0))
		a.do(publish("", "q", "1"))
		a.do(publish("", "q", "2"))
	}},
	{"no limit is no limit", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0), qos(1, 0), qos(0, 0), consume("q", "c", 0))
		a.do(times(5, publish("", "q", "m"))...)
	}},
	{"without acknowledgement there is no limit", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0), qos(1, 0), consume("q", "c", noAck))
		a.do(times(5, publish("", "q", "m"))...)
	}},
	{"get does not count", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0), declareQueue("r", 0), qos(1, 0), publish("", "r", "m"), get("r", 0), consume("q", "c", 0))
		a.do(publish("", "q", "1"))
	}},
	{"reject makes room", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0), qos(1, 0), publish("", "q", "1"), publish("", "q", "2"), consume("q", "c", 0))
		a.do(reject(1, 0))
	}},
	{"the limit of one channel is not another's", func(s *stage) {
		a := s.channel()
		b := a.client.channel(2)
		a.do(declareQueue("q", 0), qos(1, 0))
		b.do(consume("q", "c", 0))
		a.do(times(3, publish("", "q", "m"))...)
	}},
	{"with two consumers the one with room gets more", func(s *stage) {
		a := s.channel()
		b := a.client.channel(2)
		a.do(declareQueue("q", 0), qos(1, 0), consume("q", "c", 0))
		b.do(qos(3, 0), consume("q", "d", 0))
		a.do(publish("", "q", "1"))
		a.do(publish("", "q", "2"))
		a.do(publish("", "q", "3"))
		a.do(publish("", "q", "4"))
		a.do(publish("", "q", "5"))
		b.do(ackAll(0))
	}},
	{"a closed consumer's room is not inherited", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0), qos(1, 0), publish("", "q", "1"), publish("", "q", "2"), consume("q", "c", 0))
		a.do(cancel("c", 0))
		a.do(consume("q", "d", 0))
		a.do(ack(1))
	}},
	{"global: the channel's consumers share a limit", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0), qos(2, global), consume("q", "c", 0), consume("q", "d", 0))
		for range 4 {
			a.do(publish("", "q", "m"))
		}
		a.do(ack(1))
		a.do(ackAll(0))
	}},
	{"global: a higher limit holds at once", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0), qos(1, global), consume("q", "c", 0))
		a.do(times(4, publish("", "q", "m"))...)
		a.do(qos(3, global))
		a.do(qos(0, global))
	}},
	{"global: a lower limit holds from then on", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0), qos(3, global), consume("q", "c", 0))
		a.do(times(5, publish("", "q", "m"))...)
		a.do(qos(1, global))
		a.do(ackAll(2))
		a.do(ack(3))
	}},
	{"global and per consumer: both hold", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0), qos(1, 0), qos(3, global), consume("q", "c", 0))
		a.do(times(4, publish("", "q", "m"))...)
		a.do(ack(1))
	}},
	{"global: spans queues", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0), declareQueue("r", 0), qos(1, global), consume("q", "c", 0))
		a.do(publish("", "q", "1"))
		a.do(consume("r", "d", 0))
		a.do(publish("", "r", "2"))
		a.do(ack(1))
	}},
	{"global: recover makes room", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0), qos(1, global), publish("", "q", "1"), consume("q", "c", 0))
		a.do(recoverAll(requeue))
	}},
	{"a requeue by another goes to who has room", func(s *stage) {
		a := s.channel()
		b := a.client.channel(2)
		a.do(declareQueue("q", 0), publish("", "q", "1"), get("q", 0))
		b.do(qos(1, 0), consume("q", "c", 0))
		a.do(reject(1, requeue))
	}},
})}
