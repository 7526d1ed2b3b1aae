// Package logtest is the contract between package queue and the logs it works on, as tests. Every implementation of
// queue.LogStore passes the same ones.
package logtest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"testing"

	"github.com/warrenmq/warren/keratin"
	"github.com/warrenmq/warren/queue"
)

// Store is an implementation under test.
type Store interface {
	queue.LogStore
	Sync() error // makes everything staged so far durable
}

// Implementation says how to come by stores.
type Implementation struct {
	Open func(t *testing.T) Store
	// Stop ends a store, by a clean stop or as if the process had been killed, and opens what it has left.
	Stop func(t *testing.T, s Store, clean bool) Store
}

// Run runs the contract's tests.
func Run(t *testing.T, i Implementation) {
	for name, test := range map[string]func(*testing.T, Implementation){
		"OffsetsAreDense":         offsetsAreDense,
		"BatchesAreTakenOver":     batchesAreTakenOver,
		"GatesAreTold":            gatesAreTold,
		"WrittenComesBeforeGates": writtenComesBeforeGates,
		"CallbacksMayStage":       callbacksMayStage,
		"TrimmedIsGone":           trimmedIsGone,
		"RemovedLogTellsWaiters":  removedLogTellsWaiters,
		"CleanStop":               cleanStop,
		"Kill":                    kill,
		"EphemeralIsGone":         ephemeralIsGone,
		"Concurrency":             concurrency,
	} {
		t.Run(name, func(t *testing.T) { test(t, i) })
	}
}

// owner is a state machine that remembers what it was told.
type owner struct {
	mu      sync.Mutex
	written []keratin.Frontier
	on      func(keratin.Frontier)
	state   string
	at      keratin.Frontier
}

func (o *owner) Written(upTo keratin.Frontier) {
	o.mu.Lock()
	o.written = append(o.written, upTo)
	on := o.on
	o.mu.Unlock()
	if on != nil {
		on(upTo)
	}
}

func (o *owner) Snapshot(dst []byte) ([]byte, keratin.Frontier) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return append(dst, o.state...), o.at
}

func (o *owner) last() keratin.Frontier {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.written) == 0 {
		return 0
	}
	return o.written[len(o.written)-1]
}

// waiter is told once; a second time panics.
type waiter chan error

func newWaiter() waiter { return make(waiter, 1) }

func (w waiter) Committed(err error) {
	select {
	case w <- err:
	default:
		panic("a waiter was told twice")
	}
}

func open(t *testing.T, s Store, id keratin.LogID, o *owner) (queue.Log, keratin.Recovered) {
	t.Helper()
	l, rec, err := s.OpenLog(id, keratin.LogOptions{}, o)
	if err != nil {
		t.Fatal(err)
	}
	return l, rec
}

// stage stages records with the texts as data, kind 1.
func stage(t *testing.T, l queue.Log, gate keratin.Mark, w keratin.Waiter, texts ...string) keratin.Offset {
	t.Helper()
	var b keratin.Batch
	for _, text := range texts {
		copy(b.Reserve(1, len(text)), text)
	}
	first, err := l.Stage(&b, gate, w)
	if err != nil {
		t.Fatal(err)
	}
	return first
}

// write sees to it that everything staged on l is written; Commit may leave that to another goroutine.
func write(t *testing.T, s Store, l queue.Log) {
	t.Helper()
	end := l.Marks().Staged
	s.Write()
	if got := l.Marks().Written; got < end {
		t.Fatalf("written up to %d after Write, %d were staged before", got, end)
	}
}

// read returns the texts of the records in [from, written).
func read(t *testing.T, l queue.Log, from keratin.Offset) (texts []string) {
	t.Helper()
	var c keratin.Cursor
	for {
		r, err := l.Next(&c, from, 1<<62)
		if err == io.EOF {
			return texts
		}
		if err != nil {
			t.Fatalf("record %d: %v", from, err)
		}
		if r.Offset != from || r.Kind != 1 {
			t.Fatalf("record %d is %+v", from, r)
		}
		texts = append(texts, string(r.Data))
		from++
	}
}

func want(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("records are %q, want %q", got, want)
	}
}

func offsetsAreDense(t *testing.T, i Implementation) {
	s := i.Open(t)
	l, rec := open(t, s, 7, &owner{})
	if rec.At != 0 || len(rec.State) != 0 || rec.Marks != (keratin.Marks{}) {
		t.Errorf("a new log recovers %+v", rec)
	}
	if first := stage(t, l, keratin.Written, nil, "a", "b"); first != 0 {
		t.Errorf("first offset is %d", first)
	}
	if first := stage(t, l, keratin.Written, nil, "", "d"); first != 2 {
		t.Errorf("third offset is %d", first)
	}
	if m := l.Marks(); m.Staged != 4 || m.Written > 4 || m.Durable > m.Written {
		t.Errorf("marks before commit: %+v", m)
	}
	write(t, s, l)
	if m := l.Marks(); m.Staged != 4 || m.Written != 4 {
		t.Errorf("marks after commit: %+v", m)
	}
	want(t, read(t, l, 0), "a", "b", "", "d")
	want(t, read(t, l, 3), "d")
	var c keratin.Cursor
	if _, err := l.Next(&c, 2, 2); err != io.EOF {
		t.Errorf("a record at the limit: %v", err)
	}
	if r, err := l.Next(&c, 1, 2); err != nil || string(r.Data) != "b" {
		t.Errorf("a record below the limit: %v", err)
	}
	if r, err := l.Next(&c, 0, 2); err != nil || string(r.Data) != "a" {
		t.Errorf("going back with a cursor: %v", err)
	}
}

