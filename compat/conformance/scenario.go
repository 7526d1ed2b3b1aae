package main

import "slices"

// chapter is a part of the specification.
type chapter struct {
	name      string
	scenarios []scenario
}

// scenario is what a client does; name says what is to be seen.
type scenario struct {
	name string
	play func(*stage)
}

// chapters is the whole specification, in the order of the report.
var chapters = []chapter{
	handshakeChapter, connectionChapter, channelChapter,
	exchangeChapter, bindingChapter, queueChapter, equivalenceChapter, argumentsChapter, exclusiveChapter, autoDeleteChapter,
	publishChapter, confirmChapter, returnChapter, propertiesChapter,
	topicChapter, headersChapter, alternateChapter,
	consumeChapter, getChapter, ackChapter, requeueChapter, qosChapter, cancelChapter, priorityChapter,
	txChapter, expiryChapter, lengthChapter, deadLetterChapter,
	framesChapter, orderChapter, accessChapter, featuresChapter,
}

// each numbers the cases of a table as scenarios.
func each[T any](cases []T, name func(T) string, play func(*stage, T)) []scenario {
	var all []scenario
	for _, c := range cases {
		all = append(all, scenario{name(c), func(s *stage) { play(s, c) }})
	}
	return all
}

// join puts the parts of a chapter in a row.
func join(parts ...[]scenario) []scenario { return slices.Concat(parts...) }
