package main

import "github.com/warrenmq/warren/amqp"

// Where dead messages go, and what they carry.
var deadLetterChapter = chapter{"dead letters", []scenario{
	{"rejected", func(s *stage) {
		a := s.deadLetters()
		a.do(publish("", "q", "m"), get("q", 0))
		a.do(reject(1, 0))
		a.do(get("d", noAck))
	}},
	{"rejected, with properties of its own", func(s *stage) {
		a := s.deadLetters()
		a.do(publish("", "q", "m", properties(amqp.Properties{ContentType: "text/plain", DeliveryMode: 2, CorrelationID: "c", Headers: tableOf("zz", 1, "aa", "b")})), get("q", 0))
		a.do(reject(1, 0))
		a.do(get("d", noAck))
	}},
	{"nacked, several at once", func(s *stage) {
		a := s.deadLetters()
		a.do(publish("", "q", "1"), publish("", "q", "2"), publish("", "q", "3"), get("q", 0), get("q", 0), get("q", 0))
		a.do(nack(2, multiple))
		a.do(get("d", noAck), get("d", noAck), get("d", noAck))
	}},
	{"requeued is not dead", func(s *stage) {
		a := s.deadLetters()
		a.do(publish("", "q", "m"), get("q", 0))
		a.do(reject(1, requeue))
		a.do(get("d", noAck), get("q", noAck))
	}},
	{"acknowledged, purged and deleted is not dead", func(s *stage) {
		a := s.deadLetters()
		a.do(publish("", "q", "1"), publish("", "q", "2"), get("q", 0))
		a.do(ack(1), purgeQueue("q", 0), publish("", "q", "3"), deleteQueue("q", 0))
		a.do(get("d", noAck))
	}},
	{"expired by the queue", func(s *stage) {
		a := s.deadLetters("x-message-ttl", 100)
		a.do(publish("", "q", "m"))
		s.wait(expiryTime)
		a.do(get("d", noAck))
	}},
	{"expired by its own limit, which is kept aside", func(s *stage) {
		a := s.deadLetters()
		a.do(publish("", "q", "m", expiration("100")))
		s.wait(expiryTime)
		a.do(get("d", noAck))
	}},
	{"rejected with a limit of its own, which is kept aside", func(s *stage) {
		a := s.deadLetters()
		a.do(publish("", "q", "m", expiration("60000")), get("q", 0))
		a.do(reject(1, 0))
		a.do(get("d", noAck))
	}},
	{"too many", func(s *stage) {
		a := s.deadLetters("x-max-length", 1)
		a.do(publish("", "q", "1"), publish("", "q", "2"))
		a.do(get("d", noAck), get("q", noAck))
	}},
	{"the original key without x-dead-letter-routing-key", func(s *stage) {
		a := s.channel()
		a.do(declareExchange("dead", "fanout", 0), declareQueue("d", 0), bindQueue("d", "dead", ""))
		a.do(declareQueue("q", 0, "x-dead-letter-exchange", "dead"), bindQueue("q", "amq.topic", "#"))
		a.do(publish("amq.topic", "some.key", "m"), get("q", 0))
		a.do(reject(1, 0))
		a.do(get("d", noAck))
	}},
	{"copies' keys without x-dead-letter-routing-key", func(s *stage) {
		a := s.channel()
		a.do(declareExchange("dead", "direct", 0), declareQueue("d", 0), declareQueue("e", 0), declareQueue("f", 0))
		a.do(bindQueue("d", "dead", "q"), bindQueue("e", "dead", "cc"), bindQueue("f", "dead", "bcc"))
		a.do(declareQueue("q", 0, "x-dead-letter-exchange", "dead"))
		a.do(publish("", "q", "m", headers("CC", []any{"cc"}, "BCC", []any{"bcc"})), get("q", 0))
		a.do(reject(1, 0))
		a.do(get("d", noAck), get("e", noAck), get("f", noAck))
	}},
	{"copies' keys with x-dead-letter-routing-key", func(s *stage) {
		a := s.deadLetters()
		a.do(declareQueue("e", 0))
		a.do(publish("", "q", "m", headers("CC", []any{"e"})), get("q", 0), get("e", noAck))
		a.do(reject(1, 0))
		a.do(get("d", noAck), get("e", noAck))
	}},
	{"twice in the same queue", func(s *stage) {
		a := s.deadLetters()
		a.do(declareQueue("d2", 0, "x-dead-letter-exchange", "", "x-dead-letter-routing-key", "q"))
		a.do(publish("", "q", "m"), get("q", 0))
		a.do(reject(1, 0))
		a.do(get("d", noAck))
	}},
	{"through two queues and back by rejects", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0, "x-dead-letter-exchange", "", "x-dead-letter-routing-key", "r"), declareQueue("r", 0, "x-dead-letter-exchange", "", "x-dead-letter-routing-key", "q"))
		a.do(publish("", "q", "m"), get("q", 0))
		a.do(reject(1, 0))
		a.do(get("r", 0))
		a.do(reject(2, 0))
		a.do(get("q", 0))
		a.do(reject(3, 0))
		a.do(get("r", 0))
	}},
	{"a retry queue: rejected, expired, back", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("work", 0, "x-dead-letter-exchange", "", "x-dead-letter-routing-key", "retry"))
		a.do(declareQueue("retry", 0, "x-message-ttl", 100, "x-dead-letter-exchange", "", "x-dead-letter-routing-key", "work"))
		a.do(publish("", "work", "m"), get("work", 0))
		a.do(reject(1, 0))
		s.wait(expiryTime)
		a.do(get("work", 0))
		a.do(reject(2, 0))
		s.wait(expiryTime)
		a.do(get("work", 0))
	}},
	{"a cycle without a reject is cut", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0, "x-message-ttl", 100, "x-dead-letter-exchange", "", "x-dead-letter-routing-key", "q"))
		a.do(publish("", "q", "m"))
		s.wait(expiryTime)
		a.do(declareQueue("q", passive))
	}},
	{"to a missing exchange", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0, "x-dead-letter-exchange", "missing"), publish("", "q", "m"), get("q", 0))
		a.do(reject(1, 0))
		a.do(declareQueue("q", passive))
	}},
	{"to an exchange declared later", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0, "x-dead-letter-exchange", "x"), publish("", "q", "m"), get("q", 0))
		a.do(declareExchange("x", "fanout", 0), declareQueue("d", 0), bindQueue("d", "x", ""))
		a.do(reject(1, 0))
		a.do(get("d", noAck))
	}},
	{"to an internal exchange", func(s *stage) {
		a := s.channel()
		a.do(declareExchange("x", "fanout", internal), declareQueue("d", 0), bindQueue("d", "x", ""), declareQueue("q", 0, "x-dead-letter-exchange", "x"))
		a.do(publish("", "q", "m"), get("q", 0))
		a.do(reject(1, 0))
		a.do(get("d", noAck))
	}},
	{"the mandatory flag is spent", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0, "x-dead-letter-exchange", "amq.direct", "x-dead-letter-routing-key", "nobody"), publish("", "q", "m", mandatory), get("q", 0))
		a.do(reject(1, 0))
	}},
	{"a client's x-death is not trusted", func(s *stage) {
		a := s.deadLetters()
		a.do(publish("", "q", "m", headers("x-death", "no array", "h", 1)), get("q", 0))
		a.do(reject(1, 0))
		a.do(get("d", noAck))
	}},
	{"a republished dead letter", func(s *stage) {
		a := s.deadLetters()
		death := tableOf("count", int64(7), "reason", "rejected", "queue", "q", "time", unixTime(1700000000), "exchange", "", "routing-keys", []any{"q"})
		a.do(publish("", "q", "m", headers("x-death", []any{death}, "x-first-death-queue", "q", "x-first-death-reason", "rejected", "x-first-death-exchange", "")), get("q", 0))
		a.do(reject(1, 0))
		a.do(get("d", noAck))
	}},
	{"rejected in a transaction", func(s *stage) {
		a := s.deadLetters()
		a.do(publish("", "q", "m"), get("q", 0), txSelect(), reject(1, 0))
		a.do(get("d", noAck))
		a.do(txCommit())
		a.do(get("d", noAck))
	}},
	{"to a consumer", func(s *stage) {
		a := s.deadLetters()
		b := s.channel()
		b.do(consume("d", "c", 0))
		a.do(publish("", "q", "m"), get("q", 0))
		a.do(reject(1, 0))
	}},
}}

// deadLetters declares a queue q whose dead letters go to the queue d, and more arguments of q.
func (s *stage) deadLetters(more ...any) *channel {
	a := s.channel()
	a.do(declareQueue("d", 0), declareQueue("q", 0, append([]any{"x-dead-letter-exchange", "", "x-dead-letter-routing-key", "d"}, more...)...))
	return a
}
