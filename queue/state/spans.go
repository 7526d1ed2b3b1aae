package state

import "slices"

// Span is a range of offsets, From included, To not.
type Span struct{ From, To Offset }

// spans is a set of offsets as disjoint intervals in ascending order, none touching the next.
type spans []Span

// add puts [from, to) into the set, joining it with what it touches or overlaps.
func (s *spans) add(from, to Offset) {
	if n := len(*s); n == 0 || (*s)[n-1].To < from {
		*s = append(*s, Span{from, to})
		return
	}
	// i is the first interval that ends at or behind from, j the first one that begins behind to.
	i, _ := slices.BinarySearchFunc(*s, from, func(x Span, off Offset) int { return compare(x.To, off) })
	j := i
	for j < len(*s) && (*s)[j].From <= to {
		from, to = min(from, (*s)[j].From), max(to, (*s)[j].To)
		j++
	}
	*s = slices.Replace(*s, i, j, Span{from, to})
}

// pass removes everything below off, and the interval that holds off: what is left lies wholly above the result,
// the first offset at or above off that is not in the set.
func (s *spans) pass(off Offset) Offset {
	i := 0
	for i < len(*s) && (*s)[i].From <= off {
		off = max(off, (*s)[i].To)
		i++
	}
	if i > 0 {
		*s = slices.Delete(*s, 0, i)
	}
	if len(*s) == 0 {
		*s = nil
	}
	return off
}
