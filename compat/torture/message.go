package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"strconv"

	amqp091 "github.com/rabbitmq/amqp091-go"
)

// A body says which message it is and carries its own proof:
//
//	0         4         8         12                  12+n      16+n
//	| publisher | number | length n | n bytes of noise | CRC-32C of all before |
//
// The noise is a piece of one pool, at a place that publisher and number decide, so that a body whose parts come
// from two messages is noticed even where a checksum would have been computed over the mixture.
const (
	bodyHead = 12
	bodyTail = 4
)

var (
	castagnoli = crc32.MakeTable(crc32.Castagnoli)
	noise      = makeNoise()
)

const noiseSize = 1 << 20

func makeNoise() []byte {
	pool := make([]byte, noiseSize)
	source := rand.NewChaCha8([32]byte{1}) // always the same: two processes must agree
	_, _ = source.Read(pool)               // never fails
	return pool
}

func noiseFor(publisher, seq uint32, n int) []byte {
	at := (uint64(publisher)*1_000_003 + uint64(seq)*7919) % uint64(noiseSize-n)
	return noise[at : at+uint64(n)]
}

// maxNoise is the longest body's noise: longer than a frame, so that such a body is split.
const maxNoise = 300_000

// bodySize draws a size: mostly around a kilobyte, some tiny, a few that take several frames.
func bodySize(r *rand.Rand) int {
	switch n := r.IntN(1000); {
	case n < 200:
		return r.IntN(32)
	case n < 998:
		return r.IntN(3000)
	default:
		return r.IntN(maxNoise)
	}
}

func makeMessage(publisher, seq uint32, n int) amqp091.Publishing {
	body := make([]byte, 0, bodyHead+n+bodyTail)
	body = binary.BigEndian.AppendUint32(body, publisher)
	body = binary.BigEndian.AppendUint32(body, seq)
	body = binary.BigEndian.AppendUint32(body, uint32(n))
	body = append(body, noiseFor(publisher, seq, n)...)
	body = binary.BigEndian.AppendUint32(body, crc32.Checksum(body, castagnoli))
	return amqp091.Publishing{
		DeliveryMode: amqp091.Persistent,
		ContentType:  "application/x-torture",
		MessageId:    messageID(publisher, seq),
		Headers:      amqp091.Table{"publisher": int64(publisher), "length": int32(n)},
		Body:         body,
	}
}

func messageID(publisher, seq uint32) string {
	return strconv.FormatUint(uint64(publisher), 10) + "." + strconv.FormatUint(uint64(seq), 10)
}

// readMessage tells which message a delivery is, and what is wrong with it, "" for nothing.
func readMessage(d *amqp091.Delivery) (publisher, seq uint32, corrupt string) {
	body := d.Body
	if len(body) < bodyHead+bodyTail {
		return 0, 0, fmt.Sprintf("body of %d bytes", len(body))
	}
	end := len(body) - bodyTail
	publisher, seq = binary.BigEndian.Uint32(body), binary.BigEndian.Uint32(body[4:])
	n := int(binary.BigEndian.Uint32(body[8:]))
	switch {
	case crc32.Checksum(body[:end], castagnoli) != binary.BigEndian.Uint32(body[end:]):
		return publisher, seq, "checksum of the body"
	case n != end-bodyHead:
		return publisher, seq, fmt.Sprintf("body of %d bytes says that it has %d", end-bodyHead, n)
	case !bytes.Equal(body[bodyHead:end], noiseFor(publisher, seq, n)):
		return publisher, seq, "bytes of another message in the body"
	case d.MessageId != messageID(publisher, seq) || d.ContentType != "application/x-torture" || d.DeliveryMode != amqp091.Persistent:
		return publisher, seq, fmt.Sprintf("properties: message-id %q, content-type %q, mode %d", d.MessageId, d.ContentType, d.DeliveryMode)
	case d.Headers["publisher"] != int64(publisher) || d.Headers["length"] != int32(n):
		return publisher, seq, fmt.Sprintf("headers %v", d.Headers)
	}
	return publisher, seq, ""
}
