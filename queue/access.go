package queue

import (
	"errors"
	"fmt"
	"slices"

	"github.com/warrenmq/warren/queue/catalog"
)

// User is a user that has been authenticated.
type User struct {
	Name string
	Tags []string
}

// HasTag reports whether the user has a tag, such as administrator.
func (u User) HasTag(tag string) bool { return slices.Contains(u.Tags, tag) }

// Authenticate checks a password. loopback tells whether the peer is on this machine. A refusal is an *Error of
// kind AccessRefused whose text is for the log; what the peer is told depends on the mechanism.
func (b *Broker) Authenticate(user, password string, loopback bool) (User, error) {
	u := b.catalog.View().User(user)
	switch {
	case u == nil || password == "" || !u.Verify(password):
		return User{}, refuse(AccessRefused, "user '%s' - invalid credentials", user)
	case !loopback && slices.Contains(b.o.LoopbackUsers, user):
		return User{}, refuse(AccessRefused, "user '%s' can only connect via localhost", user)
	}
	return User{Name: u.Name, Tags: u.Tags}, nil
}

// Connect begins a connection's stay in a vhost. name is the connection's, for people to read. Refusals are
// NotAllowed, with RabbitMQ's texts.
func (b *Broker) Connect(u User, vhost, name string) (*Session, error) {
	if err := b.Refresh(u, vhost); err != nil {
		return nil, err
	}
	v := b.vhost(vhost)
	if v == nil {
		return nil, catalog.NoVHost(vhost)
	}
	s := &Session{vhost: v, user: u, name: name, id: fmt.Sprintf("%s#%d", name, b.lastSession.Add(1))}
	max, limited := b.catalog.View().VHostLimit(vhost, "max-connections")
	if !v.join(s, max, limited) {
		return nil, refuse(NotAllowed, "access to vhost '%s' refused for user '%s': connection limit (%d) is reached",
			vhost, u.Name, max)
	}
	return s, nil
}

// Refresh checks that a user may (still) enter a vhost.
func (b *Broker) Refresh(u User, vhost string) error {
	view := b.catalog.View()
	switch {
	case view.VHost(vhost) == nil:
		return catalog.NoVHost(vhost)
	case !view.HasAccess(u.Name, vhost):
		return refuse(NotAllowed, "access to vhost '%s' refused for user '%s'", vhost, u.Name)
	}
	return nil
}

// check asks whether the session's user may do something. A denial is an *Error.
func (s *Session) check(view *catalog.View, kind, name string, a catalog.Access) error {
	return view.Check(s.user.Name, s.vhost.name, catalog.Resource{Kind: kind, Name: name}, a)
}

// IsNotFound reports whether err says that something does not exist.
func IsNotFound(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Kind == NotFound
}
