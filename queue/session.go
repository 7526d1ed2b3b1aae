package queue

import (
	"sync"

	"github.com/warrenmq/warren/queue/catalog"
)

// Session is one connection's stay in a vhost: the owner of exclusive queues and the subject of permission checks.
// Its methods may be called concurrently.
type Session struct {
	vhost *vhost
	user  User
	name  string // the connection's
	id    string // name, made unique; the owner in the catalog's records

	mu    sync.Mutex
	ended *Error
	onEnd func(*Error)
}

// Close ends the stay: the session's exclusive queues are deleted. Its consumers have been cancelled before.
func (s *Session) Close() {
	s.vhost.leave(s)
	if _, err := s.vhost.b.catalog.Propose(catalog.CloseSession{Session: s.id}); err != nil {
		s.vhost.b.logProposal("closing a session", err)
	}
}

// User returns the session's user.
func (s *Session) User() User { return s.user }

// VHost returns the name of the session's vhost.
func (s *Session) VHost() string { return s.vhost.name }

// OnEnd has f called, once and on a goroutine of its own choosing, when the stay cannot go on: the vhost is deleted.
// f must not block and not call into package queue.
func (s *Session) OnEnd(f func(*Error)) {
	s.mu.Lock()
	s.onEnd = f
	ended := s.ended
	s.mu.Unlock()
	if ended != nil {
		f(ended)
	}
}

func (s *Session) end(why *Error) {
	s.mu.Lock()
	s.ended = why
	f := s.onEnd
	s.mu.Unlock()
	if f != nil {
		f(why)
	}
}

// Commit writes what Settle, Reject and Requeue have staged. Called once per batch of frames.
func (s *Session) Commit() { s.vhost.b.store.Commit() }

// Written returns when everything that was staged before the call is written: what has been settled stays settled
// though the process be killed.
func (s *Session) Written() { s.vhost.b.store.Write() }

// reach returns a queue that the session has a right to and that no other session owns.
func (s *Session) reach(name string, a catalog.Access) (*Queue, error) {
	if err := s.check(s.vhost.b.catalog.View(), catalog.KindQueue, name, a); err != nil {
		return nil, err
	}
	q := s.vhost.queue(name)
	switch {
	case q == nil:
		return nil, catalog.NoQueue(s.vhost.name, name)
	case q.rec.LockedFor(s.id):
		return nil, catalog.Locked(s.vhost.name, name)
	}
	return q, nil
}
