package keratin

import (
	"encoding/binary"
	"sync"
	"testing"

	"github.com/warrenmq/warren/keratin/vfs"
)

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
