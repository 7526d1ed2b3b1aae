package catalog

import (
	"fmt"
	"strings"

	"github.com/warrenmq/warren/keratin"
)

// State is the machine: the records, and what it takes to apply commands to them. It is not safe for use by
// several goroutines at once; Catalog wraps it in a lock.
type State struct {
	View

	nextLog       keratin.LogID // for the next durable queue
	nextTransient keratin.LogID

	queueCount map[string]int                 // by vhost
	exclusive  map[string]map[*Queue]struct{} // by owning session
	patterns   patterns
}

// NewState returns the empty state.
func NewState() *State {
	return &State{
		View: newView(), nextLog: CommandLog + 1, nextTransient: TransientBase,
		queueCount: make(map[string]int), exclusive: make(map[string]map[*Queue]struct{}),
	}
}

// Command asks for a change. The commands are the structs of this package with an apply method: PutVHost,
// DeclareQueue, Bind, and so on.
//
// A command's User is whose permissions are checked; "" stands for the broker itself and is not checked. Its
// Session is the connection it came on, by a name that no other connection has had in this run.
type Command interface {
	// apply checks everything first and then changes; it does not change anything if it returns an error.
	apply(s *State, r *Result) error
}

// Result tells what a command has come to.
type Result struct {
	// Created: what was asked for had not been there.
	Created bool
	// Queue and Exchange are the subject of a declare, new or existing.
	Queue    *Queue
	Exchange *Exchange
	// Changes are the changes made, in an order in which each can be acted on by itself: bindings go before their
	// ends, contents of a vhost before the vhost, and come after. Empty if all was as asked for.
	Changes []Change
}

// Change is one record put, in place of the one of the same identity if there is one, or deleted.
type Change struct {
	Delete bool
	Record Record
}

// Apply carries out a command. The error is an *Error; nothing has changed then.
func (s *State) Apply(cmd Command) (*Result, error) {
	r := &Result{}
	if err := cmd.apply(s, r); err != nil {
		return nil, err
	}
	return r, nil
}

func (s *State) put(r *Result, rec Record) { s.change(r, Change{Record: rec}) }
func (s *State) del(r *Result, rec Record) { s.change(r, Change{Delete: true, Record: rec}) }

func (s *State) change(r *Result, c Change) {
	s.redo(c)
	r.Changes = append(r.Changes, c)
}

// redo makes a change that has been decided, now or before a restart.
func (s *State) redo(c Change) {
	switch r := c.Record.(type) {
	case *VHost:
		keep(c, s.vhosts.Set, s.vhosts.Delete, r)
	case *User:
		keep(c, s.users.Set, s.users.Delete, r)
	case *Permission:
		keep(c, s.permissions.Set, s.permissions.Delete, r)
	case *TopicPermission:
		keep(c, s.topicPermissions.Set, s.topicPermissions.Delete, r)
	case *Exchange:
		keep(c, s.exchanges.Set, s.exchanges.Delete, r)
	case *Queue:
		s.redoQueue(c, r)
	case *Binding:
		keep(c, s.bySource.Set, s.bySource.Delete, r)
		keep(c, s.byDestination.Set, s.byDestination.Delete, r)
	case *Policy:
		keep(c, s.policies.Set, s.policies.Delete, r)
	case *Parameter:
		keep(c, s.parameters.Set, s.parameters.Delete, r)
	default:
		panic(fmt.Sprintf("catalog: change of a %T", r))
	}
}

func keep[T any](c Change, set, del func(T) (T, bool), r T) (was bool) {
	if c.Delete {
		_, was = del(r)
	} else {
		_, was = set(r)
	}
	return was
}

func (s *State) redoQueue(c Change, q *Queue) {
	if old := s.Queue(q.VHost, q.Name); old != nil {
		s.forgetQueue(old)
	}
	keep(c, s.queues.Set, s.queues.Delete, q)
	if !c.Delete {
		s.rememberQueue(q)
	}
}

// forgetQueue and rememberQueue keep what is derived from the queues.
func (s *State) forgetQueue(q *Queue) {
	if s.queueCount[q.VHost]--; s.queueCount[q.VHost] == 0 {
		delete(s.queueCount, q.VHost)
	}
	if q.Owner != "" {
		delete(s.exclusive[q.Owner], q)
		if len(s.exclusive[q.Owner]) == 0 {
			delete(s.exclusive, q.Owner)
		}
	}
}

func (s *State) rememberQueue(q *Queue) {
	s.queueCount[q.VHost]++
	if q.Owner != "" {
		if s.exclusive[q.Owner] == nil {
			s.exclusive[q.Owner] = make(map[*Queue]struct{})
		}
		s.exclusive[q.Owner][q] = struct{}{}
	}
	if q.LogID >= TransientBase {
		s.nextTransient = max(s.nextTransient, q.LogID+1)
	} else {
		s.nextLog = max(s.nextLog, q.LogID+1)
	}
}

// inVHost refuses commands for a vhost that is not there (any more).
func (s *State) inVHost(name string) error {
	if s.VHost(name) == nil {
		return NoVHost(name)
	}
	return nil
}

// allow checks a permission of the command's user.
func (s *State) allow(user, vhost string, a Access, r Resource) error {
	if user == "" {
		return nil
	}
	return s.Check(user, vhost, r, a)
}

// cleanName drops what RabbitMQ drops from the names of queues and exchanges.
func cleanName(name string) string {
	if !strings.ContainsAny(name, "\r\n") {
		return name
	}
	return strings.NewReplacer("\r", "", "\n", "").Replace(name)
}

// reserved reports whether the name is of the broker's own.
func reserved(name string) bool { return strings.HasPrefix(name, "amq.") }
