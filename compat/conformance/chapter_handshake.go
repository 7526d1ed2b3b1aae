package main

import (
	"fmt"

	"github.com/warrenmq/warren/amqp"
)

// From the socket to connection.open-ok: headers, SASL, limits, vhosts.
var handshakeChapter = chapter{"handshake", join(
	[]scenario{
		{"a whole handshake", func(s *stage) {
			c := s.raw()
			c.send(header(amqp.ProtocolHeader))
			c.await("connection.start")
			c.do(hello{}.startOk())
			c.send(method(&amqp.ConnectionTuneOk{ChannelMax: 2047, FrameMax: 131072, Heartbeat: 60}))
			c.do(s.open(""))
			c.do(closeConnection())
		}},
		{"the header of AMQP 0-9 is answered as 0-9-1", func(s *stage) {
			c := s.raw()
			c.send(header("AMQP\x01\x01\x00\x09"))
			c.await("connection.start")
		}},
	},
	each([]string{"AMQP\x00\x00\x09\x02", "AMQP\x00\x00\x08\x00", "AMQP\x09\x01\x00\x00", "AMQP0091"},
		func(text string) string { return fmt.Sprintf("the header %q is answered with the right one", text) },
		func(s *stage, text string) {
			c := s.raw()
			c.send(header(text))
			c.awaitEnd()
		}),
	each([]string{"GET / HTTP/1.1\r\n\r\n", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", "\x00\x00\x00\x00\x00\x00\x00\x00"},
		func(text string) string { return fmt.Sprintf("the noise %.8q is answered with a header", text) },
		func(s *stage, text string) {
			c := s.raw()
			c.send(header(text))
			c.awaitEnd()
		}),
	[]scenario{
		{"AMQPLAIN logs in", func(s *stage) {
			c := s.greeted()
			response := string(amqp.AppendTable(nil, amqp.Table{"LOGIN": "guest", "PASSWORD": "guest"}))
			c.do(startOk("AMQPLAIN", response, capabilities()))
		}},
		{"AMQPLAIN with a wrong password", func(s *stage) {
			c := s.greeted()
			response := string(amqp.AppendTable(nil, amqp.Table{"LOGIN": "guest", "PASSWORD": "wrong"}))
			c.do(startOk("AMQPLAIN", response, capabilities()))
		}},
		{"AMQPLAIN without a password", func(s *stage) {
			c := s.greeted()
			c.do(startOk("AMQPLAIN", string(amqp.AppendTable(nil, amqp.Table{"LOGIN": "guest"})), capabilities()))
		}},
		{"a wrong password", func(s *stage) {
			c := s.greeted()
			c.do(startOk("PLAIN", "\x00guest\x00wrong", capabilities()))
		}},
		{"an unknown user", func(s *stage) {
			c := s.greeted()
			c.do(startOk("PLAIN", "\x00nobody\x00guest", capabilities()))
		}},
		{"an empty password", func(s *stage) {
			c := s.greeted()
			c.do(startOk("PLAIN", "\x00guest\x00", capabilities()))
		}},
		{"a wrong password of a client that does not know authentication_failure_close", func(s *stage) {
			c := s.greeted()
			c.send(startOk("PLAIN", "\x00guest\x00wrong", amqp.Table{}))
			c.at(0).awaited = nil
			c.pump(2*endTime, func() bool { return c.ended })
			c.awaitEnd()
		}},
		{"a PLAIN response without separators", func(s *stage) {
			c := s.greeted()
			c.do(startOk("PLAIN", "guest", capabilities()))
		}},
		{"PLAIN with an authorization identity", func(s *stage) {
			c := s.greeted()
			c.do(startOk("PLAIN", "other\x00guest\x00guest", capabilities()))
		}},
		{"an unknown mechanism", func(s *stage) {
			c := s.greeted()
			c.do(startOk("KERBEROS", "x", capabilities()))
		}},
		{"a mechanism that is known and not offered", func(s *stage) {
			c := s.greeted()
			c.do(startOk("EXTERNAL", "x", capabilities()))
		}},
		{"another locale is accepted", func(s *stage) {
			c := s.greeted()
			c.do(method(&amqp.ConnectionStartOk{Mechanism: "PLAIN", Response: []byte("\x00guest\x00guest"), Locale: "de_DE"}, "connection.tune"))
		}},
		{"a second start-ok", func(s *stage) {
			c := s.tuned()
			c.do(hello{}.startOk())
		}},
		{"connection.open before start-ok", func(s *stage) {
			c := s.greeted()
			c.do(s.open(""))
		}},
		{"connection.open before tune-ok", func(s *stage) {
			c := s.tuned()
			c.do(s.open(""))
		}},
		{"channel.open before connection.open", func(s *stage) {
			c := s.tuned()
			c.send(method(&amqp.ConnectionTuneOk{ChannelMax: 2047, FrameMax: 131072}))
			c.at(1).do(openChannel())
			c.awaitEnd()
		}},
		{"connection.close instead of connection.open", func(s *stage) {
			c := s.tuned()
			c.send(method(&amqp.ConnectionTuneOk{ChannelMax: 2047, FrameMax: 131072}))
			c.do(closeConnection())
		}},
		{"a heartbeat before start-ok", func(s *stage) {
			c := s.greeted()
			c.send(frame(amqp.FrameHeartbeat, ""))
			c.do(hello{}.startOk())
		}},
		{"a frame larger than 4096 octets before tune-ok", func(s *stage) {
			c := s.greeted()
			c.astray = true
			c.do(startOk("PLAIN", "\x00guest\x00guest", amqp.Table{"filler": string(make([]byte, 9000))}))
			c.awaitEnd()
		}},
		{"an unknown vhost", func(s *stage) {
			c := s.tuned()
			c.send(method(&amqp.ConnectionTuneOk{ChannelMax: 2047, FrameMax: 131072}))
			c.do(s.open("nowhere"))
		}},
		{"a vhost that the user may not enter", func(s *stage) {
			c := s.greeted()
			c.do(startOk("PLAIN", "\x00stranger\x00stranger", capabilities()))
			c.send(method(&amqp.ConnectionTuneOk{ChannelMax: 2047, FrameMax: 131072}))
			c.do(s.open(""))
		}},
		{"a second connection.open", func(s *stage) {
			c := s.connect(hello{})
			c.do(s.open(""))
		}},
	},
	each([]amqp.ConnectionTuneOk{
		{ChannelMax: 0, FrameMax: 131072}, {ChannelMax: 2048, FrameMax: 131072}, {ChannelMax: 1, FrameMax: 131072},
		{ChannelMax: 2047, FrameMax: 0}, {ChannelMax: 2047, FrameMax: 131073}, {ChannelMax: 2047, FrameMax: 4095},
		{ChannelMax: 2047, FrameMax: 4096}, {ChannelMax: 2047, FrameMax: 8191}, {ChannelMax: 2047, FrameMax: 8192},
	}, func(t amqp.ConnectionTuneOk) string {
		return fmt.Sprintf("tune-ok with channel-max %d and frame-max %d", t.ChannelMax, t.FrameMax)
	}, func(s *stage, t amqp.ConnectionTuneOk) {
		c := s.tuned()
		c.send(method(&t))
		c.do(s.open(""))
	}),
)}

// greeted is a connection on which connection.start has come.
func (s *stage) greeted() *client {
	c := s.raw()
	mark := len(s.transcript)
	c.send(header(amqp.ProtocolHeader))
	c.await("connection.start")
	s.transcript = s.transcript[:mark]
	return c
}

// tuned is a connection on which connection.tune has come.
func (s *stage) tuned() *client {
	c := s.greeted()
	mark := len(s.transcript)
	c.do(hello{}.startOk())
	s.transcript = s.transcript[:mark]
	return c
}
