package server

import (
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/warrenmq/warren/amqp"
)

// Marks of a connection's outgoing octets. They bound what a peer that does not read makes us hold.
const (
	outputHigh = 256 << 10 // deliveries are refused from here on
	outputLow  = 64 << 10  // refused consumers are resumed when no more is left
	outputHard = 2 << 20   // the reader waits: a peer that only asks has to take the answers first
)

// output is a connection's way out. Anyone appends whole frames; the writer, its only reader, takes what has
// been appended and writes it in one go while the next chunk is being filled. The batching is the writer's own
// pace: there is no timer, and a lone frame leaves at once.
type output struct {
	mu struct {
		sync.Mutex
		chunk   *chunk      // being filled; nil when empty, so that an idle connection holds no buffer
		size    int         // octets appended and not yet written
		idle    bool        // the writer waits on more
		sealed  bool        // only what last appends is taken
		ended   bool        // the writer ends once it has written all
		starved []*consumer // refused by deliver since the last time they were resumed
	}
	more sync.Cond // the writer: there is a chunk, or ended
	room sync.Cond // the reader: size has fallen, or failed

	maxPayload uint32 // of body frames; written before there are channels, immutable then

	pending   atomic.Int64 // mu.size, to be read without the lock
	failed    atomic.Bool  // a write failed: what is appended goes nowhere
	lastWrite atomic.Int64 // Unix nanoseconds of the last write's end
	writing   atomic.Int64 // Unix nanoseconds when the present write began; 0 when there is none
	octets    atomic.Uint64
	writes    atomic.Uint64
}

func newOutput() *output {
	o := &output{}
	o.more.L = &o.mu.Mutex
	o.room.L = &o.mu.Mutex
	return o
}

// method appends a method frame. Like all that the reader appends, it leaves with flush.
func (o *output) method(ch uint16, m amqp.Method) {
	if k := o.begin(); k != nil {
		k.buf = amqp.AppendMethod(k.buf, ch, m)
		o.end(k)
	}
}

// begin locks the output and returns the chunk to append frames to; end takes it back and unlocks. When the
// output is sealed, begin returns nil and holds no lock.
func (o *output) begin() *chunk {
	o.mu.Lock()
	if o.mu.sealed {
		o.mu.Unlock()
		return nil
	}
	if o.mu.chunk == nil {
		o.mu.chunk = takeChunk()
	}
	return o.mu.chunk
}

func (o *output) end(k *chunk) {
	o.grownLocked(k)
	o.mu.Unlock()
}

// endFlush is end for goroutines other than the reader: nobody else would wake the writer.
func (o *output) endFlush(k *chunk) {
	o.grownLocked(k)
	o.wakeLocked()
	o.mu.Unlock()
}

func (o *output) grownLocked(k *chunk) {
	grown := len(k.buf) + k.refs - k.counted
	k.counted += grown
	o.mu.size += grown
	o.pending.Store(int64(o.mu.size))
}

func (o *output) wakeLocked() {
	if o.mu.idle {
		o.mu.idle = false
		o.more.Signal()
	}
}

// flush lets the writer take what has been appended.
func (o *output) flush() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.mu.chunk != nil {
		o.wakeLocked()
	}
}

// frames appends bytes that are whole frames, and lets them leave.
func (o *output) frames(b []byte) {
	if k := o.begin(); k != nil {
		k.buf = append(k.buf, b...)
		o.endFlush(k)
	}
}

// last appends frames that end the conversation: whatever is appended later, but by last, is dropped.
func (o *output) last(frames []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.mu.sealed = true
	o.mu.starved = nil
	if o.failed.Load() || o.mu.ended {
		return
	}
	if o.mu.chunk == nil {
		o.mu.chunk = takeChunk()
	}
	o.mu.chunk.buf = append(o.mu.chunk.buf, frames...)
	o.grownLocked(o.mu.chunk)
	o.wakeLocked()
}

