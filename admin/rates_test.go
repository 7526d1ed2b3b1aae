package admin

import (
	"encoding/json"
	"math"
	"testing"
	"time"
)

// stopwatch is a clock that stands still until it is told.
type stopwatch struct{ t time.Time }

func (s *stopwatch) now() time.Time          { return s.t }
func (s *stopwatch) advance(d time.Duration) { s.t = s.t.Add(d) }

func TestRates(t *testing.T) {
	clock := &stopwatch{time.Unix(1000, 0)}
	r := newRates(clock.now)
	key := objectKey{'q', "/", "q"}
	var live counts
	sampled := 0
	look := func() speed {
		r.refresh(func(add func(objectKey, counts)) { sampled++; add(key, live) })
		return r.of(key, &live)
	}
	expect := func(what string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 1e-9 {
			t.Errorf("%s: got %v/s, want %v/s", what, got, want)
		}
	}

	expect("first look", look()[cPublish], 0)
	clock.advance(500 * time.Millisecond)
	live[cPublish] = 100
	expect("too soon to tell", look()[cPublish], 0)
	clock.advance(1500 * time.Millisecond)
	expect("over two seconds", look()[cPublish], 50)
	clock.advance(4 * time.Second)
	live[cPublish] = 700
	expect("over six seconds", look()[cPublish], 700.0/6)
	if sampled != 2 {
		t.Errorf("%d samples taken, want 2", sampled)
	}
	clock.advance(time.Second)
	live[cReady] = -7 // a level, and it falls
	expect("falling level", look()[cReady], -1)
	expect("still moving", look()[cPublish], 100)
	clock.advance(10 * time.Minute)
	look()
	clock.advance(2 * time.Second)
	live[cPublish] += 20
	expect("after a long pause, since the pause", look()[cPublish], 10)

	live = counts{}
	expect("recreated under its name", look()[cPublish], 0)

	other := objectKey{'q', "/", "new"}
	var n counts
	n[cPublish] = 4
	if got := r.of(other, &n)[cPublish]; got != 2 {
		t.Errorf("new object: got %v/s, want 2/s", got)
	}
}

func TestRatesBounded(t *testing.T) {
	clock := &stopwatch{time.Unix(1000, 0)}
	r := newRates(clock.now)
	r.refresh(func(add func(objectKey, counts)) {
		for i := range sampleMost + 5 {
			add(objectKey{kind: 'q', name: string(rune(i + 1))}, counts{})
		}
	})
	if n := len(r.mu.last.counts); n != sampleMost {
		t.Fatalf("%d objects sampled, want %d", n, sampleMost)
	}
	clock.advance(2 * time.Second)
	var n counts
	n[cPublish] = 1000
	if got := r.of(objectKey{kind: 'q', name: "beyond"}, &n)[cPublish]; got != 0 {
		t.Errorf("object beyond the bound has a rate of %v", got)
	}
}

func TestMessageStats(t *testing.T) {
	var n counts
	var s speed
	if messageStats(&n, &s) != nil {
		t.Error("counters of zero are shown")
	}
	n[cDeliver], n[cGetNoAck], s[cDeliver] = 3, 2, 1.5
	text, err := json.Marshal(messageStats(&n, &s))
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"get_no_ack":2,"get_no_ack_details":{"rate":0},"deliver":3,"deliver_details":{"rate":1.5},"deliver_get":5,"deliver_get_details":{"rate":1.5}}`
	if string(text) != want {
		t.Errorf("got\n%s\nwant\n%s", text, want)
	}
}
