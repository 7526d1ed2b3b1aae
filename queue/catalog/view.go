package catalog

import (
	"iter"
	"strings"

	"github.com/tidwall/btree"

	"github.com/warrenmq/warren/queue/route"
)

// View is a consistent state to read. It never changes and any number of goroutines may read it. Lookups return
// nil for what does not exist; lists are in the order of names (bytes), and "" for a vhost means all of them.
type View struct {
	vhosts           *btree.BTreeG[*VHost]
	users            *btree.BTreeG[*User]
	permissions      *btree.BTreeG[*Permission]
	topicPermissions *btree.BTreeG[*TopicPermission]
	exchanges        *btree.BTreeG[*Exchange]
	queues           *btree.BTreeG[*Queue]
	bySource         *btree.BTreeG[*Binding]
	byDestination    *btree.BTreeG[*Binding]
	policies         *btree.BTreeG[*Policy]
	parameters       *btree.BTreeG[*Parameter]
}

func newView() View {
	return View{
		vhosts: tree((*VHost).compare), users: tree((*User).compare),
		permissions: tree((*Permission).compare), topicPermissions: tree((*TopicPermission).compare),
		exchanges: tree((*Exchange).compare), queues: tree((*Queue).compare),
		bySource: tree((*Binding).compareSource), byDestination: tree((*Binding).compareDestination),
		policies: tree((*Policy).compare), parameters: tree((*Parameter).compare),
	}
}

// tree makes a tree without a lock of its own: a State is used by one goroutine at a time, a View is only read.
func tree[T any](compare func(a, b T) int) *btree.BTreeG[T] {
	return btree.NewBTreeGOptions(func(a, b T) bool { return compare(a, b) < 0 }, btree.Options{NoLocks: true})
}

// copy returns a copy that shares all nodes until one of the two is changed.
func (v *View) copy() View {
	return View{
		vhosts: v.vhosts.Copy(), users: v.users.Copy(),
		permissions: v.permissions.Copy(), topicPermissions: v.topicPermissions.Copy(),
		exchanges: v.exchanges.Copy(), queues: v.queues.Copy(),
		bySource: v.bySource.Copy(), byDestination: v.byDestination.Copy(),
		policies: v.policies.Copy(), parameters: v.parameters.Copy(),
	}
}

// VHost returns the vhost of the name.
func (v *View) VHost(name string) *VHost { return get(v.vhosts, &VHost{Name: name}) }

// User returns the user of the name.
func (v *View) User(name string) *User { return get(v.users, &User{Name: name}) }

// Permission returns what the user may do in the vhost; nil if it may not even connect.
func (v *View) Permission(user, vhost string) *Permission {
	return get(v.permissions, &Permission{User: user, VHost: vhost})
}

// Exchange returns the exchange of the name; "" is the default exchange.
func (v *View) Exchange(vhost, name string) *Exchange {
	return get(v.exchanges, &Exchange{VHost: vhost, Name: name})
}

// Queue returns the queue of the name.
func (v *View) Queue(vhost, name string) *Queue {
	return get(v.queues, &Queue{VHost: vhost, Name: name})
}

// Binding returns the binding with the identity of b (all fields but Durable).
func (v *View) Binding(b Binding) *Binding { return get(v.bySource, newBinding(b)) }

// VHosts lists the vhosts.
func (v *View) VHosts() iter.Seq[*VHost] { return from(v.vhosts, nil, all) }

// Users lists the users.
func (v *View) Users() iter.Seq[*User] { return from(v.users, nil, all) }

// Permissions lists all permissions, by user.
func (v *View) Permissions() iter.Seq[*Permission] { return from(v.permissions, nil, all) }

// TopicPermissions lists all topic permissions, by user.
func (v *View) TopicPermissions() iter.Seq[*TopicPermission] {
	return from(v.topicPermissions, nil, all)
}

// Exchanges lists the vhost's exchanges.
func (v *View) Exchanges(vhost string) iter.Seq[*Exchange] {
	return from(v.exchanges, &Exchange{VHost: vhost}, func(x *Exchange) bool { return vhost == "" || x.VHost == vhost })
}

// Queues lists the vhost's queues.
func (v *View) Queues(vhost string) iter.Seq[*Queue] {
	return from(v.queues, &Queue{VHost: vhost}, func(q *Queue) bool { return vhost == "" || q.VHost == vhost })
}

// Bindings lists the vhost's bindings by source. Those every queue has from the default exchange are not records.
func (v *View) Bindings(vhost string) iter.Seq[*Binding] {
	return from(v.bySource, &Binding{VHost: vhost}, func(b *Binding) bool { return vhost == "" || b.VHost == vhost })
}

// BindingsFrom lists the bindings an exchange is the source of.
func (v *View) BindingsFrom(vhost, exchange string) iter.Seq[*Binding] {
	return from(v.bySource, &Binding{VHost: vhost, Source: exchange},
		func(b *Binding) bool { return b.VHost == vhost && b.Source == exchange })
}

