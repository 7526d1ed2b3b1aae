package catalog

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/warrenmq/warren/queue/route"
)

func TestVHostHasPredeclaredExchanges(t *testing.T) {
	s := withVHost(t)
	var got []string
	for x := range s.Exchanges("/") {
		got = append(got, fmt.Sprintf("%q %s %v %v", x.Name, x.Type, x.Durable, x.Internal))
	}
	want := []string{
		`"" direct true false`, `"amq.direct" direct true false`, `"amq.fanout" fanout true false`,
		`"amq.headers" headers true false`, `"amq.match" headers true false`,
		`"amq.rabbitmq.trace" topic true true`, `"amq.topic" topic true false`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

// TestDeleteVHost: everything in it goes, one by one, and nothing of another.
func TestDeleteVHost(t *testing.T) {
	s := withVHost(t)
	before := dump(&s.View, true)
	apply(t, s, PutVHost{VHost{Name: "v"}},
		DeclareQueue{VHost: "v", Name: "q", Durable: true}, DeclareExchange{VHost: "v", Name: "x", Type: "topic", AutoDelete: true},
		Bind{VHost: "v", Source: "x", Destination: "q"}, Bind{VHost: "v", Source: "amq.topic", Destination: "x", Kind: ToExchange},
		PutPermission{Permission{User: "root", VHost: "v"}}, PutTopicPermission{TopicPermission{User: "root", VHost: "v", Exchange: "x"}},
		PutPolicy{Policy{VHost: "v", Name: "p", Pattern: ".*"}}, PutParameter{Parameter{Component: "c", VHost: "v", Name: "n"}})
	r := apply(t, s, DeleteVHost{Name: "v"})
	if after := dump(&s.View, true); !slices.Equal(before, after) {
		t.Errorf("left over: %q", after)
	}
	if last := r.Changes[len(r.Changes)-1]; !last.Delete || last.Record.kind() != "vhost" {
		t.Errorf("the vhost does not go last: %+v", last)
	}
	if _, err := s.Apply(DeleteVHost{Name: "v"}); err == nil {
		t.Error("deleted twice")
	}
	apply(t, s, PutVHost{VHost{Name: "/", Protected: true}})
	if _, err := s.Apply(DeleteVHost{Name: "/"}); err == nil {
		t.Error("a protected vhost was deleted")
	}
}

func TestDeleteUser(t *testing.T) {
	s := withVHost(t)
	apply(t, s, PutTopicPermission{TopicPermission{User: "guest", VHost: "/", Exchange: "amq.topic"}}, DeleteUser{Name: "guest"})
	for p := range s.Permissions() {
		if p.User == "guest" {
			t.Errorf("left over: %+v", p)
		}
	}
	for p := range s.TopicPermissions() {
		t.Errorf("left over: %+v", p)
	}
	if s.User("guest") != nil || s.User("root") == nil {
		t.Error("the wrong user went")
	}
}

// TestLogIDsAreNotReused: of queues that come and go under one name.
func TestLogIDsAreNotReused(t *testing.T) {
	s := withVHost(t)
	used := map[any]bool{}
	for i := range 20 {
		r := apply(t, s, DeclareQueue{VHost: "/", Name: "q", Durable: i%3 != 0})
		id := r.Queue.LogID
		if used[id] || id <= CommandLog || (id >= TransientBase) == r.Queue.Durable {
			t.Fatalf("queue %d (durable %v) got log %d", i, r.Queue.Durable, id)
		}
		used[id] = true
		if r := apply(t, s, DeleteQueue{VHost: "/", Name: "q", LogID: id + 1}); len(r.Changes) > 0 {
			t.Fatal("another incarnation was deleted")
		}
		apply(t, s, DeleteQueue{VHost: "/", Name: "q", LogID: id})
	}
}

func TestPropertiesKey(t *testing.T) {
	for _, c := range []struct {
		key  string
		args map[string]any
		want string
	}{
		{"", nil, "~"}, {"a.b", nil, "a.b"}, {"a~b c/#", nil, "a%7Eb%20c%2F%23"}, {"a", map[string]any{}, "a"},
	} {
		if got := newBinding(Binding{Key: c.key, Args: c.args}).PropertiesKey(); got != c.want {
			t.Errorf("key %q: %q, want %q", c.key, got, c.want)
		}
	}
	one := newBinding(Binding{Key: "k", Args: map[string]any{"a": int32(1)}}).PropertiesKey()
	same := newBinding(Binding{Key: "k", Args: map[string]any{"a": int32(1)}}).PropertiesKey()
	other := newBinding(Binding{Key: "k", Args: map[string]any{"a": int64(1)}}).PropertiesKey()
	if one != same || one == other || one[:2] != "k~" {
		t.Errorf("with arguments: %q, %q, %q", one, same, other)
	}
}

// dump lists a view's records as text; without transient ones unless they are wanted.
func dump(v *View, transient bool) []string {
	var all []string
	for r := range v.records() {
		if r.durable() || transient {
			all = append(all, render(r))
		}
	}
	return all
}

func render(r Record) string {
	switch r := r.(type) {
	case *Binding:
		return fmt.Sprintf("binding %s/%s>%v/%s %q %s %v", r.VHost, r.Source, r.Kind, r.Destination, r.Key, r.args, r.Durable)
	case *Permission:
		return fmt.Sprintf("permission %s/%s %s|%s|%s", r.User, r.VHost, r.Configure, r.Write, r.Read)
	case *Exchange:
		return fmt.Sprintf("exchange %s/%s %s %v %v %v", r.VHost, r.Name, r.Type, r.Durable, r.AutoDelete, r.Args)
	case *Queue:
		return fmt.Sprintf("queue %s/%s %s %v %v %q %d %v", r.VHost, r.Name, r.Type, r.Durable, r.AutoDelete, r.Owner, r.LogID, r.Args)
	}
	return fmt.Sprintf("%s %+v", r.kind(), r)
}

// twin is the machine the dumb way: maps, and a search for whatever there is to know.
type twin struct {
	exchanges map[string]*Exchange
	queues    map[string]*Queue
	bindings  []*Binding
}

// apply carries out one of the commands that commands draws; 0 means that it is not refused.
func (w *twin) apply(cmd Command) Kind {
	switch c := cmd.(type) {
	case DeclareExchange:
		if x := w.exchanges[c.Name]; x != nil {
			if x.Type != c.Type || x.Durable != c.Durable || x.AutoDelete != c.AutoDelete {
				return PreconditionFailed
			}
			return 0
		}
		w.exchanges[c.Name] = &Exchange{VHost: c.VHost, Name: c.Name, Type: c.Type, Durable: c.Durable, AutoDelete: c.AutoDelete}
	case DeleteExchange:
		if w.exchanges[c.Name] == nil {
			return 0
		}
		if c.IfUnused && slices.ContainsFunc(w.bindings, func(b *Binding) bool { return b.Source == c.Name }) {
			return PreconditionFailed
		}
		w.remove(ToExchange, c.Name)
	case DeclareQueue:
		return w.declareQueue(c)
	case DeleteQueue:
		switch q := w.queues[c.Name]; {
		case q == nil:
		case q.Owner != "" && q.Owner != c.Session:
			return ResourceLocked
		default:
			w.remove(ToQueue, c.Name)
		}
	case CloseSession:
		for name, q := range w.queues {
			if q.Owner == c.Session {
				w.remove(ToQueue, name)
			}
		}
	case Bind:
		return w.bind(c)
	case Unbind:
		same := func(b *Binding) bool {
			return b.Source == c.Source && b.Kind == c.Kind && b.Destination == c.Destination && b.Key == c.Key &&
				route.Identical(b.Args, c.Args)
		}
		q := w.queues[c.Destination]
		if c.Kind == ToQueue && q != nil && q.Owner != "" && q.Owner != c.Session && slices.ContainsFunc(w.bindings, same) {
			return ResourceLocked
		}
		w.unbind(same)
	}
	return 0
}

func (w *twin) declareQueue(c DeclareQueue) Kind {
	owner := ""
	if c.Exclusive {
		owner, c.Durable = c.Session, false
	}
	if q := w.queues[c.Name]; q != nil {
		switch {
		case q.Owner != owner:
			return ResourceLocked
		case q.Durable != c.Durable || q.AutoDelete != c.AutoDelete:
			return PreconditionFailed
		}
		return 0
	}
	w.queues[c.Name] = &Queue{VHost: c.VHost, Name: c.Name, Durable: c.Durable, AutoDelete: c.AutoDelete, Owner: owner}
	return 0
}

func (w *twin) bind(c Bind) Kind {
	x := w.exchanges[c.Source]
	if x == nil {
		return NotFound
	}
	durable := x.Durable
	if c.Kind == ToExchange {
		to := w.exchanges[c.Destination]
		if to == nil {
			return NotFound
		}
		durable = durable && to.Durable
	} else {
		to := w.queues[c.Destination]
		if to == nil {
			return NotFound
		}
		if to.Owner != "" && to.Owner != c.Session {
			return ResourceLocked
		}
		durable = durable && to.Durable
	}
	for _, b := range w.bindings {
		if b.Source == c.Source && b.Kind == c.Kind && b.Destination == c.Destination && b.Key == c.Key && route.Identical(b.Args, c.Args) {
			return 0
		}
	}
	w.bindings = append(w.bindings, &Binding{
		VHost: c.VHost, Source: c.Source, Destination: c.Destination, Kind: c.Kind, Key: c.Key, Args: c.Args, Durable: durable,
	})
	return 0
}

// remove takes a queue or exchange out with what hangs on it.
func (w *twin) remove(kind DestKind, name string) {
	if kind == ToQueue {
		delete(w.queues, name)
	} else {
		delete(w.exchanges, name)
	}
	w.unbind(func(b *Binding) bool {
		return b.Kind == kind && b.Destination == name || kind == ToExchange && b.Source == name
	})
}

// unbind takes bindings out and then, over and over, the auto-delete exchanges whose last binding is among them.
func (w *twin) unbind(gone func(*Binding) bool) {
	var sources []string
	w.bindings = slices.DeleteFunc(w.bindings, func(b *Binding) bool {
		if gone(b) {
			sources = append(sources, b.Source)
			return true
		}
		return false
	})
	for _, name := range sources {
		x := w.exchanges[name]
		if x != nil && x.AutoDelete && !slices.ContainsFunc(w.bindings, func(b *Binding) bool { return b.Source == name }) {
			w.remove(ToExchange, name)
		}
	}
}

// dump lists the twin's records, without log ids, in any order.
func (w *twin) dump() []string {
	var all []string
	for _, x := range w.exchanges {
		all = append(all, render(x))
	}
	for _, q := range w.queues {
		all = append(all, render(&Queue{VHost: q.VHost, Name: q.Name, Type: TypeClassic, Durable: q.Durable, AutoDelete: q.AutoDelete, Owner: q.Owner}))
	}
	for _, b := range w.bindings {
		all = append(all, render(newBinding(*b)))
	}
	slices.Sort(all)
	return all
}

// plainDump lists a view's records in the form of twin.dump.
func plainDump(v *View) []string {
	var all []string
	for r := range v.records() {
		switch r := r.(type) {
		case *Exchange, *Binding:
			all = append(all, render(r))
		case *Queue:
			plain := *r
			plain.LogID = 0
			all = append(all, render(&plain))
		}
	}
	slices.Sort(all)
	return all
}

var (
	someX    = rapid.SampledFrom([]string{"x1", "x2", "x3", "x4"})
	someQ    = rapid.SampledFrom([]string{"q1", "q2", "q3"})
	someKey  = rapid.SampledFrom([]string{"", "k"})
	someArgs = rapid.SampledFrom([]map[string]any{nil, {}, {"a": int32(1)}, {"a": int64(1)}})
	session  = rapid.SampledFrom([]string{"s1", "s2"})
	commands = rapid.Custom(func(t *rapid.T) Command {
		yes := func(name string) bool { return rapid.Bool().Draw(t, name) }
		bind := func() Bind {
			c := Bind{VHost: "/", Source: someX.Draw(t, "source"), Key: someKey.Draw(t, "key"), Args: someArgs.Draw(t, "args"), Session: session.Draw(t, "session")}
			if yes("e2e") {
				c.Kind, c.Destination = ToExchange, someX.Draw(t, "destination")
			} else {
				c.Destination = someQ.Draw(t, "destination")
			}
			return c
		}
		switch rapid.IntRange(0, 9).Draw(t, "command") {
		case 0, 1:
			return DeclareExchange{VHost: "/", Name: someX.Draw(t, "x"), Type: "topic", Durable: yes("durable"), AutoDelete: yes("auto-delete")}
		case 2:
			return DeleteExchange{VHost: "/", Name: someX.Draw(t, "x"), IfUnused: yes("if-unused")}
		case 3, 4:
			return DeclareQueue{VHost: "/", Name: someQ.Draw(t, "q"), Durable: yes("durable"), Exclusive: yes("exclusive"), Session: session.Draw(t, "session")}
		case 5:
			return DeleteQueue{VHost: "/", Name: someQ.Draw(t, "q"), Session: session.Draw(t, "session")}
		case 6:
			return CloseSession{session.Draw(t, "session")}
		case 7:
			return Unbind(bind())
		default:
			return bind()
		}
	})
)

// populated declares everything there may be, and some bindings.
var populated = rapid.Custom(func(t *rapid.T) []Command {
	var cmds []Command
	yes := func(name string) bool { return rapid.Bool().Draw(t, name) }
	for _, x := range []string{"x1", "x2", "x3", "x4"} {
		cmds = append(cmds, DeclareExchange{VHost: "/", Name: x, Type: "topic", Durable: yes("durable"), AutoDelete: !yes("stays")})
	}
	for _, q := range []string{"q1", "q2", "q3"} {
		cmds = append(cmds, DeclareQueue{VHost: "/", Name: q, Durable: yes("durable")})
	}
	for range rapid.IntRange(0, 8).Draw(t, "bindings") {
		c := Bind{VHost: "/", Source: someX.Draw(t, "source"), Destination: someQ.Draw(t, "destination")}
		if yes("e2e") {
			c.Kind, c.Destination = ToExchange, someX.Draw(t, "destination")
		}
		cmds = append(cmds, c)
	}
	return cmds
})

// newTwin returns the twin of a state with the vhost "/".
func newTwin() *twin {
	w := &twin{exchanges: map[string]*Exchange{}, queues: map[string]*Queue{}}
	for _, x := range predeclared("/") {
		w.exchanges[x.Name] = x
	}
	return w
}

// TestAgainstTwin compares outcomes and states, acts on the changes one by one, and checks what is derived.
func TestAgainstTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, w, follower := NewState(), newTwin(), NewState()
		cmds := append([]Command{PutVHost{VHost{Name: "/"}}}, populated.Draw(t, "begin")...)
		cmds = append(cmds, rapid.SliceOfN(commands, 20, 80).Draw(t, "commands")...)
		for _, cmd := range cmds {
			before := plainDump(&s.View)
			r, err := s.Apply(cmd)
			kind := w.apply(cmd)
			if err != nil {
				if err.(*Error).Kind != kind || !slices.Equal(before, plainDump(&s.View)) {
					t.Fatalf("%T %+v: refused with %v, want kind %d", cmd, cmd, err, kind)
				}
				continue
			}
			if kind != 0 {
				t.Fatalf("%T %+v: %+v, want kind %d", cmd, cmd, r, kind)
			}
			follow(t, follower, r)
			if got, want := plainDump(&s.View), w.dump(); !slices.Equal(got, want) {
				t.Fatalf("after %T %+v:\n%q, want\n%q", cmd, cmd, got, want)
			}
			if got, want := plainDump(&follower.View), w.dump(); !slices.Equal(got, want) {
				t.Fatalf("the changes of %T %+v add up to\n%q, want\n%q", cmd, cmd, got, want)
			}
			checkDerived(t, s)
		}
	})
}

