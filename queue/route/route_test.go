package route

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// mustNew returns an exchange of a known type, with strings for queues.
func mustNew(t testing.TB, typ string) *Exchange[string] {
	t.Helper()
	x, ok := New[string](typ)
	if !ok {
		t.Fatalf("exchange type %q is not known", typ)
	}
	return x
}

// routed returns what a publish to x finds, sorted.
func routed(x *Exchange[string], m Message) []string {
	var w Walk[string]
	return slices.Sorted(slices.Values(x.Route(&w, m, nil)))
}

func key(s string) Message { return Message{Key: []byte(s)} }

func wantRoute(t *testing.T, x *Exchange[string], m Message, want ...string) {
	t.Helper()
	if got := routed(x, m); !slices.Equal(got, want) {
		t.Errorf("key %q: routed to %q, want %q", m.Key, got, want)
	}
}

func TestUnknownType(t *testing.T) {
	if _, ok := New[string]("x-nonsense"); ok || Known("x-nonsense") {
		t.Error("type x-nonsense is known")
	}
	for _, typ := range Types() {
		if _, ok := New[string](typ); !ok || !Known(typ) {
			t.Errorf("type %s is not known", typ)
		}
	}
}

func TestDirect(t *testing.T) {
	x := mustNew(t, Direct)
	x.BindQueue("a", "k", nil)
	x.BindQueue("b", "k", nil)
	x.BindQueue("c", "other", nil)
	wantRoute(t, x, key("k"), "a", "b")
	wantRoute(t, x, key("K"))
	wantRoute(t, x, Message{Key: []byte("k"), MoreKeys: [][]byte{[]byte("other"), []byte("k")}}, "a", "b", "c")
}

// TestBindingsAreCounted: two bindings of one queue with one key (they differ in arguments) need two unbinds.
func TestBindingsAreCounted(t *testing.T) {
	for _, typ := range []string{Direct, Fanout, Topic} {
		x := mustNew(t, typ)
		x.BindQueue("a", "k", nil)
		x.BindQueue("a", "k", map[string]any{"n": int32(1)})
		wantRoute(t, x, key("k"), "a")
		for left := 1; left >= 0; left-- {
			if !x.UnbindQueue("a", "k", nil) || x.Bindings() != left {
				t.Fatalf("%s: unbinding failed, %d bindings left", typ, x.Bindings())
			}
		}
		wantRoute(t, x, key("k"))
		if x.UnbindQueue("a", "k", nil) {
			t.Errorf("%s: unbound once more than bound", typ)
		}
	}
}

func TestRouteAppends(t *testing.T) {
	x := mustNew(t, Fanout)
	x.BindQueue("a", "", nil)
	var w Walk[string]
	got := x.Route(&w, Message{}, []string{"a"})
	if !slices.Equal(got, []string{"a", "a"}) {
		t.Errorf("got %q: what the caller's slice held before must not count as delivered", got)
	}
}

// TestExchangeToExchange walks a graph with a cycle, a diamond and a queue reached in several ways.
func TestExchangeToExchange(t *testing.T) {
	in, topic, fan := mustNew(t, Direct), mustNew(t, Topic), mustNew(t, Fanout)
	in.BindExchange(topic, "a.b", nil)
	in.BindExchange(fan, "a.b", nil)
	in.BindQueue("q1", "a.b", nil)
	topic.BindQueue("q1", "a.*", nil)
	topic.BindQueue("q2", "#", nil)
	topic.BindExchange(fan, "#.b", nil)
	fan.BindQueue("q2", "", nil)
	fan.BindQueue("q3", "", nil)
	fan.BindExchange(in, "", nil)
	fan.BindExchange(fan, "", nil)
	wantRoute(t, in, key("a.b"), "q1", "q2", "q3")
	wantRoute(t, fan, key("a.b"), "q1", "q2", "q3")
	wantRoute(t, in, key("x"))

	if !in.UnbindExchange(fan, "a.b", nil) || !topic.UnbindExchange(fan, "#.b", nil) {
		t.Fatal("unbinding an exchange failed")
	}
	wantRoute(t, in, key("a.b"), "q1", "q2")
}

