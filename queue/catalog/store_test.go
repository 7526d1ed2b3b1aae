package catalog

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/warrenmq/warren/keratin"
	"github.com/warrenmq/warren/keratin/vfs"
)

func openStore(t testing.TB, fs vfs.FS, dir string) (*keratin.Store, *Catalog) {
	t.Helper()
	store, err := keratin.Open(dir, keratin.Options{FS: fs, JournalFileBytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	c, err := Open(Options{
		Open: func(owner keratin.Owner) (Log, keratin.Recovered, error) {
			return store.OpenLog(CommandLog, keratin.LogOptions{}, owner)
		},
		Commit: store.Commit,
	})
	if err != nil {
		t.Fatal(err)
	}
	return store, c
}

// TestOnStore: what a proposer was told is there after the power has failed, and after a clean stop.
func TestOnStore(t *testing.T) {
	fs := vfs.NewMem()
	store, c := openStore(t, fs, "")
	propose(t, c, PutVHost{VHost{Name: "/"}})
	var wg sync.WaitGroup
	for p := range 6 {
		wg.Go(func() {
			for i := range 20 {
				q := fmt.Sprintf("q-%d-%d", p, i)
				propose(t, c, DeclareQueue{VHost: "/", Name: q, Durable: i%2 == 0}, Bind{VHost: "/", Source: "amq.topic", Destination: q, Key: "k"})
				if i%5 == 0 {
					propose(t, c, DeleteQueue{VHost: "/", Name: q})
				}
			}
		})
	}
	wg.Wait()
	want := dump(c.View(), false)
	crashed := fs.Crash(rand.New(rand.NewPCG(1, 2)), 50)
	store.Abandon()
	store, c = openStore(t, crashed, "")
	if got := dump(c.View(), true); !slices.Equal(got, want) {
		t.Fatalf("after the crash\n%q, want\n%q", got, want)
	}
	propose(t, c, DeclareQueue{VHost: "/", Name: "after", Durable: true})
	want = dump(c.View(), false)
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	store, c = openStore(t, crashed, "")
	if got := dump(c.View(), true); !slices.Equal(got, want) {
		t.Fatalf("after the stop\n%q, want\n%q", got, want)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
}

// BenchmarkDurableDeclare declares durable queues over 10 connections on a real disk.
func BenchmarkDurableDeclare(b *testing.B) {
	store, c := openStore(b, nil, b.TempDir())
	propose(b, c, PutVHost{VHost{Name: "/"}})
	next := make(chan int)
	var wg sync.WaitGroup
	for range 10 {
		wg.Go(func() {
			for i := range next {
				propose(b, c, DeclareQueue{VHost: "/", Name: fmt.Sprint("q", i), Durable: true})
			}
		})
	}
	i := 0
	for b.Loop() {
		next <- i
		i++
	}
	close(next)
	wg.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "declares/s")
	if err := store.Close(); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkBindings measures what a binding takes in memory, with both its places, and how long a snapshot of
// 100,000 takes to write and to read.
func BenchmarkBindings(b *testing.B) {
	const bindings = 100_000
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	s := withVHost(b)
	for i := range 1000 {
		apply(b, s, DeclareQueue{VHost: "/", Name: fmt.Sprint("queue-", i), Durable: true})
	}
	before := heap()
	for i := range bindings {
		apply(b, s, Bind{VHost: "/", Source: "amq.topic", Destination: fmt.Sprint("queue-", i%1000), Key: fmt.Sprint("tenant.", i)})
	}
	size := float64(heap()-before) / bindings
	b.Run("snapshot", func(b *testing.B) {
		for b.Loop() {
			runtime.KeepAlive(appendSnapshot(nil, &s.View, s.nextLog))
		}
		b.ReportMetric(size, "heap-B/binding")
	})
	snapshot := appendSnapshot(nil, &s.View, s.nextLog)
	b.Run("restore", func(b *testing.B) {
		before := heap()
		var restored *State
		for b.Loop() {
			restored = NewState()
			if err := restored.restore(snapshot); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(heap()-before)/bindings, "heap-B/binding")
		runtime.KeepAlive(restored)
	})
	b.Run("view", func(b *testing.B) {
		for b.Loop() {
			v := s.copy()
			runtime.KeepAlive(&v)
		}
	})
}
