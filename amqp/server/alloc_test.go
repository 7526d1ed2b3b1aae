package server

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/warrenmq/warren/amqp"
)

// TestAllocationsPerMessage counts what one message costs from publish to ack in the whole broker, storage included.
func TestAllocationsPerMessage(t *testing.T) {
	if testing.Short() {
		t.Skip("moves 30,000 messages")
	}
	const bar = 4.0
	p := newPair(t, listen(t, newServer(t, Options{})), "q", nil, 1024)
	const window, rounds = 500, 40
	for range 20 { // until buffers have their size
		p.window(window)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range rounds {
		p.window(window)
	}
	runtime.ReadMemStats(&after)
	perMessage := float64(after.Mallocs-before.Mallocs) / (window * rounds)
	t.Logf("%.2f allocations, %.0f octets per message", perMessage, float64(after.TotalAlloc-before.TotalAlloc)/(window*rounds))
	if perMessage > bar {
		t.Errorf("%.2f allocations per message, the bar is %.0f", perMessage, bar)
	}
}

// BenchmarkPublishDeliverAck moves messages through the whole broker, in windows.
func BenchmarkPublishDeliverAck(b *testing.B) {
	for _, size := range []int{16, 1 << 10, 16 << 10} {
		for _, mode := range []string{"durable", "buffered"} {
			b.Run(fmt.Sprintf("%s/%d", mode, size), func(b *testing.B) {
				p := newPair(b, listen(b, newServer(b, Options{})), "q", amqp.Table{"x-durability": mode}, size)
				const window = 500
				b.SetBytes(int64(size))
				b.ReportAllocs()
				p.window(window)
				for n := 0; b.Loop(); n++ {
					if n%window == 0 {
						p.window(window)
					}
				}
			})
		}
	}
}
