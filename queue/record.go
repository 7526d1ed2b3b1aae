package queue

import (
	"encoding/binary"
	"errors"
	"math"

	"github.com/warrenmq/warren/keratin"
)

// The kinds of records on a queue's log. They are on disk: never change one.
const (
	kindMessage = 1
	kindSettled = 2
)

const (
	messageVersion = 1 << 4 // in the high nibble of a message record's first byte
	versionMask    = 0xf0

	flagPersistent = 1 << 0
	flagExpires    = 1 << 1
	flagAtOnce     = 1 << 2
	flagBuried     = 1 << 3
)

// envelope is what a queue notes on a message.
type envelope struct {
	expires int64 // Unix milliseconds; 0: never
	atOnce  bool  // it expires unless somebody takes it at once
	buried  bool  // it is a dead letter: its x-death header is the broker's own
}

// errRecord says that a record is not what this release writes.
var errRecord = errors.New("not a record of this version")

// encodeMessage puts m into b as a message record.
func encodeMessage(b *keratin.Batch, m *Message, e envelope) {
	putMessage(b.Reserve(kindMessage, messageLen(m, e)), m, e)
}

func messageLen(m *Message, e envelope) int {
	n := 1 + fieldLen(m.Exchange) + fieldLen(m.RoutingKey) + fieldLen(m.Properties) + len(m.Body)
	if e.expires != 0 {
		n += uvarintLen(uint64(e.expires))
	}
	return n
}

func putMessage(d []byte, m *Message, e envelope) {
	d[0] = messageVersion
	at := 1
	for _, x := range [...]struct {
		set  bool
		flag byte
	}{{m.Persistent, flagPersistent}, {e.expires != 0, flagExpires}, {e.atOnce, flagAtOnce}, {e.buried, flagBuried}} {
		if x.set {
			d[0] |= x.flag
		}
	}
	if e.expires != 0 {
		at += binary.PutUvarint(d[at:], uint64(e.expires))
	}
	at += putField(d[at:], m.Exchange)
	at += putField(d[at:], m.RoutingKey)
	at += putField(d[at:], m.Properties)
	copy(d[at:], m.Body)
}

func uvarintLen(v uint64) int {
	n := 1
	for ; v >= 0x80; v >>= 7 {
		n++
	}
	return n
}

func fieldLen(field []byte) int { return uvarintLen(uint64(len(field))) + len(field) }

func putField(d, field []byte) int {
	n := binary.PutUvarint(d, uint64(len(field)))
	return n + copy(d[n:], field)
}

// decodeMessage takes a message record apart. The slices of d alias it.
func decodeMessage(data []byte, d *Delivery) error {
	if len(data) == 0 || data[0]&versionMask != messageVersion {
		return errRecord
	}
	rest, ok := data[1:], true
	d.persistent, d.atOnce, d.buried = data[0]&flagPersistent != 0, data[0]&flagAtOnce != 0, data[0]&flagBuried != 0
	if d.expires = 0; data[0]&flagExpires != 0 {
		at, n := binary.Uvarint(rest)
		if n <= 0 || at == 0 || at > math.MaxInt64 {
			return errRecord
		}
		d.expires, rest = int64(at), rest[n:]
	}
	for _, field := range [...]*[]byte{&d.Exchange, &d.RoutingKey, &d.Properties} {
		if *field, rest, ok = cutField(rest); !ok {
			return errRecord
		}
	}
	d.Body = rest
	return nil
}

func cutField(data []byte) (field, rest []byte, ok bool) {
	n, used := binary.Uvarint(data)
	if used <= 0 || n > uint64(len(data)-used) {
		return nil, nil, false
	}
	end := used + int(n)
	return data[used:end:end], data[end:], true
}
