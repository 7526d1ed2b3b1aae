package logbench

import (
	"testing"
	"time"
)

func TestRun(t *testing.T) {
	rows := map[Policy]int{}
	o := Options{Batches: []int{1}, Concurrency: []int{1, 8}, Warmup: 5 * time.Millisecond, Duration: 50 * time.Millisecond}
	o.Store.JournalFileBytes = 1 << 20
	err := Run(t.Context(), t.TempDir(), o, func(r Result) error {
		rows[r.Policy]++
		if r.RecordsPerS <= 0 || r.P50 <= 0 || r.P999 < r.P50 || r.FlushProbe <= 0 {
			t.Errorf("%+v", r)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []Policy{None, Periodic, OnCommit} {
		if rows[p] != 2 {
			t.Errorf("%d rows of %s", rows[p], p)
		}
	}
}