func TestAlternateExchange(t *testing.T) {
	a, b, c, deadEnd := mustNew(t, Direct), mustNew(t, Direct), mustNew(t, Fanout), mustNew(t, Fanout)
	a.SetAlternate(b)
	b.SetAlternate(c)
	c.SetAlternate(a)
	wantRoute(t, a, key("k")) // a cycle of alternates ends
	c.BindQueue("last", "", nil)
	wantRoute(t, a, key("k"), "last")
	b.BindQueue("middle", "k", nil)
	wantRoute(t, a, key("k"), "middle")
	a.BindExchange(deadEnd, "k", nil)
	wantRoute(t, a, key("k")) // a destination exchange is a destination, even if it leads nowhere
	a.UnbindExchange(deadEnd, "k", nil)
	a.SetAlternate(nil)
	wantRoute(t, a, key("k"))
}

// twin is the graph the dumb way: bindings in a list, sets of names.
type twin struct {
	bindings  []twinBinding
	alternate map[string]string
}

type twinBinding struct {
	from, typ, key string
	args           map[string]any
	to             string // a queue if it begins with q
}

func (g *twin) route(x string, m Message) []string {
	queues, seen, work := map[string]bool{}, map[string]bool{x: true}, []string{x}
	for len(work) > 0 {
		x, work = work[0], work[1:]
		found := false
		for _, b := range g.bindings {
			if b.from != x || !b.matches(m) {
				continue
			}
			found = true
			if b.to[0] == 'q' {
				queues[b.to] = true
			} else if !seen[b.to] {
				seen[b.to] = true
				work = append(work, b.to)
			}
		}
		if alt := g.alternate[x]; !found && alt != "" && !seen[alt] {
			seen[alt] = true
			work = append(work, alt)
		}
	}
	var names []string
	for q := range queues {
		names = append(names, q)
	}
	slices.Sort(names)
	return names
}

func (b *twinBinding) matches(m Message) bool {
	for _, k := range append([][]byte{m.Key}, m.MoreKeys...) {
		switch b.typ {
		case Direct:
			if string(k) == b.key {
				return true
			}
		case Fanout:
			return true
		case Topic:
			if topicMatches(splitWords(b.key), splitWords(string(k))) {
				return true
			}
		}
	}
	return b.typ == Headers && headersMatch(b.args, m.Headers())
}

// TestGraphAgainstTwin binds and unbinds at random, and compares every answer with the twin's.
func TestGraphAgainstTwin(t *testing.T) {
	types := []string{Direct, Topic, Fanout, Headers, Topic}
	rapid.Check(t, func(t *rapid.T) {
		g := twin{alternate: map[string]string{}}
		xs := make([]*Exchange[string], len(types))
		for i, typ := range types {
			xs[i], _ = New[string](typ)
		}
		name := func(i int) string { return fmt.Sprintf("x%d", i) }
		anyX := rapid.IntRange(0, len(xs)-1)
		anyQ := rapid.SampledFrom(manyQueues(40))
		bind := func(i int, b twinBinding, unbind bool) (done bool) {
			if b.to[0] == 'x' {
				to := xs[b.to[1]-'0']
				if unbind {
					return xs[i].UnbindExchange(to, b.key, b.args)
				}
				xs[i].BindExchange(to, b.key, b.args)
				return true
			}
			if unbind {
				return xs[i].UnbindQueue(b.to, b.key, b.args)
			}
			xs[i].BindQueue(b.to, b.key, b.args)
			return true
		}
		var w Walk[string]
		t.Repeat(map[string]func(*rapid.T){
			"bind": func(t *rapid.T) {
				i := anyX.Draw(t, "x")
				b := twinBinding{from: name(i), typ: types[i], key: patterns.Draw(t, "key"), to: anyQ.Draw(t, "queue")}
				if rapid.IntRange(0, 3).Draw(t, "e2e") == 0 {
					b.to = name(anyX.Draw(t, "to"))
				}
				if types[i] == Headers {
					b.args = bindingArgs.Draw(t, "args")
				}
				bind(i, b, false)
				g.bindings = append(g.bindings, b)
			},
			"unbind": func(t *rapid.T) {
				if len(g.bindings) == 0 {
					t.Skip("nothing bound")
				}
				n := rapid.IntRange(0, len(g.bindings)-1).Draw(t, "binding")
				b := g.bindings[n]
				if !bind(int(b.from[1]-'0'), b, true) {
					t.Fatalf("%+v was bound and is not found", b)
				}
				g.bindings = slices.Delete(g.bindings, n, n+1)
			},
			"alternate": func(t *rapid.T) {
				i, j := anyX.Draw(t, "x"), anyX.Draw(t, "alternate")
				xs[i].SetAlternate(xs[j])
				g.alternate[name(i)] = name(j)
			},
			"route": func(t *rapid.T) {
				m := Message{Key: []byte(keys.Draw(t, "key"))}
				if rapid.Bool().Draw(t, "cc") {
					m.MoreKeys = [][]byte{[]byte(keys.Draw(t, "key"))}
				}
				h := messageHeaders.Draw(t, "headers")
				m.Headers = func() map[string]any { return h }
				i := anyX.Draw(t, "x")
				got, want := slices.Sorted(slices.Values(xs[i].Route(&w, m, nil))), g.route(name(i), m)
				if !slices.Equal(got, want) {
					t.Fatalf("key %q, headers %v: routed to %q, want %q", m.Key, h, got, want)
				}
			},
			"": func(t *rapid.T) {
				for i, x := range xs {
					n := 0
					for _, b := range g.bindings {
						if b.from == name(i) {
							n++
						}
					}
					if x.Bindings() != n {
						t.Fatalf("%s has %d bindings, want %d", name(i), x.Bindings(), n)
					}
				}
			},
		})
	})
}

