package main

import (
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"testing"
	"time"
)

// method makes a method frame.
func method(channel uint16, id uint32, arguments ...byte) []byte {
	frame := binary.BigEndian.AppendUint16([]byte{frameMethod}, channel)
	frame = binary.BigEndian.AppendUint32(frame, uint32(4+len(arguments)))
	frame = binary.BigEndian.AppendUint32(frame, id)
	return append(append(frame, arguments...), 0xCE)
}

// through opens a connection through a liar and returns both its ends, greeted.
func through(t *testing.T) (client, server net.Conn) {
	t.Helper()
	broker, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p, err := newLiar(broker.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	if client, err = net.Dial("tcp", p.addr()); err != nil {
		t.Fatal(err)
	}
	if server, err = broker.Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		client.Close()
		server.Close()
		p.close()
		broker.Close()
	})
	for _, c := range []net.Conn{client, server} {
		if err := c.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
			t.Fatal(err)
		}
	}
	send(t, client, []byte("AMQP\x00\x00\x09\x01"))
	expect(t, server, []byte("AMQP\x00\x00\x09\x01"))
	return client, server
}

func send(t *testing.T, c net.Conn, b []byte) {
	t.Helper()
	if _, err := c.Write(b); err != nil {
		t.Fatal(err)
	}
}

func expect(t *testing.T, c net.Conn, want []byte) {
	t.Helper()
	got := make([]byte, len(want))
	if _, err := io.ReadFull(c, got); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Fatalf("% x, want % x", got, want)
	}
}

func TestLiarConfirmsBeforeTheBrokerHasIt(t *testing.T) {
	client, server := through(t)
	publish := method(3, basicPublish, 0, 0, 0, 0, 0)
	send(t, client, publish) // not in confirm mode: passed on, and no confirm
	expect(t, server, publish)
	send(t, client, method(3, confirmSelect, 0))
	expect(t, server, method(3, confirmSelect, 0))
	for tag := byte(1); tag <= 3; tag++ {
		send(t, client, publish)
		expect(t, client, method(3, basicAck, 0, 0, 0, 0, 0, 0, 0, tag, 1))
	}
	for range 3 {
		expect(t, server, publish)
	}
}

func TestLiarSwallowsTheBrokersConfirms(t *testing.T) {
	client, server := through(t)
	send(t, server, method(3, basicAck, 0, 0, 0, 0, 0, 0, 0, 9, 0))
	other := method(3, 85<<16|11)
	send(t, server, other)
	expect(t, client, other)
}

func TestLiarLosesWhatItHoldsWhenCut(t *testing.T) {
	client, server := through(t)
	send(t, client, method(3, confirmSelect, 0))
	expect(t, server, method(3, confirmSelect, 0))
	send(t, client, method(3, basicPublish, 0, 0, 0, 0, 0))
	expect(t, client, method(3, basicAck, 0, 0, 0, 0, 0, 0, 0, 1, 1))
	client.Close() // within the delay
	if left, err := io.ReadAll(server); len(left) > 0 {
		t.Errorf("the broker still got % x (%v)", left, err)
	}
}
