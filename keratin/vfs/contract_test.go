package vfs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"slices"
	"sync"
	"syscall"
	"testing"
)

// TestContract runs the same suite against every implementation.
func TestContract(t *testing.T) {
	for name, open := range map[string]func(t *testing.T) FS{
		"os":       func(t *testing.T) FS { return OS(t.TempDir()) },
		"mem":      func(*testing.T) FS { return NewMem() },
		"fault":    func(*testing.T) FS { return NewFault(NewMem()) },
		"fault os": func(t *testing.T) FS { return NewFault(OS(t.TempDir())) },
	} {
		t.Run(name, func(t *testing.T) {
			for _, c := range contract {
				t.Run(c.name, func(t *testing.T) { c.run(t, open(t)) })
			}
		})
	}
}

var contract = []struct {
	name string
	run  func(t *testing.T, x FS)
}{
	{"write and read", func(t *testing.T, x FS) {
		f := create(t, x, "a")
		write(t, f, "hello", 3)
		if size, err := f.Size(); err != nil || size != 8 {
			t.Errorf("size %d, %v", size, err)
		}
		if got := read(t, f); got != "\x00\x00\x00hello" {
			t.Errorf("got %q", got)
		}
		if n, err := f.ReadAt(make([]byte, 10), 5); n != 3 || err != io.EOF {
			t.Errorf("short read: %d, %v", n, err)
		}
		if n, err := f.ReadAt(make([]byte, 1), 100); n != 0 || err != io.EOF {
			t.Errorf("read beyond the end: %d, %v", n, err)
		}
		if _, err := f.WriteAt([]byte("x"), -1); err == nil {
			t.Error("write at a negative position")
		}
		must(t, f.Sync())
		must(t, f.Close())
	}},
	{"truncate", func(t *testing.T, x FS) {
		f := create(t, x, "a")
		write(t, f, "hello", 0)
		must(t, f.Truncate(2))
		must(t, f.Truncate(4))
		if got := read(t, f); got != "he\x00\x00" {
			t.Errorf("got %q", got)
		}
		must(t, f.Close())
	}},
	{"names", func(t *testing.T, x FS) {
		must(t, x.MkdirAll("d/e"))
		must(t, x.MkdirAll("d/e"))
		f := create(t, x, "d/e/one")
		write(t, f, "1", 0)
		must(t, create(t, x, "d/e/two").Close())
		must(t, x.Rename("d/e/one", "d/e/three"))
		write(t, f, "1+", 0)
		must(t, f.Close())
		if names, err := x.List("d/e"); err != nil || !slices.Equal(names, []string{"three", "two"}) {
			t.Errorf("%q, %v", names, err)
		}
		must(t, x.Rename("d/e/three", "d/e/two"))
		must(t, x.SyncDir("d/e"))
		f, err := x.Open("d/e/two")
		must(t, err)
		if got := read(t, f); got != "1+" {
			t.Errorf("after the rename: %q", got)
		}
		must(t, x.Remove("d/e/two"))
		if got := read(t, f); got != "1+" {
			t.Errorf("handle of a removed file: %q", got)
		}
		must(t, f.Close())
		for what, err := range map[string]error{
			"open":   second(x.Open("d/e/two")),
			"remove": x.Remove("d/e/two"),
			"rename": x.Rename("d/e/two", "d/e/x"),
			"list":   second(x.List("nowhere")),
			"create": second(x.Create("nowhere/a")),
		} {
			if !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s: %v", what, err)
			}
		}
	}},
	{"create empties", func(t *testing.T, x FS) {
		f := create(t, x, "a")
		write(t, f, "hello", 0)
		must(t, f.Close())
		f = create(t, x, "a")
		if got := read(t, f); got != "" {
			t.Errorf("got %q", got)
		}
		must(t, f.Close())
	}},
	{"lock", func(t *testing.T, x FS) {
		l, err := x.Lock("LOCK")
		must(t, err)
		_, err = x.Lock("LOCK")
		if _, ok := errors.AsType[*LockedError](err); !ok {
			t.Errorf("second lock: %v", err)
		}
		must(t, l.Close())
		l, err = x.Lock("LOCK")
		must(t, err)
		must(t, l.Close())
	}},
	{"concurrent", func(t *testing.T, x FS) {
		f := create(t, x, "a")
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				for j := range 50 {
					if _, err := f.WriteAt([]byte{byte(i)}, int64(i+8*j)); err != nil {
						t.Error(err)
					}
				}
				if err := f.Sync(); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		for i, c := range []byte(read(t, f)) {
			if int(c) != i%8 {
				t.Fatalf("byte %d is %d", i, c)
			}
		}
		must(t, f.Close())
	}},
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func second[T any](_ T, err error) error { return err }

