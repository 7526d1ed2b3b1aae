package load

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/warrenmq/warren/amqp"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type clientTest func(t *testing.T, b *fakeBroker, w Workload)

// everyClient runs a test with each client, on a broker of its own and in a time of its own, which only
// passes while everybody waits.
func everyClient(t *testing.T, f clientTest) {
	everyClientInRealTime(t, func(t *testing.T, _ *fakeBroker, w Workload) {
		synctest.Test(t, func(t *testing.T) {
			b := newFakeBroker(t)
			w.Dial = b.dial
			f(t, b, w)
		})
	})
}

// everyClientInRealTime is for workloads with a rate: the pacer sleeps in the kernel.
func everyClientInRealTime(t *testing.T, f clientTest) {
	for _, client := range []Client{Lean, AMQP091} {
		t.Run(string(client), func(t *testing.T) {
			b := newFakeBroker(t)
			f(t, b, Workload{Client: client, Dial: b.dial})
		})
	}
}

func TestRun(t *testing.T) {
	for name, shape := range map[string]Shape{
		"window 1":           {Window: 1, Prefetch: 10},
		"window 100":         {Window: 100, Prefetch: 1000},
		"no confirms":        {Size: 16, Transient: true, AutoAck: true},
		"many queues":        {Publishers: 2, Consumers: 3, Queues: 20, Window: 50, AckEvery: 1},
		"more workers":       {Publishers: 4, Consumers: 1, Queues: 2, Window: 7},
		"paced":              {Publishers: 3, Rate: 20_000, Window: 1000},
		"paced, no confirms": {Publishers: 2, Rate: 20_000},
		"backlog":            {Window: 100, Backlog: true, Prefetch: 3},
		"large bodies":       {Size: 300_000, Window: 3},
	} {
		t.Run(name, func(t *testing.T) {
			run := everyClient
			if shape.Rate > 0 {
				run = everyClientInRealTime
			}
			run(t, func(t *testing.T, b *fakeBroker, w Workload) {
				w.Shape = shape
				w.Messages = 501
				if shape.Size > 1<<16 {
					w.Messages = 20
				}
				r, err := Run(t.Context(), w)
				if err != nil {
					t.Fatal(err)
				}
				checkReport(t, r, uint64(w.Messages))
				if shape.Rate == 0 != (r.Lateness == nil) {
					t.Errorf("lateness %+v", r.Lateness)
				}
				checkAcks(t, b, r)
			})
		})
	}
}

// checkReport checks that everything went in and came out once.
func checkReport(t *testing.T, r *Report, messages uint64) {
	t.Helper()
	want := Counts{Published: messages, Delivered: messages, Deliveries: messages}
	if r.Workload.Window > 0 {
		want.Confirmed = messages
	}
	if r.Counts != want {
		t.Errorf("got %+v, want %+v", r.Counts, want)
	}
	if r.Delivery == nil || r.Delivery.Count != int64(messages) || r.Delivery.P50 > r.Delivery.Max {
		t.Errorf("delivery %+v", r.Delivery)
	}
	if (r.Confirm != nil) != (r.Workload.Window > 0) || r.Confirm != nil && r.Confirm.Count != int64(messages) {
		t.Errorf("confirm %+v", r.Confirm)
	}
	if r.PublishedPerSecond <= 0 || r.DeliveredPerSecond <= 0 || r.Seconds <= 0 {
		t.Errorf("rates %+v", r)
	}
	if r.Product != "Fake" || r.Version != "1.2.3" || r.Error != "" {
		t.Errorf("got %s %s, %q", r.Product, r.Version, r.Error)
	}
}

