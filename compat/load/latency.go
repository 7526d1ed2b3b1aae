package load

import (
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// maxLatency is the longest latency that is told apart from longer ones.
const maxLatency = 10 * time.Minute

// latency is a distribution of times, in microseconds to three digits. It has one writer.
type latency struct{ *hdrhistogram.Histogram }

func newLatency() *latency {
	return &latency{hdrhistogram.New(1, maxLatency.Microseconds(), 3)}
}

func (l *latency) record(d time.Duration) {
	// The value is within the bounds, so there is no error.
	_ = l.RecordValue(min(max(d, time.Microsecond), maxLatency).Microseconds())
}

// Latency summarizes a distribution, in microseconds.
type Latency struct {
	Count int64   `json:"count"`
	Mean  float64 `json:"mean_us"`
	P50   int64   `json:"p50_us"`
	P90   int64   `json:"p90_us"`
	P99   int64   `json:"p99_us"`
	P999  int64   `json:"p999_us"`
	Max   int64   `json:"max_us"`
}

// summary returns nil for an empty distribution.
func (l *latency) summary() *Latency {
	if l.TotalCount() == 0 {
		return nil
	}
	return &Latency{
		Count: l.TotalCount(),
		Mean:  l.Mean(),
		P50:   l.ValueAtPercentile(50),
		P90:   l.ValueAtPercentile(90),
		P99:   l.ValueAtPercentile(99),
		P999:  l.ValueAtPercentile(99.9),
		Max:   l.Max(),
	}
}
