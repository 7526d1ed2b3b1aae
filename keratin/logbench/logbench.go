// Package logbench measures a store alone, without a broker: how many records per second it takes and how long an
// append waits, for three policies, batch sizes and numbers of publishers.
//
//	none        an append is done when it is written; nothing is flushed before the end
//	periodic    the same, and every 100 ms what is written is flushed
//	on-commit   an append is done when it has been flushed
//
// Every figure is of a fresh store. What the warm-up did is discarded; throughput includes the final flush. A probe
// of a bare flush, 1 KiB written into a file whose blocks exist, is taken with every row: disks vary by the minute.
package logbench

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/warrenmq/warren/keratin"
	"github.com/warrenmq/warren/keratin/vfs"
)

// Policy says what an append waits for.
type Policy string

const (
	None     Policy = "none"
	Periodic Policy = "periodic"
	OnCommit Policy = "on-commit"
)

// Options are what is measured. The zero value of each means its default.
type Options struct {
	Policies    []Policy      // default all
	Batches     []int         // records per append; default 1, 16
	Concurrency []int         // publishers; default 1, 8, 64
	RecordBytes int           // data of a record; default 128
	Warmup      time.Duration // default 300 ms
	Duration    time.Duration // of each row; default 2 s
	Store       keratin.Options
}

// Result is one row.
type Result struct {
	Policy          Policy  `json:"policy"`
	Batch           int     `json:"batch"`
	Concurrency     int     `json:"concurrency"`
	RecordsPerS     float64 `json:"records_per_s"`
	P50             float64 `json:"p50_us"`
	P99             float64 `json:"p99_us"`
	P999            float64 `json:"p999_us"`
	RecordsPerFlush float64 `json:"records_per_flush"`
	FlushProbe      float64 `json:"flush_probe_us"` // median of a bare flush
}

