package catalog

import (
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"pgregory.net/rapid"

	"github.com/warrenmq/warren/keratin"
	"github.com/warrenmq/warren/queue/memlog"
)

func encode64(b []byte) string { return base64.StdEncoding.EncodeToString(b) }

// inMemory returns Options for a store of memlog.
func inMemory(s *memlog.Store, applied func(*Result)) Options {
	return Options{
		Open: func(owner keratin.Owner) (Log, keratin.Recovered, error) {
			return s.OpenLog(CommandLog, keratin.LogOptions{}, owner)
		},
		Commit: s.Commit, Applied: applied,
	}
}

type failer interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
}

func open(t failer, s *memlog.Store, applied func(*Result)) *Catalog {
	t.Helper()
	c, err := Open(inMemory(s, applied))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func propose(t failer, c *Catalog, cmds ...Command) *Result {
	t.Helper()
	var last *Result
	for _, cmd := range cmds {
		r, err := c.Propose(cmd)
		if err != nil {
			t.Fatalf("%T %+v: %v", cmd, cmd, err)
		}
		last = r
	}
	return last
}

// TestReplay runs commands with restarts of all sorts in between. After each the state is the durable part of the one
// before it; snapshot and tail give the same as the whole log.
func TestReplay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		store := memlog.New(memlog.Options{})
		c := open(t, store, nil)
		whole := NewState() // replays every record ever logged
		for _, cmd := range append([]Command{PutVHost{VHost{Name: "/"}}}, populated.Draw(t, "begin")...) {
			if r, err := c.Propose(cmd); err == nil {
				logged(t, whole, r)
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"command": func(t *rapid.T) {
				r, err := c.Propose(commands.Draw(t, "command"))
				var refused *Error
				if err != nil && !errors.As(err, &refused) {
					t.Fatal(err)
				}
				if err == nil {
					logged(t, whole, r)
				}
			},
			"checkpoint": func(*rapid.T) { store.Checkpoint() },
			"restart": func(t *rapid.T) {
				loss := rapid.SampledFrom([]memlog.Loss{memlog.Nothing, memlog.Staged, memlog.Written}).Draw(t, "loss")
				want, next := dump(c.View(), false), c.deciding.state.nextLog
				store = store.Reopen(loss)
				c = open(t, store, nil)
				if got := dump(c.View(), true); !slices.Equal(got, want) {
					t.Fatalf("after the restart:\n%q, want\n%q", got, want)
				}
				if got := c.deciding.state.nextLog; got != next {
					t.Fatalf("the next log is %d, want %d", got, next)
				}
			},
			"": func(t *rapid.T) {
				if got, want := dump(&whole.View, true), dump(c.View(), false); !slices.Equal(got, want) {
					t.Fatalf("the whole log adds up to\n%q, want\n%q", got, want)
				}
			},
		})
	})
}

// TestReplayOfCascades: an auto-delete exchange stays while it has a transient binding, which leaves no record, and
// goes with it, which does.
func TestReplayOfCascades(t *testing.T) {
	store := memlog.New(memlog.Options{})
	c := open(t, store, nil)
	propose(t, c, PutVHost{VHost{Name: "/"}},
		DeclareExchange{VHost: "/", Name: "first", Type: "fanout", Durable: true, AutoDelete: true},
		DeclareExchange{VHost: "/", Name: "second", Type: "fanout", Durable: true, AutoDelete: true},
		DeclareQueue{VHost: "/", Name: "durable", Durable: true}, DeclareQueue{VHost: "/", Name: "own", Exclusive: true, Session: "s"},
		Bind{VHost: "/", Source: "first", Destination: "second", Kind: ToExchange},
		Bind{VHost: "/", Source: "second", Destination: "durable"}, Bind{VHost: "/", Source: "second", Destination: "own", Session: "s"},
		DeleteQueue{VHost: "/", Name: "durable"})
	restarted := open(t, store.Reopen(memlog.Written), nil)
	if restarted.View().Exchange("/", "second") == nil || restarted.View().Binding(Binding{VHost: "/", Source: "first", Destination: "second", Kind: ToExchange}) == nil {
		t.Error("the exchange went in the replay, although it was still used")
	}
	r := propose(t, c, CloseSession{"s"})
	var gone []string
	for _, change := range r.Changes {
		gone = append(gone, fmt.Sprintf("%v %s", change.Delete, change.Record.kind()))
	}
	want := []string{"true binding", "true queue", "true binding", "true exchange", "true exchange"}
	if !slices.Equal(gone, want) {
		t.Errorf("changes are %q, want %q", gone, want)
	}
	restarted = open(t, store.Reopen(memlog.Written), nil)
	for x := range restarted.View().Exchanges("/") {
		if x.AutoDelete {
			t.Errorf("%s is there again", x.Name)
		}
	}
}

// logged replays what is logged of a result.
func logged(t failer, s *State, r *Result) {
	t.Helper()
	if data := encodeChanges(r.Changes); data != nil {
		if err := s.replay(data); err != nil {
			t.Fatal(err)
		}
	}
}

