package keratin

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
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

func TestEphemeral(t *testing.T) {
	mem := vfs.NewMem()
	s := open(t, mem)
	l, _, err := s.OpenLog(5, LogOptions{Ephemeral: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	durable := openLog(t, s, 6)
	put(t, s, durable, Durable, "stays")
	before := s.Stats().JournalBytes
	for i := range 400 {
		put(t, s, l, Durable, fmt.Sprintf("%0200d", i))
	}
	if s.Stats().JournalBytes != before {
		t.Error("an ephemeral log was written to the journal")
	}
	until(t, s, func(st Stats) bool { return st.SegmentBytes > 0 })
	for i, text := range all(t, l) {
		if text != fmt.Sprintf("%0200d", i) {
			t.Fatalf("record %d differs", i)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, mem)
	if ids := s.Logs(); len(ids) != 1 || ids[0] != 6 {
		t.Errorf("logs %v", ids)
	}
	if names, err := mem.List(spillDir); err != nil || len(names) != 0 {
		t.Errorf("spilled files left: %q, %v", names, err)
	}
}

// TestReclaim: segments and journal files go once they are settled, and no sooner.
func TestReclaim(t *testing.T) {
	mem := vfs.NewMem()
	s := open(t, mem)
	l := openLog(t, s, 1)
	bulk(t, s, l, 2000, 200)
	until(t, s, func(st Stats) bool { return st.Checkpoints > 1 })
	if err := s.Sync(); err != nil {
		t.Fatal(err)
	}
	names, err := mem.List(segmentDir)
	if err != nil || len(names) < 4 {
		t.Fatalf("segments %q, %v", names, err)
	}
	l.Trim(1990)
	var c Cursor
	if _, err := l.Next(&c, 1989, 2000); err != ErrTrimmed {
		t.Errorf("below the head: %v", err)
	}
	if err := s.Sync(); err != nil {
		t.Fatal(err)
	}
	bulk(t, s, l, 1000, 200)
	until(t, s, func(Stats) bool {
		names, err := mem.List(segmentDir)
		return err == nil && len(names) < 8 && !strings.Contains(fmt.Sprint(names), segmentName("", 1, 0))
	})
	if st := s.Stats(); st.JournalInUse > 8*64<<10 {
		t.Errorf("%d bytes of journal", st.JournalInUse)
	}
	if got := all(t, l); len(got) != 1010 {
		t.Errorf("%d records", len(got))
	}
}

// TestMemoryBounded: what is kept in memory does not grow with what is written, also when the disk is slow.
func TestMemoryBounded(t *testing.T) {
	fault := vfs.NewFault(vfs.NewMem())
	s := open(t, fault)
	fault.SetRule(func(op vfs.Op, name string) error {
		if op == vfs.OpSync && strings.HasPrefix(name, segmentDir) {
			time.Sleep(time.Millisecond) // a slow disk: commits have to wait for it
		}
		return nil
	})
	logs := []*Log{openLog(t, s, 1), openLog(t, s, 2), openLog(t, s, 3)}
	most := int64(0)
	for i := range 6000 {
		put(t, s, logs[i%3], Written, fmt.Sprintf("%0200d", i))
		sum := int64(0)
		for _, l := range logs {
			memory, _ := l.Size()
			sum += memory
		}
		most = max(most, sum)
	}
	if limit := 3 * s.o.TailBytes; most > limit {
		t.Errorf("%d bytes in memory, more than %d", most, limit)
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

// TestBigBatches: batches larger than a journal file, an entry, a segment.
func TestBigBatches(t *testing.T) {
	mem := vfs.NewMem()
	s := open(t, mem)
	l := openLog(t, s, 1)
	sizes := []int{10, 300 << 10, 0, 5 << 20, 70 << 10, 1}
	fill := func(i int) []byte { return bytes.Repeat([]byte{byte(i + 1)}, sizes[i]) }
	for i := range sizes {
		put(t, s, l, Durable, string(fill(i)))
	}
	check := func(l *Log) {
		t.Helper()
		for i, text := range all(t, l) {
			if text != string(fill(i)) {
				t.Errorf("record %d differs", i)
			}
		}
	}
	check(l)
	until(t, s, func(st Stats) bool { return st.SegmentBytes > 5<<20 })
	check(l)
	s.Abandon()
	l = openLog(t, open(t, mem), 1)
	if m := l.Marks(); int(m.Staged) != len(sizes) {
		t.Errorf("%+v", m)
	}
	check(l)
}

// TestOwnerTrimsInSnapshot: a log whose owner keeps its state only in snapshots.
func TestOwnerTrimsInSnapshot(t *testing.T) {
	mem := vfs.NewMem()
	want := uint64(0)
	for round := range 4 {
		s := open(t, mem)
		o := &adder{}
		l, r, err := s.OpenLog(1, LogOptions{}, o)
		if err != nil {
			t.Fatal(err)
		}
		o.restore(t, l, r)
		if o.sum != want {
			t.Fatalf("round %d: recovered %d, want %d", round, o.sum, want)
		}
		for i := range uint64(1000) {
			o.add(t, s, i)
			want += i
		}
		if round%2 == 0 {
			s.Abandon()
		} else if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// adder is a log that adds up.
type adder struct {
	mu  sync.Mutex
	l   *Log
	sum uint64
	at  uint64
}

func (a *adder) restore(t *testing.T, l *Log, r Recovered) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.l, a.at = l, uint64(r.At)
	if len(r.State) > 0 {
		a.sum = binary.LittleEndian.Uint64(r.State)
	}
	var c Cursor
	for ; a.at < uint64(r.Marks.Staged); a.at++ {
		x, err := l.Next(&c, Offset(a.at), r.Marks.Staged)
		if err != nil {
			t.Fatal(err)
		}
		a.sum += binary.LittleEndian.Uint64(x.Data)
	}
}

func (a *adder) add(t *testing.T, s *Store, n uint64) {
	var b Batch
	le.PutUint64(b.Reserve(1, 200), n)
	done := make(answer, 1)
	a.mu.Lock()
	_, err := a.l.Stage(&b, Written, done)
	a.sum += n
	a.at++
	a.mu.Unlock()
	if err != nil {
		t.Fatal(err)
	}
	s.Commit()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

func (a *adder) Written(Frontier) {}

func (a *adder) Snapshot(dst []byte) ([]byte, Frontier) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.l != nil {
		a.l.Trim(Frontier(a.at))
	}
	return binary.LittleEndian.AppendUint64(dst, a.sum), Frontier(a.at)
}

// TestAllocations: the append path allocates nothing per record.
func TestAllocations(t *testing.T) {
	s, err := Open("", Options{FS: vfs.OS(t.TempDir()), SyncInterval: -1, JournalFileBytes: 4 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Abandon()
	l := openLog(t, s, 1)
	w := &lone{make(chan struct{}, 1)}
	var b Batch
	once := func() {
		copy(b.Reserve(1, 128), "0123456789")
		if _, err := l.Stage(&b, Written, w); err != nil {
			t.Fatal(err)
		}
		s.Commit()
		<-w.done
		l.Trim(l.Marks().Written)
	}
	for range 3000 {
		once()
	}
	if n := testing.AllocsPerRun(5000, once); n > 0.1 {
		t.Errorf("%v allocations per record", n)
	}
}
