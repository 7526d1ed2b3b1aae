package server

import (
	"sync"
	"sync/atomic"
	"time"
)

// idleAfter is how long a connection with a large read buffer may be silent before it gives the buffer back.
const idleAfter = 2 * time.Second

// monitor watches the clock for one connection: heartbeats in both directions, writes that do not progress, the
// answer to connection.close, and buffers held while idle. It is one timer, which is set for the first moment at
// which something may be due; traffic only leaves time stamps behind.
type monitor struct {
	c  *conn
	mu struct {
		sync.Mutex
		timer   *time.Timer
		stopped bool
	}
	heartbeat atomic.Int64 // nanoseconds; 0 = off
	closeBy   atomic.Int64 // Unix nanoseconds; 0 = no close of ours is unanswered
	reading   atomic.Bool  // the reader waits for the peer, not for something else
	lastRead  atomic.Int64 // Unix nanoseconds
	large     atomic.Bool  // the read buffer is one to give back
	kicked    atomic.Bool  // the read deadline was moved to wake the reader
}

func (m *monitor) start() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.mu.timer = time.AfterFunc(m.next(time.Now()), m.check)
}

// stop ends the watch; a check that is running ends before.
func (m *monitor) stop() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.mu.stopped = true
	m.mu.timer.Stop()
}

// reset makes the monitor look at what has changed (a heartbeat interval, closeBy).
func (m *monitor) reset() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.mu.stopped {
		m.mu.timer.Reset(m.next(time.Now()))
	}
}

// beforeRead and afterRead bracket the reader's wait for the peer.
func (m *monitor) beforeRead(large bool) {
	m.lastRead.Store(time.Now().UnixNano())
	if large && !m.large.Swap(true) {
		m.reset()
	} else if !large {
		m.large.Store(false)
	}
	m.reading.Store(true)
}

func (m *monitor) afterRead() { m.reading.Store(false) }

func (m *monitor) check() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.mu.stopped {
		return
	}
	now := time.Now()
	if reason := m.overdue(now); reason != "" {
		m.c.endReason(reason)
		m.c.abort()
		m.mu.stopped = true
		return
	}
	if m.sendDue(now) {
		m.c.out.heartbeat()
	}
	// Before a connection runs, its read deadline is the handshake's.
	if m.large.Load() && m.reading.Load() && m.c.is(stateRunning) && m.since(&m.lastRead, now) >= idleAfter {
		m.kicked.Store(true)
		m.c.nc.SetReadDeadline(time.Unix(1, 0))
	}
	m.mu.timer.Reset(m.next(now))
}

func (m *monitor) since(stamp *atomic.Int64, now time.Time) time.Duration {
	return time.Duration(now.UnixNano() - stamp.Load())
}

// overdue says for which reason, if any, the connection has to end.
func (m *monitor) overdue(now time.Time) string {
	if by := m.closeBy.Load(); by != 0 && now.UnixNano() >= by {
		return "no answer to connection.close"
	}
	if m.c.out.writing.Load() != 0 && m.since(&m.c.out.writing, now) >= m.c.srv.o.WriteTimeout {
		return "the peer does not read"
	}
	if h := m.interval(); h > 0 && m.reading.Load() && m.since(&m.lastRead, now) >= 2*h {
		return "missed heartbeats from client, timeout: " + h.String()
	}
	return ""
}

func (m *monitor) interval() time.Duration { return time.Duration(m.heartbeat.Load()) }

// sendDue reports whether nothing has been sent for half an interval.
func (m *monitor) sendDue(now time.Time) bool {
	h := m.interval()
	return h > 0 && m.c.out.writing.Load() == 0 && m.since(&m.c.out.lastWrite, now) >= h/2
}

// next is the time until something may be due.
func (m *monitor) next(now time.Time) time.Duration {
	d := m.c.srv.o.WriteTimeout
	if w := m.c.out.writing.Load(); w != 0 {
		d -= m.since(&m.c.out.writing, now)
	}
	if by := m.closeBy.Load(); by != 0 {
		d = min(d, time.Duration(by-now.UnixNano()))
	}
	if h := m.interval(); h > 0 {
		d = min(d, h/2) // also while a write is under way or the reader is busy
		if m.c.out.writing.Load() == 0 {
			d = min(d, h/2-m.since(&m.c.out.lastWrite, now))
		}
		if m.reading.Load() {
			d = min(d, 2*h-m.since(&m.lastRead, now))
		}
	}
	if m.large.Load() {
		d = min(d, idleAfter)
	}
	return max(d, time.Millisecond)
}