func batchesAreTakenOver(t *testing.T, i Implementation) {
	s := i.Open(t)
	l, _ := open(t, s, 2, &owner{})
	var b keratin.Batch
	var c keratin.Cursor
	var held [][]byte
	for n := range 200 {
		d := b.Reserve(1, 500)
		for i := range d {
			d[i] = byte(n)
		}
		if _, err := l.Stage(&b, keratin.Written, nil); err != nil {
			t.Fatal(err)
		}
		if b.Len() != 0 {
			t.Fatalf("%d records in a staged batch", b.Len())
		}
		write(t, s, l)
		r, err := l.Next(&c, keratin.Offset(n), keratin.Frontier(n)+1)
		if err != nil {
			t.Fatal(err)
		}
		held = append(held, r.Data)
	}
	for n, data := range held {
		if !bytes.Equal(data, bytes.Repeat([]byte{byte(n)}, 500)) {
			t.Fatalf("the data of record %d has changed", n)
		}
	}
}

func gatesAreTold(t *testing.T, i Implementation) {
	s := i.Open(t)
	l, _ := open(t, s, 2, &owner{})
	written, durable, empty := newWaiter(), newWaiter(), newWaiter()
	stage(t, l, keratin.Written, written, "a")
	stage(t, l, keratin.Durable, durable, "b")
	if _, err := l.Stage(new(keratin.Batch), keratin.Written, empty); err != nil {
		t.Fatal(err)
	}
	s.Commit()
	for _, w := range []waiter{written, empty} {
		if err := <-w; err != nil {
			t.Error(err)
		}
	}
	if err := s.Sync(); err != nil {
		t.Fatal(err)
	}
	if err := <-durable; err != nil {
		t.Error(err)
	}
	if m := l.Marks(); m.Durable != 2 {
		t.Errorf("marks after sync: %+v", m)
	}
}

func writtenComesBeforeGates(t *testing.T, i Implementation) {
	s := i.Open(t)
	o := &owner{}
	l, _ := open(t, s, 2, o)
	for n := range 10 {
		stage(t, l, keratin.Written, gate(func(error) {
			if got := l.Marks().Written; got <= keratin.Frontier(n) {
				t.Errorf("gate of record %d is passed at %d", n, got)
			}
		}), "x")
		write(t, s, l)
	}
	if o.last() != 10 || !slices.IsSorted(o.written) {
		t.Errorf("written was told %v", o.written)
	}
}

// gate is a waiter that calls.
type gate func(error)

func (g gate) Committed(err error) { g(err) }

func callbacksMayStage(t *testing.T, i Implementation) {
	s := i.Open(t)
	o := &owner{}
	l, _ := open(t, s, 2, o)
	other, _ := open(t, s, 3, &owner{})
	done := make(chan struct{})
	o.on = func(upTo keratin.Frontier) {
		if upTo < 5 {
			stage(t, l, keratin.Written, nil, fmt.Sprint(upTo))
		}
		stage(t, other, keratin.Written, gate(func(error) {
			if upTo == 5 {
				close(done)
			}
		}), "y")
	}
	stage(t, l, keratin.Written, nil, "x")
	s.Commit()
	<-done
	want(t, read(t, l, 0), "x", "1", "2", "3", "4")
	if n := len(read(t, other, 0)); n != 5 {
		t.Errorf("%d records on the other log", n)
	}
}

func trimmedIsGone(t *testing.T, i Implementation) {
	s := i.Open(t)
	l, _ := open(t, s, 2, &owner{})
	stage(t, l, keratin.Written, nil, "a", "b", "c", "d")
	write(t, s, l)
	l.Trim(2)
	l.Trim(1) // is behind by now
	var c keratin.Cursor
	if _, err := l.Next(&c, 1, 4); !errors.Is(err, keratin.ErrTrimmed) {
		t.Errorf("a trimmed record: %v", err)
	}
	want(t, read(t, l, 2), "c", "d")
	if err := s.Sync(); err != nil {
		t.Fatal(err)
	}
	want(t, read(t, l, 2), "c", "d")
	l.Trim(4)
	stage(t, l, keratin.Written, nil, "e")
	write(t, s, l)
	want(t, read(t, l, 4), "e")
	if m := l.Marks(); m.Head != 4 || m.Staged != 5 {
		t.Errorf("marks %+v", m)
	}
}

