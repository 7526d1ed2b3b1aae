package queue

import "sync"

// Confirms knows, for one channel in confirm mode, which published messages have passed the gate of every queue
// they went to.
//
// The messages between base and next are outstanding. For each there is the number of gates still closed, in a ring
// indexed by sequence number.
type Confirms struct {
	emit func(upTo uint64, multiple, nack bool)

	mu     sync.Mutex
	closed bool
	base   uint64   // the lowest message not yet reported
	next   uint64   // the message after the last one published
	gates  []uint32 // a power of two of them; nil at first
	meter  *meter   // of the vhost last published to
}

const (
	nackBit  = 1 << 31 // a gate will never be passed
	minRing  = 64
	keepRing = 4096 // a longer ring is given back when nothing is outstanding
)

// NewConfirms returns the confirms of a channel whose first message is seq 1. emit is called in ascending order,
// never concurrently, without a queue's lock: every message after the last reported up to upTo is confirmed
// (multiple when that is more than one), or refused if nack. It must not block and not call into Confirms.
func NewConfirms(emit func(upTo uint64, multiple, nack bool)) *Confirms {
	return &Confirms{emit: emit, base: 1, next: 1}
}

// begin announces message seq, the one after the last, which has to pass n > 0 gates.
func (c *Confirms) begin(seq uint64, n int, m *meter) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.next-c.base == uint64(len(c.gates)) {
		c.grow()
	}
	c.meter = m
	c.gates[seq&uint64(len(c.gates)-1)] = uint32(n)
	c.next = seq + 1
}

func (c *Confirms) grow() {
	bigger := make([]uint32, max(2*len(c.gates), minRing))
	for seq := c.base; seq < c.next; seq++ {
		bigger[seq&uint64(len(bigger)-1)] = c.gates[seq&uint64(len(c.gates)-1)]
	}
	c.gates = bigger
}

// run is messages of one channel with consecutive numbers, to inclusive.
type run struct {
	c        *Confirms
	from, to uint64
}

// pass opens one gate for every message of the runs, all of the same channel, and reports what that completes.
func (c *Confirms) pass(runs []run, nack bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	mask := uint64(len(c.gates) - 1)
	for _, r := range runs {
		for seq := r.from; seq <= r.to; seq++ {
			g := &c.gates[seq&mask]
			*g--
			if nack {
				*g |= nackBit
			}
		}
	}
	c.reportLocked()
}

// reportLocked reports the outstanding prefix that has no closed gate left, in pieces of equal outcome.
func (c *Confirms) reportLocked() {
	mask := uint64(len(c.gates) - 1)
	begin := c.base
	for c.base < c.next {
		from, outcome := c.base, c.gates[c.base&mask]
		if outcome&^nackBit != 0 {
			break
		}
		for c.base < c.next && c.gates[c.base&mask] == outcome {
			c.base++
		}
		if !c.closed {
			c.emit(c.base-1, c.base-from > 1, outcome != 0)
		}
	}
	if n := c.base - begin; n > 0 && !c.closed {
		c.meter.confirm.Add(n)
	}
	if c.base == c.next && len(c.gates) > keepRing {
		c.gates = nil
	}
}

// Close stops the reports: on return emit is not called any more.
func (c *Confirms) Close() {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
}

// Outstanding returns the number of messages published and not yet reported.
func (c *Confirms) Outstanding() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return int(c.next - c.base)
}
