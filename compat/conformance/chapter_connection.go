package main

import (
	"fmt"

	"github.com/warrenmq/warren/amqp"
)

// A running connection, seen on channel 0.
var connectionChapter = chapter{"connection", join(
	[]scenario{
		{"close is answered, and the client hangs up", func(s *stage) {
			c := s.connect(hello{})
			c.do(closeConnection())
		}},
		{"close with open channels", func(s *stage) {
			a := s.channel()
			a.client.channel(2)
			a.client.do(closeConnection())
		}},
		{"close with a reason of the client's", func(s *stage) {
			c := s.connect(hello{})
			c.do(method(&amqp.ConnectionClose{ReplyCode: 541, ReplyText: "I am not well", ClassID: 60, MethodID: 40}, "connection.close-ok"))
		}},
		{"methods behind close are not carried out", func(s *stage) {
			a := s.channel()
			b := s.channel()
			a.client.send(closeConnection())
			a.send(declareQueue("q", noWait))
			a.client.at(0).waitAnswers()
			b.do(declareQueue("q", passive))
		}},
		{"update-secret is accepted", func(s *stage) {
			c := s.connect(hello{})
			c.do(method(&amqp.ConnectionUpdateSecret{NewSecret: []byte("guest"), Reason: "test"}, "connection.update-secret-ok"))
		}},
		{"a heartbeat is not answered", func(s *stage) {
			a := s.channel()
			a.client.send(frame(amqp.FrameHeartbeat, ""))
			a.do(declareExchange("amq.direct", "direct", passive))
		}},
		{"start-ok while running", func(s *stage) { s.connect(hello{}).do(hello{}.startOk()) }},
		{"tune-ok while running", func(s *stage) {
			c := s.connect(hello{})
			c.do(method(&amqp.ConnectionTuneOk{ChannelMax: 10, FrameMax: 8192}, "connection.close"))
		}},
		{"blocked from a client", func(s *stage) {
			c := s.connect(hello{})
			c.do(method(&amqp.ConnectionBlocked{Reason: "tired"}, "connection.close"))
		}},
		{"channel.open on channel 0", func(s *stage) { s.connect(hello{}).do(openChannel()) }},
		{"queue.declare on channel 0", func(s *stage) { s.connect(hello{}).do(declareQueue("q", 0)) }},
		{"basic.publish on channel 0", func(s *stage) {
			c := s.connect(hello{})
			c.do(publish("", "q", "m"))
			c.awaitEnd()
		}},
		{"connection.close-ok out of the blue", func(s *stage) {
			c := s.connect(hello{})
			c.send(method(&amqp.ConnectionCloseOk{}))
			c.awaitEnd()
		}},
		{"close-ok to an error is not hurried", func(s *stage) {
			s.holdCloseOk = true
			a := s.channel()
			a.do(qosOctets(1))
			a.client.do(method(&amqp.ConnectionCloseOk{}))
			a.client.awaitEnd()
		}},
		{"close meets close", func(s *stage) {
			s.holdCloseOk = true
			a := s.channel()
			a.send(qosOctets(1))
			a.client.at(0).awaited = append(a.client.at(0).awaited, awaited{names: []string{"connection.close"}})
			a.client.at(0).waitAnswers()
			a.client.do(closeConnection())
		}},
		{"channel-max is kept to", func(s *stage) {
			c := s.connect(hello{tuneOk: &amqp.ConnectionTuneOk{ChannelMax: 3, FrameMax: 131072}})
			c.channel(1)
			c.channel(3)
			c.at(4).do(openChannel())
		}},
		{"all channels up to channel-max at once", func(s *stage) {
			c := s.connect(hello{tuneOk: &amqp.ConnectionTuneOk{ChannelMax: 3, FrameMax: 131072}})
			for n := range uint16(3) {
				c.at(n + 1).do(openChannel())
			}
		}},
		{"a dropped socket gives its deliveries back", func(s *stage) {
			a, b := s.channel(), s.channel()
			a.do(declareQueue("q", 0), publish("", "q", "1"), publish("", "q", "2"))
			a.do(get("q", 0))
			a.client.drop()
			s.wait(dropTime)
			b.do(get("q", 0), get("q", 0))
		}},
		{"a dropped socket takes exclusive queues along", func(s *stage) {
			a, b := s.channel(), s.channel()
			a.do(declareQueue("q", exclusive))
			a.client.drop()
			s.wait(dropTime)
			b.do(declareQueue("q", passive))
		}},
	},
	each([]string{"connection.start", "connection.tune", "connection.open-ok", "connection.secure"},
		func(name string) string { return name + " from a client" },
		func(s *stage, name string) {
			methods := map[string]amqp.Method{
				"connection.start": &amqp.ConnectionStart{}, "connection.tune": &amqp.ConnectionTune{},
				"connection.open-ok": &amqp.ConnectionOpenOk{}, "connection.secure": &amqp.ConnectionSecure{},
			}
			s.connect(hello{}).do(method(methods[name], "connection.close"))
		}),
	each([]int{1, 4088, 4089, 9000, 131064, 131065, 300000},
		func(n int) string { return fmt.Sprintf("a body of %d octets through frames of 131072 and 8192", n) },
		func(s *stage, n int) {
			a := s.channel()
			b := s.connect(hello{tuneOk: &amqp.ConnectionTuneOk{ChannelMax: 2047, FrameMax: 8192}}).channel(1)
			body := string(make([]byte, n))
			a.do(declareQueue("q", 0), publish("", "q", body))
			b.do(get("q", 0), publish("", "q", body))
			a.do(get("q", 0))
		}),
)}

// qosOctets asks for a limit that no broker supports, which ends the connection.
func qosOctets(n uint32) item { return method(&amqp.BasicQos{PrefetchSize: n}, "basic.qos-ok") }
