package server

import (
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"testing"
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
	feed := feeder(f)
	opening := amqp.AppendMethod(handshake(0), 1, &amqp.ChannelOpen{})
	f.Fuzz(func(t *testing.T, octets []byte) { feed(t, opening, octets) })
}

// FuzzHandshake feeds octets to a connection that has said nothing yet.
func FuzzHandshake(f *testing.F) {
	f.Add(handshake(1))
	f.Add([]byte("GET / HTTP/1.1\r\n\r\n"))
	f.Add(append([]byte(amqp.ProtocolHeader), amqp.AppendMethod(nil, 0, startOk("AMQPLAIN", ""))...))
	feed := feeder(f)
	f.Fuzz(func(t *testing.T, octets []byte) { feed(t, octets) })
}

// feeder returns a function that sends octets on a connection of its own, closes it, and waits until nothing of it
// is left. One broker serves them all.
func feeder(f *testing.F) func(t *testing.T, octets ...[]byte) {
	s := newServer(f, Options{LoginDelay: time.Nanosecond})
	return func(t *testing.T, octets ...[]byte) {
		client, end := net.Pipe()
		s.serveConn(end)
		c := s.connections()
		var reader sync.WaitGroup
		reader.Go(func() { io.Copy(io.Discard, client) })
		client.SetWriteDeadline(time.Now().Add(5 * time.Second))
		for _, b := range octets {
			if _, err := client.Write(b); errors.Is(err, os.ErrDeadlineExceeded) {
				t.Error("the server does not read")
			}
		}
		client.Close()
		reader.Wait()
		s.serving.Wait()
		if n := len(s.connections()); n != 0 {
			t.Errorf("%d connections left", n)
		}
		for _, c := range c {
			if n := len(c.in.buf); n > inputBusy {
				t.Errorf("read buffer of %d octets", n)
			}
		}
	}
}
