package main

import (
	"github.com/warrenmq/warren/amqp"
)

// Headers exchanges: for each binding all messages are published, and those that arrive are seen.
var headersChapter = chapter{"headers exchange", join(
	each([][]any{
		args(),
		args("x-match", "all"), args("x-match", "any"), args("x-match", "all-with-x"), args("x-match", "any-with-x"),
		args("a", 1), args("x-match", "all", "a", 1), args("x-match", "any", "a", 1),
		args("x-match", "all", "a", 1, "b", 2), args("x-match", "any", "a", 1, "b", 2),
		args("x-match", "all", "a", "1"), args("x-match", "all", "a", int64(1)), args("x-match", "all", "a", 1.0), args("x-match", "all", "a", true),
		args("x-match", "all", "a", nil), args("x-match", "any", "a", nil, "b", nil),
		args("x-match", "all", "x-a", 1), args("x-match", "any", "x-a", 1), args("x-match", "all-with-x", "x-a", 1), args("x-match", "any-with-x", "x-a", 1, "b", 5),
		args("x-match", "all", "a", 1, "x-a", 5), args("x-match", "all-with-x", "a", 1, "x-a", 1),
		args("x-match", "all", "s", "text"), args("x-match", "all", "s", []byte("text")),
		args("x-match", "all", "t", amqp.Table{"k": int32(1)}), args("x-match", "all", "l", []any{1, 2}),
	}, func(a []any) string { return "bound with " + describeTable(table(a...)) },
		func(s *stage, binding []any) {
			a := s.channel()
			a.do(declareExchange("x", "headers", 0), declareQueue("q", 0), bindQueue("q", "x", "ignored", binding...))
			a.send(publish("x", "", "no headers"), publish("x", "", "empty headers", properties(amqp.Properties{Present: amqp.HasHeaders})))
			for _, h := range [][]any{
				args("a", 1), args("a", 2), args("b", 2), args("a", 1, "b", 2), args("a", 1, "b", 3), args("a", int64(1)), args("a", int8(1)), args("a", uint16(1)),
				args("a", "1"), args("a", 1.0), args("a", float32(1)), args("a", true), args("a", nil), args("x-a", 1), args("x-a", 2), args("a", 1, "x-a", 1),
				args("s", "text"), args("s", []byte("text")), args("t", amqp.Table{"k": int32(1)}), args("t", amqp.Table{"k": int64(1)}), args("l", []any{1, 2}),
				args("x-match", "any"),
			} {
				a.send(publish("x", "", describeTable(table(h...)), headers(h...)))
			}
			a.do(consume("q", "c", noAck))
		}),
	each([]any{"foo", "", "ALL", 1, true, nil}, func(v any) string { return "bound with " + describeTable(table("x-match", v)) },
		func(s *stage, v any) {
			a := s.channel()
			a.do(declareExchange("x", "headers", 0), declareQueue("q", 0))
			a.do(bindQueue("q", "x", "", "x-match", v, "a", 1))
		}),
	[]scenario{
		{"arguments of bindings to other types are not looked at", func(s *stage) {
			a := s.channel()
			a.do(declareExchange("x", "direct", 0), declareQueue("q", 0), bindQueue("q", "x", "k", "x-match", "foo"))
			a.do(publish("x", "k", "m"), get("q", noAck))
		}},
		{"an exchange behind a headers exchange", func(s *stage) {
			a := s.channel()
			a.do(declareExchange("x", "headers", 0), declareExchange("y", "fanout", 0), declareQueue("q", 0))
			a.do(bindExchange("y", "x", "", "a", 1), bindQueue("q", "y", ""))
			a.do(publish("x", "", "1", headers("a", 1)), publish("x", "", "2", headers("a", 2)), get("q", noAck), get("q", noAck))
		}},
		{"unbound by the same arguments only", func(s *stage) {
			a := s.channel()
			a.do(declareExchange("x", "headers", 0), declareQueue("q", 0), bindQueue("q", "x", "", "a", 1))
			a.do(unbindQueue("q", "x", "", "a", 2), publish("x", "", "1", headers("a", 1)), get("q", noAck))
			a.do(unbindQueue("q", "x", "", "a", 1), publish("x", "", "2", headers("a", 1)), get("q", noAck))
		}},
		{"amq.headers and amq.match are such", func(s *stage) {
			a := s.channel()
			a.do(declareQueue("q", 0), bindQueue("q", "amq.headers", "", "a", 1), bindQueue("q", "amq.match", "", "a", 2))
			a.do(publish("amq.headers", "", "1", headers("a", 1)), publish("amq.match", "", "2", headers("a", 2)), get("q", noAck), get("q", noAck))
		}},
	},
)}
