package route

import "slices"

// Walk is the working memory of one routing goroutine. The zero value is ready; one Walk serves one Route at
// a time, of any exchange. Between calls it holds no reference to exchanges or queues.
type Walk[Q comparable] struct {
	message Message
	headers map[string]any // valid once asked is true
	asked   bool

	answer []Q // the caller's slice; what this walk found starts at from
	from   int
	queues seen[Q]

	exchanges []*Exchange[Q] // every exchange met, in the order of the visit
	visited   seen[*Exchange[Q]]
	found     bool // the exchange being visited has a destination

	topic topicWalk[Q]
}

// Route appends the queues the message goes to when published to x, each once, and returns the longer slice.
// The order is that of the walk and otherwise unspecified.
func (x *Exchange[Q]) Route(w *Walk[Q], m Message, answer []Q) []Q {
	w.message, w.answer, w.from = m, answer, len(answer)
	w.visit(x)
	for i := 0; i < len(w.exchanges); i++ {
		next := w.exchanges[i]
		w.found = false
		next.matcher.match(w)
		if !w.found && next.alternate != nil {
			w.visit(next.alternate)
		}
	}
	answer = w.answer
	w.reset()
	return answer
}

// reset lets go of everything that belongs to the walk just done.
func (w *Walk[Q]) reset() {
	w.message, w.headers, w.asked = Message{}, nil, false
	w.answer = nil
	w.queues.reset()
	clear(w.exchanges)
	w.exchanges = w.exchanges[:0]
	w.visited.reset()
}

// visit puts an exchange on the list of those to walk through, unless it is or was there.
func (w *Walk[Q]) visit(x *Exchange[Q]) {
	if !w.visited.has(w.exchanges, x) {
		w.exchanges = append(w.exchanges, x)
	}
}

// take receives one matching destination.
func (w *Walk[Q]) take(d dest[Q]) {
	w.found = true
	if d.exchange != nil {
		w.visit(d.exchange)
		return
	}
	if !w.queues.has(w.answer[w.from:], d.queue) {
		w.answer = append(w.answer, d.queue)
	}
}

// takeBag receives all destinations of a bag. They are distinct, so the first bag of a walk, mostly the only
// one, is taken without looking for duplicates.
func (w *Walk[Q]) takeBag(b *bag[Q]) {
	if len(w.answer) > w.from {
		for i := range b.entries {
			w.take(b.entries[i].dest)
		}
		return
	}
	for i := range b.entries {
		if d := &b.entries[i].dest; d.exchange != nil {
			w.visit(d.exchange)
		} else {
			w.answer = append(w.answer, d.queue)
		}
	}
	w.found = w.found || !b.empty()
}

// table returns the message's headers.
func (w *Walk[Q]) table() map[string]any {
	if !w.asked {
		w.asked = true
		if w.message.Headers != nil {
			w.headers = w.message.Headers()
		}
	}
	return w.headers
}

const (
	scanUpTo  = 16   // longest list that is searched by a scan
	keepIndex = 4096 // largest index kept for the next walk: clearing one costs its size
)

// seen answers whether a growing list of distinct values holds a value. Lists that get long are indexed as
// far as they have grown. The zero value belongs to the empty list.
type seen[K comparable] struct {
	index   map[K]struct{}
	indexed int // how much of the list is in index
}

// has is asked about one list, which only grows between resets.
func (s *seen[K]) has(list []K, k K) bool {
	if len(list) <= scanUpTo {
		return slices.Contains(list, k)
	}
	if s.index == nil {
		s.index = make(map[K]struct{}, 4*scanUpTo)
	}
	for _, known := range list[s.indexed:] {
		s.index[known] = struct{}{}
	}
	s.indexed = len(list)
	_, ok := s.index[k]
	return ok
}

func (s *seen[K]) reset() {
	if s.indexed > keepIndex {
		s.index = nil
	} else if s.indexed > 0 {
		clear(s.index)
	}
	s.indexed = 0
}
