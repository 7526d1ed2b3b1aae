package server

import (
	"net"
	"runtime/debug"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/warrenmq/warren/amqp"
	"github.com/warrenmq/warren/queue"
)

// connState is where a connection is in its life.
type connState int32

const (
	stateHeader   connState = iota // the protocol header is awaited
	stateStarting                  // start-ok
	stateTuning                    // tune-ok
	stateOpening                   // connection.open
	stateRunning                   // anything
	stateClosing                   // close-ok: everything else is discarded
	stateClosed                    // nothing: the reader ends
)

func (s connState) String() string {
	return [...]string{"starting", "starting", "tuning", "opening", "running", "closing", "closed"}[s]
}

// conn is one connection. Fields without a lock belong to the reader, unless they are said to be immutable.
type conn struct {
	srv  *Server     // immutable
	nc   net.Conn    // immutable
	name string      // immutable: "peer -> host"
	log  *zap.Logger // immutable
	out  *output     // immutable
	mon  monitor
	life lifetime

	state      atomic.Int32 // connState; written by the reader, and by force
	blocked    atomic.Bool  // the reader waits for an alarm to end
	in         input
	lost       bool   // framing was lost: what comes can only be discarded
	maxPayload uint32 // of incoming frames
	channelMax int
	dec        amqp.Decoder

	user    queue.User
	session *queue.Session   // from running on
	pub     *queue.Publisher // likewise
	channels
	batch

	caps capabilities
	meta struct {
		sync.Mutex
		ConnectionInfo
	}
	readOctets, reads atomic.Uint64
}

// capabilities are what the client has announced.
type capabilities struct {
	authFailureClose bool
	cancelNotify     bool
	blocked          bool
}

// lifetime ends a connection from any goroutine.
type lifetime struct {
	once    sync.Once
	done    chan struct{} // closed by abort
	closing chan struct{} // closed by close
	mu      sync.Mutex
	reason  string // why it ended, for the log; the first one said
}

func newConn(s *Server, nc net.Conn) *conn {
	c := &conn{srv: s, nc: nc, out: newOutput(), maxPayload: handshakeFrameMax - amqp.FrameOverhead}
	c.mon.c = c
	c.life.done, c.life.closing = make(chan struct{}), make(chan struct{})
	c.out.maxPayload = handshakeFrameMax - amqp.FrameOverhead
	c.channels.init(c)
	c.batch.init(c)
	info := &c.meta.ConnectionInfo
	info.PeerHost, info.PeerPort = hostPort(nc.RemoteAddr())
	info.Host, info.Port = hostPort(nc.LocalAddr())
	info.ConnectedAt = time.Now()
	c.name = nc.RemoteAddr().String() + " -> " + nc.LocalAddr().String()
	info.Name = c.name
	c.log = s.o.Log.With(zap.String("connection", c.name))
	return c
}

func hostPort(a net.Addr) (string, int) {
	host, port, err := net.SplitHostPort(a.String())
	if err != nil { // not an Internet address
		return a.String(), 0
	}
	n, _ := strconv.Atoi(port) // a port of net.Addr is a number; 0 where it is not
	return host, n
}

// loopback reports whether the peer is on this machine.
func loopback(a net.Addr) bool {
	if tcp, ok := a.(*net.TCPAddr); ok {
		return tcp.IP.IsLoopback()
	}
	return true // pipes and Unix sockets do not leave the machine
}

func (c *conn) is(s connState) bool     { return connState(c.state.Load()) == s }
func (c *conn) setState(s connState)    { c.state.Store(int32(s)) }
func (c *conn) currentState() connState { return connState(c.state.Load()) }

