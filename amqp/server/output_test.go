package server

import (
	"bytes"
	"errors"
	"net"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/warrenmq/warren/amqp"
)

// sink is a connection that keeps what is written, or fails.
type sink struct {
	net.Conn
	mu    sync.Mutex
	wrote bytes.Buffer
	fault error
}

func (s *sink) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fault != nil {
		return 0, s.fault
	}
	return s.wrote.Write(b)
}

func newTestConsumer(o *output) *consumer {
	return &consumer{ch: &channel{c: &conn{out: o}, number: 3}, tag: "tag", noAck: true}
}

// TestOutputWritesWhatWasAppended compares with frames made by the codec alone.
func TestOutputWritesWhatWasAppended(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := newOutput()
		o.maxPayload = 4096 - amqp.FrameOverhead
		k := newTestConsumer(o)
		var want []byte
		nc := &sink{}
		var writer sync.WaitGroup
		writer.Go(func() {
			if err := o.run(nc); err != nil {
				t.Error(err)
			}
		})
		for i, size := range rapid.SliceOfN(rapid.IntRange(0, 40_000), 1, 10).Draw(t, "bodies") {
			body := bytes.Repeat([]byte{byte(i)}, size)
			m := content{exchange: []byte("x"), routingKey: []byte("key"), properties: []byte{0, 0}, body: body}
			if rapid.Bool().Draw(t, "get") {
				ok := &amqp.BasicGetOk{DeliveryTag: 1}
				o.message(3, ok, &m)
				want = amqp.AppendMethod(want, 3, ok)
			} else {
				if !o.deliver(k, uint64(i), &m) {
					t.Fatal("refused")
				}
				want = amqp.AppendDeliver(want, 3, "tag", uint64(i), false, m.exchange, m.routingKey)
			}
			want = amqp.AppendHeader(want, 3, amqp.ClassBasic, uint64(size), m.properties)
			want = amqp.AppendBody(want, 3, body, o.maxPayload)
		}
		o.last(amqp.AppendHeartbeat(nil))
		o.finish()
		writer.Wait()
		want = amqp.AppendHeartbeat(want)
		if !bytes.Equal(nc.wrote.Bytes(), want) {
			t.Fatalf("wrote %d octets, want %d", nc.wrote.Len(), len(want))
		}
		if o.pending.Load() != 0 {
			t.Fatalf("%d octets pending at the end", o.pending.Load())
		}
	})
}

func TestOutputRefusesDeliveriesAboveTheMark(t *testing.T) {
	o := newOutput()
	o.maxPayload = 1 << 17
	k := newTestConsumer(o)
	m := content{properties: []byte{0, 0}, body: make([]byte, 1000)}
	taken := 0
	for o.deliver(k, 1, &m) {
		taken++
	}
	if size := o.pending.Load(); size < outputHigh || size > outputHigh+2000 {
		t.Fatalf("%d octets after %d deliveries", size, taken)
	}
	if len(o.mu.starved) != 1 || o.mu.starved[0] != k {
		t.Fatal("the consumer was not noted")
	}
	if o.crowded() {
		t.Fatal("deliveries alone stop the reader")
	}
	o.method(1, &amqp.TxSelectOk{})
	size := int(o.pending.Load())
	if starved := o.written(size - outputLow - 1); starved != nil {
		t.Fatal("resumed above the low mark")
	}
	if starved := o.written(1); len(starved) != 1 {
		t.Fatal("not resumed at the low mark")
	}
}

func TestOutputAfterAFailedWrite(t *testing.T) {
	o := newOutput()
	nc := &sink{fault: errors.New("reset")}
	for range outputHard / 100 {
		o.frames(make([]byte, 200))
	}
	if !o.crowded() {
		t.Fatal("not crowded")
	}
	var reader sync.WaitGroup
	reader.Go(o.waitRoom)
	if err := o.run(nc); !errors.Is(err, nc.fault) {
		t.Fatal(err)
	}
	reader.Wait()
	o.frames(make([]byte, 100))
	if o.deliver(newTestConsumer(o), 1, &content{}) {
		t.Fatal("a dead output takes deliveries")
	}
	if o.mu.chunk != nil {
		t.Fatal("a dead output keeps what is appended")
	}
}
