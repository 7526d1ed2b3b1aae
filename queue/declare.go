package queue

import (
	"crypto/rand"
	"encoding/base64"

	"go.uber.org/zap"

	"github.com/warrenmq/warren/queue/catalog"
)

// ExchangeDeclare are the arguments of exchange.declare.
type ExchangeDeclare struct {
	Name, Type                             string
	Passive, Durable, AutoDelete, Internal bool
	Args                                   map[string]any
}

// DeclareExchange creates an exchange or checks that it is there, with these properties unless passive.
func (s *Session) DeclareExchange(d ExchangeDeclare) error {
	if d.Passive {
		_, err := s.vhost.b.catalog.View().PassiveExchange(s.vhost.name, d.Name)
		return err
	}
	return s.propose(catalog.DeclareExchange{
		VHost: s.vhost.name, Name: d.Name, Type: d.Type,
		Durable: d.Durable, AutoDelete: d.AutoDelete, Internal: d.Internal, Args: d.Args, User: s.user.Name,
	})
}

// DeleteExchange deletes an exchange and its bindings; one that does not exist is fine.
func (s *Session) DeleteExchange(name string, ifUnused bool) error {
	return s.propose(catalog.DeleteExchange{VHost: s.vhost.name, Name: name, IfUnused: ifUnused, User: s.user.Name})
}

// BindExchange adds a binding from exchange src to exchange dst.
func (s *Session) BindExchange(dst, src, key string, args map[string]any) error {
	return s.propose(s.binding(dst, catalog.ToExchange, src, key, args))
}

// UnbindExchange removes a binding; one that does not exist is fine.
func (s *Session) UnbindExchange(dst, src, key string, args map[string]any) error {
	return s.propose(catalog.Unbind(s.binding(dst, catalog.ToExchange, src, key, args)))
}

// BindQueue adds a binding from an exchange to a queue.
func (s *Session) BindQueue(queue, exchange, key string, args map[string]any) error {
	return s.propose(s.binding(queue, catalog.ToQueue, exchange, key, args))
}

// UnbindQueue removes a binding; one that does not exist is fine.
func (s *Session) UnbindQueue(queue, exchange, key string, args map[string]any) error {
	return s.propose(catalog.Unbind(s.binding(queue, catalog.ToQueue, exchange, key, args)))
}

func (s *Session) binding(dst string, kind catalog.DestKind, src, key string, args map[string]any) catalog.Bind {
	return catalog.Bind{
		VHost: s.vhost.name, Source: src, Destination: dst, Kind: kind, Key: key, Args: args,
		User: s.user.Name, Session: s.id,
	}
}

// QueueDeclare are the arguments of queue.declare. Name "" asks for a server-named queue.
type QueueDeclare struct {
	Name                                    string
	Passive, Durable, Exclusive, AutoDelete bool
	Args                                    map[string]any
}

// QueueInfo is what queue.declare-ok tells.
type QueueInfo struct {
	Name                string
	Messages, Consumers int // ready messages
}

// DeclareQueue creates a queue or checks that it is there, with these properties unless passive.
func (s *Session) DeclareQueue(d QueueDeclare) (QueueInfo, error) {
	b := s.vhost.b
	b.declared.Add(1)
	if d.Passive {
		r, err := b.catalog.View().PassiveQueue(s.vhost.name, d.Name, s.id)
		if err != nil {
			return QueueInfo{}, err
		}
		return s.info(r), nil
	}
	cmd := catalog.DeclareQueue{
		VHost: s.vhost.name, Name: d.Name,
		Durable: d.Durable, Exclusive: d.Exclusive, AutoDelete: d.AutoDelete, Args: d.Args,
		User: s.user.Name, Session: s.id,
	}
	if d.Name == "" {
		cmd.Name, cmd.ServerNamed = generatedName(), true
	}
	r, err := b.catalog.Propose(cmd)
	if err != nil {
		return QueueInfo{}, err
	}
	return s.info(r.Queue), nil
}

// generatedName makes the name of a server-named queue, as long and of the same letters as RabbitMQ's.
func generatedName() string {
	var id [16]byte
	rand.Read(id[:]) // never fails
	return "amq.gen-" + base64.RawURLEncoding.EncodeToString(id[:])
}

// info tells of a queue; one that has been deleted by now was empty.
func (s *Session) info(r *catalog.Queue) QueueInfo {
	i := QueueInfo{Name: r.Name}
	if q := s.vhost.queue(r.Name); q != nil && q.rec.LogID == r.LogID {
		q.touch()
		i.Messages, i.Consumers = q.size()
	}
	return i
}

// PurgeQueue removes all ready messages and returns their number.
func (s *Session) PurgeQueue(name string) (int, error) {
	q, err := s.reach(name, catalog.Read)
	if err != nil {
		return 0, err
	}
	n, err := q.purge()
	s.Commit()
	return n, err
}

// DeleteQueue deletes a queue and returns the number of its ready messages. One that does not exist is fine.
func (s *Session) DeleteQueue(name string, ifUnused, ifEmpty bool) (int, error) {
	q, err := s.reach(name, catalog.Configure)
	if IsNotFound(err) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	messages, consumers := q.size()
	switch {
	case ifEmpty && messages > 0:
		return 0, refuse(PreconditionFailed, "queue '%s' in vhost '%s' not empty", name, s.vhost.name)
	case ifUnused && consumers > 0:
		return 0, refuse(PreconditionFailed, "queue '%s' in vhost '%s' in use", name, s.vhost.name)
	}
	return messages, s.propose(catalog.DeleteQueue{
		VHost: s.vhost.name, Name: name, LogID: q.rec.LogID, User: s.user.Name, Session: s.id,
	})
}

func (s *Session) propose(cmd catalog.Command) error {
	_, err := s.vhost.b.catalog.Propose(cmd)
	return err
}

// logProposal logs that something the broker wanted itself could not be done.
func (b *Broker) logProposal(what string, err error) {
	b.log.Error("the catalog refused", zap.String("act", what), zap.Error(err))
}
