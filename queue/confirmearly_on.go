//go:build confirmearly

package queue

import "time"

// confirmEarly makes the broker lie: messages are confirmed when staged, and written a little later. It is the
// negative control of the tests that prove confirms true; a build with this tag must fail them.
const confirmEarly = true

func holdBack() { time.Sleep(5 * time.Millisecond) }
