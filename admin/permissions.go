package admin

import (
	"net/http"

	"github.com/warrenmq/warren/admin/api"
	"github.com/warrenmq/warren/queue"
)

func apiPermission(p *queue.Permission) api.Permission {
	return api.Permission{User: p.User, VHost: p.VHost, Configure: p.Configure, Write: p.Write, Read: p.Read}
}

// writePermissions answers with the permissions of one user, or in one vhost, or all.
func (a *API) writePermissions(w http.ResponseWriter, r *request, user, vhost string) error {
	list := []api.Permission{}
	for _, p := range a.o.Broker.Permissions() {
		if (user == "" || p.User == user) && (vhost == "" || p.VHost == vhost) {
			list = append(list, apiPermission(p))
		}
	}
	return writeList(w, r, list, func(p *api.Permission) string { return p.User })
}

func (a *API) permissions(w http.ResponseWriter, r *request) error {
	return a.writePermissions(w, r, "", "")
}

func (a *API) permissionsOfVHost(w http.ResponseWriter, r *request) error {
	s, err := a.scope(r)
	if err != nil {
		return err
	}
	return a.writePermissions(w, r, "", s.vhost)
}

func (a *API) permissionsOfUser(w http.ResponseWriter, r *request) error {
	user := r.param("user")
	if a.o.Broker.User(user) == nil {
		return errNotFound
	}
	return a.writePermissions(w, r, user, "")
}

// subject returns the user and the vhost that the path names, which both have to exist.
func (a *API) subject(r *request) (user, vhost string, err error) {
	user, vhost = r.param("user"), r.param("vhost")
	if _, ok := a.o.Broker.VHost(vhost); !ok || a.o.Broker.User(user) == nil {
		return "", "", errNotFound
	}
	return user, vhost, nil
}

func (a *API) permission(w http.ResponseWriter, r *request) error {
	user, vhost, err := a.subject(r)
	if err != nil {
		return err
	}
	p, err := find(a.o.Broker.Permissions(), func(p **queue.Permission) bool { return (*p).User == user && (*p).VHost == vhost })
	if err != nil {
		return err
	}
	return writeObject(w, r, apiPermission(*p))
}

func (a *API) putPermission(w http.ResponseWriter, r *request) error {
	user, vhost, err := a.subject(r)
	if err != nil {
		return err
	}
	var body struct{ Configure, Write, Read *string }
	if err := readBody(r, &body); err != nil {
		return err
	}
	for _, key := range []struct {
		name  string
		value *string
	}{{"configure", body.Configure}, {"write", body.Write}, {"read", body.Read}} {
		if key.value == nil {
			return badRequest("[{key_missing," + key.name + "}]")
		}
	}
	created, err := a.o.Broker.SetPermissions(queue.Permission{
		User: user, VHost: vhost, Configure: *body.Configure, Write: *body.Write, Read: *body.Read,
	})
	return stored(w, created, err)
}

func (a *API) deletePermission(w http.ResponseWriter, r *request) error {
	user, vhost, err := a.subject(r)
	if err != nil {
		return err
	}
	if err := a.o.Broker.ClearPermissions(user, vhost); err != nil {
		return err
	}
	return deleted(w)
}
