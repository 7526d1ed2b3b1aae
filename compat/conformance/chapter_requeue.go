package main

import "github.com/warrenmq/warren/amqp"

// Where requeued messages go.
var requeueChapter = chapter{"requeue", []scenario{
	{"to its old place", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0), publish("", "q", "1"), publish("", "q", "2"), publish("", "q", "3"))
		a.do(get("q", 0), get("q", 0))
		a.do(reject(1, requeue))
		a.do(get("q", 0), get("q", 0))
	}},
	{"in between", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0), publish("", "q", "1"), publish("", "q", "2"), publish("", "q", "3"), publish("", "q", "4"))
		a.do(get("q", 0), get("q", 0), get("q", 0), get("q", 0))
		a.do(reject(3, requeue), reject(1, requeue), reject(4, requeue))
		a.do(get("q", 0), get("q", 0), get("q", 0), get("q", 0))
	}},
	{"all at once keep their order", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0), publish("", "q", "1"), publish("", "q", "2"), publish("", "q", "3"))
		a.do(get("q", 0), get("q", 0), get("q", 0))
		a.do(nack(3, multiple|requeue))
		a.do(get("q", 0), get("q", 0), get("q", 0))
	}},
	{"goes to another consumer, or the same", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0), consume("q", "c", 0))
		a.do(publish("", "q", "1"))
		a.do(nack(1, requeue))
		a.do(nack(2, requeue))
		a.do(ack(3))
	}},
	{"with prefetch, the requeued one comes before the rest", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0), publish("", "q", "1"), publish("", "q", "2"), qos(1, 0), consume("q", "c", 0))
		a.do(nack(1, requeue))
		a.do(ack(2))
		a.do(ack(3))
	}},
	{"recover with requeue", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0), publish("", "q", "1"), publish("", "q", "2"), get("q", 0), get("q", 0))
		a.do(recoverAll(requeue))
		a.do(get("q", 0), get("q", 0))
	}},
	{"recover to the same consumer", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0), publish("", "q", "1"), publish("", "q", "2"), consume("q", "c", 0))
		a.do(recoverAll(requeue))
		a.do(ackAll(4))
		a.do(declareQueue("q", passive))
	}},
	{"recover of nothing", func(s *stage) { s.channel().do(recoverAll(requeue)) }},
	{"recover without requeue", func(s *stage) { s.channel().do(recoverAll(0)) }},
	{"recover-async", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0), publish("", "q", "1"), get("q", 0))
		a.do(recoverAsync(true))
		a.do(get("q", 0))
	}},
	{"recover-async without requeue", func(s *stage) {
		a := s.channel()
		a.do(recoverAsync(false))
		a.client.awaitEnd()
	}},
	{"the channel's old tags are unknown after recover", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0), publish("", "q", "1"), get("q", 0), recoverAll(requeue))
		a.do(ack(1))
	}},
	{"the flag stays when nobody settles", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0), publish("", "q", "1"), publish("", "q", "2"), get("q", 0))
		a.client.do(closeConnection())
		b := s.channel()
		b.do(get("q", 0), get("q", 0))
	}},
	{"a requeued message counts as ready", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0), publish("", "q", "1"), get("q", 0))
		a.do(declareQueue("q", passive))
		a.do(reject(1, requeue))
		a.do(declareQueue("q", passive))
	}},
	{"a rejected message is gone", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0), publish("", "q", "1"), publish("", "q", "2"), get("q", 0))
		a.do(reject(1, 0))
		a.do(get("q", 0), get("q", 0))
	}},
	{"a body that fills frames is redelivered whole", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0), publish("", "q", string(make([]byte, 200000)), headers("h", "v")), get("q", 0))
		a.do(reject(1, requeue), get("q", 0))
	}},
}}

func recoverAsync(requeue bool) item { return method(&amqp.BasicRecoverAsync{Requeue: requeue}) }
