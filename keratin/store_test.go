package keratin

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/warrenmq/warren/keratin/vfs"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(t testing.TB, fs vfs.FS) *Store {
	t.Helper()
	s, err := Open("", small(fs))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Abandon)
	return s
}

func openLog(t testing.TB, s *Store, id LogID) *Log {
	t.Helper()
	l, _, err := s.OpenLog(id, LogOptions{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func bulk(t testing.TB, s *Store, l *Log, n, size int) {
	t.Helper()
	for i := range n {
		put(t, s, l, Written, fmt.Sprintf("%0*d", size, i))
	}
}

// until waits for the janitor, which is at work, to have done something.
func until(t testing.TB, s *Store, what func(Stats) bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !what(s.Stats()); runtime.Gosched() {
		if err := s.Failed(); err != nil {
			t.Fatal(err)
		}
		if time.Now().After(end) {
			t.Fatalf("never happened: %+v", s.Stats())
		}
	}
}

// TestTrimWaitsForDurable: what is settled by records that are not durable must survive a loss of power.
func TestTrimWaitsForDurable(t *testing.T) {
	mem := vfs.NewMem()
	o := small(mem)
	o.SyncInterval = -1
	s, err := Open("", o)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Abandon()
	l := openLog(t, s, 1)
	put(t, s, l, Durable, "message")
	put(t, s, l, Written, "settled")
	l.Trim(1)
	again := open(t, mem.Crash(rand.New(rand.NewPCG(1, 1)), 0))
	k := openLog(t, again, 1)
	if got := all(t, k); len(got) != 1 || got[0] != "message" {
		t.Errorf("after the loss of power: %q", got)
	}
}

func TestRemoveLog(t *testing.T) {
	mem := vfs.NewMem()
	s := open(t, mem)
	l := openLog(t, s, 1)
	bulk(t, s, l, 500, 200)
	until(t, s, func(st Stats) bool { return st.SegmentBytes > 0 })
	if err := s.RemoveLog(1); err != nil {
		t.Fatal(err)
	}
	var b Batch
	b.Reserve(1, 1)
	if _, err := l.Stage(&b, Written, nil); err != ErrClosed {
		t.Errorf("Stage: %v", err)
	}
	var c Cursor
	if _, err := l.Next(&c, 1, 2); err != ErrClosed {
		t.Errorf("Next: %v", err)
	}
	until(t, s, func(Stats) bool {
		names, err := mem.List(segmentDir)
		return err == nil && len(names) == 0
	})
	if len(s.Logs()) != 0 {
		t.Errorf("logs %v", s.Logs())
	}
}

func TestClose(t *testing.T) {
	mem := vfs.NewMem()
	s := open(t, mem)
	l := openLog(t, s, 1)
	if _, _, err := s.OpenLog(1, LogOptions{}, nil); err == nil {
		t.Error("a log was opened twice")
	}
	if _, err := Open("", small(mem)); !errors.Is(err, ErrLocked) {
		t.Errorf("second store: %v", err)
	}
	var b Batch
	b.Reserve(1, 3)
	if _, err := l.Stage(&b, Written, nil); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil { // what is staged is written
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Errorf("second Close: %v", err)
	}
	b.Reserve(1, 3)
	if _, err := l.Stage(&b, Written, nil); err != ErrClosed {
		t.Errorf("Stage: %v", err)
	}
	if err := s.Sync(); err != ErrClosed {
		t.Errorf("Sync: %v", err)
	}
	s = open(t, mem)
	if got := all(t, openLog(t, s, 1)); len(got) != 1 {
		t.Errorf("%d records", len(got))
	}
}
