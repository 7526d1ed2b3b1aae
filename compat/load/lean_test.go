package load

import (
	"io"
	"net"
	"testing"
	"time"

	"github.com/warrenmq/warren/amqp"
)

// replay is a connection that reads the same octets over and over, cut anywhere, and drops what is written.
type replay struct {
	net.Conn
	frames []byte
	at     int
	left   int // reads until the end of file
}

func (r *replay) Read(p []byte) (int, error) {
	if r.left == 0 {
		return 0, io.EOF
	}
	r.left--
	n := 0
	for n < len(p) {
		k := copy(p[n:], r.frames[r.at:])
		n += k
		r.at = (r.at + k) % len(r.frames)
	}
	return n, nil
}

func (r *replay) Write(p []byte) (int, error) { return len(p), nil }

const benchSize = 1024

func benchLink(conn net.Conn) *leanLink {
	o := &outgoing{clock: clock{time.Now()}, queues: []string{"load.12345678.0"}, body: newBody(benchSize)}
	return &leanLink{
		wire:  &wire{conn: conn, buf: make([]byte, readSize), maxPayload: frameMax - amqp.FrameOverhead},
		out:   o,
		heads: [][]byte{publishHead(o.queues[0], benchSize, amqp.Persistent)},
		done:  make(chan struct{}),
	}
}

func benchPublisher(l *leanLink) *publisher {
	p := &publisher{
		link: l, clock: l.out.clock, ledger: new(ledger), queues: []int{0}, quota: 1 << 40, window: 1000,
		burst: burstOctets / benchSize, done: make(chan struct{}),
		schedule: schedule{stop: 1 << 62},
	}
	p.mu.flights, p.mu.confirms, p.mu.lateness = newFlights(), newLatency(), newLatency()
	return p
}

// publishAndConfirm sends a window of messages and confirms it, again and again.
func publishAndConfirm(p *publisher, windows int) error {
	for range windows {
		if err := p.fill(); err != nil {
			return err
		}
		if err := p.confirmed(p.mu.sent, true, false, p.clock.now()); err != nil {
			return err
		}
	}
	return nil
}

// deliverFrames returns the frames of a message, as a broker delivers it.
func deliverFrames(body []byte) []byte {
	frames := amqp.AppendDeliver(nil, 1, consumerTag(0), 7, false, nil, []byte("load.12345678.0"))
	props := amqp.AppendProperties(nil, &amqp.Properties{DeliveryMode: amqp.Persistent})
	frames = amqp.AppendHeader(frames, 1, amqp.ClassBasic, uint64(len(body)), props)
	return amqp.AppendBody(frames, 1, body, 0)
}

// serveDeliveries lets a consumer take what fits into a number of reads.
func serveDeliveries(tb testing.TB, reads int) *consumer {
	body := newBody(benchSize)
	stamp{0, 1, 0}.put(body)
	l := benchLink(&replay{frames: deliverFrames(body), left: reads})
	p := benchPublisher(l)
	p.ledger.extend(1)
	c := &consumer{link: l, publishers: []*publisher{p}, body: l.out.body, ackEvery: 100, deliveries: newLatency()}
	if err := l.serve(c); err == nil {
		tb.Fatal("the connection ended without an error")
	}
	if c.unknown.Load() > 0 {
		tb.Fatal(c.foreign)
	}
	return c
}

func TestLeanAllocatesNothingPerMessage(t *testing.T) {
	p := benchPublisher(benchLink(&replay{}))
	if err := publishAndConfirm(p, 10); err != nil {
		t.Fatal(err)
	}
	allocs := testing.AllocsPerRun(10, func() {
		if err := publishAndConfirm(p, 10); err != nil {
			t.Fatal(err)
		}
	})
	// Ten thousand messages; the ledger takes a chunk for every 65536.
	if allocs > 5 {
		t.Errorf("%v allocations for 10,000 messages sent", allocs)
	}
	few := testing.AllocsPerRun(3, func() { serveDeliveries(t, 1) })
	many := testing.AllocsPerRun(3, func() { serveDeliveries(t, 100) })
	if many > few+5 {
		t.Errorf("%v allocations for 25,000 messages received, %v for 250", many, few)
	}
}

func BenchmarkLeanPublish(b *testing.B) {
	p := benchPublisher(benchLink(&replay{}))
	b.ReportAllocs()
	for b.Loop() {
		if err := publishAndConfirm(p, 1); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(p.mu.sent), "ns/message")
}

func BenchmarkLeanDeliver(b *testing.B) {
	b.ReportAllocs()
	var messages uint64
	for b.Loop() {
		messages += serveDeliveries(b, 100).received.Load()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(messages), "ns/message")
}
