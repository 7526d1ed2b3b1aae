package load

import (
	"time"

	"golang.org/x/sys/unix"
)

// sharpenSleep makes the calling thread wake up when it asked to, and not up to 50 µs later.
func sharpenSleep() {
	// Without it lateness grows, and is measured.
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0)
}

// nap blocks the calling thread: the runtime's own timers are a millisecond coarse while it waits for
// the network.
func nap(d time.Duration) {
	t := unix.NsecToTimespec(d.Nanoseconds())
	// It may return early on a signal; the caller looks at the clock.
	_ = unix.Nanosleep(&t, nil)
}
