package main

// Transactions.
var txChapter = chapter{"tx", []scenario{
	{"select twice", func(s *stage) { s.channel().do(txSelect(), txSelect()) }},
	{"commit without select", func(s *stage) { s.channel().do(txCommit()) }},
	{"rollback without select", func(s *stage) { s.channel().do(txRollback()) }},
	{"confirm.select behind it", func(s *stage) { s.channel().do(txSelect(), confirmSelect()) }},
	{"empty commit and rollback", func(s *stage) { s.channel().do(txSelect(), txCommit(), txRollback(), txCommit()) }},
	{"publishes wait for the commit", func(s *stage) {
		a := s.channel()
		b := a.client.channel(2)
		a.do(declareQueue("q", 0), txSelect(), publish("", "q", "1"), publish("", "q", "2"))
		b.do(get("q", noAck))
		a.do(txCommit())
		b.do(get("q", noAck), get("q", noAck), get("q", noAck))
	}},
	{"rolled back publishes are dropped", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0), txSelect(), publish("", "q", "1"), txRollback(), publish("", "q", "2"), txCommit())
		a.do(get("q", noAck), get("q", noAck))
	}},
	{"a closed channel rolls back", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0), txSelect(), publish("", "q", "1"))
		a.do(closeChannel())
		a.client.channel(2).do(get("q", noAck))
	}},
	{"acks wait for the commit", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0), publish("", "q", "1"), publish("", "q", "2"), txSelect(), get("q", 0), get("q", 0))
		a.do(ack(1), txCommit(), ack(2))
		a.client.do(closeConnection())
		s.channel().do(get("q", noAck), get("q", noAck))
	}},
	{"rolled back acks can be sent again", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0), publish("", "q", "1"), txSelect(), get("q", 0))
		a.do(ack(1), txRollback())
		a.do(ack(1), txCommit())
		a.do(declareQueue("q", passive))
	}},
	{"an ack twice in a transaction", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0), publish("", "q", "1"), txSelect(), get("q", 0))
		a.do(ack(1))
		a.do(ack(1))
	}},
	{"an unknown tag", func(s *stage) { s.channel().do(txSelect(), ack(5)) }},
	{"rejects wait for the commit", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0), publish("", "q", "1"), txSelect(), get("q", 0))
		a.do(reject(1, requeue))
		a.do(get("q", 0))
		a.do(txCommit())
		a.do(get("q", 0))
	}},
	{"a nack of several, rolled back and repeated", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0), publish("", "q", "1"), publish("", "q", "2"), txSelect(), get("q", 0), get("q", 0))
		a.do(nack(2, multiple|requeue), txRollback())
		a.do(get("q", 0))
		a.do(nack(2, multiple|requeue), txCommit())
		a.do(get("q", 0), get("q", 0))
	}},
	{"returns wait for the commit", func(s *stage) {
		a := s.channel()
		a.do(txSelect(), publish("", "missing", "m", mandatory))
		a.do(txCommit())
	}},
	{"returns are rolled back", func(s *stage) {
		a := s.channel()
		a.do(txSelect(), publish("", "missing", "m", mandatory))
		a.do(txRollback())
	}},
	{"a missing exchange is found at once", func(s *stage) { s.channel().do(txSelect(), publish("x", "k", "m")) }},
	{"a missing exchange ends the transaction", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0), txSelect(), publish("", "q", "1"), publish("x", "k", "m"))
		a.client.channel(2).do(get("q", noAck))
	}},
	{"the queue goes before the commit", func(s *stage) {
		a := s.channel()
		b := a.client.channel(2)
		a.do(declareQueue("q", 0), txSelect(), publish("", "q", "m", mandatory))
		b.do(deleteQueue("q", 0))
		a.do(txCommit())
	}},
	{"the queue comes before the commit", func(s *stage) {
		a := s.channel()
		b := a.client.channel(2)
		a.do(txSelect(), publish("", "q", "m", mandatory))
		b.do(declareQueue("q", 0))
		a.do(txCommit())
		b.do(get("q", noAck))
	}},
	{"acks and publishes together", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0), declareQueue("r", 0), publish("", "q", "m"), txSelect(), get("q", 0))
		a.do(publish("", "r", "moved"), ack(1), txCommit())
		a.do(declareQueue("q", passive), get("r", noAck))
	}},
	{"prefetch counts what is not committed", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0), publish("", "q", "1"), publish("", "q", "2"), txSelect(), qos(1, 0), consume("q", "c", 0))
		a.do(ack(1))
		a.do(txCommit())
	}},
	{"declares are not part of it", func(s *stage) {
		a := s.channel()
		a.do(txSelect(), declareQueue("q", 0), txRollback(), declareQueue("q", passive))
	}},
	{"a full queue rejects in a transaction", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0, "x-max-length", 0, "x-overflow", "reject-publish"), txSelect(), publish("", "q", "m"))
		a.do(txCommit())
	}},
}}
