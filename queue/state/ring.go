package state

// Consumer is one consumer of a queue, as the state sees it. Value is the caller's.
type Consumer struct {
	Value     any
	NoAck     bool
	Exclusive bool
	Priority  int64

	joined  bool
	blocked bool
	// The ring of the unblocked consumers of one priority; nil when blocked.
	next, prev *Consumer
}

// level holds the unblocked consumers of one priority; turn is whose turn it is.
type level struct {
	priority int64
	turn     *Consumer
}

// ring is the consumers of a queue: round-robin within a priority, a higher priority first as long as one of it is
// not blocked. A blocked consumer costs nothing.
type ring struct {
	count     int
	exclusive *Consumer
	levels    []level // in descending order of priority, none without a consumer
}

// Consume adds c, blocked at first. It answers false, and changes nothing, if c or another wants the queue for itself.
func (q *Queue) Consume(c *Consumer) bool {
	r := &q.consumers
	if r.exclusive != nil || (c.Exclusive && r.count > 0) {
		return false
	}
	if c.Exclusive {
		r.exclusive = c
	}
	c.joined, c.blocked = true, true
	r.count++
	return true
}

// Cancel removes c. It answers false if c is not a consumer of the queue (any more).
func (q *Queue) Cancel(c *Consumer) bool {
	if !c.joined {
		return false
	}
	q.Block(c)
	r := &q.consumers
	if r.exclusive == c {
		r.exclusive = nil
	}
	c.joined = false
	r.count--
	return true
}

// Consumers returns the number of consumers, and the exclusive one if there is one.
func (q *Queue) Consumers() (int, *Consumer) { return q.consumers.count, q.consumers.exclusive }

// Block tells that c takes no messages for now.
func (q *Queue) Block(c *Consumer) {
	if c.joined && !c.blocked {
		c.blocked = true
		q.consumers.unlink(c)
	}
}

// Unblock tells that c takes messages again; it is the last of its priority in turn.
func (q *Queue) Unblock(c *Consumer) {
	if c.joined && c.blocked {
		c.blocked = false
		q.consumers.link(c)
	}
}

// Turn returns the consumer whose turn it is, nil if all are blocked.
func (q *Queue) Turn() *Consumer {
	if len(q.consumers.levels) == 0 {
		return nil
	}
	return q.consumers.levels[0].turn
}

// Served passes the turn on from c, who has had it.
func (q *Queue) Served(c *Consumer) {
	if l := q.consumers.levels; len(l) > 0 && l[0].turn == c {
		l[0].turn = c.next
	}
}

func (r *ring) link(c *Consumer) {
	i := 0
	for i < len(r.levels) && r.levels[i].priority > c.Priority {
		i++
	}
	if i == len(r.levels) || r.levels[i].priority < c.Priority {
		r.levels = append(r.levels, level{})
		copy(r.levels[i+1:], r.levels[i:])
		r.levels[i] = level{c.Priority, c}
		c.next, c.prev = c, c
		return
	}
	at := r.levels[i].turn
	c.next, c.prev = at, at.prev
	c.prev.next, at.prev = c, c
}

func (r *ring) unlink(c *Consumer) {
	i := 0
	for r.levels[i].priority != c.Priority {
		i++
	}
	if c.next == c {
		r.levels = append(r.levels[:i], r.levels[i+1:]...)
	} else {
		c.prev.next, c.next.prev = c.next, c.prev
		if r.levels[i].turn == c {
			r.levels[i].turn = c.next
		}
	}
	c.next, c.prev = nil, nil
}
