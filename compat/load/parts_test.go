package load

import (
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestFlights compares the ring with a map.
func TestFlights(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := newFlights()
		unsettled := map[uint64]time.Duration{}
		var next uint64 = 1
		t.Repeat(map[string]func(*rapid.T){
			"push": func(t *rapid.T) {
				for range rapid.IntRange(1, 40).Draw(t, "n") {
					at := time.Duration(rapid.Int64().Draw(t, "at"))
					f.push(at)
					unsettled[next] = at
					next++
				}
			},
			"settle": func(t *rapid.T) {
				seq := rapid.Uint64Range(0, next).Draw(t, "seq")
				multiple := rapid.Bool().Draw(t, "multiple")
				want := map[uint64]time.Duration{}
				for s, at := range unsettled {
					if s == seq || multiple && s < seq && seq < next {
						want[s] = at
						delete(unsettled, s)
					}
				}
				got := map[uint64]time.Duration{}
				ok := f.settle(seq, multiple, func(s uint64, at time.Duration) { got[s] = at })
				if !maps.Equal(got, want) || ok != (len(want) > 0) {
					t.Fatalf("got %v, %v, want %v", got, ok, want)
				}
			},
			"": func(t *rapid.T) {
				if f.outstanding != len(unsettled) || f.next() != next {
					t.Fatalf("%d outstanding, next %d", f.outstanding, f.next())
				}
				for s := uint64(1); s < next; s++ {
					if _, waits := unsettled[s]; f.settledAt(s) == waits {
						t.Fatalf("%d is settled: %v", s, !waits)
					}
				}
			},
		})
	})
}

func TestLedger(t *testing.T) {
	const messages = 3*chunkBits + 7
	var l ledger
	if known, _ := l.mark(1); known {
		t.Error("known before it was sent")
	}
	var wg sync.WaitGroup
	var twice [2]int
	for c := range twice {
		wg.Go(func() {
			for seq := uint64(1); seq <= messages; {
				known, again := l.mark(seq)
				if !known {
					continue // not sent yet
				}
				if again {
					twice[c]++
				}
				seq++
			}
		})
	}
	for sent := uint64(0); sent < messages; {
		sent = min(sent+1000, messages)
		l.extend(sent)
	}
	wg.Wait()
	if twice[0]+twice[1] != messages {
		t.Errorf("%d marked twice, want each", twice[0]+twice[1])
	}
	for seq := uint64(1); seq <= messages; seq++ {
		if !l.marked(seq) {
			t.Fatalf("%d is not marked", seq)
		}
	}
	if known, _ := l.mark(0); known {
		t.Error("0 is known")
	}
}

func TestStamp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := stamp{
			publisher: rapid.IntRange(0, maxPublishers-1).Draw(t, "publisher"),
			seq:       rapid.Uint64Range(0, 1<<48-1).Draw(t, "seq"),
			at:        time.Duration(rapid.Int64().Draw(t, "at")),
		}
		body := newBody(64)
		other := newBody(64)
		want.put(body)
		if got := readStamp(body); got != want {
			t.Fatalf("got %+v, want %+v", got, want)
		}
		if !samePattern(body, other) {
			t.Fatal("the stamp changed the pattern")
		}
		body[rapid.IntRange(stampSize, 63).Draw(t, "octet")]++
		if samePattern(body, other) || samePattern(body[:63], other) {
			t.Fatal("another body has the pattern")
		}
	})
}

func TestShare(t *testing.T) {
	for workers := 1; workers < 9; workers++ {
		for queues := 1; queues < 9; queues++ {
			served := map[int]bool{}
			for w := range workers {
				mine := share(w, workers, queues)
				if len(mine) == 0 {
					t.Errorf("worker %d of %d has none of %d queues", w, workers, queues)
				}
				for _, q := range mine {
					served[q] = true
				}
			}
			if len(served) != queues {
				t.Errorf("%d workers serve %v of %d queues", workers, served, queues)
			}
		}
	}
}

func TestSchedule(t *testing.T) {
	s := schedule{begin: 100, stop: 1000, interval: 30, offset: 10}
	for seq := uint64(1); s.intended(seq) < s.stop; seq++ {
		at := s.intended(seq)
		if before, then := s.due(at-1), s.due(at); before != seq-1 || then != seq {
			t.Errorf("message %d at %d: %d due before, %d then", seq, at, before, then)
		}
	}
	if s.due(0) != 0 || s.due(5000) != s.due(999) {
		t.Errorf("%d due at first, %d after the end, %d at the end", s.due(0), s.due(5000), s.due(999))
	}
	fast := schedule{begin: 100, stop: math.MaxInt64}
	if fast.due(100) != math.MaxUint64 {
		t.Error("without a rate not everything is due")
	}
}

