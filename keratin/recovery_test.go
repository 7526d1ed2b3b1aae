package keratin

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/warrenmq/warren/keratin/journal"
	"github.com/warrenmq/warren/keratin/segment"
	"github.com/warrenmq/warren/keratin/vfs"
)

// TestKillThenPowerLoss: what recovery reads after the death of the process may be in the kernel's memory only. Once
// it has been recovered it must survive a loss of power.
func TestKillThenPowerLoss(t *testing.T) {
	mem := vfs.NewMem()
	o := small(mem)
	o.SyncInterval = -1
	s, err := Open("", o)
	if err != nil {
		t.Fatal(err)
	}
	l := openLog(t, s, 1)
	for i := range 20 {
		put(t, s, l, Written, fmt.Sprint(i))
	}
	s.Abandon()
	s, err = Open("", o)
	if err != nil {
		t.Fatal(err)
	}
	if m := openLog(t, s, 1).Marks(); m.Durable != 20 {
		t.Fatalf("after the kill: %+v", m)
	}
	cut := mem.Crash(rand.New(rand.NewPCG(1, 1)), 0)
	s.Abandon()
	if got := all(t, openLog(t, open(t, cut), 1)); len(got) != 20 {
		t.Errorf("%d records after the loss of power", len(got))
	}
}

// TestQuarantine: damage to one log's records in the journal leaves the others, and is not swept away.
func TestQuarantine(t *testing.T) {
	mem := vfs.NewMem()
	s := open(t, mem)
	a, b := openLog(t, s, 1), openLog(t, s, 2)
	put(t, s, a, Durable, "damage me")
	put(t, s, b, Durable, "fine")
	put(t, s, a, Durable, "behind it")
	put(t, s, b, Durable, "fine too")
	s.Abandon()
	name := journalDir + "/" + journal.FileName(1)
	spoil(t, mem, name, "damage me")
	for range 3 {
		s = open(t, mem)
		_, _, err := s.OpenLog(1, LogOptions{}, nil)
		if c, ok := errors.AsType[*CorruptError](err); !ok || c.File != name {
			t.Fatalf("damaged log: %v", err)
		}
		if len(s.Logs()) != 2 {
			t.Errorf("logs %v", s.Logs())
		}
		l := openLog(t, s, 2)
		bulk(t, s, l, 1000, 200)
		until(t, s, func(st Stats) bool { return st.Checkpoints > 0 })
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	s = open(t, mem)
	if err := s.RemoveLog(1); err != nil {
		t.Fatal(err)
	}
	if got := all(t, openLog(t, s, 2)); got[0] != "fine" || len(got) != 3002 {
		t.Errorf("%d records", len(got))
	}
}

func spoil(t *testing.T, fs vfs.FS, name, text string) {
	t.Helper()
	f, err := fs.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	b, err := readWhole(f)
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.Index(b, []byte(text))
	if at < 0 {
		t.Fatalf("%q is not in %s", text, name)
	}
	if _, err := f.WriteAt([]byte{^text[0]}, int64(at)); err != nil {
		t.Fatal(err)
	}
}

// TestDamagedSegment: a record that went bad on disk is reported where it is read, with file and position.
func TestDamagedSegment(t *testing.T) {
	mem := vfs.NewMem()
	s := open(t, mem)
	l := openLog(t, s, 1)
	put(t, s, l, Durable, "damage me")
	bulk(t, s, l, 500, 200)
	until(t, s, func(st Stats) bool { return st.Checkpoints > 0 })
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	name := segmentName(segmentDir, 1, 0)
	spoil(t, mem, name, "damage me")
	r, err := inspectFS(mem, "", io.Discard)
	if err != nil || len(r.Damage) != 1 {
		t.Errorf("Verify: %+v, %v", r, err)
	}
	l = openLog(t, open(t, mem), 1)
	var c Cursor
	_, err = l.Next(&c, 0, 500)
	if x, ok := errors.AsType[*CorruptError](err); !ok || x.File != name {
		t.Errorf("got %v", err)
	}
	if r, err := l.Next(&c, 300, 500); err != nil || string(r.Data) != fmt.Sprintf("%0200d", 299) {
		t.Errorf("a record far behind: %q, %v", r.Data, err)
	}
}

func TestNewerFormats(t *testing.T) {
	for name, change := range map[string]func(b []byte){
		checkpointName: func(b []byte) {
			le.PutUint16(b[4:], checkpointVersion+1)
			le.PutUint32(b[len(b)-4:], segment.Checksum(0, b[:len(b)-4]))
		},
		journalDir + "/" + journal.FileName(1): func(b []byte) {
			le.PutUint16(b[4:], 9)
			le.PutUint32(b[20:], segment.Checksum(0, b[:20]))
		},
	} {
		mem := vfs.NewMem()
		s := open(t, mem)
		put(t, s, openLog(t, s, 1), Durable, "x")
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		f, err := mem.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		b, err := readWhole(f)
		if err != nil {
			t.Fatal(err)
		}
		change(b)
		if _, err := f.WriteAt(b, 0); err != nil {
			t.Fatal(err)
		}
		_, err = Open("", small(mem))
		if v, ok := errors.AsType[*VersionError](err); !ok || v.File != name {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestMissingJournal: a journal file that is gone is not a fresh start.
func TestMissingJournal(t *testing.T) {
	mem := vfs.NewMem()
	s := open(t, mem)
	l := openLog(t, s, 1)
	bulk(t, s, l, 2000, 200)
	until(t, s, func(st Stats) bool { return st.Checkpoints > 1 })
	s.Abandon()
	names, err := mem.List(journalDir)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if err := mem.Remove(journalDir + "/" + name); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Open("", small(mem)); !corrupt(err) {
		t.Errorf("got %v", err)
	}
}

func TestInspect(t *testing.T) {
	dir := t.TempDir()
	s, err := Open(dir, Options{JournalFileBytes: 256 << 10, SegmentBytes: 64 << 10, TailBytes: 32 << 10})
	if err != nil {
		t.Fatal(err)
	}
	l := openLog(t, s, 1)
	bulk(t, s, l, 3000, 100)
	until(t, s, func(st Stats) bool { return st.Checkpoints > 0 })
	if _, err := Verify(dir); !errors.Is(err, ErrLocked) {
		t.Errorf("Verify of an open store: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := Verify(dir)
	if err != nil || len(r.Damage) != 0 || !r.Clean || r.Logs != 1 || r.Records < 3000 || r.Segments == 0 {
		t.Errorf("%+v, %v", r, err)
	}
	var out bytes.Buffer
	if err := Dump(dir, &out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"checkpoint: clean true", "log 1: head 0", "block: log 1", ".segment:"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the dump does not say %q", want)
		}
	}
	if _, err := Verify(dir + "/nowhere"); err == nil {
		t.Error("Verify of nothing")
	}
}
