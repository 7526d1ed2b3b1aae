package server

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/warrenmq/warren/amqp"
)

// FuzzRunning feeds octets to an open connection with an open channel. Whatever they are, the server answers or
// closes, panics never, holds little, and keeps nothing of the connection afterwards.
func FuzzRunning(f *testing.F) {
	add := func(parts ...[]byte) {
		var all []byte
		for _, p := range parts {
			all = append(all, p...)
		}
		f.Add(all)
	}
	method := func(m amqp.Method) []byte { return amqp.AppendMethod(nil, 1, m) }
	declare := method(&amqp.QueueDeclare{Queue: "q"})
	message := amqp.AppendBody(amqp.AppendHeader(amqp.AppendPublish(nil, 1, nil, []byte("q")), 1, 60, 2, nil), 1, []byte("hi"), 4088)
	add(declare, message, method(&amqp.BasicConsume{Queue: "q"}), method(&amqp.BasicAck{DeliveryTag: 1}))
	add(declare, method(&amqp.ConfirmSelect{}), message, method(&amqp.BasicGet{Queue: "q"}), method(&amqp.BasicRecover{Requeue: true}))
	add(declare, method(&amqp.TxSelect{}), message, method(&amqp.TxCommit{}), method(&amqp.BasicGet{Queue: "q"}),
		method(&amqp.BasicNack{DeliveryTag: 1, Requeue: true}), method(&amqp.TxRollback{}))
	add(method(&amqp.ExchangeDeclare{Exchange: "x", Type: "headers"}), method(&amqp.QueueBind{Queue: "q", Exchange: "x"}))
	add(method(&amqp.BasicQos{PrefetchCount: 1, Global: true}), method(&amqp.QueueDelete{Queue: "q"}), method(&amqp.ChannelClose{}))
	add(amqp.AppendMethod(nil, 0, &amqp.ConnectionClose{}))
	add(amqp.AppendHeartbeat(nil), []byte{1, 0, 1, 0, 0, 0, 0, 0xce})
	f.Fuzz(func(t *testing.T, octets []byte) {
		synctest.Test(t, func(t *testing.T) {
			s := newServer(t, Options{Log: nil})
			p := opened(t, s, 0)
			p.send(amqp.AppendMethod(nil, 1, &amqp.ChannelOpen{}))
			p.send(octets)
			time.Sleep(time.Second)
			synctest.Wait()
			for _, c := range s.connections() {
				if n := len(c.in.buf); n > inputBusy {
					t.Errorf("read buffer of %d octets", n)
				}
			}
			p.close()
			time.Sleep(time.Minute)
			synctest.Wait()
			if n := len(s.connections()); n != 0 {
				t.Errorf("%d connections left", n)
			}
		})
	})
}

// FuzzHandshake feeds octets to a connection that has said nothing yet.
func FuzzHandshake(f *testing.F) {
	f.Add(handshake(1))
	f.Add([]byte("GET / HTTP/1.1\r\n\r\n"))
	f.Add(append([]byte(amqp.ProtocolHeader), amqp.AppendMethod(nil, 0, startOk("AMQPLAIN", ""))...))
	f.Fuzz(func(t *testing.T, octets []byte) {
		synctest.Test(t, func(t *testing.T) {
			s := newServer(t, Options{})
			p := connect(t, s)
			p.send(octets)
			time.Sleep(time.Second)
			synctest.Wait()
			p.close()
			time.Sleep(time.Minute)
			synctest.Wait()
			if n := len(s.connections()); n != 0 {
				t.Errorf("%d connections left", n)
			}
		})
	})
}
