package load

import (
	"context"
	"runtime"
	"time"
)

// pacer wakes the publishers when their messages are due. One thread serves them all: message k of the run is
// publisher k mod n's.
type pacer struct {
	clock      clock
	publishers []*publisher
	begin      time.Duration
	stop       time.Duration
	step       time.Duration // between two messages of the run
	messages   int           // of the run; 0: until stop
}

// maxNap bounds how long the pacer does not look whether it is still wanted.
const maxNap = 20 * time.Millisecond

func (p *pacer) run(ctx context.Context) error {
	// The thread sleeps more exactly than the runtime's timers; it ends with the goroutine.
	runtime.LockOSThread()
	sharpenSleep()
	for k := 0; p.messages == 0 || k < p.messages; {
		due := min(p.begin+time.Duration(k)*p.step, p.stop)
		if p.sleepUntil(ctx, due); ctx.Err() != nil {
			return nil // whoever ended the run knows why
		}
		if due == p.stop {
			return p.fillAll() // and they notice that their time is up
		}
		first := k
		now := p.clock.now()
		for p.begin+time.Duration(k)*p.step <= now {
			k++
		}
		for i := range min(k-first, len(p.publishers)) {
			if err := p.publishers[(first+i)%len(p.publishers)].fill(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *pacer) fillAll() error {
	for _, publisher := range p.publishers {
		if err := publisher.fill(); err != nil {
			return err
		}
	}
	return nil
}

func (p *pacer) sleepUntil(ctx context.Context, at time.Duration) {
	for ctx.Err() == nil {
		left := at - p.clock.now()
		if left <= 0 {
			return
		}
		nap(min(left, maxNap))
	}
}
