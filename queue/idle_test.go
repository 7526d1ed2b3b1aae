package queue_test

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/warrenmq/warren/queue"
)

// TestIdleQueuesAreSmall pins what a durable queue costs that nothing happens on, its log in memory included.
func TestIdleQueuesAreSmall(t *testing.T) {
	w := newWorld(t)
	const n = 1000
	before := heap()
	for i := range n {
		w.declare(queue.QueueDeclare{Name: fmt.Sprint("idle.", i), Durable: true})
	}
	if per := (heap() - before) / n; per > 4096 {
		t.Errorf("an idle queue takes %d bytes", per)
	} else {
		t.Logf("an idle queue takes %d bytes", per)
	}
	runtime.KeepAlive(w)
}

// TestBacklogTakesNoMemory pins that ready messages cost the queue nothing beyond its log.
func TestBacklogTakesNoMemory(t *testing.T) {
	w := newWorld(t)
	w.declare(queue.QueueDeclare{Name: "q", Durable: true})
	publish := func(n int) {
		m := persistent("q", "")
		for range n {
			if _, err := w.p.Publish(m, nil, 0); err != nil {
				t.Fatal(err)
			}
		}
		w.p.Flush()
	}
	publish(1000)
	w.store.Log(2).Forget()
	before := heap()
	for range 100 {
		publish(1000)
		w.store.Log(2).Forget()
	}
	if grown := heap() - before; grown > 64<<10 {
		t.Errorf("100,000 ready messages take %d bytes beside their log", grown)
	}
	w.wantSize("q", "101000 ready, 0 unacked")
}

func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
