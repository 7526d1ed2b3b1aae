package queue

import (
	"crypto/rand"
	"iter"
	"slices"

	"github.com/warrenmq/warren/queue/catalog"
)

// The catalog's records, for the HTTP API. They are immutable: neither their fields nor their tables may be changed.
type (
	VHostRecord = catalog.VHost
	UserRecord  = catalog.User
	Permission  = catalog.Permission
	Exchange    = catalog.Exchange
	Binding     = catalog.Binding
)

// VHostStats is a vhost as the HTTP API shows it.
type VHostStats struct {
	*VHostRecord
	Summary
}

// VHosts returns all vhosts in the order of their names.
func (b *Broker) VHosts() []VHostStats {
	all := []VHostStats{}
	for r := range b.catalog.View().VHosts() {
		if v := b.vhost(r.Name); v != nil {
			all = append(all, VHostStats{r, v.summary()})
		}
	}
	return all
}

// VHost returns one vhost.
func (b *Broker) VHost(name string) (VHostStats, bool) {
	r, v := b.catalog.View().VHost(name), b.vhost(name)
	if r == nil || v == nil {
		return VHostStats{}, false
	}
	return VHostStats{r, v.summary()}, true
}

// Exchanges returns the exchanges of a vhost, "" for all, in the order of vhost and name.
func (b *Broker) Exchanges(vhost string) []*Exchange {
	return collect(b.catalog.View().Exchanges(vhost))
}

// Exchange returns one exchange, nil if there is none.
func (b *Broker) Exchange(vhost, name string) *Exchange {
	return b.catalog.View().Exchange(vhost, name)
}

// Bindings returns the bindings of a vhost, "" for all, in the order of source and destination. Those of the default
// exchange, which leads to every queue under its name, are among them.
func (b *Broker) Bindings(vhost string) []*Binding {
	view := b.catalog.View()
	all := []*Binding{}
	for q := range view.Queues(vhost) {
		all = append(all, &Binding{VHost: q.VHost, Destination: q.Name, Kind: catalog.ToQueue, Key: q.Name, Durable: q.Durable})
	}
	return slices.AppendSeq(all, view.Bindings(vhost))
}

// Users returns all users in the order of their names.
func (b *Broker) Users() []*UserRecord { return collect(b.catalog.View().Users()) }

// User returns one user, nil if there is none.
func (b *Broker) User(name string) *UserRecord { return b.catalog.View().User(name) }

// Permissions returns what all users may do, in the order of user and vhost.
func (b *Broker) Permissions() []*Permission { return collect(b.catalog.View().Permissions()) }

// HasAccess reports whether a user may enter a vhost.
func (b *Broker) HasAccess(user, vhost string) bool { return b.catalog.View().HasAccess(user, vhost) }

func collect[T any](seq iter.Seq[T]) []T { return slices.AppendSeq([]T{}, seq) }

// HashPassword returns what a UserRecord keeps of a password: PasswordHash, with Hashing SHA-256, salted anew.
func HashPassword(password string) (hash, hashing string) {
	var salt [4]byte
	rand.Read(salt[:]) // never fails
	return catalog.HashPassword(salt, password), catalog.HashSHA256
}

// PutVHost creates or changes a vhost.
func (b *Broker) PutVHost(h VHostRecord) (created bool, err error) {
	return b.put(catalog.PutVHost{VHost: h})
}

// DeleteVHost deletes a vhost with all that is in it. Its sessions are told to end.
func (b *Broker) DeleteVHost(name string) error { return b.drop(catalog.DeleteVHost{Name: name}) }

// PutUser creates or changes a user.
func (b *Broker) PutUser(u UserRecord) (created bool, err error) {
	return b.put(catalog.PutUser{User: u})
}

// DeleteUser deletes a user and the user's permissions.
func (b *Broker) DeleteUser(name string) error { return b.drop(catalog.DeleteUser{Name: name}) }

// SetPermissions says what a user may do in a vhost.
func (b *Broker) SetPermissions(p Permission) (created bool, err error) {
	return b.put(catalog.PutPermission{Permission: p})
}

// ClearPermissions keeps a user out of a vhost.
func (b *Broker) ClearPermissions(user, vhost string) error {
	return b.drop(catalog.DeletePermission{User: user, VHost: vhost})
}

func (b *Broker) put(cmd catalog.Command) (created bool, err error) {
	r, err := b.catalog.Propose(cmd)
	if err != nil {
		return false, err
	}
	return r.Created, nil
}

func (b *Broker) drop(cmd catalog.Command) error {
	_, err := b.catalog.Propose(cmd)
	return err
}
