package queue

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/warrenmq/warren/keratin"
	"github.com/warrenmq/warren/queue/catalog"
)

// Options configures a Broker. Store is required.
type Options struct {
	Store         LogStore         // where every log lives; OnKeratin(store) for a local engine
	Log           *zap.Logger      // nil: silent
	Now           func() time.Time // nil: time.Now
	LoopbackUsers []string         // users that may only connect from loopback; nil: guest. Empty, not nil: none

	// The user and the vhost of the first boot; "": guest, guest, "/".
	DefaultUser, DefaultPassword, DefaultVHost string
}

func (o *Options) fill() {
	if o.Log == nil {
		o.Log = zap.NewNop()
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.LoopbackUsers == nil {
		o.LoopbackUsers = []string{"guest"}
	}
	for _, x := range []struct {
		field *string
		value string
	}{{&o.DefaultUser, "guest"}, {&o.DefaultPassword, "guest"}, {&o.DefaultVHost, "/"}} {
		if *x.field == "" {
			*x.field = x.value
		}
	}
}

// Broker is everything behind the wire: vhosts with their exchanges, bindings and queues, and the users.
type Broker struct {
	o       Options
	store   LogStore
	log     *zap.Logger
	catalog *catalog.Catalog

	declared, created, deleted atomic.Uint64 // queues
	lastSession                atomic.Uint64
	running                    sync.WaitGroup // alarms set or going off

	mu      sync.RWMutex
	vhosts  map[string]*vhost
	retired Counters // of vhosts that are gone
}

// Open loads the catalog, opens all durable queues and, on the first boot, creates a vhost and its administrator.
func Open(o Options) (*Broker, error) {
	o.fill()
	b := &Broker{o: o, store: o.Store, log: o.Log, vhosts: make(map[string]*vhost)}
	c, err := catalog.Open(catalog.Options{
		Open: func(owner keratin.Owner) (catalog.Log, keratin.Recovered, error) {
			return o.Store.OpenLog(catalog.CommandLog, keratin.LogOptions{}, owner)
		},
		Commit:  o.Store.Commit,
		Applied: b.applied,
	})
	if err != nil {
		return nil, fmt.Errorf("opening the catalog: %w", err)
	}
	b.catalog = c
	b.build()
	if err := b.sweep(); err != nil {
		return nil, err
	}
	for _, v := range b.allVHosts() {
		for _, q := range v.allQueues() {
			q.wake()
		}
	}
	b.store.Commit()
	if err := b.firstBoot(); err != nil {
		return nil, fmt.Errorf("preparing the first boot: %w", err)
	}
	return b, nil
}

// sweep removes the logs of queues that the catalog does not know: the process ended between the queue's deletion
// and its log's.
func (b *Broker) sweep() error {
	known := map[keratin.LogID]bool{catalog.CommandLog: true}
	for q := range b.catalog.View().Queues("") {
		known[q.LogID] = true
	}
	for _, id := range b.store.Logs() {
		if known[id] {
			continue
		}
		if err := b.store.RemoveLog(id); err != nil {
			return fmt.Errorf("removing the log of a deleted queue: %w", err)
		}
	}
	return nil
}

// firstBoot gives an empty catalog its vhost and its user.
func (b *Broker) firstBoot() error {
	view := b.catalog.View()
	for range view.VHosts() {
		return nil
	}
	for range view.Users() {
		return nil
	}
	user, vhost := b.o.DefaultUser, b.o.DefaultVHost
	hash, hashing := HashPassword(b.o.DefaultPassword)
	for _, cmd := range []catalog.Command{
		catalog.PutVHost{VHost: catalog.VHost{Name: vhost, Description: "Default virtual host"}},
		catalog.PutUser{User: catalog.User{
			Name: user, PasswordHash: hash, Hashing: hashing, Tags: []string{"administrator"},
		}},
		catalog.PutPermission{Permission: catalog.Permission{
			User: user, VHost: vhost, Configure: ".*", Write: ".*", Read: ".*",
		}},
	} {
		if _, err := b.catalog.Propose(cmd); err != nil {
			return err
		}
	}
	return nil
}

// errStopped is what queues say once the broker is closed.
var errStopped = errors.New("the broker is stopped")

// Close stops all deliveries. The store is closed by the caller afterwards.
func (b *Broker) Close() error {
	for _, v := range b.allVHosts() {
		for _, q := range v.allQueues() {
			q.stop()
		}
	}
	b.running.Wait()
	return nil
}

func (b *Broker) vhost(name string) *vhost {
	b.mu.RLock()
	defer b.mu.RUnlock()
	return b.vhosts[name]
}

func (b *Broker) allVHosts() []*vhost {
	b.mu.RLock()
	defer b.mu.RUnlock()
	all := make([]*vhost, 0, len(b.vhosts))
	for _, v := range b.vhosts {
		all = append(all, v)
	}
	return all
}