func manyQueues(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("q%02d", i)
	}
	return names
}

// TestManyDestinations passes the sizes at which scans give way to indexes.
func TestManyDestinations(t *testing.T) {
	names := manyQueues(100)
	for _, typ := range []string{Direct, Fanout, Topic, Headers} {
		x, second := mustNew(t, typ), mustNew(t, Fanout)
		for _, q := range names {
			x.BindQueue(q, "k", nil)
			second.BindQueue(q, "", nil)
		}
		x.BindExchange(second, "k", nil)
		wantRoute(t, x, key("k"), names...)
		for i, q := range slices.Backward(names) {
			if i%3 != 0 && !x.UnbindQueue(q, "k", nil) {
				t.Fatalf("%s: %s is not bound", typ, q)
			}
		}
		wantRoute(t, x, key("k"), names...) // by way of the second
		x.UnbindExchange(second, "k", nil)
		var left []string
		for i := 0; i < len(names); i += 3 {
			left = append(left, names[i])
		}
		wantRoute(t, x, key("k"), left...)
	}
}

// TestRouteAllocatesNothing: also with duplicates to weed out and exchanges to walk through.
func TestRouteAllocatesNothing(t *testing.T) {
	x, y := mustNew(t, Topic), mustNew(t, Direct)
	for i, q := range manyQueues(60) {
		x.BindQueue(q, "#.b."+strings.Repeat("#.", i%3)+"c", nil)
		x.BindQueue(q, "a.#", nil)
		y.BindQueue(q, "a.b.c", nil)
	}
	x.BindExchange(y, "#", nil)
	var w Walk[string]
	var answer []string
	m := key("a.b.c")
	allocs := testing.AllocsPerRun(100, func() { answer = x.Route(&w, m, answer[:0]) })
	if allocs != 0 || len(answer) != 60 {
		t.Errorf("%v allocations for %d queues, want 0 for 60", allocs, len(answer))
	}
}

// TestWalkForgets: a walk at rest keeps no queue or exchange alive.
func TestWalkForgets(t *testing.T) {
	x := mustNew(t, Topic)
	for _, q := range manyQueues(30) {
		x.BindQueue(q, "#.a.#", nil)
	}
	var w Walk[string]
	x.Route(&w, Message{Key: []byte("a.a.b"), Headers: func() map[string]any { return nil }}, nil)
	held := func(nodes []*node[string]) bool {
		return slices.ContainsFunc(nodes[:cap(nodes)], func(n *node[string]) bool { return n != nil })
	}
	s := &w.topic
	if w.answer != nil || w.message.Headers != nil || w.exchanges[:1][0] != nil || len(w.queues.index) > 0 ||
		held(s.open) || held(s.next) || held(s.hashes) || held(s.again) {
		t.Errorf("the walk still refers to what it walked through: %+v", w)
	}
}
