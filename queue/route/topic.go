package route

import (
	"bytes"
	"strings"
)

// topic matches routing keys against patterns. Keys and patterns are words separated by '.'; the empty key
// has zero words, "a..b" has an empty one in the middle. In a pattern '*' stands for exactly one word, '#'
// for zero or more (AMQP 0-9-1, 3.1.3.3; zero words as RabbitMQ has them).
//
// The patterns form a trie:
//
//	patterns "a.b", "a.*", "a.#.z", "#"
//
//	root ── a ──┬── b                    words:  literal children
//	  │         ├── *                    star:   the child for '*'
//	  │         └── # ── z               hash:   the child for '#'
//	  └── #
//
// # Why matching is never exponential
//
// The key is run through the trie as through a nondeterministic automaton: all positions at once, word by
// word. A '#' node may stay where it is while a word goes by, so once entered it is never left: the '#' nodes
// entered so far are a list that only grows, and each is entered once for a key. Every other position is
// entered from one parent, which is itself in the previous set once. So a step costs at most the number of
// trie nodes, and a key at most words × nodes, whatever the patterns look like; in practice a step costs one
// lookup for each open position.
//
// A '#' node matches the rest of any key, so its destinations are taken the moment it is entered, and it only
// joins the list if the pattern goes on behind it: "a.b.#" costs nothing per word.
type topic[Q comparable] struct {
	root node[Q]
}

// node is a position in the trie: the words read so far. Nodes without destinations and children do not exist
// (the root aside).
type node[Q comparable] struct {
	dests      bag[Q] // patterns that end here
	words      edges[Q]
	star, hash *node[Q]
	// again: this is a '#' node below another one, so that a key may lead to it several times.
	again bool
}

// consumes reports whether another word can lead on from n (by way of its '#' child aside).
func (n *node[Q]) consumes() bool { return n.star != nil || !n.words.empty() }

func (n *node[Q]) empty() bool { return !n.consumes() && n.hash == nil && n.dests.empty() }

func (t *topic[Q]) bind(d dest[Q], key string, _ map[string]any) {
	n, below := &t.root, false
	for more := key != ""; more; {
		var word string
		word, key, more = strings.Cut(key, ".")
		switch word {
		case "*":
			if n.star == nil {
				n.star = &node[Q]{}
			}
			n = n.star
		case "#":
			if n.hash == nil {
				n.hash = &node[Q]{again: below}
			}
			n, below = n.hash, true
		default:
			n = n.words.child(word)
		}
	}
	n.dests.add(d)
}

func (t *topic[Q]) unbind(d dest[Q], key string, _ map[string]any) bool {
	return t.root.unbind(d, key, key != "")
}

// unbind removes d from the end of the pattern and, on the way back, the nodes that have become empty.
// more tells a rest of zero words from a rest that is one empty word.
func (n *node[Q]) unbind(d dest[Q], rest string, more bool) bool {
	if !more {
		return n.dests.remove(d)
	}
	word, rest, more := strings.Cut(rest, ".")
	var child **node[Q]
	switch word {
	case "*":
		child = &n.star
	case "#":
		child = &n.hash
	default:
		c := n.words.find(word)
		if c == nil || !c.unbind(d, rest, more) {
			return false
		}
		if c.empty() {
			n.words.remove(word)
		}
		return true
	}
	if *child == nil || !(*child).unbind(d, rest, more) {
		return false
	}
	if (*child).empty() {
		*child = nil
	}
	return true
}

// topicWalk is the working memory of a match.
type topicWalk[Q comparable] struct {
	open, next []*node[Q] // positions other than '#' nodes that a further word can lead on from
	hashes     []*node[Q] // '#' nodes entered, of the same sort
	again      []*node[Q] // those entered that could be entered again
	known      seen[*node[Q]]
}

func (t *topic[Q]) match(w *Walk[Q]) {
	t.matchKey(w, w.message.Key)
	for _, key := range w.message.MoreKeys {
		t.matchKey(w, key)
	}
}

func (t *topic[Q]) matchKey(w *Walk[Q], key []byte) {
	s := &w.topic
	t.root.arrive(w, len(key) > 0)
	s.open, s.next = s.next, s.open
	for more := len(key) > 0; more && len(s.open)+len(s.hashes) > 0; {
		word := key
		if i := bytes.IndexByte(key, '.'); i >= 0 {
			word, key = key[:i], key[i+1:]
		} else {
			more = false
		}
		entered := len(s.hashes) // the word does not count for those entered by it
		for _, n := range s.open {
			n.step(w, word, more)
		}
		for _, n := range s.hashes[:entered] {
			n.step(w, word, more)
		}
		clear(s.open)
		s.open, s.next = s.next, s.open[:0]
	}
	s.reset()
}

// step goes from n to where the word leads; more tells whether other words follow.
func (n *node[Q]) step(w *Walk[Q], word []byte, more bool) {
	if c := n.words.match(word); c != nil {
		c.arrive(w, more)
	}
	if n.star != nil {
		n.star.arrive(w, more)
	}
}

// arrive opens the position n, or takes what it holds if the key ends here.
func (n *node[Q]) arrive(w *Walk[Q], more bool) {
	switch {
	case !more:
		w.takeBag(&n.dests)
	case n.consumes():
		w.topic.next = append(w.topic.next, n)
	}
	if n.hash != nil {
		n.hash.enter(w)
	}
}

// enter is called for '#' nodes: on arrival at the parent, as '#' may stand for no word.
func (n *node[Q]) enter(w *Walk[Q]) {
	s := &w.topic
	if n.again {
		if s.known.has(s.again, n) {
			return
		}
		s.again = append(s.again, n)
	}
	w.takeBag(&n.dests)
	if n.consumes() {
		s.hashes = append(s.hashes, n)
	}
	if n.hash != nil {
		n.hash.enter(w)
	}
}

func (s *topicWalk[Q]) reset() {
	clear(s.open)
	clear(s.hashes)
	clear(s.again)
	s.open, s.hashes, s.again = s.open[:0], s.hashes[:0], s.again[:0]
	s.known.reset()
}
