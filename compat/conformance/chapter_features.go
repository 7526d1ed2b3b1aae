package main

import "github.com/warrenmq/warren/amqp"

// Direct reply-to, quorum queues and other types, as far as they are there.
var featuresChapter = chapter{"features", []scenario{
	{"direct reply-to: a whole call", func(s *stage) {
		a, b := s.channel(), s.channel()
		b.do(declareQueue("rpc", 0))
		a.do(consume(replyTo, "c", noAck), publish("", "rpc", "ping", properties(amqp.Properties{ReplyTo: replyTo, CorrelationID: "1"})))
		b.do(get("rpc", noAck))
	}},
	{"direct reply-to: with acknowledgement", func(s *stage) { s.channel().do(consume(replyTo, "c", 0)) }},
	{"direct reply-to: twice", func(s *stage) {
		a := s.channel()
		a.do(consume(replyTo, "c", noAck))
		a.do(consume(replyTo, "d", noAck))
	}},
	{"direct reply-to: a request without a consumer", func(s *stage) {
		a := s.channel()
		a.do(publish("", "rpc", "ping", properties(amqp.Properties{ReplyTo: replyTo})))
	}},
	{"direct reply-to: get", func(s *stage) { s.channel().do(get(replyTo, noAck)) }},
	{"direct reply-to: declare", func(s *stage) { s.channel().do(declareQueue(replyTo, passive)) }},
	{"direct reply-to: declare of a name that is not there", func(s *stage) { s.channel().do(declareQueue(replyTo+".nobody", passive)) }},
	{"direct reply-to: cancel", func(s *stage) {
		a := s.channel()
		a.do(consume(replyTo, "c", noAck))
		a.do(cancel("c", 0))
		a.do(consume(replyTo, "d", noAck))
	}},
	{"quorum: publish, confirm, get, ack", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", durable, "x-queue-type", "quorum"), confirmSelect())
		a.do(publish("", "q", "m", persistent))
		a.do(get("q", 0))
		a.do(ack(1))
	}},
	{"quorum: a delivery limit", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", durable, "x-queue-type", "quorum", "x-delivery-limit", 1), confirmSelect())
		a.do(publish("", "q", "m", persistent))
		a.do(get("q", 0))
		a.do(reject(1, requeue))
		s.wait(dropTime)
		a.do(get("q", 0))
		a.do(reject(2, requeue))
		s.wait(dropTime)
		a.do(get("q", 0))
	}},
	{"quorum: global prefetch", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", durable, "x-queue-type", "quorum"), qos(1, global))
		a.do(consume("q", "c", 0))
	}},
	{"quorum: delete if unused", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", durable, "x-queue-type", "quorum"))
		a.do(deleteQueue("q", ifUnused))
	}},
	{"quorum: delete if empty", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", durable, "x-queue-type", "quorum"))
		a.do(deleteQueue("q", ifEmpty))
	}},
}}

const replyTo = "amq.rabbitmq.reply-to"