// follow makes the changes of a result, and fails on one that could not be acted on by itself.
func follow(t *rapid.T, s *State, r *Result) {
	for _, c := range r.Changes {
		switch rec := c.Record.(type) {
		case *Binding:
			to := s.Queue(rec.VHost, rec.Destination) != nil
			if rec.Kind == ToExchange {
				to = s.Exchange(rec.VHost, rec.Destination) != nil
			}
			if s.Exchange(rec.VHost, rec.Source) == nil || !to || c.Delete != (s.Binding(*rec) != nil) {
				t.Fatalf("out of order: %+v of %+v", c, r.Changes)
			}
		case *Queue:
			for b := range s.BindingsTo(rec.VHost, ToQueue, rec.Name) {
				t.Fatalf("%s goes before %s", rec.Name, render(b))
			}
		case *Exchange:
			for b := range s.Bindings(rec.VHost) {
				if b.Source == rec.Name || b.Kind == ToExchange && b.Destination == rec.Name {
					t.Fatalf("%s goes before %s", rec.Name, render(b))
				}
			}
		}
		s.redo(c)
	}
}

func checkDerived(t *rapid.T, s *State) {
	n, owned := 0, 0
	for q := range s.Queues("") {
		n++
		if q.Owner != "" {
			owned++
			if _, ok := s.exclusive[q.Owner][q]; !ok {
				t.Fatalf("%s is not among the queues of %s", q.Name, q.Owner)
			}
		}
	}
	for _, queues := range s.exclusive {
		owned -= len(queues)
	}
	if s.queueCount["/"] != n || owned != 0 {
		t.Fatalf("%d queues counted, %d there; %d exclusive ones too many", s.queueCount["/"], n, -owned)
	}
	if s.bySource.Len() != s.byDestination.Len() {
		t.Fatalf("%d bindings by source, %d by destination", s.bySource.Len(), s.byDestination.Len())
	}
}
