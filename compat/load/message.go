package load

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"time"
)

const (
	stampSize     = 16
	maxSize       = 128 << 20
	maxPublishers = 1 << 16
)

// stamp identifies a message. See the package comment for its form.
type stamp struct {
	publisher int
	seq       uint64        // from 1
	at        time.Duration // intended send time, on the run's clock
}

func (s stamp) put(body []byte) {
	binary.BigEndian.PutUint64(body, uint64(s.publisher)<<48|s.seq)
	binary.BigEndian.PutUint64(body[8:], uint64(s.at))
}

func readStamp(body []byte) stamp {
	id := binary.BigEndian.Uint64(body)
	return stamp{
		publisher: int(id >> 48),
		seq:       id & (1<<48 - 1),
		at:        time.Duration(binary.BigEndian.Uint64(body[8:])),
	}
}

// newBody returns a body whose stamp is still to be put: the same for every run, and not compressible.
func newBody(size int) []byte {
	body := make([]byte, size)
	random := rand.NewPCG(0x77617272656e, 1)
	for i := stampSize; i < size; i++ {
		body[i] = byte(random.Uint64())
	}
	return body
}

// samePattern reports whether two bodies are alike after their stamps.
func samePattern(a, b []byte) bool {
	return len(a) == len(b) && bytes.Equal(a[stampSize:], b[stampSize:])
}
