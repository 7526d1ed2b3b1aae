package state

import (
	"encoding/binary"
	"errors"
	"slices"
)

// ErrCorrupt says that a snapshot or an event record is not what the state machine has written, or does not fit the
// state it is replayed on. The queue cannot be used.
var ErrCorrupt = errors.New("queue state: corrupt")

// Settled collects what has been settled since it was last put on the log. As a record:
//
//	uvarint number of messages | uvarint their bytes | uvarint number of spans | spans
//
// and each span, in ascending order: uvarint distance from the end of the one before, uvarint length. A span may
// hold records that are not messages.
type Settled struct {
	tally
	spans []Span // in the order of settling; they do not overlap
}

func (s *Settled) add(off Offset, size uint32) {
	s.addSpan(off, off+1, tally{1, uint64(size)})
}

func (s *Settled) addSpan(from, to Offset, t tally) {
	s.Count += t.Count
	s.Bytes += t.Bytes
	if n := len(s.spans); n > 0 && s.spans[n-1].To == from {
		s.spans[n-1].To = to
		return
	}
	s.spans = append(s.spans, Span{from, to})
}

// skip lets the last span reach over a record at off that is not a message.
func (s *Settled) skip(off Offset) {
	if n := len(s.spans); n > 0 && s.spans[n-1].To == off {
		s.spans[n-1].To++
	}
}

// keepSpans is how many spans' room is kept between two records.
const keepSpans = 64

// AppendSettled appends the record of everything settled since the last call to dst and forgets it. It appends
// nothing if nothing was settled.
func (q *Queue) AppendSettled(dst []byte) []byte {
	s := &q.settled
	if s.Count == 0 {
		return dst
	}
	merged := s.merged()
	dst = binary.AppendUvarint(dst, s.Count)
	dst = binary.AppendUvarint(dst, s.Bytes)
	dst = appendSpans(dst, merged)
	q.ForgetSettled()
	return dst
}

// Unrecorded reports whether something was settled that AppendSettled has not put into a record.
func (q *Queue) Unrecorded() bool { return q.settled.Count > 0 }

// ForgetSettled forgets what has been settled, for a queue whose log is not needed after it.
func (q *Queue) ForgetSettled() {
	room := q.settled.spans
	if cap(room) > keepSpans {
		room = nil
	}
	q.settled = Settled{spans: room[:0]}
}

// merged sorts the spans and joins those that touch.
func (s *Settled) merged() []Span {
	slices.SortFunc(s.spans, func(a, b Span) int { return compare(a.From, b.From) })
	out := s.spans[:1]
	for _, x := range s.spans[1:] {
		if last := &out[len(out)-1]; last.To == x.From {
			last.To = x.To
		} else {
			out = append(out, x)
		}
	}
	return out
}

func appendSpans(dst []byte, spans []Span) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(spans)))
	var end Offset
	for _, x := range spans {
		dst = binary.AppendUvarint(dst, uint64(x.From-end))
		dst = binary.AppendUvarint(dst, uint64(x.To-x.From))
		end = x.To
	}
	return dst
}
