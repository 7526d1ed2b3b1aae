// Package history records what clients saw of a broker and checks it against what the broker promised.
//
// # What is recorded
//
// A run is cut into epochs; the broker is killed between two of them. Every connection lives in one epoch.
//
//	Publisher   one channel in confirm mode. Its messages are numbered 0, 1, 2 ... in the order of publishing. Each
//	            has the queues that it must reach and an outcome: ok (acknowledged by the broker), nack, or unknown,
//	            which is what a message is whose connection ended before the broker's word came. Never "failed".
//	Session     one consumer of one queue on a channel of its own, and its deliveries in the order of arrival.
//
// # What is checked
//
//	lost          confirmed, and never delivered from a queue it was routed to
//	unexpected    delivered, but never published, from a queue it was not routed to, or with other bytes
//	duplicate     delivered again without the redelivered flag, or while the earlier delivery was still held
//	phantom       delivered again although the acknowledgement of an earlier delivery had been followed by a
//	              synchronous reply on the same channel
//	order         per publisher and queue, deliveries that are not flagged do not ascend: within a session, or
//	              against an earlier epoch; in a draining session, which is alone, all first deliveries must ascend
//
// A message whose outcome is unknown may be delivered or not; both are counted. So are acknowledgements that a kill
// undid before any synchronous reply: at-least-once delivery allows them.
//
// A recorder may be used by one publishing, one confirming and one consuming goroutine each; Check wants all of
// them to have ended.
package history

import (
	"sync"
	"time"
)

// Outcome is what became of a published message, as its publisher knows it.
type Outcome uint8

// The outcomes. A message is Unknown from the moment it is handed to the client library.
const (
	Unknown Outcome = iota
	OK
	Nack
)

// History is everything that was seen since the last time that all queues were empty.
type History struct {
	start time.Time

	mu         sync.Mutex
	publishers []*Publisher
	sessions   []*Session
}

// New starts an empty history.
func New() *History { return &History{start: time.Now()} }

// Publisher records the messages of one channel.
type Publisher struct {
	ID    uint32
	Epoch int

	mu   sync.Mutex
	sent []sent
}

type sent struct {
	queues  []string // shared between messages, never changed
	outcome Outcome
}

// NewPublisher begins the record of a publisher. id is unique over the whole run.
func (h *History) NewPublisher(id uint32, epoch int) *Publisher {
	p := &Publisher{ID: id, Epoch: epoch}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.publishers = append(h.publishers, p)
	return p
}

// Sending records that the next message is about to be published to exactly queues, and returns its number.
func (p *Publisher) Sending(queues []string) uint32 {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sent = append(p.sent, sent{queues: queues})
	return uint32(len(p.sent) - 1)
}

// Settle records the broker's word on message seq.
func (p *Publisher) Settle(seq uint32, o Outcome) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sent[seq].outcome = o
}

// Confirmed is the number of messages that the broker has acknowledged so far.
func (p *Publisher) Confirmed() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := 0
	for _, s := range p.sent {
		if s.outcome == OK {
			n++
		}
	}
	return n
}

// Session is the record of one consumer.
type Session struct {
	ID       int
	Queue    string
	Epoch    int
	Draining bool // alone on its queue, after all other sessions of its epoch have ended

	start      time.Time
	deliveries []delivery
	synced     int // deliveries before this one whose acknowledgement was followed by a synchronous reply
}

// delivery is one message as it arrived.
type delivery struct {
	at          time.Duration // since the history's start, on the monotonic clock
	publisher   uint32
	seq         uint32
	redelivered bool
	fate        fate
	corrupt     string // what was wrong with its bytes, or ""
}

// fate is what the consumer did with a delivery.
type fate uint8

const (
	held     fate = iota // nothing yet, or the connection ended first
	acked                // acknowledged; the broker may or may not have read that
	settled              // acknowledged, and a synchronous reply came after it
	requeued             // given back
)

// NewSession begins the record of a consumer.
func (h *History) NewSession(queue string, epoch int, draining bool) *Session {
	h.mu.Lock()
	defer h.mu.Unlock()
	s := &Session{ID: len(h.sessions), Queue: queue, Epoch: epoch, Draining: draining, start: h.start}
	h.sessions = append(h.sessions, s)
	return s
}

// Delivered records an arrival and returns its index in the session. corrupt says what is wrong with the bytes,
// "" for nothing; the identity of a corrupt message is not trusted.
func (s *Session) Delivered(publisher, seq uint32, redelivered bool, corrupt string) int {
	s.deliveries = append(s.deliveries, delivery{
		at: time.Since(s.start), publisher: publisher, seq: seq, redelivered: redelivered, corrupt: corrupt,
	})
	return len(s.deliveries) - 1
}

// Acking records that an acknowledgement of delivery i is about to be sent.
func (s *Session) Acking(i int) { s.deliveries[i].fate = acked }

// Requeueing records that delivery i is about to be given back.
func (s *Session) Requeueing(i int) { s.deliveries[i].fate = requeued }

// Synced records that a synchronous reply has arrived on the session's channel: every acknowledgement sent before
// the request is settled.
func (s *Session) Synced() {
	first := len(s.deliveries)
	for i := s.synced; i < len(s.deliveries); i++ {
		switch d := &s.deliveries[i]; d.fate {
		case acked:
			d.fate = settled
		case held:
			first = min(first, i)
		}
	}
	s.synced = first
}

// Len is the number of deliveries so far.
func (s *Session) Len() int { return len(s.deliveries) }
