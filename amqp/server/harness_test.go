package server

import (
	"context"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest"

	"github.com/warrenmq/warren/amqp"
	"github.com/warrenmq/warren/keratin"
	"github.com/warrenmq/warren/keratin/vfs"
	"github.com/warrenmq/warren/queue"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// newServer returns a server with a whole broker behind it, on a file system in memory.
func newServer(t testing.TB, o Options) *Server {
	t.Helper()
	store, err := keratin.Open("test", keratin.Options{FS: vfs.NewMem(), JournalFileBytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	log := zap.NewNop()
	if tt, ok := t.(*testing.T); ok {
		log = zaptest.NewLogger(tt, zaptest.Level(zap.WarnLevel))
	}
	o.Broker, err = queue.Open(queue.Options{Store: queue.OnKeratin(store), Log: log})
	if err != nil {
		t.Fatal(err)
	}
	if o.Log == nil {
		o.Log = log
	}
	s := New(o)
	t.Cleanup(func() {
		s.Close()
		if err := o.Broker.Close(); err != nil {
			t.Error(err)
		}
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// listen serves s on a loopback port and returns the address.
func listen(t testing.TB, s *Server) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var serving sync.WaitGroup
	serving.Go(func() {
		if err := s.Serve(ln); err != ErrStopped {
			t.Error(err)
		}
	})
	t.Cleanup(func() {
		s.Close()
		serving.Wait()
	})
	return ln.Addr().String()
}

// peer is the client's end of a connection whose server end is being served: what the server says is collected.
type peer struct {
	t  testing.TB
	nc net.Conn

	mu    sync.Mutex
	heard []byte
	ended bool
	done  sync.WaitGroup
}

// connect serves one end of a pipe and returns the other.
func connect(t testing.TB, s *Server) *peer {
	client, end := net.Pipe()
	s.serveConn(end)
	p := &peer{t: t, nc: client}
	p.done.Go(p.listen)
	t.Cleanup(p.close)
	return p
}

func (p *peer) listen() {
	buf := make([]byte, 64<<10)
	for {
		n, err := p.nc.Read(buf)
		p.mu.Lock()
		p.heard = append(p.heard, buf[:n]...)
		p.ended = p.ended || err == io.EOF
		p.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (p *peer) close() {
	p.nc.Close()
	p.done.Wait()
}

// take returns what the server has said since the last call, and whether it has closed the connection.
func (p *peer) take() (heard []byte, ended bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	heard, p.heard = p.heard, nil
	return heard, p.ended
}

// send writes octets; a server that has closed the connection is not an error.
func (p *peer) send(b []byte) {
	if _, err := p.nc.Write(b); err != nil && err != io.ErrClosedPipe {
		p.t.Error(err)
	}
}

// handshake is what a client sends to get to an open connection, with the given heartbeat.
func handshake(heartbeat uint16) []byte {
	b := []byte(amqp.ProtocolHeader)
	b = amqp.AppendMethod(b, 0, startOk("PLAIN", "\x00guest\x00guest"))
	b = amqp.AppendMethod(b, 0, &amqp.ConnectionTuneOk{ChannelMax: 2047, FrameMax: 131072, Heartbeat: heartbeat})
	return amqp.AppendMethod(b, 0, &amqp.ConnectionOpen{VirtualHost: "/"})
}

func startOk(mechanism, response string) *amqp.ConnectionStartOk {
	return &amqp.ConnectionStartOk{
		ClientProperties: amqp.AppendTable(nil, amqp.Table{
			"connection_name": "test",
			"capabilities":    amqp.Table{"connection.blocked": true, "consumer_cancel_notify": true, "authentication_failure_close": true},
		}),
		Mechanism: mechanism, Response: []byte(response), Locale: "en_US",
	}
}

// shutDown shuts s down within a test's patience.
func shutDown(t testing.TB, s *Server) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := s.Shutdown(ctx); err != nil {
		t.Error(err)
	}
}
