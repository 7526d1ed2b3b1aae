package route

import "slices"

// fewEdges is the number of children up to which they are scanned: most nodes have one.
const fewEdges = 8

// edges leads from a trie node to its children by literal word. The zero value has none.
type edges[Q comparable] struct {
	few  []edge[Q]
	many map[string]*node[Q] // instead of few, once there were more than fewEdges
}

type edge[Q comparable] struct {
	word string
	node *node[Q]
}

func (e *edges[Q]) empty() bool { return len(e.few) == 0 && len(e.many) == 0 }

func (e *edges[Q]) find(word string) *node[Q] {
	if e.many != nil {
		return e.many[word]
	}
	for i := range e.few {
		if e.few[i].word == word {
			return e.few[i].node
		}
	}
	return nil
}

// match is find for a word that is part of a message: it allocates nothing.
func (e *edges[Q]) match(word []byte) *node[Q] {
	if e.many != nil {
		return e.many[string(word)]
	}
	for i := range e.few {
		if e.few[i].word == string(word) {
			return e.few[i].node
		}
	}
	return nil
}

// child finds or makes the child.
func (e *edges[Q]) child(word string) *node[Q] {
	if n := e.find(word); n != nil {
		return n
	}
	n := &node[Q]{}
	if e.many == nil && len(e.few) == fewEdges {
		e.many = make(map[string]*node[Q], 2*fewEdges)
		for _, f := range e.few {
			e.many[f.word] = f.node
		}
		e.few = nil
	}
	if e.many != nil {
		e.many[word] = n
	} else {
		e.few = append(e.few, edge[Q]{word, n})
	}
	return n
}

func (e *edges[Q]) remove(word string) {
	if e.many != nil {
		delete(e.many, word)
		if len(e.many) == 0 {
			e.many = nil
		}
		return
	}
	e.few = slices.DeleteFunc(e.few, func(f edge[Q]) bool { return f.word == word })
	if len(e.few) == 0 {
		e.few = nil
	}
}
