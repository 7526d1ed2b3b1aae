package keratin

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/warrenmq/warren/keratin/vfs"
)

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
