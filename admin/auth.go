package admin

import (
	"net"
	"net/http"
	"net/netip"
	"slices"

	"github.com/warrenmq/warren/queue"
)

// access is what a route asks of a user.
type access uint8

const (
	anybody       access = iota // no credentials
	anyTag                      // a tag that lets a user in at all
	monitoring                  // sees what is not its own
	administrator               // changes what is not its own
)

// tags lists the user tags that give each access; a stronger tag stands in every list that it satisfies.
var tags = map[access][]string{
	anyTag:        {"administrator", "monitoring", "policymaker", "management"},
	monitoring:    {"administrator", "monitoring"},
	administrator: {"administrator"},
}

// may reports whether one of the user's tags gives the access.
func may(u queue.User, who access) bool {
	return slices.ContainsFunc(u.Tags, func(tag string) bool { return slices.Contains(tags[who], tag) })
}

// authenticate returns the user that the request's credentials name, if it may use a route that asks for who.
func (a *API) authenticate(r *http.Request, who access) (queue.User, error) {
	if who == anybody {
		return queue.User{}, nil
	}
	name, password, ok := r.BasicAuth()
	if !ok {
		return queue.User{}, errNoCredentials
	}
	user, err := a.o.Broker.Authenticate(name, password, fromLoopback(r))
	if err != nil {
		if f, ok := failureOf(err); ok && f == errRefused {
			return queue.User{}, errBadCredentials
		}
		return queue.User{}, err
	}
	switch {
	case !may(user, anyTag):
		return queue.User{}, errNoTag
	case !may(user, who):
		return queue.User{}, errRefused
	}
	return user, nil
}

// fromLoopback reports whether the peer is on this machine.
func fromLoopback(r *http.Request) bool {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return false
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Unmap().IsLoopback()
}
