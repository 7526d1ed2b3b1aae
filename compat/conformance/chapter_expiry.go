package main

import "time"

// Times to live of messages and queues. The margins are wide: what is compared is whether, not when.
var expiryChapter = chapter{"expiry", []scenario{
	{"a queue's limit", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0, "x-message-ttl", 200), publish("", "q", "m"))
		a.do(declareQueue("q", passive))
		s.wait(expiryTime)
		a.do(declareQueue("q", passive), get("q", 0))
	}},
	{"a message's limit", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0), publish("", "q", "m", expiration("200")), publish("", "q", "n"))
		s.wait(expiryTime)
		a.do(get("q", 0), get("q", 0))
	}},
	{"the shorter of both", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0, "x-message-ttl", 60000), declareQueue("r", 0, "x-message-ttl", 200))
		a.do(publish("", "q", "m", expiration("200")), publish("", "r", "m", expiration("60000")))
		s.wait(expiryTime)
		a.do(get("q", 0), get("r", 0))
	}},
	{"zero, with nobody waiting", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0, "x-message-ttl", 0), publish("", "q", "m"))
		a.do(get("q", 0))
	}},
	{"zero, with a consumer", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0, "x-message-ttl", 0), consume("q", "c", 0))
		a.do(publish("", "q", "m"))
		a.do(publish("", "q", "n", expiration("0")))
	}},
	{"a message's zero, with nobody waiting", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0), publish("", "q", "m", expiration("0")))
		a.do(get("q", 0))
	}},
	{"zero, with a consumer that has no room", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0, "x-message-ttl", 0), qos(1, 0), consume("q", "c", 0))
		a.do(publish("", "q", "1"))
		a.do(publish("", "q", "2"))
		a.do(ack(1))
	}},
	{"a delivered message does not expire, a requeued one does", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0, "x-message-ttl", 200), publish("", "q", "m"), get("q", 0))
		s.wait(expiryTime)
		a.do(reject(1, requeue))
		a.do(get("q", 0))
	}},
	{"a delivered message can be settled late", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0, "x-message-ttl", 200), publish("", "q", "m"), consume("q", "c", 0))
		s.wait(expiryTime)
		a.do(ack(1))
	}},
	{"behind a longer-lived message", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0), publish("", "q", "long", expiration("60000")), publish("", "q", "short", expiration("100")))
		s.wait(expiryTime)
		a.do(get("q", noAck), get("q", noAck))
	}},
	{"the property is delivered", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0), publish("", "q", "m", expiration("60000")), get("q", 0))
	}},
	{"expired messages do not count for delete", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0, "x-message-ttl", 100), publish("", "q", "m"))
		s.wait(expiryTime)
		a.do(deleteQueue("q", 0))
	}},
	{"an unused queue goes", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0, "x-expires", 200))
		s.wait(expiryTime)
		a.do(declareQueue("q", passive))
	}},
	{"a consumer keeps a queue", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0, "x-expires", 200), consume("q", "c", 0))
		s.wait(expiryTime)
		a.do(cancel("c", 0), declareQueue("q", passive))
		s.wait(expiryTime)
		a.do(declareQueue("q", passive))
	}},
	{"a publish does not keep a queue", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0, "x-expires", 600))
		s.wait(400 * time.Millisecond)
		a.do(publish("", "q", "m"))
		s.wait(500 * time.Millisecond)
		a.do(declareQueue("q", passive))
	}},
	{"declare and get keep a queue", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0, "x-expires", 800))
		s.wait(500 * time.Millisecond)
		a.do(declareQueue("q", 0, "x-expires", 800))
		s.wait(500 * time.Millisecond)
		a.do(get("q", 0))
		s.wait(500 * time.Millisecond)
		a.do(declareQueue("q", passive))
	}},
	{"an exclusive queue expires too", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", exclusive, "x-expires", 200))
		s.wait(expiryTime)
		a.do(declareQueue("q", exclusive|passive))
	}},
}}

// expiryTime is enough for what lives 200 ms to be gone.
const expiryTime = 700 * time.Millisecond