func removedLogTellsWaiters(t *testing.T, i Implementation) {
	s := i.Open(t)
	l, _ := open(t, s, 2, &owner{})
	open(t, s, 3, &owner{})
	w := newWaiter()
	stage(t, l, keratin.Durable, w, "a")
	if err := s.RemoveLog(2); err != nil {
		t.Fatal(err)
	}
	s.Commit()
	if err := s.Sync(); err != nil {
		t.Fatal(err)
	}
	if err := <-w; err == nil {
		t.Error("the waiter of a removed log is told that all is well")
	}
	var b keratin.Batch
	b.Reserve(1, 1)
	if _, err := l.Stage(&b, keratin.Written, nil); err == nil {
		t.Error("a removed log takes records")
	}
	if ids := s.Logs(); !slices.Equal(ids, []keratin.LogID{3}) {
		t.Errorf("logs are %v", ids)
	}
	s = i.Stop(t, s, true)
	if ids := s.Logs(); !slices.Equal(ids, []keratin.LogID{3}) {
		t.Errorf("logs after a restart are %v", ids)
	}
}

func cleanStop(t *testing.T, i Implementation) {
	s := i.Open(t)
	o := &owner{state: "three", at: 3}
	l, _ := open(t, s, 2, o)
	stage(t, l, keratin.Written, nil, "a", "b", "c")
	write(t, s, l)
	l.Trim(1)
	s = i.Stop(t, s, true)
	l, rec := open(t, s, 2, &owner{})
	if rec.Unclean || string(rec.State) != "three" || rec.At != 3 || rec.Marks.Staged != 3 || rec.Marks.Durable != 3 || rec.Marks.Head > 1 {
		t.Errorf("recovered %+v", rec)
	}
	want(t, read(t, l, 1), "b", "c")
	if first := stage(t, l, keratin.Written, nil, "d"); first != 3 {
		t.Errorf("the next offset is %d", first)
	}
	write(t, s, l)
	want(t, read(t, l, 1), "b", "c", "d")
	i.Stop(t, s, true)
}

func kill(t *testing.T, i Implementation) {
	s := i.Open(t)
	l, _ := open(t, s, 2, &owner{})
	stage(t, l, keratin.Written, nil, "a", "b")
	if err := s.Sync(); err != nil {
		t.Fatal(err)
	}
	stage(t, l, keratin.Written, nil, "c")
	write(t, s, l)
	stage(t, l, keratin.Written, nil, "d") // may or may not be written by a commit of somebody else
	s = i.Stop(t, s, false)
	l, rec := open(t, s, 2, &owner{})
	if end := rec.Marks.Staged; !rec.Unclean || end < 3 || rec.Marks.Durable != end || rec.At > end {
		t.Errorf("recovered %+v", rec)
	}
	texts := read(t, l, 0)
	want(t, texts, []string{"a", "b", "c", "d"}[:rec.Marks.Staged]...)
	s = i.Stop(t, s, false)
	l, _ = open(t, s, 2, &owner{})
	want(t, read(t, l, 0), texts...)
}

func ephemeralIsGone(t *testing.T, i Implementation) {
	s := i.Open(t)
	l, _, err := s.OpenLog(9, keratin.LogOptions{Ephemeral: true}, &owner{})
	if err != nil {
		t.Fatal(err)
	}
	w := newWaiter()
	stage(t, l, keratin.Durable, w, "a")
	s.Commit()
	if err := <-w; err != nil {
		t.Error(err)
	}
	want(t, read(t, l, 0), "a")
	s = i.Stop(t, s, true)
	if ids := s.Logs(); len(ids) != 0 {
		t.Errorf("logs after a restart are %v", ids)
	}
}

func concurrency(t *testing.T, i Implementation) {
	const logs, writers, batches = 4, 4, 50
	s := i.Open(t)
	var wg sync.WaitGroup
	var ls []queue.Log
	for id := range keratin.LogID(logs) {
		l, _ := open(t, s, id+2, &owner{})
		ls = append(ls, l)
	}
	for w := range writers {
		wg.Go(func() {
			for n := range batches {
				told := newWaiter()
				stage(t, ls[(w+n)%logs], keratin.Mark(1+n%2), told, fmt.Sprintf("%d %d", w, n), fmt.Sprintf("%d %d", w, n))
				s.Commit()
				if err := <-told; err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	total := 0
	for _, l := range ls {
		next := [writers]int{}
		for _, text := range read(t, l, 0) {
			var w, n int
			if _, err := fmt.Sscan(text, &w, &n); err != nil {
				t.Fatal(err)
			}
			if n < next[w] {
				t.Errorf("writer %d: %d after %d", w, n, next[w])
			}
			next[w] = n
			total++
		}
	}
	if want := writers * batches * 2; total != want {
		t.Errorf("%d records, want %d", total, want)
	}
}
