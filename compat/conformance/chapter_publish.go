package main

import (
	"fmt"

	"github.com/warrenmq/warren/amqp"
)

// What basic.publish refuses and what it lets pass.
var publishChapter = chapter{"publish", join([]scenario{
	{"to the default exchange", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0), publish("", "q", "m"), get("q", 0))
	}},
	{"to nowhere is silent", func(s *stage) {
		a := s.channel()
		a.do(publish("", "missing", "m"), publish("amq.direct", "k", "m"))
	}},
	{"to a missing exchange", func(s *stage) { s.channel().do(publish("x", "k", "m")) }},
	{"to a missing exchange, mandatory", func(s *stage) { s.channel().do(publish("x", "k", "m", mandatory)) }},
	{"immediate", func(s *stage) {
		a := s.channel()
		a.do(publish("", "q", "m", immediate))
		a.client.awaitEnd()
	}},
	{"an empty body", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0), publish("", "q", ""), get("q", 0))
	}},
	{"the key of a delivery is the publisher's", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0), bindQueue("q", "amq.topic", "a.#"), publish("amq.topic", "a.b.c", "m"), get("q", 0))
	}},
	{"the user's own name", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0), publish("", "q", "m", properties(amqp.Properties{UserID: "guest"})), get("q", 0))
	}},
	{"another user's name", func(s *stage) {
		a := s.channel()
		a.do(publish("", "q", "m", properties(amqp.Properties{UserID: "somebody"})))
	}},
	{"an empty user name", func(s *stage) {
		a := s.channel()
		a.do(publish("", "q", "m", properties(amqp.Properties{Present: amqp.HasUserID})))
	}},
	{"copies", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0), declareQueue("r", 0), declareQueue("t", 0))
		a.do(publish("", "q", "m", headers("CC", []any{"r"}, "BCC", []any{"t"}, "other", 1)))
		a.do(get("q", noAck), get("r", noAck), get("t", noAck))
	}},
	{"a blind copy alone", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0), declareQueue("r", 0))
		a.do(publish("", "q", "m", headers("BCC", []any{"r"})))
		a.do(get("q", noAck), get("r", noAck))
	}},
	{"a copy to the same queue is none", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0), publish("", "q", "m", headers("CC", []any{"q", "q"})))
		a.do(get("q", noAck), get("q", noAck))
	}},
	{"a copy saves a mandatory message", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("r", 0), publish("", "missing", "m", mandatory, headers("CC", []any{"r"})))
		a.do(get("r", noAck))
	}},
	{"a copy header that is no array", func(s *stage) { s.channel().do(publish("", "q", "m", headers("CC", 5))) }},
	{"a blind copy header that is no array", func(s *stage) { s.channel().do(publish("", "q", "m", headers("BCC", "r"))) }},
	{"a copy header with a number", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0))
		a.do(publish("", "q", "m", headers("CC", []any{5, "q"})))
		a.do(get("q", noAck))
	}},
	{"order is kept", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0))
		for i := range 20 {
			a.send(publish("", "q", fmt.Sprint(i)))
		}
		a.do(consume("q", "c", noAck))
	}},
	{"an error leaves what was published before", func(s *stage) {
		a := s.channel()
		a.pipeline(declareQueue("q", 0), publish("", "q", "1"), publish("x", "q", "2"), publish("", "q", "3"))
		a.client.channel(2).do(get("q", noAck), get("q", noAck))
	}},
},
	each([]string{"0", "1000", "315360000000", "315360000001", "-1", "foobar", "", "10.5", "1000ms", " 5", "007", "+5", "99999999999999999999"},
		func(v string) string { return fmt.Sprintf("expiration %q", v) },
		func(s *stage, v string) {
			a := s.channel()
			a.do(publish("", "missing", "m", properties(amqp.Properties{Present: amqp.HasExpiration, Expiration: v})))
		}),
)}
