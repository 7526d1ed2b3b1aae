package admin

import (
	"net/http"
	"slices"

	"github.com/warrenmq/warren/admin/api"
	"github.com/warrenmq/warren/queue"
)

// scope is what one request sees of the broker, which depends on its user and on the vhost in its path.
type scope struct {
	broker *queue.Broker
	user   queue.User
	wide   bool   // sees all vhosts and connections
	vhost  string // from the path; "" when the path names none
}

// scope returns what the request may see. A vhost in the path that it may not see is not there.
func (a *API) scope(r *request) (*scope, error) {
	s := &scope{broker: a.o.Broker, user: r.user, wide: may(r.user, monitoring), vhost: r.param("vhost")}
	if s.vhost == "" {
		return s, nil
	}
	if _, ok := a.o.Broker.VHost(s.vhost); !ok || !s.sees(s.vhost) {
		return nil, errNotFound
	}
	return s, nil
}

// sees reports whether the user sees what is in the vhost.
func (s *scope) sees(vhost string) bool { return s.wide || s.broker.HasAccess(s.user.Name, vhost) }

// covers reports whether the vhost is one that the request asks for and that the user sees.
func (s *scope) covers(vhost string) bool {
	return (s.vhost == "" || s.vhost == vhost) && s.sees(vhost)
}

// owns reports whether a connection may be looked at: everybody sees the own ones.
func (s *scope) owns(user string) bool { return s.wide || user == s.user.Name }

// userTags returns tags as a list that is never null.
func userTags(tags []string) []string { return append([]string{}, tags...) }

func (a *API) whoAmI(w http.ResponseWriter, r *request) error {
	return writeObject(w, r, api.WhoAmI{Name: r.user.Name, Tags: userTags(r.user.Tags)})
}

// find returns the first item that is wanted, or says that there is none.
func find[T any](items []T, wanted func(*T) bool) (*T, error) {
	i := slices.IndexFunc(items, func(item T) bool { return wanted(&item) })
	if i < 0 {
		return nil, errNotFound
	}
	return &items[i], nil
}