// TestAppliedInOrder proposes from many goroutines: the results told add up to the state, in the order told, and
// each is told before its proposer returns.
func TestAppliedInOrder(t *testing.T) {
	const proposers, each = 8, 60
	store := memlog.New(memlog.Options{})
	follower := NewState()
	var told sync.Map
	var at atomic.Int32
	c := open(t, store, func(r *Result) {
		if at.Add(1) != 1 {
			t.Error("told two at a time")
		}
		for _, change := range r.Changes {
			follower.redo(change)
		}
		told.Store(r, true)
		at.Add(-1)
	})
	propose(t, c, PutVHost{VHost{Name: "/"}}, DeclareExchange{VHost: "/", Name: "x", Type: "topic", Durable: true})
	var wg sync.WaitGroup
	for p := range proposers {
		wg.Go(func() {
			for i := range each {
				name := fmt.Sprint("q", (p+i)%5)
				for _, cmd := range []Command{
					DeclareQueue{VHost: "/", Name: name, Durable: i%3 != 0},
					Bind{VHost: "/", Source: "x", Destination: name, Key: fmt.Sprint(i % 4)},
					DeleteQueue{VHost: "/", Name: name},
				} {
					r, err := c.Propose(cmd)
					var refused *Error
					if err != nil {
						if !errors.As(err, &refused) {
							t.Error(err)
						}
						continue
					}
					if _, ok := told.Load(r); !ok && len(r.Changes) > 0 {
						t.Errorf("%T returned before it was told", cmd)
					}
					c.View().Queue("/", name)
				}
			}
		})
	}
	wg.Wait()
	if got, want := dump(&follower.View, true), dump(c.View(), true); !slices.Equal(got, want) {
		t.Errorf("what was told adds up to\n%q, want\n%q", got, want)
	}
	if c.deciding.pending != nil {
		t.Errorf("%d results are left", len(c.deciding.pending))
	}
	want := dump(c.View(), false)
	if got := dump(open(t, store.Reopen(memlog.Staged), nil).View(), true); !slices.Equal(got, want) {
		t.Errorf("after a restart\n%q, want\n%q", got, want)
	}
}

// TestNobodyIsToldBeforeTheFlush: not the proposer, not one whose command changes nothing, not one of a transient
// queue; and one flush does for all.
func TestNobodyIsToldBeforeTheFlush(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memlog.New(memlog.Options{ManualSync: true})
		var applied []string
		c := open(t, store, func(r *Result) { applied = append(applied, fmt.Sprint(len(r.Changes))) })
		var done atomic.Int32
		begin := func(cmd Command) {
			go func() {
				if _, err := c.Propose(cmd); err != nil {
					t.Errorf("%+v: %v", cmd, err)
				}
				done.Add(1)
			}()
			synctest.Wait()
		}
		begin(PutVHost{VHost{Name: "/"}})
		begin(DeclareQueue{VHost: "/", Name: "durable", Durable: true})
		begin(DeclareQueue{VHost: "/", Name: "durable", Durable: true})
		begin(DeclareQueue{VHost: "/", Name: "transient"})
		begin(DeclareQueue{VHost: "/", Name: "last", Durable: true})
		if n := done.Load(); n != 0 || len(applied) != 0 {
			t.Errorf("%d are told, %q applied before anything is durable", n, applied)
		}
		if c.View().Queue("/", "last") == nil {
			t.Error("later commands do not see what is decided")
		}
		if err := store.Sync(); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if n := done.Load(); n != 5 || !slices.Equal(applied, []string{"8", "1", "1", "1"}) {
			t.Errorf("%d are told, %q applied after the flush", n, applied)
		}
		// With nothing pending, what is not logged does not wait.
		begin(DeclareQueue{VHost: "/", Name: "another"})
		begin(DeclareQueue{VHost: "/", Name: "durable", Durable: true})
		if n := done.Load(); n != 7 {
			t.Errorf("%d are told without a need for a flush", n)
		}
	})
}

// TestFailedLog: everybody who waits and everybody who comes gets the error, and nothing is told.
func TestFailedLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memlog.New(memlog.Options{ManualSync: true})
		var log *memlog.Log
		o := inMemory(store, func(*Result) { t.Error("told what was never durable") })
		o.Open = func(owner keratin.Owner) (Log, keratin.Recovered, error) {
			l, r, err := store.OpenLog(CommandLog, keratin.LogOptions{}, owner)
			log = l
			return l, r, err
		}
		c, err := Open(o)
		if err != nil {
			t.Fatal(err)
		}
		errs := make(chan error, 9)
		for _, cmd := range []Command{
			PutVHost{VHost{Name: "/"}}, DeclareQueue{VHost: "/", Name: "q"}, DeclareQueue{VHost: "/", Name: "q"},
			DeclareQueue{VHost: "/", Name: "d", Durable: true}, DeclareQueue{VHost: "/", Name: "r"},
		} {
			go func() {
				_, err := c.Propose(cmd)
				errs <- err
			}()
			synctest.Wait()
		}
		broken := errors.New("disk on fire")
		log.Fail(broken)
		synctest.Wait()
		_, err = c.Propose(DeclareQueue{VHost: "/", Name: "late"})
		errs <- err
		if len(errs) != 6 {
			t.Fatalf("%d of 6 have an answer", len(errs))
		}
		for range 6 {
			if err := <-errs; !errors.Is(err, broken) {
				t.Errorf("got %v", err)
			}
		}
	})
}

