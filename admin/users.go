package admin

import (
	"net/http"

	"github.com/warrenmq/warren/admin/api"
	"github.com/warrenmq/warren/queue"
)

// sha256Hash is the algorithm of a password_hash that comes without a name of one.
const sha256Hash = "rabbit_password_hashing_sha256"

func apiUser(u *queue.UserRecord) api.User {
	limits := map[string]int64{}
	for name, limit := range u.Limits {
		limits[name] = limit
	}
	return api.User{Name: u.Name, PasswordHash: u.PasswordHash, HashingAlgorithm: u.Hashing, Tags: userTags(u.Tags), Limits: limits}
}

func (a *API) users(w http.ResponseWriter, r *request) error {
	list := []api.User{}
	for _, u := range a.o.Broker.Users() {
		list = append(list, apiUser(u))
	}
	return writeList(w, r, list, func(u *api.User) string { return u.Name })
}

func (a *API) user(w http.ResponseWriter, r *request) error {
	u := a.o.Broker.User(r.param("user"))
	if u == nil {
		return errNotFound
	}
	return writeObject(w, r, apiUser(u))
}

// putUser makes a user or replaces its tags and password. With neither password nor hash it cannot log in.
func (a *API) putUser(w http.ResponseWriter, r *request) error {
	var body struct {
		Password *string   `json:"password"`
		Hash     *string   `json:"password_hash"`
		Hashing  *string   `json:"hashing_algorithm"`
		Tags     *nameList `json:"tags"`
	}
	if err := readBody(r, &body); err != nil {
		return err
	}
	u := queue.UserRecord{Name: r.param("user"), Hashing: sha256Hash}
	if old := a.o.Broker.User(u.Name); old != nil {
		u.Limits = old.Limits
	}
	switch {
	case body.Tags == nil:
		return badRequest("[{key_missing,tags}]")
	case body.Password != nil && body.Hash != nil:
		return badRequest("Cannot set both 'password' and 'password_hash'")
	case body.Password != nil && *body.Password == "":
		return badRequest("User name and password must not be empty")
	case body.Password != nil:
		u.PasswordHash, u.Hashing = queue.HashPassword(*body.Password)
	case body.Hash != nil:
		u.PasswordHash = *body.Hash
		setIf(&u.Hashing, body.Hashing)
	}
	u.Tags = *body.Tags
	created, err := a.o.Broker.PutUser(u)
	return stored(w, created, err)
}

func (a *API) deleteUser(w http.ResponseWriter, r *request) error {
	name := r.param("user")
	if err := a.o.Broker.DeleteUser(name); err != nil {
		return err
	}
	a.closeConnections(userDeleted(name), func(c *api.Connection) bool { return c.User == name })
	return deleted(w)
}
