package main

import (
	"time"

	"github.com/warrenmq/warren/amqp"
)

// dropTime is how long a broker gets to notice that a socket has gone.
const dropTime = 300 * time.Millisecond

// The life of a channel.
var channelChapter = chapter{"channel", join([]scenario{
	{"open and close", func(s *stage) {
		a := s.connect(hello{}).at(1)
		a.do(openChannel())
		a.do(closeChannel())
	}},
	{"a number is free again after close", func(s *stage) {
		a := s.channel()
		a.do(closeChannel())
		a.do(openChannel())
		a.do(declareQueue("q", exclusive))
	}},
	{"a second open", func(s *stage) { s.channel().do(openChannel()) }},
	{"a method on a channel that was never opened", func(s *stage) {
		s.connect(hello{}).at(5).do(declareQueue("q", 0))
	}},
	{"a method on a channel that the client has closed", func(s *stage) {
		a := s.channel()
		a.do(closeChannel())
		a.do(declareQueue("q", 0))
	}},
	{"a method on a channel that an error has closed", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("missing", passive))
		a.do(declareQueue("q", 0))
	}},
	{"close of a channel that was never opened", func(s *stage) { s.connect(hello{}).at(1).do(closeChannel()) }},
	{"close-ok of a channel that was never opened", func(s *stage) {
		c := s.connect(hello{})
		c.at(1).send(method(&amqp.ChannelCloseOk{}))
		c.awaitEndOrSettle()
	}},
	{"close-ok of an open channel", func(s *stage) {
		a := s.channel()
		a.send(method(&amqp.ChannelCloseOk{}))
		a.client.awaitEndOrSettle()
	}},
	{"a number is free again after an error", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("missing", passive))
		a.do(openChannel())
		a.do(declareQueue("q", exclusive))
	}},
	{"what follows an error is discarded until close-ok", func(s *stage) {
		s.holdCloseOk = true
		a := s.channel()
		a.do(declareQueue("missing", passive))
		a.send(declareQueue("q", durable), publish("", "q", "lost"))
		a.awaited = nil
		a.send(method(&amqp.ChannelCloseOk{}))
		a.do(openChannel())
		a.do(declareQueue("q", passive))
	}},
	{"open before close-ok of an error is discarded too", func(s *stage) {
		s.holdCloseOk = true
		a := s.channel()
		a.do(declareQueue("missing", passive))
		a.send(openChannel())
		a.awaited = nil
		a.send(method(&amqp.ChannelCloseOk{}))
		a.client.awaitEndOrSettle()
	}},
	{"close while the broker closes is answered", func(s *stage) {
		s.holdCloseOk = true
		a := s.channel()
		a.do(declareQueue("missing", passive))
		a.do(closeChannel())
		a.send(method(&amqp.ChannelCloseOk{}))
		a.client.channel(2).do(flow(true))
	}},
	{"pipelined methods before an error are carried out", func(s *stage) {
		a := s.channel()
		a.pipeline(declareQueue("q", 0), publish("", "q", "kept"), declareQueue("missing", passive), publish("", "q", "lost"))
		a.client.channel(2).do(get("q", 0), get("q", 0))
	}},
	{"an error on one channel leaves the others alone", func(s *stage) {
		a := s.channel()
		b := a.client.channel(2)
		a.do(declareQueue("missing", passive))
		b.do(declareQueue("q", exclusive))
	}},
	{"flow on is answered", func(s *stage) { s.channel().do(flow(true)) }},
	{"flow off is refused", func(s *stage) { s.channel().do(flow(false)) }},
	{"flow-ok from a client", func(s *stage) {
		s.channel().do(method(&amqp.ChannelFlowOk{Active: true}, "connection.close"))
	}},
	{"open-ok from a client", func(s *stage) { s.channel().do(method(&amqp.ChannelOpenOk{}, "connection.close")) }},
	{"access.request gets ticket 1", func(s *stage) {
		s.channel().do(method(&amqp.AccessRequest{Realm: "/data", Active: true, Read: true}, "access.request-ok"))
	}},
	{"close gives deliveries back in order", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0), publish("", "q", "1"), publish("", "q", "2"), publish("", "q", "3"))
		b := a.client.channel(2)
		b.do(get("q", 0), get("q", 0))
		b.do(closeChannel())
		a.do(get("q", 0), get("q", 0), get("q", 0))
	}},
	{"an error gives deliveries back", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", 0), publish("", "q", "1"))
		b := a.client.channel(2)
		b.do(get("q", 0))
		b.do(declareQueue("missing", passive))
		a.do(get("q", 0))
	}},
	{"the last queue is forgotten when a channel is opened again", func(s *stage) {
		a := s.channel()
		a.do(declareQueue("q", exclusive))
		a.do(purgeQueue("", 0))
		a.do(closeChannel())
		a.do(openChannel())
		a.do(purgeQueue("", 0))
	}},
})}