// checkAcks checks that the consumers acknowledged as often as they should.
func checkAcks(t *testing.T, b *fakeBroker, r *Report) {
	t.Helper()
	w := &r.Workload
	least := int(r.Counts.Deliveries) / w.AckEvery
	most := least + w.Consumers // each acks its rest
	if w.AutoAck {
		least, most = 0, 0
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.acked < least || b.acked > most {
		t.Errorf("%d acks, want %d to %d", b.acked, least, most)
	}
	if len(b.queues) > 0 {
		t.Errorf("%d queues left", len(b.queues))
	}
}

func TestFaultsAreFound(t *testing.T) {
	at := func(n int) func(int) bool { return func(m int) bool { return m == n } }
	tests := []struct {
		name   string
		fault  func(b *fakeBroker)
		want   Counts
		lost   bool
		errors string // in the error; empty: the run is fine
	}{
		{"lost", func(b *fakeBroker) { b.lose = at(37) },
			Counts{Published: 100, Confirmed: 100, Delivered: 99, Deliveries: 99, Missing: 1}, true, "1 of 100 did not come out"},
		{"repeated", func(b *fakeBroker) { b.repeat = at(37) },
			Counts{Published: 100, Confirmed: 100, Delivered: 100, Deliveries: 101, Redelivered: 1}, false, ""},
		{"nacked", func(b *fakeBroker) { b.nack = at(37) },
			Counts{Published: 100, Confirmed: 99, Nacked: 1, Delivered: 99, Deliveries: 99}, false, ""},
		{"confirmed together", func(b *fakeBroker) { b.confirm = func(n int) bool { return n%5 == 0 } },
			Counts{Published: 100, Confirmed: 100, Delivered: 100, Deliveries: 100}, false, ""},
		{"body changed", func(b *fakeBroker) {
			b.mangle = func(n int, body []byte) {
				if n == 37 {
					body[len(body)-1]++
				}
			}
		}, Counts{Published: 100, Confirmed: 100, Delivered: 99, Deliveries: 100, Unknown: 1}, true, "the body of message 37 of publisher 0 has changed"},
		{"from the future", func(b *fakeBroker) {
			b.mangle = func(n int, body []byte) {
				if n == 37 {
					stamp{0, 1 << 40, 0}.put(body)
				}
			}
		}, Counts{Published: 100, Confirmed: 100, Delivered: 99, Deliveries: 100, Missing: 1, Unknown: 1}, true, "has not sent message 1099511627776"},
		{"from another publisher", func(b *fakeBroker) {
			b.mangle = func(n int, body []byte) {
				if n == 37 {
					stamp{9, 1, 0}.put(body)
				}
			}
		}, Counts{Published: 100, Confirmed: 100, Delivered: 99, Deliveries: 100, Missing: 1, Unknown: 1}, true, "there is no publisher 9"},
		{"never confirmed", func(b *fakeBroker) { b.confirm = func(n int) bool { return n < 96 } },
			Counts{Published: 100, Confirmed: 95, Unconfirmed: 5, Delivered: 100, Deliveries: 100}, false, "5 messages were not confirmed"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			everyClient(t, func(t *testing.T, b *fakeBroker, w Workload) {
				test.fault(b)
				w.Window, w.Messages = 10, 100
				r, err := Run(t.Context(), w)
				if r == nil || r.Counts != test.want {
					t.Errorf("got %+v, want %+v", r, test.want)
				}
				if (test.errors == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), test.errors) {
					t.Errorf("error %v, want %q", err, test.errors)
				}
				if errors.Is(err, ErrLost) != test.lost {
					t.Errorf("error %v", err)
				}
			})
		})
	}
}

// TestWrongQueue swaps the queues behind the generator's back.
func TestWrongQueue(t *testing.T) {
	everyClient(t, func(t *testing.T, b *fakeBroker, w Workload) {
		w.Window, w.Messages, w.Queues = 10, 100, 2
		b.mangle = func(n int, _ []byte) {
			if n == 37 {
				for name := range b.queues {
					if c := b.conns[len(b.conns)-2]; name != c.routingKey { // the publisher's
						c.routingKey = name
						return
					}
				}
			}
		}
		r, err := Run(t.Context(), w)
		if !errors.Is(err, ErrLost) || r.Counts.Unknown != 1 {
			t.Errorf("got %+v, %v", r, err)
		}
	})
}

