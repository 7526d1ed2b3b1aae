package server

import (
	"context"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"
)

// Server accepts AMQP connections. Make one with New.
type Server struct {
	o     Options
	start []byte // the connection.start frame, the same for everybody
	alarm atomic.Pointer[alarm]

	mu struct {
		sync.Mutex
		stopping  bool
		listeners map[net.Listener]struct{}
		conns     map[*conn]struct{}
		byName    map[string]*conn
		totals    Totals // of connections and channels that are gone
	}
	serving sync.WaitGroup // one per connection
}

// New returns a server; Serve makes it work.
func New(o Options) *Server {
	s := &Server{o: o.withDefaults()}
	s.start = startFrame(&s.o)
	s.mu.listeners = make(map[net.Listener]struct{})
	s.mu.conns = make(map[*conn]struct{})
	s.mu.byName = make(map[string]*conn)
	return s
}

// ErrStopped is returned by Serve after Shutdown or Close.
var ErrStopped = errors.New("amqp server stopped")

// Serve accepts connections on ln until ln fails or the server is shut down, which gives ErrStopped. It closes ln.
// It may be called for several listeners at once.
func (s *Server) Serve(ln net.Listener) error {
	if !s.addListener(ln) {
		ln.Close()
		return ErrStopped
	}
	defer s.dropListener(ln)
	backoff := acceptBackoff{}
	for {
		nc, err := ln.Accept()
		if err == nil {
			backoff = acceptBackoff{}
			s.serveConn(nc)
			continue
		}
		if s.isStopping() {
			return ErrStopped
		}
		if !isTemporary(err) {
			return err
		}
		s.o.Log.Warn("accept failed", zap.Error(err))
		backoff.wait()
	}
}

// acceptBackoff waits longer after each accept that failed in a row (out of descriptors, mostly).
type acceptBackoff struct{ d time.Duration }

func (b *acceptBackoff) wait() {
	b.d = min(max(2*b.d, 5*time.Millisecond), time.Second)
	time.Sleep(b.d)
}

func isTemporary(err error) bool {
	var ne net.Error
	//lint:ignore SA1019 exactly what Accept's errors have it for
	return errors.As(err, &ne) && ne.Temporary()
}

// serveConn serves nc on goroutines of its own.
func (s *Server) serveConn(nc net.Conn) {
	c := newConn(s, nc)
	if !s.addConn(c) {
		nc.Close()
		return
	}
	go func() {
		defer s.serving.Done()
		defer s.dropConn(c)
		c.serve()
	}()
}

// Shutdown stops accepting, tells every peer that the broker shuts down, and waits until all connections have
// ended. When ctx ends first the sockets are closed, and ctx's error is returned after the connections' goroutines
// have ended.
func (s *Server) Shutdown(ctx context.Context) error {
	for _, c := range s.stopAccepting() {
		c.force("broker forced connection closure with reason 'shutdown'")
	}
	done := make(chan struct{})
	go func() {
		s.serving.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
	}
	for _, c := range s.connections() {
		c.abort()
	}
	<-done
	return ctx.Err()
}

// Close closes all listeners and sockets at once and waits for the connections' goroutines.
func (s *Server) Close() {
	for _, c := range s.stopAccepting() {
		c.abort()
	}
	s.serving.Wait()
}

// stopAccepting closes the listeners and returns the connections there are.
func (s *Server) stopAccepting() []*conn {
	s.mu.Lock()
	s.mu.stopping = true
	for ln := range s.mu.listeners {
		ln.Close()
	}
	s.mu.Unlock()
	return s.connections()
}
