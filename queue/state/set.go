package state

import "slices"

// entry is one message that is known by its offset.
type entry struct {
	off        Offset
	size       uint32 // bytes of the body
	deliveries uint16 // how often it has been delivered; maxDeliveries: or more often
	priority   uint8  // 0 in a queue without priorities
}

const maxDeliveries = 1<<16 - 1

// blockLen keeps a block at about a kilobyte: moving half of it costs less than a cache miss or two.
const blockLen = 62

// block holds entries e[head:tail] in ascending order of offset. A block in a set is never empty.
type block struct {
	head, tail int
	e          [blockLen]entry
}

func (b *block) live() []entry { return b.e[b.head:b.tail] }
func (b *block) len() int      { return b.tail - b.head }
func (b *block) first() Offset { return b.e[b.head].off }
func (b *block) last() Offset  { return b.e[b.tail-1].off }

// set is a sorted set of entries in blocks. Adding at the end and removing near the front, which is what queues
// do, touch one block; anything else costs a binary search and a short move. An empty set holds no memory but one
// spare block once it has been used.
type set struct {
	blocks []*block
	spare  *block
	tally
}

// tally is a number of messages and the sum of their bodies' bytes.
type tally struct {
	Count uint64
	Bytes uint64
}

func (t *tally) add(size uint32) { t.Count++; t.Bytes += uint64(size) }
func (t *tally) sub(size uint32) { t.Count--; t.Bytes -= uint64(size) }

func byFirst(b *block, off Offset) int { return compare(b.first(), off) }
func byOffset(e entry, off Offset) int { return compare(e.off, off) }

func compare(a, b Offset) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// min returns the entry with the lowest offset.
func (s *set) min() (entry, bool) {
	if len(s.blocks) == 0 {
		return entry{}, false
	}
	b := s.blocks[0]
	return b.e[b.head], true
}

// find returns the block that holds off or is the place for it: the last block that begins at or below off. It is
// -1 if off lies before all blocks.
func (s *set) find(off Offset) int {
	n := len(s.blocks)
	if n == 0 {
		return -1
	}
	if s.blocks[n-1].first() <= off {
		return n - 1
	}
	i, exact := slices.BinarySearchFunc(s.blocks, off, byFirst)
	if exact {
		return i
	}
	return i - 1
}

// add puts e into the set, whose offset is not in it.
func (s *set) add(e entry) {
	s.tally.add(e.size)
	i := s.find(e.off)
	if i >= 0 {
		switch b := s.blocks[i]; {
		case b.tail < blockLen && e.off > b.last():
			b.e[b.tail] = e
			b.tail++
			return
		case b.len() < blockLen:
			b.insert(e)
			return
		case e.off < b.last():
			s.split(i)
			if right := s.blocks[i+1]; e.off > right.first() {
				b = right
			}
			b.insert(e)
			return
		}
	}
	// e belongs between two blocks, and the one before is full.
	if i++; i < len(s.blocks) && s.blocks[i].len() < blockLen {
		s.blocks[i].insert(e)
		return
	}
	b := s.newBlock()
	b.e[0], b.tail = e, 1
	s.blocks = slices.Insert(s.blocks, i, b)
}

// insert puts e at its place in a block that is not full, moving whichever side has room.
func (b *block) insert(e entry) {
	i, _ := slices.BinarySearchFunc(b.live(), e.off, byOffset)
	i += b.head
	if b.head > 0 {
		copy(b.e[b.head-1:], b.e[b.head:i])
		b.head--
		b.e[i-1] = e
		return
	}
	copy(b.e[i+1:b.tail+1], b.e[i:b.tail])
	b.tail++
	b.e[i] = e
}

// split moves the upper half of the full block i into a new block behind it.
func (s *set) split(i int) {
	b, half := s.blocks[i], blockLen/2
	right := s.newBlock()
	right.tail = copy(right.e[:], b.e[half:])
	b.tail = half
	s.blocks = slices.Insert(s.blocks, i+1, right)
}

func (s *set) newBlock() *block {
	b := s.spare
	if b == nil {
		return new(block)
	}
	s.spare = nil
	b.head, b.tail = 0, 0
	return b
}

// remove takes the entry at off out of the set.
func (s *set) remove(off Offset) (entry, bool) {
	i := s.findFront(off)
	if i < 0 {
		return entry{}, false
	}
	b := s.blocks[i]
	j := b.head
	if b.e[j].off != off { // the first one is the usual one
		at, ok := slices.BinarySearchFunc(b.live(), off, byOffset)
		if !ok {
			return entry{}, false
		}
		j += at
	}
	e := b.e[j]
	s.tally.sub(e.size)
	if j-b.head < b.tail-j {
		copy(b.e[b.head+1:j+1], b.e[b.head:j])
		b.head++
	} else {
		copy(b.e[j:], b.e[j+1:b.tail])
		b.tail--
	}
	s.tidy(i)
	return e, true
}

// findFront is find for removals, which are mostly near the front.
func (s *set) findFront(off Offset) int {
	if len(s.blocks) > 0 && s.blocks[0].first() <= off && off <= s.blocks[0].last() {
		return 0
	}
	return s.find(off)
}

// tidy drops block i if it is empty, and merges neighbours that are together at most half full, so that a set
// never takes more than a small multiple of what its entries need.
func (s *set) tidy(i int) {
	if s.blocks[i].len() == 0 {
		s.drop(i)
		return
	}
	s.merge(i)
	s.merge(i - 1)
}

// merge moves the entries of block i+1 into block i if they are few.
func (s *set) merge(i int) {
	if i < 0 || i+1 >= len(s.blocks) {
		return
	}
	b, right := s.blocks[i], s.blocks[i+1]
	n, m := b.len(), right.len()
	if n+m > blockLen/2 {
		return
	}
	copy(b.e[:], b.live())
	copy(b.e[n:], right.live())
	b.head, b.tail = 0, n+m
	s.drop(i + 1)
}

// shiftMax is the number of blocks up to which dropping the first one moves the others down. Beyond it the slice
// moves forward over its array instead, and append copies it now and then.
const shiftMax = 32

func (s *set) drop(i int) {
	s.spare = s.blocks[i]
	if i == 0 && len(s.blocks) > shiftMax {
		s.blocks[0] = nil
		s.blocks = s.blocks[1:]
		return
	}
	s.blocks = slices.Delete(s.blocks, i, i+1)
}

// ceil returns the entry with the lowest offset at or above off.
func (s *set) ceil(off Offset) (entry, bool) {
	i := s.findFront(off)
	if i < 0 {
		return s.min()
	}
	b := s.blocks[i]
	if j, _ := slices.BinarySearchFunc(b.live(), off, byOffset); b.head+j < b.tail {
		return b.e[b.head+j], true
	}
	if i+1 < len(s.blocks) {
		next := s.blocks[i+1]
		return next.e[next.head], true
	}
	return entry{}, false
}

// all calls f for every entry in ascending order.
func (s *set) all(f func(entry)) {
	for _, b := range s.blocks {
		for _, e := range b.live() {
			f(e)
		}
	}
}