// Run measures every combination in directories of its own below dir, which it removes, and calls report with each row.
func Run(ctx context.Context, dir string, o Options, report func(Result) error) error {
	if len(o.Policies) == 0 {
		o.Policies = []Policy{None, Periodic, OnCommit}
	}
	if len(o.Batches) == 0 {
		o.Batches = []int{1, 16}
	}
	if len(o.Concurrency) == 0 {
		o.Concurrency = []int{1, 8, 64}
	}
	o.RecordBytes = cmp.Or(o.RecordBytes, 128)
	o.Warmup = cmp.Or(o.Warmup, 300*time.Millisecond)
	o.Duration = cmp.Or(o.Duration, 2*time.Second)
	for _, policy := range o.Policies {
		for _, batch := range o.Batches {
			for _, publishers := range o.Concurrency {
				if err := ctx.Err(); err != nil {
					return err
				}
				r, err := row(dir, o, policy, batch, publishers)
				if err != nil {
					return fmt.Errorf("%s, batch %d, concurrency %d: %w", policy, batch, publishers, err)
				}
				if err := report(r); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func row(dir string, o Options, policy Policy, batch, publishers int) (r Result, err error) {
	tmp, err := os.MkdirTemp(dir, "logbench-")
	if err != nil {
		return r, err
	}
	defer func() {
		if rerr := os.RemoveAll(tmp); err == nil {
			err = rerr
		}
	}()
	probe, err := Probe(tmp, 100)
	if err != nil {
		return r, err
	}
	r = Result{Policy: policy, Batch: batch, Concurrency: publishers, FlushProbe: micros(probe)}
	so := o.Store
	so.FS = nil
	if policy == None {
		so.SyncInterval = -1
	}
	s, err := keratin.Open(filepath.Join(tmp, "store"), so)
	if err != nil {
		return r, err
	}
	defer func() {
		if cerr := s.Close(); err == nil {
			err = cerr
		}
	}()
	l, _, err := s.OpenLog(1, keratin.LogOptions{}, nil)
	if err != nil {
		return r, err
	}
	b := bench{s: s, l: l, batch: batch, size: o.RecordBytes, gate: keratin.Written}
	if policy == OnCommit {
		b.gate = keratin.Durable
	}
	if _, _, err := b.phase(publishers, o.Warmup); err != nil {
		return r, err
	}
	before := s.Stats()
	records, times, err := b.phase(publishers, o.Duration)
	if err != nil {
		return r, err
	}
	flushes := s.Stats().Flushes - before.Flushes
	r.RecordsPerS = float64(records) / b.took.Seconds()
	if flushes > 0 {
		r.RecordsPerFlush = float64(records) / float64(flushes)
	}
	r.P50, r.P99, r.P999 = quantile(times, 50), quantile(times, 99), quantile(times, 99.9)
	return r, nil
}

type bench struct {
	s     *keratin.Store
	l     *keratin.Log
	batch int
	size  int
	gate  keratin.Mark
	took  time.Duration // of the last phase, with its final flush
}

// publisher waits for one append at a time. Its own channel is what is signalled: nobody else wakes.
type publisher struct{ done chan error }

func (p *publisher) Committed(err error) { p.done <- err }

// phase lets publishers append for a while, and flushes at the end.
func (b *bench) phase(publishers int, d time.Duration) (records int64, all *hdrhistogram.Histogram, err error) {
	var (
		wg     sync.WaitGroup
		mu     sync.Mutex
		failed error
	)
	all = newHistogram()
	start := time.Now()
	for range publishers {
		wg.Go(func() {
			n, times, err := b.publish(start.Add(d))
			mu.Lock()
			defer mu.Unlock()
			records += n
			all.Merge(times)
			failed = cmp.Or(failed, err)
		})
	}
	wg.Wait()
	if failed == nil {
		failed = b.s.Sync()
	}
	b.took = time.Since(start)
	return records, all, failed
}

func (b *bench) publish(end time.Time) (n int64, times *hdrhistogram.Histogram, err error) {
	times = newHistogram()
	var batch keratin.Batch
	w := &publisher{make(chan error, 1)}
	for at := time.Now(); at.Before(end); {
		for range b.batch {
			data := batch.Reserve(1, b.size)
			data[0] = byte(n)
		}
		if _, err := b.l.Stage(&batch, b.gate, w); err != nil {
			return n, times, err
		}
		b.s.Commit()
		if err := <-w.done; err != nil {
			return n, times, err
		}
		n += int64(b.batch)
		now := time.Now()
		if err := times.RecordValue(int64(now.Sub(at))); err != nil {
			return n, times, err
		}
		at = now
	}
	return n, times, nil
}

func newHistogram() *hdrhistogram.Histogram {
	return hdrhistogram.New(1, int64(10*time.Minute), 3)
}

func quantile(h *hdrhistogram.Histogram, q float64) float64 {
	return float64(h.ValueAtQuantile(q)) / 1000
}

func micros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

// Probe returns the median time of n bare flushes in dir: 1 KiB written into blocks that exist, and fdatasync.
func Probe(dir string, n int) (median time.Duration, err error) {
	fs := vfs.OS(dir)
	f, err := fs.Create("probe")
	if err != nil {
		return 0, err
	}
	defer func() {
		if cerr := f.Close(); err == nil {
			err = cerr
		}
		if rerr := fs.Remove("probe"); err == nil {
			err = rerr
		}
	}()
	if _, err := f.WriteAt(make([]byte, 1<<20), 0); err != nil {
		return 0, err
	}
	if err := f.Sync(); err != nil {
		return 0, err
	}
	times := make([]time.Duration, n)
	data := make([]byte, 1024)
	for i := range times {
		start := time.Now()
		if _, err := f.WriteAt(data, int64(i%1024)<<10); err != nil {
			return 0, err
		}
		if err := f.Sync(); err != nil {
			return 0, err
		}
		times[i] = time.Since(start)
	}
	slices.Sort(times)
	return times[n/2], nil
}
