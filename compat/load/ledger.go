package load

import "sync/atomic"

const chunkBits = 1 << 16

// ledger marks which messages of one publisher have been delivered, in an octet for eight of them. The publisher
// extends it before it sends; any number of consumers mark.
type ledger struct {
	sent   atomic.Uint64 // the last sequence number that may be delivered
	chunks atomic.Pointer[[]*chunk]
}

type chunk [chunkBits / 64]atomic.Uint64

// extend makes room up to seq. Only the publisher calls it.
func (l *ledger) extend(seq uint64) {
	var chunks []*chunk
	if p := l.chunks.Load(); p != nil {
		chunks = *p
	}
	if need := int(seq/chunkBits) + 1; need > len(chunks) {
		// Consumers hold the old slice: it is extended by a copy, of pointers only.
		grown := make([]*chunk, need, 2*need)
		for i := copy(grown, chunks); i < need; i++ {
			grown[i] = new(chunk)
		}
		l.chunks.Store(&grown)
	}
	l.sent.Store(seq)
}

// mark marks a delivery. known says whether the message has been sent, again whether it was marked before.
func (l *ledger) mark(seq uint64) (known, again bool) {
	if seq == 0 || seq > l.sent.Load() {
		return false, false
	}
	bit := uint64(1) << (seq % 64)
	old := l.word(seq).Or(bit)
	return true, old&bit != 0
}

// marked reports whether a message that was sent has been delivered.
func (l *ledger) marked(seq uint64) bool {
	return l.word(seq).Load()&(1<<(seq%64)) != 0
}

func (l *ledger) word(seq uint64) *atomic.Uint64 {
	return &(*l.chunks.Load())[seq/chunkBits][seq%chunkBits/64]
}