// TestSnapshotsTrim: the log forgets what the snapshot before the last covers, and no more.
func TestSnapshotsTrim(t *testing.T) {
	store := memlog.New(memlog.Options{})
	c := open(t, store, nil)
	propose(t, c, PutVHost{VHost{Name: "/"}})
	log := c.log.(*memlog.Log)
	for i := range 10 {
		propose(t, c, DeclareQueue{VHost: "/", Name: "q", Durable: true}, DeleteQueue{VHost: "/", Name: "q"})
		store.Checkpoint()
		if got, want := log.Marks().Head, keratin.Frontier(2*i+1); i > 0 && got != want {
			t.Fatalf("after %d checkpoints the head is %d, want %d", i+1, got, want)
		}
	}
	if kept := log.Kept(); kept > 4 {
		t.Errorf("the log keeps %d records", kept)
	}
	c = open(t, store.Reopen(memlog.Written), nil)
	if c.View().VHost("/") == nil {
		t.Error("what was trimmed is missed")
	}
}

// TestViewsDoNotChange: a view is what it was, whatever is decided since.
func TestViewsDoNotChange(t *testing.T) {
	c := open(t, memlog.New(memlog.Options{}), nil)
	propose(t, c, PutVHost{VHost{Name: "/"}})
	type seen struct {
		v    *View
		dump []string
	}
	var views []seen
	for i := range 200 {
		propose(t, c, DeclareQueue{VHost: "/", Name: fmt.Sprint("q", i%70), Durable: i%2 == 0},
			Bind{VHost: "/", Source: "amq.topic", Destination: fmt.Sprint("q", i%70), Key: fmt.Sprint(i)})
		if i%3 == 0 {
			propose(t, c, DeleteQueue{VHost: "/", Name: fmt.Sprint("q", (i*7)%70)})
		}
		views = append(views, seen{c.View(), dump(c.View(), true)})
		if one, other := c.View(), c.View(); one != other {
			t.Fatal("two views of one state")
		}
	}
	for i, s := range views {
		if !slices.Equal(s.dump, dump(s.v, true)) {
			t.Fatalf("view %d has changed", i)
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	for name, stage := range map[string]func(*keratin.Batch){
		"unknown kind": func(b *keratin.Batch) { copy(b.Reserve(9, 2), "{}") },
		"newer format": func(b *keratin.Batch) { copy(b.Reserve(kindChanges, 20), `{"v":9,"changes":[]}`) },
		"not a record": func(b *keratin.Batch) { b.Reserve(kindChanges, 3) },
		"unknown thing": func(b *keratin.Batch) {
			copy(b.Reserve(kindChanges, 43), `{"v":1,"changes":[{"put":"cat","is":null}]}`)
		},
	} {
		store := memlog.New(memlog.Options{})
		l, _, err := store.OpenLog(CommandLog, keratin.LogOptions{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		var b keratin.Batch
		stage(&b)
		if _, err := l.Stage(&b, keratin.Durable, nil); err != nil {
			t.Fatal(err)
		}
		store = store.Reopen(memlog.Nothing)
		c := &Catalog{}
		_, err = Open(Options{Commit: store.Commit, Open: func(owner keratin.Owner) (Log, keratin.Recovered, error) {
			c = owner.(*Catalog)
			return store.OpenLog(CommandLog, keratin.LogOptions{}, owner)
		}})
		if err == nil {
			t.Errorf("%s: opened", name)
		}
		if state, at := c.Snapshot(nil); len(state) != 0 || at != 0 {
			t.Errorf("%s: the snapshot is %q at %d, although the log has not been read", name, state, at)
		}
	}
	broken := errors.New("locked")
	if _, err := Open(Options{Open: func(keratin.Owner) (Log, keratin.Recovered, error) { return nil, keratin.Recovered{}, broken }}); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}

// BenchmarkDeclare measures what a durable declare costs beside the flush: 10 connections, 100,000 queues.
func BenchmarkDeclare(b *testing.B) {
	c := open(b, memlog.New(memlog.Options{}), func(*Result) {})
	propose(b, c, PutVHost{VHost{Name: "/"}})
	var n atomic.Int64
	b.SetParallelism(5)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			propose(b, c, DeclareQueue{VHost: "/", Name: fmt.Sprintf("queue-%d", n.Add(1)%100_000), Durable: true})
		}
	})
}