// finish lets the writer end once it has written all.
func (o *output) finish() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.mu.sealed, o.mu.ended = true, true
	o.wakeLocked()
}

// deliver appends a delivery for k unless too much is waiting: then k is noted, to be resumed later.
func (o *output) deliver(k *consumer, tag uint64, m *content) bool {
	o.mu.Lock()
	if o.mu.sealed || o.mu.size >= outputHigh {
		if !o.mu.sealed {
			o.mu.starved = append(o.mu.starved, k)
		}
		o.mu.Unlock()
		return false
	}
	c := o.mu.chunk
	if c == nil {
		c = takeChunk()
		o.mu.chunk = c
	}
	c.buf = amqp.AppendDeliver(c.buf, k.ch.number, k.tag, tag, m.redelivered, m.exchange, m.routingKey)
	c.content(k.ch.number, m, o.maxPayload)
	o.endFlush(c)
	return true
}

// message appends a method that carries content (basic.get-ok, basic.return), and the content.
func (o *output) message(ch uint16, method amqp.Method, m *content) {
	if k := o.begin(); k != nil {
		k.buf = amqp.AppendMethod(k.buf, ch, method)
		k.content(ch, m, o.maxPayload)
		o.end(k)
	}
}

// crowded reports whether the peer leaves so much unread that the reader should wait.
func (o *output) crowded() bool { return o.pending.Load() > outputHard }

// waitRoom waits, in the reader, until the peer has taken most of what is there or the output has failed.
func (o *output) waitRoom() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.wakeLocked()
	for o.mu.size > outputLow && !o.failed.Load() {
		o.room.Wait()
	}
}

// run writes until the output has been finished and is empty, or a write fails.
func (o *output) run(nc net.Conn) error {
	for {
		k := o.take()
		if k == nil {
			return nil
		}
		err := o.write(nc, k)
		size := k.counted
		k.release()
		if err != nil {
			o.fail()
			return err
		}
		for _, starved := range o.written(size) {
			starved.qc.Resume()
		}
	}
}

// take waits for a chunk; nil says that there will be no more.
func (o *output) take() *chunk {
	o.mu.Lock()
	defer o.mu.Unlock()
	for o.mu.chunk == nil {
		if o.mu.ended {
			return nil
		}
		o.mu.idle = true
		o.more.Wait()
	}
	o.mu.idle = false
	k := o.mu.chunk
	o.mu.chunk = nil
	return k
}

// written accounts for a chunk that is out, and returns the consumers to resume.
func (o *output) written(size int) []*consumer {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.mu.size -= size
	o.pending.Store(int64(o.mu.size))
	if o.mu.size > outputLow {
		return nil
	}
	o.room.Signal()
	starved := o.mu.starved
	o.mu.starved = nil
	return starved
}

// fail ends the output after a failed write.
func (o *output) fail() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.failed.Store(true)
	o.mu.sealed, o.mu.ended = true, true
	o.mu.starved = nil
	if o.mu.chunk != nil {
		o.mu.chunk.release()
		o.mu.chunk = nil
	}
	o.wakeLocked()
	o.room.Signal()
}

// write writes one chunk, in pieces small enough that a peer which takes anything at all finishes one within the write timeout.
func (o *output) write(nc net.Conn, k *chunk) error {
	defer o.writing.Store(0)
	for piece := k.next(); len(piece) > 0; piece = k.next() {
		o.writing.Store(time.Now().UnixNano())
		n, err := k.writePiece(nc, piece)
		o.octets.Add(uint64(n))
		o.writes.Add(1)
		if err != nil {
			return err
		}
		o.lastWrite.Store(time.Now().UnixNano())
	}
	return nil
}

// heartbeat appends a heartbeat if nothing else is on its way.
func (o *output) heartbeat() {
	if o.pending.Load() > 0 {
		return
	}
	if k := o.begin(); k != nil {
		k.buf = amqp.AppendHeartbeat(k.buf)
		o.endFlush(k)
	}
}
