package keratin

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"path"
	"strings"
	"sync"
	"testing"

	"github.com/warrenmq/warren/keratin/vfs"
)

// sample is a data directory after a kill, with everything in it that a store has: logs in several segments, with a
// head, in the journal only, in the journal and segments.
type sample struct {
	fs    *vfs.Mem
	texts map[LogID][]string // by offset
	heads map[LogID]Frontier
}

func tiny(fs vfs.FS) Options {
	return Options{FS: fs, JournalFileBytes: 8 << 10, JournalFiles: 1, SegmentBytes: 2 << 10, TailBytes: 1 << 10}
}

func newSample(t testing.TB) *sample {
	t.Helper()
	x := &sample{fs: vfs.NewMem(), texts: map[LogID][]string{}, heads: map[LogID]Frontier{}}
	s, err := Open("", tiny(x.fs))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Abandon()
	logs := map[LogID]*Log{}
	for id := range LogID(4) {
		logs[id+1] = openLog(t, s, id+1)
	}
	write := func(id LogID) {
		text := fmt.Sprintf("log %d record %d %0*d", id, len(x.texts[id]), 40*int(id), 0)
		put(t, s, logs[id], Durable, text)
		x.texts[id] = append(x.texts[id], text)
	}
	for i := 0; s.Stats().Checkpoints < 2 || i%12 != 0; i++ {
		write(LogID(1 + i%3))
		if i == 20 {
			x.heads[2] = 5
			logs[2].Trim(5)
		}
	}
	for i := range 12 { // what only the journal has
		write(LogID(1 + i%4))
	}
	return x
}

// files returns the files in which bits are flipped.
func (x *sample) files(t testing.TB) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	for _, dir := range []string{".", journalDir, segmentDir} {
		names, err := x.fs.List(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			f, err := x.fs.Open(path.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			b, err := readWhole(f)
			if err != nil {
				t.Fatal(err)
			}
			files[path.Join(dir, name)] = b
		}
	}
	return files
}

// check opens a copy of the sample that has been damaged in one place. Nothing but the log that was hit may suffer: at
// most one log is out of service, or has a record that cannot be read, or else the last commit, of which nothing proves
// that it had been flushed, is missing.
func (x *sample) check(fs vfs.FS) error {
	s, err := Open("", tiny(fs))
	if err != nil {
		return fmt.Errorf("open: %w", err)
	}
	defer s.Abandon()
	hurt, missing := 0, 0
	for id, texts := range x.texts {
		l, r, err := s.OpenLog(id, LogOptions{}, nil)
		if corrupt(err) {
			hurt++
			continue
		}
		if err != nil {
			return fmt.Errorf("log %d: %w", id, err)
		}
		if r.Marks.Head > x.heads[id] {
			return fmt.Errorf("log %d begins at %d, not %d", id, r.Marks.Head, x.heads[id])
		}
		damaged := false
		var c Cursor
		for o := r.Marks.Head; o < r.Marks.Staged; o++ {
			got, err := l.Next(&c, Offset(o), r.Marks.Staged)
			switch {
			case corrupt(err):
				damaged = true
			case err != nil:
				return fmt.Errorf("log %d record %d: %w", id, o, err)
			case int(o) >= len(texts) || string(got.Data) != texts[o]:
				return fmt.Errorf("log %d record %d is wrong", id, o)
			}
		}
		if damaged {
			hurt++
		}
		missing += len(texts) - int(r.Marks.Staged)
	}
	if hurt+missing > 1 {
		return fmt.Errorf("%d logs are hurt, %d records missing; damage %v", hurt, missing, s.Damage())
	}
	return nil
}

var flipStep = flag.Int("keratin.bits", 7, "every how manyth bit is flipped; 1: all of them")

// TestEveryBit flips every bit in turn of everything there is.
func TestEveryBit(t *testing.T) {
	for _, without := range []string{"nothing", checkpointName} {
		t.Run("without "+without, func(t *testing.T) {
			x := newSample(t)
			if without == checkpointName {
				if err := x.fs.Remove(checkpointName); err != nil {
					t.Fatal(err)
				}
			}
			step := *flipStep
			if testing.Short() {
				step = 101
			}
			var wg sync.WaitGroup
			bits := make(chan func(), 4)
			for range 2 {
				wg.Go(func() {
					for f := range bits {
						f()
					}
				})
			}
			n := 0
			for name, b := range x.files(t) {
				if without == checkpointName && name == checkpointCopy {
					continue // the last one
				}
				used := len(strings.TrimRight(string(b), "\x00"))
				for bit := 0; bit < 8*used && !t.Failed(); bit += step {
					if at := bit / 8; b[at] == 0 && at%16 != 0 && strings.HasPrefix(name, journalDir) && zeroAround(b, at) {
						continue // unused
					}
					n++
					bits <- func() {
						if err := x.flip(name, b, bit); err != nil {
							t.Errorf("%s bit %d of byte %d: %v", name, bit%8, bit/8, err)
						}
					}
				}
			}
			close(bits)
			wg.Wait()
			t.Logf("%d bits", n)
		})
	}
}

func zeroAround(b []byte, at int) bool {
	for i := max(0, at-64); i < min(len(b), at+64); i++ {
		if b[i] != 0 {
			return false
		}
	}
	return true
}

func (x *sample) flip(name string, b []byte, bit int) error {
	clone := x.fs.Crash(rand.New(rand.NewPCG(1, 1)), 100)
	f, err := clone.Open(name)
	if err == nil {
		_, err = f.WriteAt([]byte{b[bit/8] ^ 1<<(bit%8)}, int64(bit/8))
	}
	return errors.Join(err, x.check(clone))
}
