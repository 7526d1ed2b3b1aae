package server

import "github.com/warrenmq/warren/amqp"

// alarm is a shortage that publishers have to wait for. Connections are not looked through when one is raised: each
// finds it at its next publish. Those that only consume help against the shortage and are left alone.
type alarm struct {
	reason string        // "low on memory", "low on disk"
	lifted chan struct{} // closed by Unblock, whatever the reason is then
}

// Block raises an alarm: from now on a connection that publishes is told so (connection.blocked, if its client
// knows that) and is not read any more until Unblock. Blocking again changes the reason for those to come.
func (s *Server) Block(reason string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := &alarm{reason: reason}
	if old := s.alarm.Load(); old != nil {
		a.lifted = old.lifted
	} else {
		a.lifted = make(chan struct{})
	}
	s.alarm.Store(a)
}

// Unblock ends the alarm, if there is one.
func (s *Server) Unblock() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if a := s.alarm.Swap(nil); a != nil {
		close(a.lifted)
	}
}

// waitAlarm keeps the reader until the alarm is over or the connection is to end. Meanwhile the socket fills, which is
// what stops the publisher.
func (c *conn) waitAlarm(a *alarm) {
	c.endBatch()
	if c.caps.blocked {
		c.out.method(0, &amqp.ConnectionBlocked{Reason: a.reason})
		c.out.flush()
	}
	c.blocked.Store(true)
	defer c.blocked.Store(false)
	select {
	case <-a.lifted:
		if c.caps.blocked {
			c.out.method(0, &amqp.ConnectionUnblocked{})
		}
	case <-c.life.closing:
	case <-c.life.done:
	}
}