func TestQuota(t *testing.T) {
	var sum, last uint64 = 0, math.MaxUint64
	for i := range 7 {
		n := quota(i, 7, 500)
		if n > last {
			t.Errorf("publisher %d has more than those before it", i)
		}
		sum, last = sum+n, n
	}
	if sum != 500 || quota(0, 7, 0) != math.MaxUint64 {
		t.Errorf("%d messages of 500", sum)
	}
}

func TestLatencySummary(t *testing.T) {
	l := newLatency()
	if l.summary() != nil {
		t.Error("summary of nothing")
	}
	for i := range 1000 {
		l.record(time.Duration(i+1) * time.Millisecond)
	}
	l.record(-1) // clocks are read by several goroutines
	l.record(24 * time.Hour)
	s := l.summary()
	within := func(got int64, want time.Duration) bool {
		return math.Abs(float64(got)/float64(want.Microseconds())-1) < 0.003
	}
	if s.Count != 1002 || !within(s.P50, 500*time.Millisecond) || !within(s.P99, 991*time.Millisecond) || !within(s.Max, maxLatency) {
		t.Errorf("got %+v", s)
	}
}

// writeProcess puts a process into a folder like /proc.
func writeProcess(t *testing.T, root string, pid, parent int, userTicks, systemTicks, written, peakKiB int) {
	t.Helper()
	dir := filepath.Join(root, strconv.Itoa(pid))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"stat": strconv.Itoa(pid) + " (a) b (c) S " + strconv.Itoa(parent) + " 1 1 0 -1 4194560 9 8 7 6 " +
			strconv.Itoa(userTicks) + " " + strconv.Itoa(systemTicks) + " 55 44 20 0 1 0",
		"io":         "rchar: 1\nwrite_bytes: " + strconv.Itoa(written) + "\ncancelled_write_bytes: 5\n",
		"status":     "Name:\ta\nVmPeak:\t 9 kB\nVmHWM:\t    " + strconv.Itoa(peakKiB) + " kB\n",
		"clear_refs": "",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestProcesses(t *testing.T) {
	root := t.TempDir()
	writeProcess(t, root, 10, 1, 100, 20, 1000, 4)
	writeProcess(t, root, 11, 10, 3, 4, 50, 1)
	writeProcess(t, root, 12, 11, 1, 0, 5, 1)
	writeProcess(t, root, 13, 1, 999, 999, 999, 999)
	for _, test := range []struct {
		pids        []int
		descendants bool
		want        usage
		seen        []int
	}{
		{nil, true, usage{}, nil},
		{[]int{10}, false, usage{1200 * time.Millisecond, 1000, 4096}, []int{10}},
		{[]int{10, 11}, true, usage{1280 * time.Millisecond, 1055, 6144}, []int{10, 11, 12}},
	} {
		p := processes{root, test.pids, test.descendants}
		got, err := p.usage()
		if err != nil || got != test.want {
			t.Errorf("%v: got %+v, %v, want %+v", test.pids, got, err, test.want)
		}
		pids, err := p.all()
		slices.Sort(pids)
		if err != nil || !slices.Equal(pids, test.seen) {
			t.Errorf("%v: saw %v, %v", test.pids, pids, err)
		}
		if err := p.resetPeak(); err != nil {
			t.Error(err)
		}
	}
	reset, err := os.ReadFile(filepath.Join(root, "12", "clear_refs"))
	if err != nil || string(reset) != "5" {
		t.Errorf("got %q, %v", reset, err)
	}
	if _, err := (&processes{root, []int{99}, false}).usage(); err == nil {
		t.Error("a process that does not exist is measured")
	}
}

// TestOwnProcess reads the real thing.
func TestOwnProcess(t *testing.T) {
	p := processes{"/proc", []int{os.Getpid()}, false}
	if _, err := os.Stat("/proc/self/io"); err != nil {
		t.Skip("no Linux /proc")
	}
	got, err := p.usage()
	if err != nil || got.peakRSS < 1<<20 {
		t.Errorf("got %+v, %v", got, err)
	}
}
