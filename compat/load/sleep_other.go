//go:build !linux

package load

import "time"

func sharpenSleep() {}

func nap(d time.Duration) { time.Sleep(d) }