func TestBrokenConnections(t *testing.T) {
	everyClient(t, func(t *testing.T, b *fakeBroker, w Workload) {
		w.Window, w.Messages = 10, 100
		b.hangUp = func(n int) bool { return n == 37 }
		r, err := Run(t.Context(), w)
		if err == nil || !strings.Contains(err.Error(), "PRECONDITION_FAILED - enough") || errors.Is(err, ErrLost) {
			t.Error(err)
		}
		if r == nil || r.Counts.Published < 37 || r.Error == "" {
			t.Errorf("got %+v", r)
		}
	})
	everyClient(t, func(t *testing.T, b *fakeBroker, w Workload) {
		w.Messages = 1
		b.neverOpen = true
		if r, err := Run(t.Context(), w); err == nil || r != nil {
			t.Error(r, err)
		}
	})
}

// TestTimedRun leaves the warm-up out of the latencies.
func TestTimedRun(t *testing.T) {
	everyClientInRealTime(t, func(t *testing.T, b *fakeBroker, w Workload) {
		w.Rate, w.Window = 1000, 100
		w.WarmUp, w.Duration = 100*time.Millisecond, 200*time.Millisecond
		r, err := Run(t.Context(), w)
		if err != nil {
			t.Fatal(err)
		}
		// The schedule says exactly how many messages there are, however slow the machine.
		if r.Counts.Published+r.Counts.Unsent != 300 || r.Counts.Unsent == 0 && r.Confirm.Count != 200 {
			t.Errorf("got %+v, %+v", r.Counts, r.Confirm)
		}
	})
}

func TestNoConsumers(t *testing.T) {
	everyClient(t, func(t *testing.T, b *fakeBroker, w Workload) {
		w.Window, w.Messages, w.Consumers = 10, 100, -1
		r, err := Run(t.Context(), w)
		if err != nil || r.Counts.Left != 100 || r.Counts.Missing != 0 {
			t.Errorf("got %+v, %v", r, err)
		}
	})
	everyClient(t, func(t *testing.T, b *fakeBroker, w Workload) {
		w.Window, w.Messages, w.Consumers = 10, 100, -1
		b.lose = func(n int) bool { return n == 100 }
		if r, err := Run(t.Context(), w); !errors.Is(err, ErrLost) || r.Counts.Missing != 1 {
			t.Errorf("got %+v, %v", r, err)
		}
	})
}

func TestSmallFrames(t *testing.T) {
	b := newFakeBroker(t)
	b.frameMax = 4096
	w := Workload{Dial: b.dial, Shape: Shape{Size: 10_000, Window: 10}, Bounds: Bounds{Messages: 50}}
	r, err := Run(t.Context(), w)
	if err != nil {
		t.Fatal(err)
	}
	checkReport(t, r, 50)
}

func TestWorkloadIsChecked(t *testing.T) {
	bound := Bounds{Messages: 10}
	for name, w := range map[string]Workload{
		"a run needs a bound":        {},
		"client \"rhea\"":            {Client: "rhea", Bounds: bound},
		"publishers -1":              {Shape: Shape{Publishers: -1}, Bounds: bound},
		"queues -1":                  {Shape: Shape{Queues: -1}, Bounds: bound},
		"size 15":                    {Shape: Shape{Size: 15}, Bounds: bound},
		"window -1":                  {Shape: Shape{Window: -1}, Bounds: bound},
		"rate -1":                    {Shape: Shape{Rate: -1}, Bounds: bound},
		"prefetch 65536":             {Shape: Shape{Prefetch: 65536}, Bounds: bound},
		"ack every 11":               {Shape: Shape{Prefetch: 10, AckEvery: 11}, Bounds: bound},
		"messages 10":                {Shape: Shape{Publishers: 11}, Bounds: bound},
		"a backlog needs consumers":  {Shape: Shape{Backlog: true, Consumers: -1}, Bounds: bound},
		"queue arguments":            {Queueing: Queueing{QueueArguments: amqp.Table{"x": 1}}, Bounds: bound},
		"url":                        {URL: "http://localhost", Bounds: bound},
		"scheme \"amqps\"":           {URL: "amqps://localhost", Bounds: bound},
		"bounds must not be negativ": {Bounds: Bounds{Duration: -1}},
	} {
		if _, err := Run(t.Context(), w); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
