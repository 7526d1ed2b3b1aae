package keratin

import (
	"bytes"
	"fmt"
	"io"
	"testing"

	"github.com/warrenmq/warren/keratin/vfs"
)

// put stages records with the given texts and waits for the gate.
func put(t testing.TB, s *Store, l *Log, gate Mark, texts ...string) {
	t.Helper()
	var b Batch
	for _, text := range texts {
		copy(b.Reserve(1, len(text)), text)
	}
	done := make(answer, 1)
	if _, err := l.Stage(&b, gate, done); err != nil {
		t.Fatal(err)
	}
	s.Commit()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

func all(t testing.TB, l *Log) []string {
	t.Helper()
	var out []string
	var c Cursor
	m := l.Marks()
	for o := Offset(m.Head); ; o++ {
		r, err := l.Next(&c, o, m.Written)
		if err == io.EOF {
			return out
		}
		if err != nil {
			t.Fatalf("record %d: %v", o, err)
		}
		if r.Offset != o {
			t.Fatalf("record %d says it is %d", o, r.Offset)
		}
		out = append(out, string(r.Data))
	}
}

func small(fs vfs.FS) Options {
	return Options{FS: fs, JournalFileBytes: 64 << 10, SegmentBytes: 64 << 10, TailBytes: 16 << 10}
}

func TestAppendReadReopen(t *testing.T) {
	for _, stop := range []string{"close", "abandon"} {
		t.Run(stop, func(t *testing.T) {
			fs := vfs.NewMem()
			s, err := Open("", small(fs))
			if err != nil {
				t.Fatal(err)
			}
			l, _, err := s.OpenLog(7, LogOptions{}, nil)
			if err != nil {
				t.Fatal(err)
			}
			var want []string
			for i := range 2000 {
				text := fmt.Sprintf("%d %s", i, bytes.Repeat([]byte{'x'}, i%300))
				put(t, s, l, Durable, text)
				want = append(want, text)
			}
			if got := all(t, l); fmt.Sprint(got) != fmt.Sprint(want) {
				t.Fatalf("got %d records, want %d", len(got), len(want))
			}
			if stop == "close" {
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
			} else {
				s.Abandon()
			}
			s, err = Open("", small(fs))
			if err != nil {
				t.Fatal(err)
			}
			l, r, err := s.OpenLog(7, LogOptions{}, nil)
			if err != nil {
				t.Fatal(err)
			}
			if r.Unclean != (stop == "abandon") {
				t.Errorf("unclean = %v after %s", r.Unclean, stop)
			}
			if got := all(t, l); fmt.Sprint(got) != fmt.Sprint(want) {
				t.Fatalf("got %d records, want %d", len(got), len(want))
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		})
	}
}
