package main

import "github.com/warrenmq/warren/amqp"

// How consumers end.
var cancelChapter = chapter{"cancel", []scenario{
	{"an unknown tag", func(s *stage) { s.channel().do(cancel("nobody", 0)) }},
	{"an unknown tag with no-wait", func(s *stage) { s.channel().do(cancel("nobody", noWait)) }},
	{"twice", func(s *stage) {
		s.channel().do(declareQueue("q", 0), consume("q", "c", 0), cancel("c", 0), cancel("c", 0))
	}},
	{"the tag of another channel", func(s *stage) {
		a := s.channel()
		b := a.client.channel(2)
		a.do(declareQueue("q", 0), consume("q", "c", 0))
		b.do(cancel("c", 0))
		a.do(publish("", "q", "m"))
	}},
	{"no more deliveries", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0), consume("q", "c", 0))
		a.do(cancel("c", 0), publish("", "q", "m"))
		a.do(declareQueue("q", passive))
	}},
	{"with no-wait", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0), consume("q", "c", 0))
		a.do(cancel("c", noWait))
		a.do(publish("", "q", "m"))
		a.do(declareQueue("q", passive))
	}},
	{"what was delivered stays out", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0), publish("", "q", "m"), consume("q", "c", 0))
		a.do(cancel("c", 0), get("q", 0))
		a.do(nack(1, requeue), get("q", 0))
	}},
	{"the broker's, when the queue is deleted", func(s *stage) {
		a, b := s.channel(), s.channel()
		a.do(declareQueue("q", 0), consume("q", "c", 0))
		b.do(deleteQueue("q", 0))
		a.do(cancel("c", 0))
		a.do(declareQueue("q", passive))
	}},
	{"the broker's, to two consumers", func(s *stage) {
		a, b := s.channel(), s.channel()
		a.do(declareQueue("q", 0), consume("q", "c", 0))
		a.client.channel(2).do(consume("q", "d", noAck))
		b.do(deleteQueue("q", 0))
	}},
	{"the broker's, not to a client that does not know it", func(s *stage) {
		a := s.connect(hello{properties: amqp.Table{}}).channel(1)
		b := s.channel()
		a.do(declareQueue("q", 0), consume("q", "c", 0))
		b.do(deleteQueue("q", 0))
		a.do(declareQueue("q", passive))
	}},
	{"the broker's, not when it has been told to be false", func(s *stage) {
		a := s.connect(hello{properties: amqp.Table{"capabilities": amqp.Table{"consumer_cancel_notify": false}}}).channel(1)
		b := s.channel()
		a.do(declareQueue("q", 0), consume("q", "c", 0))
		b.do(deleteQueue("q", 0))
	}},
	{"the tag is free after the broker's", func(s *stage) {
		a, b := s.channel(), s.channel()
		a.do(declareQueue("q", 0), declareQueue("r", 0), consume("q", "c", 0))
		b.do(deleteQueue("q", 0))
		a.do(consume("r", "c", 0), publish("", "r", "m"))
	}},
	{"cancel-ok from a client", func(s *stage) {
		a, b := s.channel(), s.channel()
		a.do(declareQueue("q", 0), consume("q", "c", 0))
		b.do(deleteQueue("q", 0))
		a.do(method(&amqp.BasicCancelOk{ConsumerTag: "c"}))
	}},
}}
