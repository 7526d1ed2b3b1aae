package keratin

import (
	"io"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/warrenmq/warren/keratin/vfs"
)

func TestMarksAndGates(t *testing.T) {
	mem := vfs.NewMem()
	fault := vfs.NewFault(mem)
	o := small(fault)
	o.SyncInterval = -1
	s, err := Open("", o)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Abandon()
	l := openLog(t, s, 1)
	flushing, goOn := make(chan struct{}), make(chan struct{})
	current := s.w.file.name() // the janitor makes another one ready meanwhile
	fault.SetRule(func(op vfs.Op, name string) error {
		if op == vfs.OpSync && name == current {
			flushing <- struct{}{}
			<-goOn
		}
		return nil
	})
	var b Batch
	b.Reserve(1, 5)
	b.Reserve(1, 5)
	if first, err := l.Stage(&b, Written, nil); err != nil || first != 0 {
		t.Fatal(first, err)
	}
	if m := l.Marks(); m != (Marks{Staged: 2}) {
		t.Errorf("after Stage: %+v", m)
	}
	var c Cursor
	if _, err := l.Next(&c, 0, 2); err != io.EOF {
		t.Errorf("read what is only staged: %v", err)
	}
	done := make(answer, 1)
	if _, err := l.Stage(&b, Durable, done); err != nil {
		t.Fatal(err)
	}
	s.Commit()
	<-flushing
	if m := l.Marks(); m != (Marks{Staged: 2, Written: 2}) {
		t.Errorf("after Commit: %+v", m)
	}
	select {
	case <-done:
		t.Fatal("told durable before the flush")
	default:
	}
	b.Reserve(1, 5) // while the flush runs: not covered by it
	late := make(answer, 1)
	if _, err := l.Stage(&b, Durable, late); err != nil {
		t.Fatal(err)
	}
	s.Commit()
	goOn <- struct{}{}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	<-flushing
	if m := l.Marks(); m != (Marks{Staged: 3, Written: 3, Durable: 2}) {
		t.Errorf("after the first flush: %+v", m)
	}
	select {
	case <-late:
		t.Fatal("told durable by a flush that had begun before")
	default:
	}
	fault.SetRule(nil)
	goOn <- struct{}{}
	if err := <-late; err != nil {
		t.Fatal(err)
	}
	if m := l.Marks(); m.Durable != 3 {
		t.Errorf("after the second flush: %+v", m)
	}
}

// TestSyncInterval: written data is flushed that long after it got dirty, and then nothing ticks any more.
func TestSyncInterval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := small(vfs.NewMem())
		o.SyncInterval = 100 * time.Millisecond
		s, err := Open("", o)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Abandon()
		l := openLog(t, s, 1)
		synctest.Wait()
		before := s.Stats().Flushes
		start := time.Now()
		put(t, s, l, Written, "x")
		time.Sleep(99 * time.Millisecond)
		synctest.Wait()
		if m := l.Marks(); m.Durable != 0 {
			t.Errorf("durable %v after the write", time.Since(start))
		}
		time.Sleep(2 * time.Millisecond)
		synctest.Wait()
		if m := l.Marks(); m.Durable != 1 {
			t.Errorf("not durable %v after the write", time.Since(start))
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		if n := s.Stats().Flushes - before; n != 1 {
			t.Errorf("%d flushes of one write", n)
		}
	})
}

func TestWaitersInOrder(t *testing.T) {
	s := open(t, vfs.NewMem())
	l := openLog(t, s, 1)
	var mu sync.Mutex
	last := map[Mark]Offset{}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			var b Batch
			for i := range 200 {
				b.Reserve(1, 20)
				gate := Mark(1 + i%2)
				done := make(chan struct{})
				var w ordered
				w = ordered{func(err error) {
					defer close(done)
					mu.Lock()
					defer mu.Unlock()
					if err != nil || *w.at < last[gate] {
						t.Errorf("offset %d told after %d: %v", *w.at, last[gate], err)
					}
					last[gate] = *w.at
				}, new(Offset)}
				mu.Lock() // Stage and the note of its offset, against the callback
				at, err := l.Stage(&b, gate, w)
				*w.at = at
				mu.Unlock()
				if err != nil {
					t.Error(err)
					return
				}
				s.Commit()
				<-done
			}
		})
	}
	wg.Wait()
}

type ordered struct {
	f  func(error)
	at *Offset
}

func (o ordered) Committed(err error) { o.f(err) }

// TestStageInCallback: what a waiter or an owner stages is written by the same running commit.
func TestStageInCallback(t *testing.T) {
	s := open(t, vfs.NewMem())
	l := openLog(t, s, 2)
	done := make(answer, 1)
	first := ordered{f: func(error) {
		var b Batch
		b.Reserve(1, 1)
		if _, err := l.Stage(&b, Durable, ordered{f: func(error) {
			b.Reserve(1, 1)
			if _, err := l.Stage(&b, Written, done); err != nil {
				t.Error(err)
			}
		}}); err != nil {
			t.Error(err)
		}
	}}
	var b Batch
	b.Reserve(1, 1)
	if _, err := l.Stage(&b, Written, first); err != nil {
		t.Fatal(err)
	}
	s.Commit()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if m := l.Marks(); m.Written != 3 {
		t.Errorf("%+v", m)
	}
}
