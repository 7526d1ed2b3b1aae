package main

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// probeEvery is the pause between two flushes of the probe.
const probeEvery = 20 * time.Millisecond

// probe measures what a flush costs on the disk below the image, beside the file system under test and not in it, where
// it would flush what the broker has not. One goroutine, ended by close.
type probe struct {
	file *os.File
	stop chan struct{}
	done chan struct{}

	mu      sync.Mutex
	longest time.Duration // since the last reset
	began   time.Time     // of the flush that runs; zero while none does
	failed  error
}

func newProbe(dir string) (*probe, error) {
	file, err := os.Create(filepath.Join(dir, "probe"))
	if err != nil {
		return nil, err
	}
	p := &probe{file: file, stop: make(chan struct{}), done: make(chan struct{})}
	go p.run()
	return p, nil
}

func (p *probe) run() {
	defer close(p.done)
	ticker := time.NewTicker(probeEvery)
	defer ticker.Stop()
	page := make([]byte, 4096)
	for {
		p.mu.Lock()
		p.began = time.Now()
		p.mu.Unlock()
		_, err := p.file.WriteAt(page, 0)
		if err == nil {
			err = p.file.Sync()
		}
		p.mu.Lock()
		p.longest = max(p.longest, time.Since(p.began))
		p.began, p.failed = time.Time{}, err
		p.mu.Unlock()
		if err != nil {
			return
		}
		select {
		case <-ticker.C:
		case <-p.stop:
			return
		}
	}
}

// reset begins a new measurement.
func (p *probe) reset() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.longest = 0
}

// slowest is the longest flush since reset, the one that runs included.
func (p *probe) slowest() (time.Duration, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.began.IsZero() {
		return p.longest, p.failed
	}
	return max(p.longest, time.Since(p.began)), p.failed
}

func (p *probe) close() error {
	close(p.stop)
	<-p.done
	return errors.Join(p.failed, p.file.Close())
}
