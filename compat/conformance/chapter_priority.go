package main

import (
	"fmt"

	"github.com/warrenmq/warren/amqp"
)

// Priorities of messages and of consumers, and single active consumers.
var priorityChapter = chapter{"priority", []scenario{
	{"higher messages first", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0, "x-max-priority", 5))
		for i, p := range []uint8{0, 3, 1, 5, 3, 0, 200} {
			a.send(publish("", "q", fmt.Sprint(i), properties(amqp.Properties{Priority: p})))
		}
		a.do(publish("", "q", "none"))
		a.do(times(8, get("q", noAck))...)
	}},
	{"without x-max-priority there is none", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0), publish("", "q", "1", properties(amqp.Properties{Priority: 1})), publish("", "q", "2", properties(amqp.Properties{Priority: 9})))
		a.do(get("q", noAck), get("q", noAck))
	}},
	{"a requeued message keeps its priority", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0, "x-max-priority", 5), publish("", "q", "1", properties(amqp.Properties{Priority: 1})), publish("", "q", "2", properties(amqp.Properties{Priority: 2})))
		a.do(get("q", 0), get("q", 0))
		a.do(reject(2, requeue), reject(1, requeue))
		a.do(get("q", 0), get("q", 0))
	}},
	{"purge and counts span priorities", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0, "x-max-priority", 5), publish("", "q", "1", properties(amqp.Properties{Priority: 1})), publish("", "q", "2", properties(amqp.Properties{Priority: 2})))
		a.do(declareQueue("q", passive), get("q", 0))
		a.do(purgeQueue("q", 0))
	}},
	{"the consumer of the higher priority gets all", func(s *stage) {
		a := s.channel()
		b := a.client.channel(2)
		a.do(declareQueue("q", 0), consume("q", "low", 0, "x-priority", 1))
		b.do(consume("q", "high", 0, "x-priority", 2))
		for range 3 {
			a.do(publish("", "q", "m"))
		}
	}},
	{"the consumer of the lower priority gets what the other has no room for", func(s *stage) {
		a := s.channel()
		b := a.client.channel(2)
		b.do(declareQueue("q", 0), qos(1, 0), consume("q", "high", 0, "x-priority", 5))
		a.do(consume("q", "low", 0))
		for range 3 {
			a.do(publish("", "q", "m"))
		}
		b.do(ack(1))
		a.do(publish("", "q", "m"))
	}},
	{"a negative priority is below none", func(s *stage) {
		a := s.channel()
		b := a.client.channel(2)
		b.do(declareQueue("q", 0), consume("q", "negative", 0, "x-priority", -1))
		a.do(consume("q", "none", 0))
		a.do(publish("", "q", "m"))
	}},
	{"single active consumer", func(s *stage) {
		a := s.channel()
		b := a.client.channel(2)
		a.do(declareQueue("q", 0, "x-single-active-consumer", true), consume("q", "first", 0))
		b.do(consume("q", "second", 0))
		a.do(publish("", "q", "1"))
		a.do(publish("", "q", "2"))
		a.do(cancel("first", 0))
		a.do(publish("", "q", "3"))
		a.do(nack(1, requeue))
	}},
	{"single active consumer: the next when its channel closes", func(s *stage) {
		a := s.channel()
		b := a.client.channel(2)
		a.do(declareQueue("q", 0, "x-single-active-consumer", true), consume("q", "first", 0), publish("", "q", "1"))
		b.do(consume("q", "second", 0))
		a.do(closeChannel())
		b.do(publish("", "q", "2"))
	}},
	{"single active consumer: exclusive", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0, "x-single-active-consumer", true))
		a.do(consume("q", "c", exclusive))
	}},
	{"single active consumer: get", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0, "x-single-active-consumer", true), publish("", "q", "1"), get("q", 0))
	}},
}}
