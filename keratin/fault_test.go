package keratin

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/warrenmq/warren/keratin/vfs"
)

// workload does something of everything with a store. It must not fail in any other way than with an error.
func workload(fs vfs.FS, confirmed *[]string, failedLogs *uint64) error {
	o := Options{FS: fs, JournalFileBytes: 16 << 10, SegmentBytes: 8 << 10, TailBytes: 4 << 10, SyncInterval: -1}
	s, err := Open("", o)
	if err != nil {
		return err
	}
	defer func() {
		s.Abandon()
		*failedLogs += s.Stats().FailedLogs
	}()
	l, _, err := s.OpenLog(1, LogOptions{}, nil)
	if err != nil {
		return err
	}
	spill, _, err := s.OpenLog(2, LogOptions{Ephemeral: true}, nil)
	if err != nil {
		return err
	}
	add := func(l *Log, text string, gate Mark) error {
		var b Batch
		copy(b.Reserve(1, len(text)), text)
		done := make(answer, 1)
		if _, err := l.Stage(&b, gate, done); err != nil {
			return err
		}
		s.Commit()
		return <-done
	}
	for i := range 90 {
		text := fmt.Sprintf("%d %0*d", i, 10*i, i)
		if err := add(l, text, Durable); err != nil {
			return err
		}
		*confirmed = append(*confirmed, text)
		if err := add(spill, text, Written); err != nil {
			return err
		}
	}
	for _, x := range []*Log{l, spill} {
		for x.moved() == 0 && s.Stats().FailedLogs == 0 && s.Failed() == nil {
			runtime.Gosched() // the janitor is on its way
		}
	}
	for _, x := range []*Log{l, spill} {
		var c Cursor
		for o := range Offset(90) {
			r, err := x.Next(&c, o, 90)
			if err != nil {
				return err
			}
			if want := (*confirmed)[o]; string(r.Data) != want {
				panic("wrong record: " + want)
			}
		}
	}
	if err := s.RemoveLog(2); err != nil {
		return err
	}
	if err := s.Close(); err != nil {
		return err
	}
	again, err := Open("", o)
	if err != nil {
		return err
	}
	defer func() {
		again.Abandon()
		*failedLogs += again.Stats().FailedLogs
	}()
	if l, _, err = again.OpenLog(1, LogOptions{}, nil); err != nil {
		return err
	}
	l.Trim(80)
	if err := again.Sync(); err != nil {
		return err
	}
	return again.Close()
}

// moved is the size of the log's segments.
func (l *Log) moved() int64 {
	_, disk := l.Size()
	return disk
}

// TestEveryFault fails the i-th operation of each kind in a workload, for every i until none fails: by kind, since the
// janitor's operations come in between as they like. Whatever it was, no confirm may be broken afterwards, and the
// failure must have been seen: by the caller, or by the store's statistics.
func TestEveryFault(t *testing.T) {
	kinds := []vfs.Op{vfs.OpCreate, vfs.OpOpen, vfs.OpRename, vfs.OpRemove, vfs.OpList, vfs.OpMkdir, vfs.OpSyncDir, vfs.OpLock, vfs.OpRead, vfs.OpWrite, vfs.OpSync, vfs.OpSize, vfs.OpClose}
	for _, errno := range []error{syscall.EIO, syscall.ENOSPC} {
		for _, kind := range kinds {
			i := 0
			for failOne(t, kind, i, errno) {
				i++
			}
			if i == 0 {
				t.Errorf("the workload never met a failing %s", kind)
			}
		}
	}
}

// failOne runs the workload with the i-th operation of a kind failing. false: it has not that many.
func failOne(t *testing.T, kind vfs.Op, i int, errno error) bool {
	mem := vfs.NewMem()
	fault := vfs.NewFault(mem)
	var mu sync.Mutex
	n, file := 0, ""
	fault.SetRule(func(op vfs.Op, name string) error {
		mu.Lock()
		defer mu.Unlock()
		if op != kind {
			return nil
		}
		if n++; n-1 != i {
			return nil
		}
		file = name
		return fmt.Errorf("%s %s: %w", op, name, errno)
	})
	var confirmed []string
	var failedLogs uint64
	err := workload(fault, &confirmed, &failedLogs)
	fault.SetRule(nil)
	if n <= i {
		if err != nil {
			t.Fatalf("no fault, but %v", err)
		}
		return false
	}
	what := fmt.Sprintf("%s %d of %s", kind, i, file)
	if err != nil && !errors.Is(err, errno) {
		t.Fatalf("%s: %v does not tell of the fault", what, err)
	}
	// A log that has been removed may fail unheard, and a file that was only read may fail to close.
	if err == nil && failedLogs == 0 && kind != vfs.OpClose && !strings.HasPrefix(file, spillDir) {
		t.Fatalf("%s failed and nobody noticed", what)
	}
	recovered(t, mem, confirmed, what)
	return true
}

func recovered(t *testing.T, mem *vfs.Mem, confirmed []string, what string) {
	t.Helper()
	s, err := Open("", small(mem))
	if err != nil {
		t.Fatalf("%s: reopen: %v", what, err)
	}
	defer s.Abandon()
	l, _, err := s.OpenLog(1, LogOptions{}, nil)
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	m := l.Marks()
	if int(m.Staged) < len(confirmed) || m.Head > 80 {
		t.Fatalf("%s: marks %+v, %d were confirmed", what, m, len(confirmed))
	}
	got := all(t, l)
	for i := range len(confirmed) - int(m.Head) {
		if got[i] != confirmed[int(m.Head)+i] {
			t.Fatalf("%s: record %d differs", what, i)
		}
	}
}

// TestFailedFlushIsFinal: after one flush that failed, no later one counts, and everybody gets the same error.
func TestFailedFlushIsFinal(t *testing.T) {
	fault := vfs.NewFault(vfs.NewMem())
	o := small(fault)
	o.SyncInterval = -1
	s, err := Open("", o)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Abandon()
	l, _, err := s.OpenLog(1, LogOptions{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	put(t, s, l, Durable, "before")
	before := l.Marks()
	fault.SetRule(func(op vfs.Op, _ string) error {
		if op == vfs.OpSync {
			return syscall.EIO
		}
		return nil
	})
	var b Batch
	b.Reserve(1, 10)
	done := make(answer, 1)
	if _, err := l.Stage(&b, Durable, done); err != nil {
		t.Fatal(err)
	}
	s.Commit()
	first := <-done
	if failed, ok := errors.AsType[*FailedError](first); !ok || !errors.Is(failed, syscall.EIO) {
		t.Fatalf("got %v", first)
	}
	fault.SetRule(nil)
	b.Reserve(1, 10)
	if _, err := l.Stage(&b, Written, nil); err != first {
		t.Errorf("Stage after the failure: %v", err)
	}
	if err := s.Sync(); err != first {
		t.Errorf("Sync after the failure: %v", err)
	}
	if m := l.Marks(); m.Durable != before.Durable {
		t.Errorf("durable mark moved from %d to %d", before.Durable, m.Durable)
	}
	var c Cursor
	if _, err := l.Next(&c, 1, 2); err != first {
		t.Errorf("reading what may be lost: %v", err)
	}
	if r, err := l.Next(&c, 0, 2); err != nil || string(r.Data) != "before" {
		t.Errorf("reading what is durable: %q, %v", r.Data, err)
	}
	if err := s.Close(); !errors.Is(err, syscall.EIO) {
		t.Errorf("Close: %v", err)
	}
}
