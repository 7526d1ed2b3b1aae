package server

import (
	"bytes"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/warrenmq/warren/amqp"
)

// opened is a peer whose connection is open, with a heartbeat in seconds.
func opened(t testing.TB, s *Server, heartbeat uint16) *peer {
	p := connect(t, s)
	p.send(handshake(heartbeat))
	time.Sleep(20 * time.Millisecond)
	synctest.Wait()
	p.take()
	return p
}

func (p *peer) after(d time.Duration) (heard []byte, ended bool) {
	time.Sleep(d)
	synctest.Wait()
	return p.take()
}

func TestHeartbeatIsSentAfterHalfAnIdleInterval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, Options{})
		p := opened(t, s, 10)
		if heard, _ := p.after(4900 * time.Millisecond); len(heard) > 0 {
			t.Fatalf("heard %q too early", heard)
		}
		if heard, _ := p.after(200 * time.Millisecond); !bytes.Equal(heard, amqp.AppendHeartbeat(nil)) {
			t.Fatalf("heard %q after half an interval", heard)
		}
		// Anything else that is sent puts the heartbeat off.
		time.Sleep(3 * time.Second)
		p.send(amqp.AppendMethod(nil, 1, &amqp.ChannelOpen{}))
		if heard, _ := p.after(4 * time.Second); !bytes.Equal(heard, amqp.AppendMethod(nil, 1, &amqp.ChannelOpenOk{})) {
			t.Fatalf("heard %q", heard)
		}
		if heard, _ := p.after(2 * time.Second); !bytes.Equal(heard, amqp.AppendHeartbeat(nil)) {
			t.Fatalf("heard %q half an interval after open-ok", heard)
		}
		p.close()
	})
}

func TestSilentPeerIsDisconnectedAfterTwoIntervals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, Options{})
		p := opened(t, s, 10)
		p.after(15 * time.Second)
		p.send(amqp.AppendHeartbeat(nil))
		if _, ended := p.after(19 * time.Second); ended {
			t.Fatal("ended within two intervals of a heartbeat")
		}
		if _, ended := p.after(1100 * time.Millisecond); !ended {
			t.Fatal("not ended after two intervals of silence")
		}
		if n := len(s.Connections()); n != 0 {
			t.Fatalf("%d connections left", n)
		}
		p.close()
	})
}

func TestNoHeartbeatsWhenTheClientWantsNone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, Options{})
		p := opened(t, s, 0)
		if heard, ended := p.after(time.Hour); len(heard) > 0 || ended {
			t.Fatalf("heard %q, ended %v", heard, ended)
		}
		p.close()
	})
}

// TestPeerThatDoesNotRead asks for answers and never takes them: it costs bounded memory, and then its socket.
func TestPeerThatDoesNotRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, Options{})
		client, end := net.Pipe()
		s.serveConn(end)
		read := make(chan struct{})
		go func() {
			defer close(read)
			// Take what opens the connection, and nothing more.
			var f []byte
			for !bytes.Contains(f, amqp.AppendMethod(nil, 0, &amqp.ConnectionOpenOk{})) {
				b := make([]byte, 1<<10)
				n, err := client.Read(b)
				if err != nil {
					t.Error(err)
					return
				}
				f = append(f, b[:n]...)
			}
		}()
		client.Write(handshake(0))
		<-read
		c := s.connections()[0]
		client.SetWriteDeadline(time.Now().Add(10 * time.Second))
		client.Write(amqp.AppendMethod(nil, 1, &amqp.ChannelOpen{}))
		ask := bytes.Repeat(amqp.AppendMethod(nil, 1, &amqp.AccessRequest{}), 1000)
		var err error
		for i := 0; err == nil && i < 10_000; i++ {
			_, err = client.Write(ask)
		}
		if err == nil {
			t.Error("the server reads on although nobody takes its answers")
		}
		if held := c.out.pending.Load(); held > outputHard+1<<20 {
			t.Errorf("%d octets held", held)
		}
		time.Sleep(31 * time.Second)
		synctest.Wait()
		if n := len(s.connections()); n != 0 {
			t.Errorf("%d connections left after the write timeout", n)
		}
		client.Close()
	})
}

func TestBufferIsGivenBackWhenIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, Options{})
		p := opened(t, s, 60)
		c := s.connections()[0]
		for range 10 {
			p.send(bytes.Repeat(amqp.AppendHeartbeat(nil), 100_000))
		}
		synctest.Wait()
		if !c.mon.large.Load() {
			t.Fatal("the load did not grow the buffer")
		}
		time.Sleep(2 * idleAfter)
		synctest.Wait()
		if c.mon.large.Load() {
			t.Fatal("an idle connection keeps a large buffer")
		}
		p.send(amqp.AppendMethod(nil, 1, &amqp.ChannelOpen{}))
		if heard, _ := p.after(time.Second); !bytes.Equal(heard, amqp.AppendMethod(nil, 1, &amqp.ChannelOpenOk{})) {
			t.Fatalf("heard %q afterwards", heard)
		}
		p.close()
	})
}

func TestShutdownTellsAndWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, Options{})
		p := opened(t, s, 0)
		down := make(chan struct{})
		go func() {
			defer close(down)
			shutDown(t, s)
		}()
		heard, _ := p.after(time.Second)
		want := amqp.AppendMethod(nil, 0, &amqp.ConnectionClose{ReplyCode: amqp.CodeConnectionForced,
			ReplyText: "CONNECTION_FORCED - broker forced connection closure with reason 'shutdown'"})
		if !bytes.Equal(heard, want) {
			t.Fatalf("heard %q", heard)
		}
		select {
		case <-down:
			t.Fatal("down before the peer has answered")
		default:
		}
		p.send(amqp.AppendMethod(nil, 0, &amqp.ConnectionCloseOk{}))
		<-down
		p.close()
	})
}

func TestUnansweredCloseIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, Options{})
		p := opened(t, s, 0)
		name := s.Connections()[0].Name
		if !s.CloseConnection(name, "Closed via management plugin") {
			t.Fatal("not found")
		}
		if _, ended := p.after(9 * time.Second); ended {
			t.Fatal("ended early")
		}
		if _, ended := p.after(2 * time.Second); !ended {
			t.Fatal("still there after the close timeout")
		}
		if s.CloseConnection(name, "again") {
			t.Fatal("found after its end")
		}
		p.close()
	})
}

// TestAlarm blocks whoever publishes, tells those that asked for it, and lets all go on afterwards.
func TestAlarm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, Options{})
		p := opened(t, s, 10)
		message := amqp.AppendHeader(amqp.AppendPublish(nil, 1, nil, []byte("q")), 1, amqp.ClassBasic, 0, nil)
		open := amqp.AppendMethod(nil, 1, &amqp.ChannelOpen{})
		p.send(append(open, message...))
		p.after(time.Second)
		s.Block("low on memory")
		if heard, _ := p.after(time.Second); len(heard) > 0 {
			t.Errorf("told %q without having published", heard)
		}
		p.send(append(message, amqp.AppendMethod(nil, 2, &amqp.ChannelOpen{})...))
		if heard, _ := p.after(time.Second); !bytes.Equal(heard, amqp.AppendMethod(nil, 0, &amqp.ConnectionBlocked{Reason: "low on memory"})) {
			t.Errorf("heard %q after a publish", heard)
		}
		if state := s.Connections()[0].State; state != "blocked" {
			t.Errorf("state %s", state)
		}
		if _, ended := p.after(time.Minute); ended {
			t.Error("a blocked connection is held to its heartbeats")
		}
		s.Unblock()
		want := amqp.AppendMethod(nil, 0, &amqp.ConnectionUnblocked{})
		want = amqp.AppendMethod(want, 2, &amqp.ChannelOpenOk{})
		if heard, _ := p.after(time.Second); !bytes.Equal(heard, want) {
			t.Errorf("heard %q when unblocked", heard)
		}
		// A blocked connection can be closed.
		s.Block("low on disk")
		p.send(message)
		p.after(time.Second)
		s.CloseConnection(s.Connections()[0].Name, "bye")
		p.after(time.Second)
		p.send(amqp.AppendMethod(nil, 0, &amqp.ConnectionCloseOk{}))
		if _, ended := p.after(time.Second); !ended {
			t.Error("not closed")
		}
		p.close()
	})
}