// BindingsTo lists the bindings that lead to a queue or exchange.
func (v *View) BindingsTo(vhost string, kind DestKind, name string) iter.Seq[*Binding] {
	return from(v.byDestination, &Binding{VHost: vhost, Kind: kind, Destination: name},
		func(b *Binding) bool { return b.VHost == vhost && b.Kind == kind && b.Destination == name })
}

// Policies lists the vhost's policies, users' and operators'.
func (v *View) Policies(vhost string) iter.Seq[*Policy] {
	return from(v.policies, &Policy{VHost: vhost}, func(p *Policy) bool { return vhost == "" || p.VHost == vhost })
}

// Parameters lists the runtime parameters of a component ("" for all) in a vhost ("" for all and the global ones).
func (v *View) Parameters(component, vhost string) iter.Seq[*Parameter] {
	in := from(v.parameters, &Parameter{Component: component},
		func(p *Parameter) bool { return component == "" || p.Component == component })
	return func(yield func(*Parameter) bool) {
		for p := range in {
			if (vhost == "" || p.VHost == vhost) && !yield(p) {
				return
			}
		}
	}
}

// VHostLimit returns a limit of the vhost: "max-connections" or "max-queues". ok is false if there is none, which
// a negative number means too.
func (v *View) VHostLimit(vhost, name string) (limit int64, ok bool) {
	p := get(v.parameters, &Parameter{Component: "vhost-limits", VHost: vhost, Name: "limits"})
	if p == nil {
		return 0, false
	}
	table, _ := p.Value.(map[string]any)
	limit, ok = route.Integer(table[name])
	return limit, ok && limit >= 0
}

// LockedFor reports whether the queue is exclusive to another session.
func (q *Queue) LockedFor(session string) bool { return q.Owner != "" && q.Owner != session }

// PassiveQueue finds a queue as a passive declare or any use of it does: it must exist (404) and not be another
// session's own (405).
func (v *View) PassiveQueue(vhost, name, session string) (*Queue, error) {
	q := v.Queue(vhost, cleanName(name))
	if q == nil {
		return nil, NoQueue(vhost, cleanName(name))
	}
	if q.LockedFor(session) {
		return nil, Locked(vhost, q.Name)
	}
	return q, nil
}

// PassiveExchange finds an exchange as a passive declare does.
func (v *View) PassiveExchange(vhost, name string) (*Exchange, error) {
	name = cleanName(name)
	if name == "" {
		return nil, defaultExchangeRefused()
	}
	if x := v.Exchange(vhost, name); x != nil {
		return x, nil
	}
	return nil, NoExchange(vhost, name)
}

func get[T any](t *btree.BTreeG[*T], key *T) *T {
	r, _ := t.Get(key)
	return r
}

func all[T any](T) bool { return true }

// from yields the records at and behind the pivot while they belong.
func from[T any](t *btree.BTreeG[*T], pivot *T, belongs func(*T) bool) iter.Seq[*T] {
	return func(yield func(*T) bool) {
		each := func(r *T) bool { return belongs(r) && yield(r) }
		if pivot == nil {
			t.Scan(each)
		} else {
			t.Ascend(pivot, each)
		}
	}
}

func (h *VHost) compare(o *VHost) int { return strings.Compare(h.Name, o.Name) }
func (u *User) compare(o *User) int   { return strings.Compare(u.Name, o.Name) }

func (p *Permission) compare(o *Permission) int {
	return compareAll(p.User, o.User, p.VHost, o.VHost)
}

func (p *TopicPermission) compare(o *TopicPermission) int {
	return compareAll(p.User, o.User, p.VHost, o.VHost, p.Exchange, o.Exchange)
}

func (x *Exchange) compare(o *Exchange) int { return compareAll(x.VHost, o.VHost, x.Name, o.Name) }
func (q *Queue) compare(o *Queue) int       { return compareAll(q.VHost, o.VHost, q.Name, o.Name) }

func (b *Binding) compareSource(o *Binding) int {
	if c := compareAll(b.VHost, o.VHost, b.Source, o.Source); c != 0 {
		return c
	}
	if c := int(b.Kind) - int(o.Kind); c != 0 {
		return c
	}
	return compareAll(b.Destination, o.Destination, b.Key, o.Key, b.args, o.args)
}

func (b *Binding) compareDestination(o *Binding) int {
	if c := strings.Compare(b.VHost, o.VHost); c != 0 {
		return c
	}
	if c := int(b.Kind) - int(o.Kind); c != 0 {
		return c
	}
	return compareAll(b.Destination, o.Destination, b.Source, o.Source, b.Key, o.Key, b.args, o.args)
}

func (p *Policy) compare(o *Policy) int {
	if c := compareAll(p.VHost, o.VHost, p.Name, o.Name); c != 0 || p.Operator == o.Operator {
		return c
	}
	if o.Operator {
		return -1
	}
	return 1
}

func (p *Parameter) compare(o *Parameter) int {
	return compareAll(p.Component, o.Component, p.VHost, o.VHost, p.Name, o.Name)
}

// compareAll compares pair by pair, the first that differs decides.
func compareAll(pairs ...string) int {
	for i := 0; i < len(pairs); i += 2 {
		if c := strings.Compare(pairs[i], pairs[i+1]); c != 0 {
			return c
		}
	}
	return 0
}
