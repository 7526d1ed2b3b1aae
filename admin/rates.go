package admin

import (
	"sync"
	"time"
)

// A counter is one number about an object: something that only grows, or a level.
type counter int

const (
	cReady   counter = iota // level
	cUnacked                // level
	cPublish
	cConfirm
	cReturn
	cDrop
	cDeliver
	cDeliverNoAck
	cGet
	cGetNoAck
	cGetEmpty
	cRedeliver
	cAck
	cReceived // octets
	cSent     // octets
	cOpened   // connections
	cClosed
	cChannelsOpened
	cChannelsClosed
	cDeclared // queues
	cCreated
	cDeleted
	numCounters
)

// counts is the counters of one object.
type counts [numCounters]int64

// objectKey names an object in a sample.
type objectKey struct {
	kind        byte // 'q' queue, 'c' connection, 'v' vhost, 'b' broker
	vhost, name string
}

const (
	sampleEvery = 5 * time.Second // least age of a sample before the next is taken
	sampleOld   = time.Minute     // above this age the younger of the two samples is the better one
	leastSpan   = time.Second     // a rate over less would be noise
	sampleMost  = 20_000          // objects in a sample; those beyond have no rates
)

// rates keeps two samples of everybody's counters, and tells how fast they move. Memory is bounded by sampleMost.
type rates struct {
	now func() time.Time

	mu struct {
		sync.Mutex
		last, before sample
	}
}

type sample struct {
	at     time.Time
	counts map[objectKey]counts
}

func newRates(now func() time.Time) *rates { return &rates{now: now} }

// refresh takes a sample with collect when the last one has come of age. collect calls add once per object.
func (r *rates) refresh(collect func(add func(objectKey, counts))) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now()
	if !r.mu.last.at.IsZero() && now.Sub(r.mu.last.at) < sampleEvery {
		return
	}
	s := sample{at: now, counts: map[objectKey]counts{}}
	collect(func(key objectKey, c counts) {
		if len(s.counts) < sampleMost {
			s.counts[key] = c
		}
	})
	r.mu.before, r.mu.last = r.mu.last, s
}

// speed is how fast an object's counters move, per second.
type speed [numCounters]float64

// of returns the speed of an object with the given counters now. An object that the sample does not have is new
// and has counted from zero since.
func (r *rates) of(key objectKey, c *counts) speed {
	r.mu.Lock()
	base := r.mu.before
	if base.at.IsZero() || r.now().Sub(base.at) > sampleOld && r.now().Sub(r.mu.last.at) >= leastSpan {
		base = r.mu.last
	}
	span := r.now().Sub(base.at)
	r.mu.Unlock()
	var s speed
	if base.at.IsZero() || span < leastSpan {
		return s
	}
	was, known := base.counts[key]
	if !known && len(base.counts) == sampleMost {
		return s
	}
	for i := range c {
		s[i] = float64(c[i]-was[i]) / span.Seconds()
		if s[i] < 0 && counter(i) != cReady && counter(i) != cUnacked {
			s[i] = 0 // another object of that name, which has counted from zero
		}
	}
	return s
}
