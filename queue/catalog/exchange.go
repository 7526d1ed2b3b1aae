package catalog

import (
	"slices"

	"github.com/warrenmq/warren/queue/route"
)

// DeclareExchange makes an exchange, or checks that there is an equivalent one.
type DeclareExchange struct {
	VHost, Name, Type             string
	Durable, AutoDelete, Internal bool
	Args                          map[string]any
	User                          string
}

// DeleteExchange deletes an exchange with all its bindings. A missing one is deleted already.
type DeleteExchange struct {
	VHost, Name string
	IfUnused    bool // refuse if there are bindings from it
	User        string
}

const argAlternate = "alternate-exchange"

func defaultExchangeRefused() *Error {
	return refuse(AccessRefused, "operation not permitted on the default exchange")
}

// apply follows the order of RabbitMQ's exchange.declare: type, default exchange, configure permission; of a new
// exchange its name, then the alternate exchange; of an existing one equivalence.
func (c DeclareExchange) apply(s *State, r *Result) error {
	if err := s.inVHost(c.VHost); err != nil {
		return err
	}
	name := cleanName(c.Name)
	if c.Type == "" {
		return refuse(PreconditionFailed, "invalid exchange type ''")
	}
	if !route.Known(c.Type) {
		return refuse(PreconditionFailed, "unknown exchange type '%s'", c.Type)
	}
	if name == "" {
		return defaultExchangeRefused()
	}
	if err := s.allow(c.User, c.VHost, Configure, Resource{KindExchange, name}); err != nil {
		return err
	}
	if x := s.Exchange(c.VHost, name); x != nil {
		r.Exchange = x
		return c.equivalent(x)
	}
	if reserved(name) {
		return refuse(AccessRefused, "exchange name '%s' contains reserved prefix 'amq.*'", name)
	}
	if err := s.checkTarget(c.User, c.VHost, c.Args, argAlternate, Resource{KindExchange, name}); err != nil {
		return err
	}
	x := &Exchange{
		VHost: c.VHost, Name: name, Type: c.Type,
		Durable: c.Durable, AutoDelete: c.AutoDelete, Internal: c.Internal, Args: c.Args,
	}
	if err := checkTable(x.Args); err != nil {
		return err
	}
	r.Created, r.Exchange = true, x
	s.put(r, x)
	return nil
}

func (c *DeclareExchange) equivalent(x *Exchange) error {
	e := equivalence{KindExchange, x.VHost, x.Name}
	return e.first(
		e.field("type", x.Type, c.Type),
		e.field("durable", x.Durable, c.Durable),
		e.field("auto_delete", x.AutoDelete, c.AutoDelete),
		e.field("internal", x.Internal, c.Internal),
		e.args([]string{argAlternate}, x.Args, c.Args),
	)
}

// checkTarget checks the argument that names an exchange to pass messages on to, of a queue or exchange about to be
// made: its type, read permission on the one and write permission on the other.
func (s *State) checkTarget(user, vhost string, args map[string]any, arg string, on Resource) error {
	v, ok := args[arg]
	if !ok {
		return nil
	}
	target, ok := v.(string)
	if !ok {
		return refuse(PreconditionFailed, "invalid type '%s' for arg '%s' in %s '%s' in vhost '%s'",
			route.TypeName(v), arg, on.Kind, on.Name, vhost)
	}
	if err := s.allow(user, vhost, Read, on); err != nil {
		return err
	}
	return s.allow(user, vhost, Write, Resource{KindExchange, target})
}

func (c DeleteExchange) apply(s *State, r *Result) error {
	if err := s.inVHost(c.VHost); err != nil {
		return err
	}
	name := cleanName(c.Name)
	if name == "" {
		return defaultExchangeRefused()
	}
	if reserved(name) {
		return refuse(AccessRefused, "deletion of system exchange '%s' in vhost '%s' not allowed", name, c.VHost)
	}
	if err := s.allow(c.User, c.VHost, Configure, Resource{KindExchange, name}); err != nil {
		return err
	}
	x := s.Exchange(c.VHost, name)
	if x == nil {
		return nil
	}
	if c.IfUnused && s.isSource(x) {
		return refuse(PreconditionFailed, "exchange '%s' in vhost '%s' in use", name, c.VHost)
	}
	r.Exchange = x
	s.deleteExchange(r, x)
	return nil
}

// isSource reports whether there are bindings from x.
func (s *State) isSource(x *Exchange) bool {
	for range s.BindingsFrom(x.VHost, x.Name) {
		return true
	}
	return false
}

// deleteExchange deletes x with the bindings from and to it, and the auto-delete exchanges that the latter have been
// the last bindings of. It cannot come round to x again: by then x has no bindings.
func (s *State) deleteExchange(r *Result, x *Exchange) {
	for _, b := range slices.Collect(s.BindingsFrom(x.VHost, x.Name)) {
		s.del(r, b)
	}
	into := slices.Collect(s.BindingsTo(x.VHost, ToExchange, x.Name))
	for _, b := range into {
		s.del(r, b)
	}
	s.del(r, x)
	s.deleteUnused(r, into)
}

// deleteUnused deletes the sources of deleted bindings that were to go with their last binding.
func (s *State) deleteUnused(r *Result, deleted []*Binding) {
	for _, b := range deleted {
		x := s.Exchange(b.VHost, b.Source)
		if x != nil && x.AutoDelete && !s.isSource(x) {
			s.deleteExchange(r, x)
		}
	}
}
