package main

import (
	"os"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// probeTime is how long a probe takes.
const probeTime = 300 * time.Millisecond

// flush is what the bare disk does.
type flush struct {
	P50   time.Duration `json:"p50"`
	P99   time.Duration `json:"p99"`
	Count int           `json:"count"`
}

// probeFlush appends size bytes at a time to a fresh file in dir and flushes each, as the least that a broker must do
// that confirms one message at a time.
func probeFlush(dir string, size int) (flush, error) {
	f, err := os.CreateTemp(dir, "flush-probe-")
	if err != nil {
		return flush{}, err
	}
	defer os.Remove(f.Name())
	defer f.Close()
	block := make([]byte, size)
	var times []time.Duration
	for start := time.Now(); time.Since(start) < probeTime; {
		began := time.Now()
		if _, err := f.Write(block); err != nil {
			return flush{}, err
		}
		if err := unix.Fdatasync(int(f.Fd())); err != nil {
			return flush{}, err
		}
		times = append(times, time.Since(began))
	}
	slices.Sort(times)
	return flush{P50: times[len(times)/2], P99: times[len(times)*99/100], Count: len(times)}, nil
}
