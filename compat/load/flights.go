package load

import "time"

// flights are a publisher's unconfirmed messages. Confirms may come in any order, so settled ones can
// stand between unsettled ones; the span from the oldest unsettled one is a ring.
//
//	base                         base+span
//	 | unsettled | settled | ... |
type flights struct {
	base        uint64 // sequence number of the oldest unsettled message, or of the next
	span        int
	outstanding int
	ring        []flight // a power of two, indexed by the sequence number
}

type flight struct {
	at      time.Duration // intended send time
	settled bool
}

func newFlights() *flights { return &flights{base: 1, ring: make([]flight, 64)} }

// next is the sequence number that push will take.
func (f *flights) next() uint64 { return f.base + uint64(f.span) }

// push adds the next message.
func (f *flights) push(at time.Duration) {
	if f.span == len(f.ring) {
		f.grow()
	}
	*f.at(f.next()) = flight{at: at}
	f.span++
	f.outstanding++
}

// settle settles a message, and with multiple all before it, and calls each for those that were not settled before.
// It reports whether there were any.
func (f *flights) settle(seq uint64, multiple bool, each func(seq uint64, at time.Duration)) bool {
	if seq < f.base || seq >= f.next() {
		return false
	}
	before := f.outstanding
	first := seq
	if multiple {
		first = f.base
	}
	for s := first; s <= seq; s++ {
		if flight := f.at(s); !flight.settled {
			flight.settled = true
			f.outstanding--
			each(s, flight.at)
		}
	}
	for f.span > 0 && f.at(f.base).settled {
		f.base++
		f.span--
	}
	return f.outstanding < before
}

// settledAt reports whether a message that was pushed has been settled.
func (f *flights) settledAt(seq uint64) bool { return seq < f.base || f.at(seq).settled }

func (f *flights) at(seq uint64) *flight { return &f.ring[seq&uint64(len(f.ring)-1)] }

func (f *flights) grow() {
	old := *f
	f.ring = make([]flight, 2*len(old.ring))
	for s := old.base; s < old.next(); s++ {
		*f.at(s) = *old.at(s)
	}
}
