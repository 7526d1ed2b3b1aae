package main

import "fmt"

// What counts as the same when a queue or an exchange is declared again.
var equivalenceChapter = chapter{"equivalence", join(
	each([]redeclared{
		{then: durable},
		{first: durable},
		{then: autoDelete},
		{first: autoDelete},
		{then: exclusive},
		{first: exclusive},
		{then: durable | autoDelete},
		{first: exclusive, then: exclusive | durable},
		{first: exclusive | durable, then: exclusive},
		{firstArgs: ttl(1000), thenArgs: ttl(1000)},
		{firstArgs: ttl(1000), thenArgs: ttl(2000)},
		{firstArgs: ttl(1000)},
		{thenArgs: ttl(1000)},
		{firstArgs: ttl(1000), thenArgs: ttl(int64(1000))},
		{firstArgs: ttl(int8(100)), thenArgs: ttl(int16(100))},
		{firstArgs: ttl(uint32(1000)), thenArgs: ttl(uint16(1000))},
		{firstArgs: ttl(1000), thenArgs: ttl(int64(2000))},
		{firstArgs: ttl(1000), thenArgs: ttl("1000")},
		{firstArgs: args("x-expires", 60000), thenArgs: args("x-expires", 70000)},
		{firstArgs: args("x-max-length", 10)},
		{thenArgs: args("x-max-length", int8(10))},
		{thenArgs: args("x-max-length", uint8(10))},
		{thenArgs: args("x-max-length", int16(10))},
		{thenArgs: args("x-max-length", uint16(10))},
		{thenArgs: args("x-max-length", uint32(10))},
		{thenArgs: args("x-max-length", int64(10))},
		{firstArgs: args("x-max-length-bytes", 10), thenArgs: args("x-max-length-bytes", 11)},
		{firstArgs: args("x-max-length", 1), thenArgs: args("x-max-length", 1, "x-max-length-bytes", 10)},
		{firstArgs: args("x-overflow", "drop-head"), thenArgs: args("x-overflow", "reject-publish")},
		{firstArgs: args("x-overflow", "drop-head")},
		{firstArgs: args("x-dead-letter-exchange", "x"), thenArgs: args("x-dead-letter-exchange", "y")},
		{firstArgs: args("x-dead-letter-exchange", "x")},
		{firstArgs: args("x-dead-letter-exchange", "x", "x-dead-letter-routing-key", "k"), thenArgs: args("x-dead-letter-exchange", "x", "x-dead-letter-routing-key", "l")},
		{firstArgs: args("x-max-priority", 5), thenArgs: args("x-max-priority", 6)},
		{firstArgs: args("x-max-priority", 5)},
		{firstArgs: args("x-queue-mode", "lazy"), thenArgs: args("x-queue-mode", "default")},
		{firstArgs: args("x-queue-mode", "lazy")},
		{firstArgs: args("x-single-active-consumer", true), thenArgs: args("x-single-active-consumer", false)},
		{thenArgs: args("x-single-active-consumer", true)},
		{thenArgs: args("x-queue-type", "classic")},
		{firstArgs: args("x-queue-type", "classic")},
		{first: durable, then: durable, thenArgs: args("x-queue-type", "quorum")},
		{first: durable, firstArgs: args("x-queue-type", "quorum"), then: durable},
		{first: durable, firstArgs: args("x-queue-type", "quorum"), then: durable, thenArgs: args("x-queue-type", "quorum")},
		{firstArgs: args("x-queue-version", 2), thenArgs: args("x-queue-version", 2)},
		{firstArgs: args("x-whatever", 1), thenArgs: args("x-whatever", 2)},
		{firstArgs: args("x-whatever", 1)},
		{firstArgs: args("x-ha-policy", "all")},
		{firstArgs: args("x-message-ttl", 1000, "x-max-length", 5), thenArgs: args("x-max-length", 6, "x-message-ttl", 2000)},
		{then: durable, thenArgs: ttl(5)},
	}, redeclared.describe, func(s *stage, r redeclared) {
		a := s.channel()
		a.do(declareQueue("q", r.first, r.firstArgs...))
		a.do(declareQueue("q", r.then, r.thenArgs...))
	}),
	each([]redeclaredExchange{
		{"direct", 0, nil, "fanout", 0, nil},
		{"direct", 0, nil, "direct", durable, nil},
		{"direct", durable, nil, "direct", 0, nil},
		{"direct", 0, nil, "direct", autoDelete, nil},
		{"direct", 0, nil, "direct", internal, nil},
		{"direct", internal, nil, "direct", 0, nil},
		{"direct", 0, nil, "topic", durable | autoDelete | internal, nil},
		{"direct", 0, nil, "carousel", 0, nil},
		{"direct", 0, args("alternate-exchange", "y"), "direct", 0, args("alternate-exchange", "y")},
		{"direct", 0, args("alternate-exchange", "y"), "direct", 0, args("alternate-exchange", "z")},
		{"direct", 0, args("alternate-exchange", "y"), "direct", 0, nil},
		{"direct", 0, nil, "direct", 0, args("alternate-exchange", "y")},
		{"direct", 0, args("x-whatever", 1), "direct", 0, args("x-whatever", "2")},
	}, redeclaredExchange.describe, func(s *stage, r redeclaredExchange) {
		a := s.channel()
		a.do(declareExchange("x", r.kind, r.first, r.firstArgs...))
		a.do(declareExchange("x", r.thenKind, r.then, r.thenArgs...))
	}),
)}

// redeclared is a queue that is declared twice.
type redeclared struct {
	first     flags
	firstArgs []any
	then      flags
	thenArgs  []any
}

func (r redeclared) describe() string {
	return fmt.Sprintf("queue %s, then %s", describeDeclare(r.first, r.firstArgs), describeDeclare(r.then, r.thenArgs))
}

// redeclaredExchange is an exchange that is declared twice.
type redeclaredExchange struct {
	kind      string
	first     flags
	firstArgs []any
	thenKind  string
	then      flags
	thenArgs  []any
}

func (r redeclaredExchange) describe() string {
	return fmt.Sprintf("exchange %s %s, then %s %s",
		r.kind, describeDeclare(r.first, r.firstArgs), r.thenKind, describeDeclare(r.then, r.thenArgs))
}

func args(pairs ...any) []any { return pairs }
func ttl(v any) []any         { return args("x-message-ttl", v) }

// describeDeclare names flags and arguments: [durable x-max-length=I:10].
func describeDeclare(f flags, args []any) string {
	text := "["
	for _, one := range []struct {
		f    flags
		name string
	}{{durable, "durable "}, {exclusive, "exclusive "}, {autoDelete, "auto-delete "}, {internal, "internal "}} {
		if f.has(one.f) {
			text += one.name
		}
	}
	return text + describeTable(table(args...)) + "]"
}
