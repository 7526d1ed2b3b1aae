package queue_test

import (
	"fmt"
	"testing"

	"github.com/warrenmq/warren/keratin"
	"github.com/warrenmq/warren/queue"
)

// BenchmarkPublishDeliverSettle is the whole way of a message without a wire: batches of a hundred from one
// publisher, confirmed, to one consumer that acknowledges, on the storage engine.
func BenchmarkPublishDeliverSettle(b *testing.B) {
	for _, size := range []int{16, 1024} {
		for _, mode := range []string{"durable", "buffered"} {
			b.Run(fmt.Sprintf("%s/%dB", mode, size), func(b *testing.B) { benchmark(b, size, mode) })
		}
	}
}

func benchmark(b *testing.B, size int, mode string) {
	store, err := keratin.Open(b.TempDir(), keratin.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer store.Abandon()
	broker, err := queue.Open(queue.Options{Store: queue.OnKeratin(store)})
	if err != nil {
		b.Fatal(err)
	}
	u, _ := broker.Authenticate("guest", "guest", true)
	s, err := broker.Connect(u, "/", "bench")
	if err != nil {
		b.Fatal(err)
	}
	if _, err := s.DeclareQueue(queue.QueueDeclare{
		Name: "q", Durable: true, Args: map[string]any{"x-durability": mode},
	}); err != nil {
		b.Fatal(err)
	}
	a := &counting{}
	c, err := s.Consume(queue.ConsumeOptions{Queue: "q"}, a)
	if err != nil {
		b.Fatal(err)
	}
	c.Start()
	window := make(chan uint64, 1<<16)
	confirms := queue.NewConfirms(func(upTo uint64, _, _ bool) { window <- upTo })
	p := s.NewPublisher()
	m := persistent("q", string(make([]byte, size)))
	b.ReportAllocs()
	seq, confirmed := uint64(0), uint64(0)
	for b.Loop() {
		seq++
		if _, err := p.Publish(m, confirms, seq); err != nil {
			b.Fatal(err)
		}
		if seq%100 != 0 {
			continue
		}
		p.Flush()
		c.Queue().Settle(a.take())
		s.Commit()
		for seq-confirmed > 900 {
			confirmed = <-window
		}
	}
}

// BenchmarkManyQueues publishes in turn to a thousand queues with a consumer each, confirmed.
func BenchmarkManyQueues(b *testing.B) {
	const queues = 1000
	store, err := keratin.Open(b.TempDir(), keratin.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer store.Abandon()
	broker, err := queue.Open(queue.Options{Store: queue.OnKeratin(store)})
	if err != nil {
		b.Fatal(err)
	}
	u, _ := broker.Authenticate("guest", "guest", true)
	s, err := broker.Connect(u, "/", "bench")
	if err != nil {
		b.Fatal(err)
	}
	var sinks [queues]*counting
	var consumers [queues]*queue.Consumer
	var messages [queues]*queue.Message
	for i := range queues {
		name := fmt.Sprint("q", i)
		if _, err := s.DeclareQueue(queue.QueueDeclare{Name: name, Args: map[string]any{"x-durability": "buffered"}, Durable: true}); err != nil {
			b.Fatal(err)
		}
		sinks[i], messages[i] = &counting{}, persistent(name, string(make([]byte, 1024)))
		if consumers[i], err = s.Consume(queue.ConsumeOptions{Queue: name}, sinks[i]); err != nil {
			b.Fatal(err)
		}
		consumers[i].Start()
	}
	confirms := queue.NewConfirms(func(uint64, bool, bool) {})
	p := s.NewPublisher()
	b.ReportAllocs()
	seq := uint64(0)
	for b.Loop() {
		seq++
		if _, err := p.Publish(messages[seq%queues], confirms, seq); err != nil {
			b.Fatal(err)
		}
		if seq%50 != 0 {
			continue
		}
		p.Flush()
		for i := seq - 49; i <= seq; i++ {
			if offsets := sinks[i%queues].take(); len(offsets) > 0 {
				consumers[i%queues].Queue().Settle(offsets)
			}
		}
		s.Commit()
	}
}
