package route

// indexFrom is the number of destinations from which a bag finds them by a map instead of a scan.
const indexFrom = 16

// bag is a set of destinations in which each is counted. The zero value is empty.
type bag[Q comparable] struct {
	entries []entry[Q]
	index   map[dest[Q]]int // position in entries; nil while the bag is small
}

type entry[Q comparable] struct {
	dest[Q]
	refs int
}

func (b *bag[Q]) empty() bool { return len(b.entries) == 0 }

func (b *bag[Q]) find(d dest[Q]) int {
	if b.index != nil {
		if i, ok := b.index[d]; ok {
			return i
		}
		return -1
	}
	for i := range b.entries {
		if b.entries[i].dest == d {
			return i
		}
	}
	return -1
}

func (b *bag[Q]) add(d dest[Q]) {
	if i := b.find(d); i >= 0 {
		b.entries[i].refs++
		return
	}
	b.entries = append(b.entries, entry[Q]{d, 1})
	switch {
	case b.index != nil:
		b.index[d] = len(b.entries) - 1
	case len(b.entries) == indexFrom:
		b.index = make(map[dest[Q]]int, 2*indexFrom)
		for i := range b.entries {
			b.index[b.entries[i].dest] = i
		}
	}
}

// remove takes one reference away, and reports whether there was one.
func (b *bag[Q]) remove(d dest[Q]) bool {
	i := b.find(d)
	if i < 0 {
		return false
	}
	if b.entries[i].refs--; b.entries[i].refs > 0 {
		return true
	}
	last := len(b.entries) - 1
	if i != last {
		b.entries[i] = b.entries[last]
	}
	b.entries[last] = entry[Q]{}
	b.entries = b.entries[:last]
	if b.index != nil {
		delete(b.index, d)
		if i != last {
			b.index[b.entries[i].dest] = i
		}
	}
	if last == 0 {
		*b = bag[Q]{}
	}
	return true
}
