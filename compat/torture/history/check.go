package history

import (
	"cmp"
	"fmt"
	"slices"
)

// Class is a kind of violation.
type Class string

// The classes; the package comment says what each means.
const (
	Lost       Class = "lost"
	Unexpected Class = "unexpected"
	Duplicate  Class = "duplicate"
	Phantom    Class = "phantom"
	Order      Class = "order"
)

// Classes lists all classes.
var Classes = []Class{Lost, Unexpected, Duplicate, Phantom, Order}

// maxExamples bounds the violations of one class that are described.
const maxExamples = 10

// Report is the result of a check. Counts are of (message, queue) pairs unless said otherwise.
type Report struct {
	Published  int `json:"published"`  // messages
	Confirmed  int `json:"confirmed"`  // messages
	Nacked     int `json:"nacked"`     // messages
	Unknown    int `json:"unknown"`    // messages
	Deliveries int `json:"deliveries"` // arrivals
	Recovered  int `json:"recovered"`  // outcome unknown, delivered all the same
	Again      int `json:"again"`      // arrivals after the first, rightly flagged
	AcksUndone int `json:"acks_undone"`

	Violations map[Class]int            `json:"violations"`
	Queues     map[Class]map[string]int `json:"queues,omitempty"` // violations by the queue
	Examples   map[Class][]string       `json:"examples,omitempty"`
}

// Violated is the number of violations of all classes.
func (r *Report) Violated() int {
	n := 0
	for _, c := range r.Violations {
		n += c
	}
	return n
}

// Add sums another report into r.
func (r *Report) Add(o Report) {
	r.Published += o.Published
	r.Confirmed += o.Confirmed
	r.Nacked += o.Nacked
	r.Unknown += o.Unknown
	r.Deliveries += o.Deliveries
	r.Recovered += o.Recovered
	r.Again += o.Again
	r.AcksUndone += o.AcksUndone
	r.init()
	for class, queues := range o.Queues {
		for queue, n := range queues {
			r.add(class, queue, n)
		}
		room := max(0, maxExamples-len(r.Examples[class]))
		r.Examples[class] = append(r.Examples[class], o.Examples[class][:min(room, len(o.Examples[class]))]...)
	}
}

func (r *Report) init() {
	if r.Violations == nil {
		r.Violations, r.Examples = map[Class]int{}, map[Class][]string{}
		r.Queues = map[Class]map[string]int{}
	}
}

func (r *Report) blame(class Class, queue, format string, args ...any) {
	r.add(class, queue, 1)
	if len(r.Examples[class]) < maxExamples {
		r.Examples[class] = append(r.Examples[class], "queue "+queue+": "+fmt.Sprintf(format, args...))
	}
}

func (r *Report) add(class Class, queue string, n int) {
	r.Violations[class] += n
	if r.Queues[class] == nil {
		r.Queues[class] = map[string]int{}
	}
	r.Queues[class][queue] += n
}

// pair is a message in a queue.
type pair struct {
	publisher, seq uint32
	queue          string
}

// arrival is a delivery with the session it arrived in.
type arrival struct {
	*delivery
	session *Session
}

// checker holds what the checks share.
type checker struct {
	report     Report
	publishers map[uint32]*Publisher
	arrivals   map[pair][]arrival // by time
}

// Check checks the history. Every queue must have been drained before, and every recorder have ended.
func (h *History) Check() Report {
	c := &checker{publishers: map[uint32]*Publisher{}, arrivals: map[pair][]arrival{}}
	c.report.init()
	for _, p := range h.publishers {
		c.publishers[p.ID] = p
	}
	c.collect(h.sessions)
	for _, p := range h.publishers {
		c.checkPublisher(p)
	}
	for _, key := range sortedPairs(c.arrivals) {
		c.checkRepeats(key, c.arrivals[key])
	}
	c.checkOrder(h.sessions)
	return c.report
}

func sortedPairs(m map[pair][]arrival) []pair {
	keys := make([]pair, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b pair) int {
		return cmp.Or(cmp.Compare(a.publisher, b.publisher), cmp.Compare(a.seq, b.seq), cmp.Compare(a.queue, b.queue))
	})
	return keys
}

// collect files every arrival under its message and queue, and blames those that have no business being there.
func (c *checker) collect(sessions []*Session) {
	for _, s := range sessions {
		for i := range s.deliveries {
			d := &s.deliveries[i]
			c.report.Deliveries++
			if why := c.unexpected(s, d); why != "" {
				c.report.blame(Unexpected, s.Queue, "epoch %d: message %d of publisher %d: %s", s.Epoch, d.seq, d.publisher, why)
				continue
			}
			key := pair{d.publisher, d.seq, s.Queue}
			c.arrivals[key] = append(c.arrivals[key], arrival{d, s})
		}
	}
	for _, list := range c.arrivals {
		slices.SortStableFunc(list, func(a, b arrival) int { return cmp.Compare(a.at, b.at) })
	}
}

func (c *checker) unexpected(s *Session, d *delivery) string {
	if d.corrupt != "" {
		return d.corrupt
	}
	p := c.publishers[d.publisher]
	switch {
	case p == nil:
		return "no such publisher"
	case int(d.seq) >= len(p.sent):
		return fmt.Sprintf("it published only %d", len(p.sent))
	case p.Epoch > s.Epoch:
		return fmt.Sprintf("published in epoch %d, later", p.Epoch)
	case !slices.Contains(p.sent[d.seq].queues, s.Queue):
		return "not routed to this queue"
	}
	return ""
}

