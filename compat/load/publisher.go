package load

import (
	"errors"
	"fmt"
	"math"
	"sync"
	"time"
)

// publisher sends one publisher's messages and books their confirms.
type publisher struct {
	// Immutable once running.
	link     link
	clock    clock
	ledger   *ledger
	id       int
	queues   []int
	quota    uint64 // messages
	window   int    // unconfirmed messages, 0: without confirms
	burst    int    // messages sent at once
	schedule schedule

	done chan struct{} // closed when everything has been sent and confirmed

	mu struct {
		sync.Mutex
		sent      uint64
		flights   *flights // nil without confirms
		nacked    map[uint64]bool
		finished  bool // nothing more will be sent
		confirmed uint64
		unsent    uint64 // due before the end, and not sent

		confirms *latency // from the intended time to the confirm
		lateness *latency // from the intended time to sending
	}
}

// schedule says when messages are due.
type schedule struct {
	begin    time.Duration // of publishing
	warm     time.Duration // end of the warm-up
	stop     time.Duration // end of publishing
	interval time.Duration // between two messages of this publisher; 0: as fast as possible
	offset   time.Duration // of the first message from begin
}

func (s *schedule) paced() bool { return s.interval > 0 }

// intended is the moment for which a message is meant.
func (s *schedule) intended(seq uint64) time.Duration {
	return s.begin + s.offset + time.Duration(seq-1)*s.interval
}

// due counts the messages that are meant for now or before.
func (s *schedule) due(now time.Duration) uint64 {
	if !s.paced() {
		return math.MaxUint64
	}
	since := min(now, s.stop-1) - s.begin - s.offset
	if since < 0 {
		return 0
	}
	return uint64(since/s.interval) + 1
}

// burstOctets is about what is sent at once: small enough that the broker can start on it early.
const burstOctets = 64 << 10

// fill sends until nothing more may be sent now. Without a window and without a rate, that is until publishing ends.
func (p *publisher) fill() error {
	for {
		p.mu.Lock()
		now := p.clock.now() // with the lock: what is due never decreases
		n := p.allowanceLocked(now)
		err := p.sendLocked(n, now)
		p.finishLocked(now)
		p.mu.Unlock()
		if err != nil || n == 0 {
			return err
		}
		if err := p.link.flush(); err != nil {
			return err
		}
	}
}

// allowanceLocked is how many messages to send now, a burst at most.
func (p *publisher) allowanceLocked(now time.Duration) int {
	if p.mu.finished || !p.schedule.paced() && now >= p.schedule.stop {
		return 0
	}
	n := min(p.quota, p.schedule.due(now)) - p.mu.sent
	if p.window > 0 {
		n = min(n, uint64(p.window-p.mu.flights.outstanding))
	}
	return int(min(n, uint64(p.burst)))
}

func (p *publisher) sendLocked(n int, now time.Duration) error {
	if n == 0 {
		return nil
	}
	p.ledger.extend(p.mu.sent + uint64(n))
	for range n {
		p.mu.sent++
		at := now
		if p.schedule.paced() {
			at = p.schedule.intended(p.mu.sent)
			if at >= p.schedule.warm {
				p.mu.lateness.record(now - at)
			}
		}
		if p.mu.flights != nil {
			p.mu.flights.push(at)
		}
		if err := p.link.publish(p.queueOf(p.mu.sent), stamp{p.id, p.mu.sent, at}); err != nil {
			return err
		}
	}
	return nil
}

// queueOf is the queue that a message goes to.
func (p *publisher) queueOf(seq uint64) int { return p.queues[seq%uint64(len(p.queues))] }

// finishLocked ends publishing when quota or time is up, and tells when the last confirm is in.
func (p *publisher) finishLocked(now time.Duration) {
	if !p.mu.finished {
		p.mu.finished = p.mu.sent == p.quota || now >= p.schedule.stop
		if !p.mu.finished {
			return
		}
		if p.schedule.paced() {
			p.mu.unsent = min(p.quota, p.schedule.due(now)) - p.mu.sent
		}
	} else if p.isDone() {
		return
	}
	if p.mu.flights == nil || p.mu.flights.outstanding == 0 {
		close(p.done)
	}
}

func (p *publisher) isDone() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

func (p *publisher) confirmed(tag uint64, multiple, nack bool, now time.Duration) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.mu.flights == nil {
		return errors.New("a confirm without confirm mode")
	}
	ok := p.mu.flights.settle(tag, multiple, func(seq uint64, at time.Duration) {
		if nack {
			p.mu.nacked[seq] = true
			return
		}
		p.mu.confirmed++
		if at >= p.schedule.warm {
			p.mu.confirms.record(now - at)
		}
	})
	if !ok {
		return fmt.Errorf("publisher %d: confirm of %d, which is not outstanding", p.id, tag)
	}
	return nil
}

func (p *publisher) delivered(int, uint64, bool, []byte, time.Duration) error {
	return fmt.Errorf("publisher %d: delivery without a consumer", p.id)
}

// idle refills the window. Without a window confirms do not matter, and whoever runs the publisher calls fill.
func (p *publisher) idle() error {
	if p.window == 0 {
		return nil
	}
	return p.fill()
}

// required reports whether a message that was sent must come out.
func (p *publisher) requiredLocked(seq uint64) bool {
	if p.mu.flights == nil {
		return true
	}
	return p.mu.flights.settledAt(seq) && !p.mu.nacked[seq]
}