// serve runs the connection from the protocol header to the closed socket.
func (c *conn) serve() {
	var writer sync.WaitGroup
	now := time.Now()
	c.out.lastWrite.Store(now.UnixNano())
	c.nc.SetReadDeadline(now.Add(c.srv.o.HandshakeTimeout))
	c.mon.start()
	writer.Go(func() {
		if err := c.out.run(c.nc); err != nil {
			c.endReason(err.Error())
			c.abort()
		}
	})
	c.guard(c.read)
	c.guard(c.leave)
	c.out.finish()
	c.nc.SetWriteDeadline(time.Now().Add(c.srv.o.CloseTimeout))
	writer.Wait()
	c.mon.stop()
	c.linger()
	c.abort()
	c.log.Debug("connection closed", zap.String("reason", c.life.reason))
}

// leave gives back what the connection holds in the broker: its messages, consumers and exclusive queues.
func (c *conn) leave() {
	c.closeChannels()
	if c.session != nil {
		c.settleDown()
		c.session.Close()
		c.session = nil
	}
}

// abort closes the socket at once, which ends the reader and the writer.
func (c *conn) abort() {
	c.life.once.Do(func() {
		close(c.life.done)
		c.nc.Close()
	})
}

// endReason notes why the connection ends.
func (c *conn) endReason(reason string) {
	c.life.mu.Lock()
	defer c.life.mu.Unlock()
	if c.life.reason == "" {
		c.life.reason = reason
	}
}

// guard runs f. A panic in it is ours to log, and ends this connection alone.
func (c *conn) guard(f func()) {
	defer func() {
		if p := recover(); p != nil {
			c.log.Error("panic while serving a connection", zap.Any("panic", p), zap.ByteString("stack", debug.Stack()))
			c.close(internalFault, 0, 0)
		}
	}()
	f()
}

// close sends connection.close, after which everything but the peer's answer is discarded. It may be called from
// any goroutine; only the first call counts.
func (c *conn) close(f fault, class, method uint16) {
	for {
		s := c.state.Load()
		if connState(s) >= stateClosing {
			return
		}
		if c.state.CompareAndSwap(s, int32(stateClosing)) {
			break
		}
	}
	close(c.life.closing)
	c.endReason(f.text)
	c.out.last(amqp.AppendMethod(nil, 0, &amqp.ConnectionClose{
		ReplyCode: f.code, ReplyText: f.text, ClassID: class, MethodID: method,
	}))
	c.mon.closeBy.Store(time.Now().Add(c.srv.o.CloseTimeout).UnixNano())
	c.mon.reset()
}

// force closes the connection for an operator's reason. A peer that has not logged in is not told.
func (c *conn) force(reason string) {
	switch c.currentState() {
	case stateOpening, stateRunning:
		c.close(fault{amqp.CodeConnectionForced, amqp.CodeConnectionForced.Text(reason)}, 0, 0)
	case stateClosing, stateClosed: // on its way
	default:
		c.endReason(reason)
		c.abort()
	}
}

// lingerTime bounds how long a socket is kept after its last write. A socket that is closed with input
// unread is reset, and a reset may overtake the words that explain it.
const lingerTime = time.Second

// linger lets the peer read what was written last: it may still be sending.
func (c *conn) linger() {
	if half, ok := c.nc.(interface{ CloseWrite() error }); ok && half.CloseWrite() == nil {
		c.nc.SetReadDeadline(time.Now().Add(lingerTime))
		var trash [4 << 10]byte
		for {
			if _, err := c.nc.Read(trash[:]); err != nil {
				return
			}
		}
	}
}

func (c *conn) traffic() Traffic {
	return Traffic{
		ReceivedOctets: c.readOctets.Load(), ReceivedCount: c.reads.Load(),
		SentOctets: c.out.octets.Load(), SentCount: c.out.writes.Load(),
		SendPending: uint64(c.out.pending.Load()),
	}
}

// info describes the connection once it has begun to speak AMQP.
func (c *conn) info() (ConnectionInfo, bool) {
	state := c.currentState()
	c.meta.Lock()
	info := c.meta.ConnectionInfo
	c.meta.Unlock()
	info.State = state.String()
	if state == stateRunning && c.blocked.Load() {
		info.State = "blocked"
	}
	info.Traffic = c.traffic()
	info.Channels = c.channels.count()
	return info, info.User != ""
}
