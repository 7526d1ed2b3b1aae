package server

import (
	"sort"

	"github.com/warrenmq/warren/queue"
)

// unacked holds what a channel has delivered and the peer has not settled: a deque in the order of delivery tags.
// Tags are mostly dense (they have holes where deliveries needed no acknowledgement), so that a tag's place is found by subtraction, else by
// binary search to the left of that place. Settled entries stay as tombs until they reach an end of the deque or
// outnumber the living: memory follows the number of unsettled messages, whatever the order they are settled in.
type unacked struct {
	ring []delivered // a power of two long, or nil
	head int         // index of the first entry in ring
	n    int         // entries, tombs included
	live int         // entries without tombs
}

// delivered is one message in the peer's hands.
type delivered struct {
	tag    uint64
	offset queue.Offset
	from   *settler
	to     *consumer // nil: basic.get
	state  deliveredState
	held   outcome // if state is held
}

type deliveredState uint8

const (
	settled deliveredState = iota // a tomb
	unsettled
	held // settled in a transaction that has not been committed
)

const (
	ringStart = 16
	ringSpare = 64 // tombs that are tolerated however few entries live
)

func (u *unacked) at(i int) *delivered { return &u.ring[(u.head+i)&(len(u.ring)-1)] }

// push appends an entry. Its tag is higher than those before.
func (u *unacked) push(d delivered) {
	if u.n == len(u.ring) {
		u.resize(max(2*u.n, ringStart))
	}
	*u.at(u.n) = d
	u.n++
	u.live++
}

// find returns the index of the entry with the lowest tag that is at least tag.
func (u *unacked) find(tag uint64) int {
	if u.n == 0 {
		return 0
	}
	first := u.at(0).tag
	if tag <= first {
		return 0
	}
	i := u.n
	if d := tag - first; d < uint64(u.n) {
		i = int(d) // entries are at least one tag apart: tag can only stand here or further left
		if u.at(i).tag == tag {
			return i
		}
	}
	return sort.Search(i, func(i int) bool { return u.at(i).tag >= tag })
}

// get returns the entry with a tag that is still unsettled, or nil. The pointer is valid until the next push or drop.
func (u *unacked) get(tag uint64) *delivered {
	if i := u.find(tag); i < u.n {
		if d := u.at(i); d.tag == tag && d.state == unsettled {
			return d
		}
	}
	return nil
}

// settle makes d, which the deque holds, a tomb.
func (u *unacked) settle(d *delivered) {
	*d = delivered{tag: d.tag}
	u.live--
}

// drop buries the tombs that can be buried. It is called after settle.
func (u *unacked) drop() {
	for u.n > 0 && u.at(0).state == settled {
		u.head = (u.head + 1) & (len(u.ring) - 1)
		u.n--
	}
	for u.n > 0 && u.at(u.n-1).state == settled {
		u.n--
	}
	if u.n > 2*u.live+ringSpare {
		u.compact()
	}
	if len(u.ring) > 4*ringSpare && u.n < len(u.ring)/8 {
		u.resize(len(u.ring) / 4)
	}
}

// compact removes all tombs.
func (u *unacked) compact() {
	to := 0
	for i := range u.n {
		if d := u.at(i); d.state != settled {
			*u.at(to) = *d
			to++
		}
	}
	u.n = to
}

func (u *unacked) resize(size int) {
	ring := make([]delivered, size)
	for i := range u.n {
		ring[i] = *u.at(i)
	}
	u.ring, u.head = ring, 0
}

// upTo returns how many entries from the first have a tag of at most tag; with tag 0, all.
func (u *unacked) upTo(tag uint64) int {
	if tag == 0 {
		return u.n
	}
	return u.find(tag + 1)
}
