package main

import (
	"bytes"
	"net"
	"sync"
	"testing"

	"github.com/warrenmq/warren/amqp"
)

// fakeBroker opens connections and channels, has no queue, and answers everything else with nothing.
type fakeBroker struct {
	t        *testing.T
	listener net.Listener
	wg       sync.WaitGroup
	mu       sync.Mutex
	conns    []net.Conn
}

func newFakeBroker(t *testing.T) *fakeBroker {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	b := &fakeBroker{t: t, listener: l}
	b.wg.Go(b.accept)
	t.Cleanup(func() {
		_ = l.Close()
		b.mu.Lock()
		for _, c := range b.conns {
			_ = c.Close()
		}
		b.mu.Unlock()
		b.wg.Wait()
	})
	return b
}

func (b *fakeBroker) addr() string { return b.listener.Addr().String() }

func (b *fakeBroker) accept() {
	for {
		c, err := b.listener.Accept()
		if err != nil {
			return
		}
		b.mu.Lock()
		b.conns = append(b.conns, c)
		b.mu.Unlock()
		b.wg.Go(func() { b.serve(c) })
	}
}

func (b *fakeBroker) serve(c net.Conn) {
	defer c.Close()
	var d amqp.Decoder
	var buf []byte
	piece := make([]byte, 4<<10)
	for {
		n, err := c.Read(piece)
		if err != nil {
			return
		}
		buf = append(buf, piece[:n]...)
		var out []byte
		if rest, ok := bytes.CutPrefix(buf, []byte(amqp.ProtocolHeader)); ok {
			buf = rest
			out = amqp.AppendMethod(out, 0, &amqp.ConnectionStart{VersionMinor: 9, Mechanisms: "PLAIN", Locales: "en_US"})
		}
		for {
			f, n, err := amqp.ParseFrame(buf, 0)
			if err != nil {
				b.t.Error(err)
				return
			}
			if n == 0 {
				break
			}
			m, err := d.Decode(f.Payload)
			if err != nil {
				b.t.Error(err)
				return
			}
			if answer := answerTo(m); answer != nil {
				out = amqp.AppendMethod(out, f.Channel, answer)
			}
			buf = buf[n:]
		}
		if _, err := c.Write(out); err != nil {
			return
		}
	}
}

func answerTo(m amqp.Method) amqp.Method {
	switch m := m.(type) {
	case *amqp.ConnectionStartOk:
		return &amqp.ConnectionTune{ChannelMax: 2047, FrameMax: 131072}
	case *amqp.ConnectionOpen:
		return &amqp.ConnectionOpenOk{}
	case *amqp.ConnectionClose:
		return &amqp.ConnectionCloseOk{}
	case *amqp.ChannelOpen:
		return &amqp.ChannelOpenOk{}
	case *amqp.ChannelFlow:
		return &amqp.ChannelFlowOk{Active: m.Active}
	case *amqp.QueueDeclare:
		return &amqp.ChannelClose{ReplyCode: amqp.CodeNotFound, ReplyText: "NOT_FOUND - no queue '" + m.Queue + "' in vhost '/'", ClassID: 50, MethodID: 10}
	}
	return nil
}
