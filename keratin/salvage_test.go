package keratin

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/warrenmq/warren/keratin/journal"
	"github.com/warrenmq/warren/keratin/segment"
	"github.com/warrenmq/warren/keratin/vfs"
)

// overwrite changes bytes of a file at the first place where text stands, moved by delta.
func overwrite(t *testing.T, fs vfs.FS, name, text string, delta, n int) {
	t.Helper()
	f, err := fs.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	b, err := readWhole(f)
	if err != nil {
		t.Fatal(err)
	}
	at := strings.Index(string(b), text)
	if at < 0 {
		t.Fatalf("%q is not in %s", text, name)
	}
	at += delta
	for i := range n {
		b[at+i] ^= 0x55
	}
	if _, err := f.WriteAt(b[at:at+n], int64(at)); err != nil {
		t.Fatal(err)
	}
}

// together commits one record in each of the logs, in one entry.
func together(t *testing.T, s *Store, text string, logs ...*Log) {
	t.Helper()
	var b Batch
	done := make(answer, len(logs))
	for _, l := range logs {
		data := fmt.Sprintf("%s of %d", text, l.ID())
		copy(b.Reserve(1, len(data)), data)
		if _, err := l.Stage(&b, Durable, done); err != nil {
			t.Fatal(err)
		}
	}
	s.Commit()
	for range logs {
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
}

// TestSalvage: of a damaged entry everything is found again but what the damage hit, and the log that it hit is told.
func TestSalvage(t *testing.T) {
	const record = -segment.RecordHeader
	const block = record - segment.BlockHeader
	for name, x := range map[string]struct {
		delta, n int   // what is overwritten, from the data of log 2's record in the middle of three
		hurt     LogID // the log that suffers, 0 if none does
		told     bool  // by Damage, too
	}{
		"entry header":                  {block - segment.Padded(segment.RecordHeader+len("second of 1")) - journal.EntryHeader, 8, 0, true},
		"block header: length":          {block + 4, 4, 0, false},
		"block header: log":             {block + 8, 8, 0, false},
		"block header: checksum":        {block + 44, 4, 0, false},
		"block header: count, length":   {block + 4, 24, 2, false},
		"record header":                 {record, 4, 2, false},
		"data":                          {0, 1, 2, false},
		"block, record":                 {block, 60, 2, true},
		"the end of the block before":   {block - 16, 8, 1, false},
		"two blocks, by half and whole": {block - 16, 70, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			mem := vfs.NewMem()
			s := open(t, mem)
			logs := []*Log{openLog(t, s, 1), openLog(t, s, 2), openLog(t, s, 3)}
			for _, text := range []string{"first", "second", "third", "fourth"} {
				together(t, s, text, logs...)
			}
			s.Abandon()
			overwrite(t, mem, journalDir+"/"+journal.FileName(1), "second of 2", x.delta, x.n)
			for round := range 3 {
				s = open(t, mem)
				if told := len(s.Damage()) > 0; told != x.told && round == 0 {
					t.Errorf("damage %v", s.Damage())
				}
				for id := range LogID(3) {
					l, _, err := s.OpenLog(id+1, LogOptions{}, nil)
					if bad := id+1 == x.hurt || x.hurt == 0 && x.n == 70 && id < 2; bad != (err != nil) || err != nil && !corrupt(err) {
						t.Fatalf("round %d: log %d: %v", round, id+1, err)
					}
					if err != nil {
						continue
					}
					if got := all(t, l); len(got) != 4 || got[1] != fmt.Sprintf("second of %d", id+1) {
						t.Errorf("log %d: %q", id+1, got)
					}
				}
				if round == 1 {
					s.Abandon()
				} else if err := s.Close(); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// TestJournalGoesOn: a log that is out of service holds what it needs of the journal and no more, however much comes
// after it and however often the store starts, and everything of it is still there then.
func TestJournalGoesOn(t *testing.T) {
	mem := vfs.NewMem()
	s := open(t, mem)
	a, b := openLog(t, s, 1), openLog(t, s, 2)
	for i := range 20 {
		put(t, s, a, Durable, fmt.Sprintf("record %d", i))
		put(t, s, b, Durable, "other")
	}
	s.Abandon()
	name := journalDir + "/" + journal.FileName(1)
	overwrite(t, mem, name, "record 7", 0, 1)
	for range 4 {
		s = open(t, mem)
		b = openLog(t, s, 2)
		for before := s.Stats().Checkpoints; s.Stats().Checkpoints < before+3; {
			bulk(t, s, b, 100, 200)
			b.Trim(b.Marks().Durable)
		}
		if n := s.Stats().JournalInUse; n > 6*s.o.JournalFileBytes {
			t.Errorf("%d bytes of journal", n)
		}
		s.Abandon()
	}
	overwrite(t, mem, name, string(rune('r'^0x55))+"ecord 7", 0, 1) // the repair
	s = open(t, mem)
	_, _, err := s.OpenLog(1, LogOptions{}, nil)
	if err != nil {
		t.Fatalf("after the repair: %v", err)
	}
	if got := all(t, s.logs[1]); len(got) != 20 || got[7] != "record 7" {
		t.Errorf("%q", got)
	}
	before := s.Stats().Checkpoints
	b = openLog(t, s, 2)
	for s.Stats().Checkpoints < before+2 {
		bulk(t, s, b, 100, 200)
	}
	s.exclusive(func() {
		if len(s.journal.kept) > 0 {
			t.Error("the journal is still kept")
		}
	})
	if got := all(t, s.logs[1]); len(got) != 20 {
		t.Errorf("%q", got)
	}
}

// TestFailedLogIsKept: a log whose segment cannot be written keeps its part of the journal, and is whole after a restart.
func TestFailedLogIsKept(t *testing.T) {
	mem := vfs.NewMem()
	fault := vfs.NewFault(mem)
	s := open(t, fault)
	fault.SetRule(func(op vfs.Op, name string) error {
		if op == vfs.OpCreate && strings.HasPrefix(name, segmentName(segmentDir, 1, 0)) {
			return vfs.ErrFault
		}
		return nil
	})
	a, b := openLog(t, s, 1), openLog(t, s, 2)
	for i := range 5 {
		put(t, s, a, Durable, fmt.Sprintf("record %d", i))
	}
	start := time.Now()
	for s.Stats().FailedLogs == 0 || s.Stats().Checkpoints < 6 {
		bulk(t, s, b, 100, 200)
		if time.Since(start) > 20*time.Second {
			t.Fatalf("%+v", s.Stats())
		}
	}
	if n := s.Stats().JournalInUse; n > 8*s.o.JournalFileBytes {
		t.Errorf("%d bytes of journal", n)
	}
	n := len(all(t, b))
	s.Abandon()
	s = open(t, mem)
	if got := all(t, openLog(t, s, 1)); len(got) != 5 || got[4] != "record 4" {
		t.Errorf("%q", got)
	}
	if got := all(t, openLog(t, s, 2)); len(got) != n {
		t.Errorf("%d records of %d", len(got), n)
	}
	if err := s.Close(); err != nil { // clean: what is not moved yet stays in the file that was kept
		t.Fatal(err)
	}
	if got := all(t, openLog(t, open(t, mem), 1)); len(got) != 5 {
		t.Errorf("after a clean stop: %q", got)
	}
}

var mutations = flag.Int("keratin.mutations", 3000, "rounds of the mutation test")

// TestMutations: whatever is done to a data directory, by the page, nothing panics and no record is served that was
// not written as it is.
func TestMutations(t *testing.T) {
	n := *mutations
	if testing.Short() {
		n = 300
	}
	seed := uint64(time.Now().UnixNano())
	rng := rand.New(rand.NewPCG(seed, 2))
	x := newSample(t)
	files := x.files(t)
	var names []string
	for name := range files {
		names = append(names, name)
	}
	for i := range n {
		clone := x.fs.Crash(rng, 100)
		what := ""
		for range 1 + rng.IntN(3) {
			what += mutate(t, rng, clone, names) + "; "
		}
		if err := x.checkServed(clone); err != nil {
			t.Fatalf("seed %d, round %d: %s%v", seed, i, what, err)
		}
	}
}

func mutate(t *testing.T, rng *rand.Rand, fs vfs.FS, names []string) string {
	t.Helper()
	name := names[rng.IntN(len(names))]
	f, err := fs.Open(name)
	if err != nil {
		return name + " is gone"
	}
	b, err := readWhole(f)
	if err != nil {
		t.Fatal(err)
	}
	at, size := int64(0), int64(len(b))
	if size > 0 {
		at = rng.Int64N(size)
	}
	page := b[at:min(size, at+int64(1+rng.IntN(700)))]
	kind := rng.IntN(5)
	switch kind {
	case 0:
		for i := range page {
			page[i] = byte(rng.Uint32())
		}
	case 1:
		clear(page)
	case 2:
		err = f.Truncate(at)
		page = nil
	case 3: // a page in another's place
		copy(page, b[rng.Int64N(size+1):])
	case 4:
		err = fs.Remove(name)
		page = nil
	}
	if err == nil && len(page) > 0 {
		_, err = f.WriteAt(page, at)
	}
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%s: kind %d at %d, %d bytes", name, kind, at, len(page))
}

// checkServed looks at what is served only.
func (x *sample) checkServed(fs vfs.FS) error {
	if _, err := inspectFS(fs, "", io.Discard); err != nil {
		return err
	}
	s, err := Open("", tiny(fs))
	if err != nil {
		if damage(err) {
			return nil
		}
		return err
	}
	defer s.Abandon()
	for _, id := range s.Logs() {
		l, r, err := s.OpenLog(id, LogOptions{}, nil)
		if err != nil {
			if _, failed := errors.AsType[*FailedError](err); failed || damage(err) {
				continue
			}
			return err
		}
		var c Cursor
		for o := r.Marks.Head; o < r.Marks.Staged; o++ {
			got, err := l.Next(&c, Offset(o), r.Marks.Staged)
			if err != nil {
				if !corrupt(err) {
					return err
				}
				continue
			}
			if int(o) >= len(x.texts[id]) || string(got.Data) != x.texts[id][o] {
				return fmt.Errorf("log %d record %d is wrong", id, o)
			}
		}
	}
	return nil
}
