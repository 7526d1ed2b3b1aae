package catalog

import (
	"maps"
	"slices"

	"github.com/warrenmq/warren/keratin"
)

// DeclareQueue makes a queue, or checks that there is an equivalent one.
type DeclareQueue struct {
	VHost, Name string // Name is never empty: whoever proposes makes up the names of server-named queues
	ServerNamed bool   // and says so; such a name may begin with "amq."
	Durable     bool
	Exclusive   bool
	AutoDelete  bool
	Args        map[string]any
	User        string
	Session     string
}

// DeleteQueue deletes a queue with its bindings. A missing one is deleted already. Whether it is used or empty only
// the queue itself knows, so who asks for if-unused or if-empty looks there first.
type DeleteQueue struct {
	VHost, Name string
	LogID       keratin.LogID // if not 0: only this incarnation of the queue, not one declared since
	User        string
	Session     string
}

// CloseSession deletes the exclusive queues of a session.
type CloseSession struct{ Session string }

// apply follows the order of RabbitMQ's queue.declare: name, configure permission; of an existing queue equivalence;
// of a new one its dead-letter exchange, the vhost's limit, arguments, and what the queue type allows.
func (c DeclareQueue) apply(s *State, r *Result) error {
	h := s.VHost(c.VHost)
	if h == nil {
		return NoVHost(c.VHost)
	}
	name := cleanName(c.Name)
	c.Durable = c.Durable && !c.Exclusive
	c.Args = c.withType(h)
	if c.ServerNamed && c.queueType() != TypeClassic {
		return refuse(PreconditionFailed, "Cannot declare a server-named queue for type rabbit_%s_queue", c.queueType())
	}
	if reserved(name) && !c.ServerNamed {
		return refuse(AccessRefused, "queue name '%s' contains reserved prefix 'amq.*'", name)
	}
	if err := s.allow(c.User, c.VHost, Configure, Resource{KindQueue, name}); err != nil {
		return err
	}
	if q := s.Queue(c.VHost, name); q != nil {
		r.Queue = q
		return c.equivalent(q)
	}
	if err := c.admit(s, name); err != nil {
		return err
	}
	q := &Queue{
		VHost: c.VHost, Name: name, Type: c.queueType(),
		Durable: c.Durable, Exclusive: c.Exclusive, AutoDelete: c.AutoDelete, Args: c.Args,
		LogID: s.nextLog,
	}
	if c.Exclusive {
		q.Owner = c.Session
	}
	if !q.Durable {
		q.LogID = s.nextTransient
	}
	r.Created, r.Queue = true, q
	s.put(r, q)
	return nil
}

// admit says whether a queue of that name may be made.
func (c *DeclareQueue) admit(s *State, name string) error {
	if err := s.checkTarget(c.User, c.VHost, c.Args, argDLX, Resource{KindQueue, name}); err != nil {
		return err
	}
	if limit, ok := s.VHostLimit(c.VHost, "max-queues"); ok && int64(s.queueCount[c.VHost]) >= limit {
		return refuse(PreconditionFailed, "cannot declare queue '%s': queue limit in vhost '%s' (%d) is reached",
			name, c.VHost, limit)
	}
	if err := checkQueueArgs(c.VHost, name, c.Args); err != nil {
		return err
	}
	if err := checkTable(c.Args); err != nil || c.queueType() == TypeClassic {
		return err
	}
	for _, wrong := range []struct {
		is       bool
		property string
	}{{c.AutoDelete, "auto-delete"}, {c.Exclusive, "exclusive-owner"}, {!c.Durable, "non-durable"}} {
		if wrong.is {
			return refuse(PreconditionFailed, "invalid property '%s' for queue '%s' in vhost '%s'",
				wrong.property, name, c.VHost)
		}
	}
	return nil
}

func (c *DeclareQueue) equivalent(q *Queue) error {
	owner := ""
	if c.Exclusive {
		owner = c.Session
	}
	if q.Owner != owner {
		return Locked(q.VHost, q.Name)
	}
	e := equivalence{KindQueue, q.VHost, q.Name}
	return e.first(
		e.field("durable", q.Durable, c.Durable),
		e.field("auto_delete", q.AutoDelete, c.AutoDelete),
		e.args(queueArgs[q.Type], q.Args, c.Args),
	)
}

// withType returns the arguments with the vhost's default queue type, where the client has not named one and the
// queue can be of that type; "" and "undefined" name none.
func (c *DeclareQueue) withType(h *VHost) map[string]any {
	v, named := c.Args[argQueueType]
	args := c.Args
	if named && (v == "" || v == "undefined") {
		args = maps.Clone(args)
		delete(args, argQueueType)
		named = false
	}
	fits := h.DefaultQueueType == TypeClassic || c.Durable && !c.Exclusive && !c.AutoDelete
	if named || h.DefaultQueueType == "" || !fits {
		return args
	}
	args = maps.Clone(args)
	if args == nil {
		args = make(map[string]any, 1)
	}
	args[argQueueType] = h.DefaultQueueType
	return args
}

func (c *DeclareQueue) queueType() string {
	if t, ok := c.Args[argQueueType].(string); ok {
		return t
	}
	return TypeClassic
}

func (c DeleteQueue) apply(s *State, r *Result) error {
	if err := s.inVHost(c.VHost); err != nil {
		return err
	}
	name := cleanName(c.Name)
	if err := s.allow(c.User, c.VHost, Configure, Resource{KindQueue, name}); err != nil {
		return err
	}
	q := s.Queue(c.VHost, name)
	if q == nil || c.LogID != 0 && c.LogID != q.LogID {
		return nil
	}
	if q.LockedFor(c.Session) {
		return Locked(q.VHost, q.Name)
	}
	r.Queue = q
	s.deleteQueue(r, q)
	return nil
}

func (c CloseSession) apply(s *State, r *Result) error {
	queues := slices.SortedFunc(maps.Keys(s.exclusive[c.Session]), (*Queue).compare)
	for _, q := range queues {
		s.deleteQueue(r, q)
	}
	return nil
}

// deleteQueue deletes q with the bindings to it, and the auto-delete exchanges these have been the last bindings of.
func (s *State) deleteQueue(r *Result, q *Queue) {
	into := slices.Collect(s.BindingsTo(q.VHost, ToQueue, q.Name))
	for _, b := range into {
		s.del(r, b)
	}
	s.del(r, q)
	s.deleteUnused(r, into)
}

// isQueueType reports whether it is one of the queue types.
func isQueueType(t string) bool {
	return t == TypeClassic || t == TypeQuorum || t == TypeStream
}
