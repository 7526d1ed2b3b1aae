package keratin

import (
	"bytes"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/warrenmq/warren/keratin/vfs"
)

// TestLostCheckpoint: one of the two is enough for everything.
func TestLostCheckpoint(t *testing.T) {
	x := newSample(t)
	for _, lost := range []string{checkpointName, checkpointCopy} {
		mem := x.fs.Crash(rand.New(rand.NewPCG(1, 1)), 100)
		if err := mem.Remove(lost); err != nil {
			t.Fatal(err)
		}
		s, err := Open("", tiny(mem))
		if err != nil {
			t.Fatal(err)
		}
		if (len(s.Damage()) > 0) != (lost == checkpointName) {
			t.Errorf("without %s: damage %v", lost, s.Damage())
		}
		for id, texts := range x.texts {
			l, r, err := s.OpenLog(id, LogOptions{}, nil)
			if err != nil {
				t.Fatalf("without %s: log %d: %v", lost, id, err)
			}
			if int(r.Marks.Staged) != len(texts) || r.Marks.Head != x.heads[id] {
				t.Errorf("without %s: log %d: %+v", lost, id, r.Marks)
			}
			var c Cursor
			for o := r.Marks.Head; o < r.Marks.Staged; o++ {
				if rec, err := l.Next(&c, Offset(o), r.Marks.Staged); err != nil || string(rec.Data) != texts[o] {
					t.Fatalf("without %s: log %d record %d: %q, %v", lost, id, o, rec.Data, err)
				}
			}
		}
		s.Abandon()
	}
}

// TestNoCheckpoint: without both nothing says what counts, so Open refuses and leaves everything as it is.
func TestNoCheckpoint(t *testing.T) {
	x := newSample(t)
	for _, name := range []string{checkpointName, checkpointCopy} {
		if err := x.fs.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
	before := x.files(t)
	for range 2 {
		if _, err := Open("", tiny(x.fs)); !corrupt(err) || !strings.Contains(err.Error(), checkpointName) {
			t.Fatalf("opened without a checkpoint: %v", err)
		}
	}
	if after := x.files(t); !maps.EqualFunc(before, after, bytes.Equal) {
		t.Error("files have changed")
	}
}

// TestCheckpointsDiffer: after a crash between the two, the older one must not be relied on once something that it
// names is gone.
func TestCheckpointsDiffer(t *testing.T) {
	mem := vfs.NewMem()
	fault := vfs.NewFault(mem)
	s := open(t, fault)
	l := openLog(t, s, 1)
	fault.SetRule(func(op vfs.Op, name string) error {
		if op == vfs.OpCreate && name == checkpointCopy+newExt {
			return vfs.ErrFault
		}
		return nil
	})
	for s.Failed() == nil { // until the janitor has written the first half of a checkpoint
		var b Batch
		copy(b.Reserve(1, 300), "x")
		if _, err := l.Stage(&b, Written, nil); err != nil {
			break
		}
		s.Commit()
	}
	s.Abandon()
	s = open(t, mem)
	n := len(all(t, openLog(t, s, 1)))
	s.Abandon()
	if err := mem.Remove(checkpointName); err != nil {
		t.Fatal(err)
	}
	s = open(t, mem)
	if got := all(t, openLog(t, s, 1)); len(got) != n {
		t.Errorf("%d records, %d with the newer one", len(got), n)
	}
}