func create(t *testing.T, x FS, name string) File {
	t.Helper()
	f, err := x.Create(name)
	must(t, err)
	return f
}

func write(t *testing.T, f File, s string, off int64) {
	t.Helper()
	if n, err := f.WriteAt([]byte(s), off); err != nil || n != len(s) {
		t.Fatalf("wrote %d, %v", n, err)
	}
}

func read(t *testing.T, f File) string {
	t.Helper()
	size, err := f.Size()
	must(t, err)
	b := make([]byte, size)
	if _, err := f.ReadAt(b, 0); err != nil && err != io.EOF {
		t.Fatal(err)
	}
	return string(b)
}

func TestCrashKeepsWhatWasFlushed(t *testing.T) {
	m := NewMem()
	must(t, m.MkdirAll("d"))
	f := create(t, m, "d/a")
	write(t, f, "flushed", 0)
	must(t, f.Sync())
	if names, err := m.Crash(rand.New(rand.NewPCG(1, 1)), 0).List("d"); err != nil || len(names) != 0 {
		t.Fatalf("a name that was not flushed survived for sure: %q, %v", names, err)
	}
	must(t, m.SyncDir("d"))
	write(t, f, "unflushed", 0)
	must(t, m.Rename("d/a", "d/b"))
	seen := map[string]bool{}
	for seed := range uint64(500) {
		c := m.Crash(rand.New(rand.NewPCG(seed, 2)), 50)
		names, err := c.List("d")
		must(t, err)
		for _, name := range names {
			g, err := c.Open("d/" + name)
			must(t, err)
			got := read(t, g)
			for i, c := range []byte(got) {
				if i >= 9 || c != 0 && c != "unflushed"[i] && (i >= 7 || c != "flushed"[i]) {
					t.Fatalf("%s holds %q", name, got)
				}
			}
			seen[got] = true
		}
		seen[fmt.Sprint(names)] = true
	}
	for _, want := range []string{"flushed", "unflushed", "[a]", "[b]", "[a b]", "[]"} {
		if !seen[want] {
			t.Errorf("no crash left %s", want)
		}
	}
	if len(seen) < 10 {
		t.Errorf("only %d outcomes: nothing is torn", len(seen))
	}
	kill := m.Crash(rand.New(rand.NewPCG(3, 3)), 100)
	g, err := kill.Open("d/b")
	must(t, err)
	if got := read(t, g); got != "unflushed" {
		t.Errorf("the death of the process lost a write: %q", got)
	}
}

func TestFaultRules(t *testing.T) {
	m := NewMem()
	x := NewFault(m)
	f := create(t, x, "a")
	x.SetRule(func(op Op, name string) error {
		if op == OpWrite && name == "a" {
			return syscall.ENOSPC
		}
		return nil
	})
	if n, err := f.WriteAt([]byte("1234"), 0); !errors.Is(err, syscall.ENOSPC) || n != 2 {
		t.Errorf("%d, %v", n, err)
	}
	x.SetRule(nil)
	if got := read(t, f); got != "12" {
		t.Errorf("a full disk left %q", got)
	}
}
