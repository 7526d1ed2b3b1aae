package main

import "fmt"

// Consumers: how they begin and what they are sent.
var consumeChapter = chapter{"consume", []scenario{
	{"messages that wait, then one that comes", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0), publish("", "q", "1"), publish("", "q", "2"))
		a.do(consume("q", "c", 0))
		a.do(publish("", "q", "3"))
	}},
	{"without acknowledgement", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0), publish("", "q", "1"))
		a.do(consume("q", "c", noAck))
		a.do(declareQueue("q", passive))
		a.do(ack(1))
	}},
	{"a tag of the broker's", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0))
		a.do(consume("q", "", noAck))
		a.do(publish("", "q", "m"))
	}},
	{"two tags of the broker's", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0), consume("q", "", 0), consume("q", "", 0))
	}},
	{"a tag that looks like the broker's", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0), consume("q", "amq.ctag-mine", 0))
	}},
	{"a tag of 255 octets", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0), consume("q", longName, 0), publish("", "q", "m"))
	}},
	{"a tag that is in use", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0), consume("q", "c", 0))
		a.do(consume("q", "c", 0))
	}},
	{"a tag that is in use on another channel", func(s *stage) {
		a := s.channel()
		b := a.client.channel(2)
		a.do(declareQueue("q", 0), consume("q", "c", 0))
		b.do(consume("q", "c", 0))
	}},
	{"a tag is free again after cancel", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0), consume("q", "c", 0))
		a.do(cancel("c", 0))
		a.do(consume("q", "c", 0))
	}},
	{"with no-wait", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0), publish("", "q", "m"))
		a.do(consume("q", "c", noWait))
	}},
	{"a missing queue", func(s *stage) { s.channel().do(consume("q", "c", 0)) }},
	{"a missing queue with no-wait", func(s *stage) { s.channel().do(consume("q", "c", noWait)) }},
	{"no queue declared before", func(s *stage) { s.channel().do(consume("", "c", 0)) }},
	{"the last declared queue", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0), consume("", "c", 0), publish("", "q", "m"))
	}},
	{"no-local is ignored", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0), consume("q", "c", noLocal), publish("", "q", "m"))
	}},
	{"exclusive", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0), consume("q", "c", exclusive), publish("", "q", "m"))
	}},
	{"exclusive beside another", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0), consume("q", "c", 0))
		a.do(consume("q", "d", exclusive))
	}},
	{"another beside an exclusive one", func(s *stage) {
		a, b := s.channel(), s.channel()
		a.do(declareQueue("q", 0), consume("q", "c", exclusive))
		b.do(consume("q", "d", 0))
		b.do(openChannel())
		b.do(get("q", 0))
		a.do(cancel("c", 0))
		b.do(consume("q", "d", 0))
	}},
	{"an exclusive one's messages go to nobody else", func(s *stage) {
		a, b := s.channel(), s.channel()
		a.do(declareQueue("q", 0), consume("q", "c", exclusive))
		a.do(closeChannel())
		b.do(consume("q", "d", exclusive), publish("", "q", "m"))
	}},
	{"in turn", func(s *stage) {
		a := s.channel()
		b := a.client.channel(2)
		a.do(declareQueue("q", 0), consume("q", "c", 0))
		b.do(consume("q", "d", 0))
		for i := range 4 {
			a.do(publish("", "q", fmt.Sprint(i)))
		}
	}},
	{"two on one channel, in turn", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0), consume("q", "c", 0), consume("q", "d", 0))
		for i := range 4 {
			a.do(publish("", "q", fmt.Sprint(i)))
		}
	}},
	{"delivery tags are shared by consumers and get", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0), declareQueue("r", 0), publish("", "r", "1"), get("r", 0), consume("q", "c", 0))
		a.do(publish("", "q", "2"))
		a.do(publish("", "r", "3"), get("r", 0))
		a.do(publish("", "q", "4"))
	}},
	{"delivery tags begin anew on a channel opened again", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0), publish("", "q", "1"), get("q", noAck))
		a.do(closeChannel())
		a.do(openChannel())
		a.do(publish("", "q", "2"), get("q", noAck))
	}},
	{"across channels and connections", func(s *stage) {
		a, b := s.channel(), s.channel()
		b.do(declareQueue("q", 0), consume("q", "c", 0))
		a.do(publish("", "q", "1"), publish("", "q", "2"))
		b.do(ackAll(2))
		a.do(declareQueue("q", passive))
	}},
	{"a long message", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0), publish("", "q", string(make([]byte, 300000))), consume("q", "c", 0))
	}},
	{"deliveries stop when the channel closes", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0), consume("q", "c", 0))
		a.do(closeChannel())
		b := a.client.channel(2)
		b.do(publish("", "q", "m"))
		b.do(get("q", 0))
	}},
}}
