package catalog

import "github.com/warrenmq/warren/queue/route"

// Bind leads messages from an exchange to a queue or another exchange. The same binding twice is one.
type Bind struct {
	VHost, Source, Destination string
	Kind                       DestKind
	Key                        string
	Args                       map[string]any
	User, Session              string
}

// Unbind takes a binding away. A missing one, or one with a missing end, is away already.
type Unbind Bind

// check follows the order of RabbitMQ's binding actions up to the look at the ends: write permission on the
// destination, default exchange, read permission on the source.
func (c *Bind) check(s *State) error {
	if err := s.inVHost(c.VHost); err != nil {
		return err
	}
	if err := checkTable(c.Args); err != nil {
		return err
	}
	c.Source, c.Destination = cleanName(c.Source), cleanName(c.Destination)
	to := Resource{KindQueue, c.Destination}
	if c.Kind == ToExchange {
		to.Kind = KindExchange
	}
	if err := s.allow(c.User, c.VHost, Write, to); err != nil {
		return err
	}
	if c.Source == "" || c.Kind == ToExchange && c.Destination == "" {
		return defaultExchangeRefused()
	}
	return s.allow(c.User, c.VHost, Read, Resource{KindExchange, c.Source})
}

func (c Bind) apply(s *State, r *Result) error {
	if err := c.check(s); err != nil {
		return err
	}
	src := s.Exchange(c.VHost, c.Source)
	if src == nil {
		return NoExchange(c.VHost, c.Source)
	}
	b := Binding{VHost: src.VHost, Source: src.Name, Kind: c.Kind, Key: c.Key, Args: c.Args}
	switch c.Kind {
	case ToExchange:
		dst := s.Exchange(c.VHost, c.Destination)
		if dst == nil {
			return NoExchange(c.VHost, c.Destination)
		}
		b.Destination, b.Durable = dst.Name, src.Durable && dst.Durable
	default:
		dst := s.Queue(c.VHost, c.Destination)
		if dst == nil {
			return NoQueue(c.VHost, c.Destination)
		}
		if dst.LockedFor(c.Session) {
			return Locked(c.VHost, c.Destination)
		}
		b.Destination, b.Durable = dst.Name, src.Durable && dst.Durable
	}
	if wrong := route.CheckBinding(src.Type, c.Args); wrong != "" {
		return &Error{Kind: PreconditionFailed, Text: wrong}
	}
	if s.Binding(b) == nil {
		r.Created = true
		s.put(r, newBinding(b))
	}
	return nil
}

func (c Unbind) apply(s *State, r *Result) error {
	bind := Bind(c)
	if err := bind.check(s); err != nil {
		return err
	}
	b := s.Binding(Binding{
		VHost: c.VHost, Source: bind.Source, Destination: bind.Destination,
		Kind: c.Kind, Key: c.Key, Args: c.Args,
	})
	if b == nil {
		return nil
	}
	if q := s.Queue(c.VHost, bind.Destination); c.Kind == ToQueue && q != nil && q.LockedFor(c.Session) {
		return Locked(c.VHost, bind.Destination)
	}
	s.del(r, b)
	s.deleteUnused(r, []*Binding{b})
	return nil
}
