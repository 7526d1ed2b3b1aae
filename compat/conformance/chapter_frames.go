package main

import (
	"fmt"
	"strings"

	"github.com/warrenmq/warren/amqp"
)

// What is wrong with a frame, and what the connection is told about it. Each scenario runs on an open channel.
var framesChapter = chapter{"frames", join(
	each([]item{
		frame(0, "0123456789abcdef"), frame(4, ""), frame(9, "x"), frame(8, ""), frame(8, "beat"), frame(2, ""), frame(3, ""), frame(3, "body"), frame(1, ""), frame(1, "\x00\x3c"),
		frame(1, "\x00\x3c\x00\x63"), frame(1, "\x00\x99\x00\x0a"), frame(1, "\x00\x3c\x00\x14\x00\x00"), frame(1, "\x00\x32\x00\x0a\x00\x00\x01q\x00\x00\x00\x00\x09"),
		frame(1, "\x00\x3c\x00\x46\x00\x00\x01q\x00extra"), frame(2, "\x00\x3c\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00"),
		octets("a frame that ends in FF", []byte("\x01\x00\x01\x00\x00\x00\x04\x00\x3c\x00\x63\xff")),
		octets("a frame larger than frame-max", append(amqp.AppendFrameHeader(nil, 3, 1, 131073), make([]byte, 64)...)),
		octets("a frame of 4 GiB", append(amqp.AppendFrameHeader(nil, 1, 1, 1<<32-1), make([]byte, 64)...)),
		octets("a second protocol header", []byte(amqp.ProtocolHeader)),
		octets("no frame at all", []byte("GET / HTTP/1.1\r\n\r\n")),
	}, func(it item) string { return it.line },
		func(s *stage, it item) {
			a := s.channel()
			a.client.astray = it.method == nil && !strings.HasPrefix(it.line, "frame ")
			a.send(it)
			a.client.awaitEndOrSettle()
		}),
	each([]item{
		frame(8, "beat"), frame(2, ""), frame(3, ""), frame(1, ""), frame(1, "\x00\x3c\x00\x63"), frame(0, ""),
	}, func(it item) string { return "on channel 0: " + it.line },
		func(s *stage, it item) {
			a := s.channel()
			a.client.send(it)
			a.client.awaitEndOrSettle()
		}),
	each([]struct {
		name  string
		items []item
	}{
		{"a method instead of the header", []item{publishMethod(), flow(true)}},
		{"another publish instead of the header", []item{publishMethod(), publishMethod()}},
		{"a body instead of the header", []item{publishMethod(), frame(3, "m")}},
		{"a heartbeat on the channel instead of the header", []item{publishMethod(), frame(8, "")}},
		{"a header of another class", []item{publishMethod(), messageHeader(10, 1)}},
		{"a header of an unknown class", []item{publishMethod(), messageHeader(3106, 1)}},
		{"a weight", []item{publishMethod(), frame(2, "\x00\x3c\x00\x01\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00")}},
		{"a header cut short", []item{publishMethod(), frame(2, "\x00\x3c\x00\x00\x00\x00")}},
		{"a method instead of the body", []item{publishMethod(), messageHeader(60, 1), flow(true)}},
		{"a second header instead of the body", []item{publishMethod(), messageHeader(60, 1), messageHeader(60, 1)}},
		{"more body than announced", []item{publishMethod(), messageHeader(60, 1), frame(3, "more")}},
		{"more body than announced, in the second frame", []item{publishMethod(), messageHeader(60, 3), frame(3, "mo"), frame(3, "re")}},
		{"a body of 600 MiB announced", []item{publishMethod(), messageHeader(60, 600<<20)}},
		{"a header without a method", []item{messageHeader(60, 1)}},
		{"a body behind an empty message", []item{publishMethod(), messageHeader(60, 0), frame(3, "x")}},
		{"close in the middle of a message", []item{publishMethod(), messageHeader(60, 5), frame(3, "he"), closeChannel()}},
	}, func(c struct {
		name  string
		items []item
	}) string {
		return c.name
	}, func(s *stage, c struct {
		name  string
		items []item
	}) {
		a := s.channel()
		a.broken = true
		a.send(c.items...)
		a.awaited = nil
		a.client.awaitEndOrSettle()
	}),
	[]scenario{
		{"a message in many small body frames", func(s *stage) {
			a := s.channel()
			a.do(declareQueue("q", 0))
			a.send(publishMethod(), messageHeader(60, 5), frame(3, "h"), frame(3, ""), frame(3, "el"), frame(3, "lo"))
			a.do(get("q", 0))
		}},
		{"an empty body frame of an empty message's", func(s *stage) {
			a := s.channel()
			a.send(publishMethod(), messageHeader(60, 0), frame(3, ""))
			a.client.awaitEndOrSettle()
		}},
		{"messages of two channels interleaved", func(s *stage) {
			a := s.channel()
			b := a.client.channel(2)
			a.do(declareQueue("q", 0))
			a.send(publishMethod(), messageHeader(60, 2), frame(3, "a"))
			b.send(publishMethod(), messageHeader(60, 2), frame(3, "x"))
			a.send(frame(3, "b"))
			b.send(frame(3, "y"))
			s.settle()
			a.do(get("q", 0), get("q", 0))
		}},
		{"a heartbeat between the frames of a message", func(s *stage) {
			a := s.channel()
			a.do(declareQueue("q", 0))
			a.send(publishMethod(), messageHeader(60, 2))
			a.client.send(frame(8, ""))
			a.send(frame(3, "hi"))
			a.do(get("q", 0))
		}},
		{"a close in the middle of a message of another channel", func(s *stage) {
			a := s.channel()
			b := a.client.channel(2)
			a.do(declareQueue("q", 0))
			a.broken = true
			a.send(publishMethod(), messageHeader(60, 2), frame(3, "h"))
			b.do(closeChannel())
			a.broken = false
			a.send(frame(3, "i"))
			a.do(get("q", 0))
		}},
		{"a frame of exactly frame-max", func(s *stage) {
			a := s.connect(hello{tuneOk: &amqp.ConnectionTuneOk{ChannelMax: 2047, FrameMax: 8192}}).channel(1)
			a.do(declareQueue("q", 0))
			a.send(publishMethod(), messageHeader(60, 8184), frame(3, string(make([]byte, 8184))))
			a.do(get("q", 0))
		}},
		{"a frame eight octets over frame-max", func(s *stage) {
			a := s.connect(hello{tuneOk: &amqp.ConnectionTuneOk{ChannelMax: 2047, FrameMax: 8192}}).channel(1)
			a.do(declareQueue("q", 0))
			a.client.astray = true
			a.send(publishMethod(), messageHeader(60, 8193), frame(3, string(make([]byte, 8193))))
			a.client.awaitEndOrSettle()
		}},
	},
	each([]amqp.Method{
		&amqp.BasicDeliver{}, &amqp.BasicGetOk{}, &amqp.BasicGetEmpty{}, &amqp.BasicReturn{}, &amqp.BasicQosOk{}, &amqp.BasicConsumeOk{}, &amqp.BasicRecoverOk{},
		&amqp.QueueDeclareOk{}, &amqp.QueueBindOk{}, &amqp.ExchangeDeclareOk{}, &amqp.TxSelectOk{}, &amqp.ConfirmSelectOk{}, &amqp.AccessRequestOk{}, &amqp.ConnectionOpen{}, &amqp.ConnectionClose{},
	}, func(m amqp.Method) string { return m.Name() + " from a client, on a channel" },
		func(s *stage, m amqp.Method) {
			a := s.channel()
			a.broken = true // a message may have begun
			a.send(method(m))
			a.client.awaitEndOrSettle()
		}),
)}

func publishMethod() item {
	return method(&amqp.BasicPublish{RoutingKey: []byte("q")})
}

// messageHeader is a header frame without properties.
func messageHeader(class uint16, size uint64) item {
	return item{
		line:   fmt.Sprintf("header class=%d size=%d", class, size),
		frames: func(ch uint16, _ uint32) []byte { return amqp.AppendHeader(nil, ch, class, size, nil) },
	}
}

// awaitEndOrSettle is a step at whose end the connection has been closed, or it has not because all is well.
func (c *client) awaitEndOrSettle() {
	hidden := c.hiddenChannel()
	if hidden == nil {
		hidden = c.at(hiddenChannel)
	}
	if hidden.open {
		hidden.ask(&amqp.ChannelFlow{Active: true}, "channel.flow-ok")
		hidden.waitAnswers()
	}
	if c.closing {
		c.awaitSilence()
	}
	c.stage.settle()
}