// checkPublisher counts a publisher's messages and finds the lost ones.
func (c *checker) checkPublisher(p *Publisher) {
	r := &c.report
	for seq, m := range p.sent {
		r.Published++
		switch m.outcome {
		case OK:
			r.Confirmed++
		case Nack:
			r.Nacked++
		case Unknown:
			r.Unknown++
		}
		for _, queue := range m.queues {
			arrived := len(c.arrivals[pair{p.ID, uint32(seq), queue}]) > 0
			switch {
			case arrived && m.outcome == Unknown:
				r.Recovered++
			case !arrived && m.outcome == OK:
				place := ""
				if r.Violations[Lost] < maxExamples { // it takes a walk over all messages
					place = c.where(p, uint32(seq), queue)
				}
				r.blame(Lost, queue, "message %d of publisher %d (epoch %d, %d messages), %s",
					seq, p.ID, p.Epoch, len(p.sent), place)
			}
		}
	}
}

// where tells whether a lost message is missing from the start, the middle or the end of its publisher's messages
// in the queue. The end is what a crash explains most easily, the middle the least.
func (c *checker) where(p *Publisher, seq uint32, queue string) string {
	has := func(from, to uint32) bool {
		for i := from; i < to; i++ {
			if len(c.arrivals[pair{p.ID, i, queue}]) > 0 {
				return true
			}
		}
		return false
	}
	before, after := has(0, seq), has(seq+1, uint32(len(p.sent)))
	switch {
	case before && after:
		return "in the middle"
	case after:
		return "at the start"
	case before:
		return "at the end"
	}
	return "with all others"
}

// checkRepeats looks at the arrivals of one message from one queue after the first.
func (c *checker) checkRepeats(key pair, list []arrival) {
	r := &c.report
	for i := 1; i < len(list); i++ {
		before, again := list[i-1], list[i]
		describe := func(class Class, why string) {
			r.blame(class, key.queue, "message %d of publisher %d: again in epoch %d after epoch %d: %s",
				key.seq, key.publisher, again.session.Epoch, before.session.Epoch, why)
		}
		// What stands in the way of a redelivery is the strongest fate of all earlier deliveries.
		earlier := list[:i]
		isSettled := func(a arrival) bool { return a.fate == settled }
		switch {
		case slices.ContainsFunc(earlier, isSettled):
			describe(Phantom, "its acknowledgement had been followed by a reply")
		case !again.redelivered:
			describe(Duplicate, "not flagged as redelivered")
		case !cutOff(before.session, again.session) && before.fate != requeued:
			describe(Duplicate, "the earlier delivery was neither given back nor cut off")
		default:
			r.Again++
			if before.fate == acked {
				r.AcksUndone++
			}
		}
	}
}

// cutOff tells whether session before had ended when again began: a kill lies between them, or the drain began.
func cutOff(before, again *Session) bool {
	return before.Epoch != again.Epoch || again.Draining && !before.Draining
}

// stream is what one publisher sent to one queue.
type stream struct {
	publisher uint32
	queue     string
}

// checkOrder demands that deliveries ascend, as far as the flags say that they are first ones.
func (c *checker) checkOrder(sessions []*Session) {
	byEpoch := slices.Clone(sessions)
	slices.SortStableFunc(byEpoch, func(a, b *Session) int { return cmp.Compare(a.Epoch, b.Epoch) })
	done := map[stream]int64{} // the highest unflagged message of all earlier epochs
	for len(byEpoch) > 0 {
		n := 1
		for n < len(byEpoch) && byEpoch[n].Epoch == byEpoch[0].Epoch {
			n++
		}
		now := map[stream]int64{}
		for _, s := range byEpoch[:n] {
			c.checkSession(s, done, now)
		}
		for k, v := range now {
			done[k] = max(done[k], v)
		}
		byEpoch = byEpoch[n:]
	}
}

// checkSession checks the order within s and against done, and notes in now how far s came. Numbers are one more
// than the message's, so that zero means none.
func (c *checker) checkSession(s *Session, done, now map[stream]int64) {
	last := map[stream]int64{}  // unflagged
	drain := map[stream]int64{} // any first arrival, of a draining session
	for i := range s.deliveries {
		d := &s.deliveries[i]
		key, n := stream{d.publisher, s.Queue}, int64(d.seq)+1
		list := c.arrivals[pair{d.publisher, d.seq, s.Queue}]
		if len(list) == 0 {
			continue // unexpected, and blamed as such
		}
		if s.Draining && list[0].delivery == d {
			if n <= drain[key] {
				c.report.blame(Order, s.Queue, "draining: message %d of publisher %d after %d", d.seq, d.publisher, drain[key]-1)
			}
			drain[key] = max(drain[key], n)
		}
		if d.redelivered {
			continue
		}
		if high := max(last[key], done[key]); n <= high {
			c.report.blame(Order, s.Queue, "epoch %d, session %d: message %d of publisher %d, not flagged, after %d",
				s.Epoch, s.ID, d.seq, d.publisher, high-1)
		}
		last[key] = max(last[key], n)
		now[key] = max(now[key], n)
	}
}
