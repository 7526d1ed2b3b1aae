package server

import "github.com/warrenmq/warren/queue"

// outcome is what becomes of a delivery.
type outcome uint8

const (
	acked    outcome = iota // done with
	rejected                // done with, unhappily
	requeued                // back to its place in the queue
	outcomes                // their number
)

// settler collects what one read batch settles of one queue. Each consumer has one, and so has each basic.get.
type settler struct {
	queue   *queue.Queue
	offsets [outcomes][]queue.Offset
	inBatch bool
}

// settlerKept bounds the capacity that a settler keeps between batches.
const settlerKept = 1024

// handOver gives the queue what has been collected.
func (s *settler) handOver() {
	for how, offsets := range s.offsets {
		if len(offsets) == 0 {
			continue
		}
		switch outcome(how) {
		case acked:
			s.queue.Settle(offsets)
		case rejected:
			s.queue.Reject(offsets)
		case requeued:
			s.queue.Requeue(offsets)
		}
		s.offsets[how] = offsets[:0]
		if cap(offsets) > settlerKept {
			s.offsets[how] = nil
		}
	}
	s.inBatch = false
}

// batch is what the frames of one read have left to do. It belongs to the reader.
type batch struct {
	c         *conn
	published bool        // the publisher holds something
	settlers  []*settler  // that hold something
	resume    []*consumer // that have credit again
	unwritten bool        // something that was settled may not have been written yet
	partial   []*channel  // whose content began in the read buffer and has not ended
	current   current

	assembling     uint64        // octets of bodies that came in several frames and are not complete
	message        queue.Message // the one being published; here so that it need not be allocated
	messageHeaders []byte        // its headers property
	headers        func() map[string]any
}

func (b *batch) init(c *conn) {
	b.c = c
	b.headers = b.parseHeaders
}

// add notes one message of a settler's queue.
func (b *batch) add(s *settler, o queue.Offset, how outcome) {
	s.offsets[how] = append(s.offsets[how], o)
	if !s.inBatch {
		s.inBatch = true
		b.settlers = append(b.settlers, s)
	}
}

// handOver gives the queues what has been collected. Commands that could tell the difference call it first.
func (b *batch) handOver() {
	if b.published {
		b.published = false
		b.c.pub.Flush()
	}
	if len(b.settlers) > 0 {
		b.handOverSettled()
	}
	for i, k := range b.resume {
		b.resume[i] = nil
		k.qc.Resume()
	}
	b.resume = b.resume[:0]
}

func (b *batch) handOverSettled() {
	for i, s := range b.settlers {
		s.handOver()
		b.settlers[i] = nil
	}
	b.settlers = b.settlers[:0]
	b.c.session.Commit()
	b.unwritten = true
}

// settleDown hands over, and returns when what was settled is written: a reply that a client waits for tells it that
// what it had acknowledged before will not come again, even if the broker is killed next.
func (b *batch) settleDown() {
	b.handOver()
	if b.unwritten {
		b.unwritten = false
		b.c.session.Written()
	}
}

// endBatch ends the batch: everything is handed over and the replies leave, and what still points into the read
// buffer is copied.
func (b *batch) endBatch() {
	b.handOver()
	for i, ch := range b.partial {
		ch.content.detach()
		b.partial[i] = nil
	}
	b.partial = b.partial[:0]
	b.c.out.flush()
}
