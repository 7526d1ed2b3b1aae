package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"

	amqp091 "github.com/rabbitmq/amqp091-go"
)

// A body says which message it is; the noise that follows is decided by that:
//
//	0         4        8           12             12+n
//	| publisher | number | length n | n bytes of noise |
const bodyHead = 12

const contentType = "application/x-powercut"

var noise = func() []byte {
	pool := make([]byte, 1<<18)
	_, _ = rand.NewChaCha8([32]byte{7}).Read(pool) // never fails
	return pool
}()

// bodySize draws the length of the noise: mostly around a kilobyte, some tiny, a few of many disk blocks.
func bodySize(r *rand.Rand) int {
	switch n := r.IntN(100); {
	case n < 20:
		return r.IntN(32)
	case n < 98:
		return r.IntN(2000)
	default:
		return r.IntN(30_000)
	}
}

// bigBody draws the length of many disk blocks.
func bigBody(r *rand.Rand) int { return r.IntN(16_000) }

func makeBody(publisher, seq uint32, n int) []byte {
	at := (uint64(publisher)*1_000_003 + uint64(seq)*7919) % uint64(len(noise)-n)
	body := make([]byte, 0, bodyHead+n)
	body = binary.BigEndian.AppendUint32(body, publisher)
	body = binary.BigEndian.AppendUint32(body, seq)
	body = binary.BigEndian.AppendUint32(body, uint32(n))
	return append(body, noise[at:at+uint64(n)]...)
}

func makeMessage(publisher, seq uint32, n int) amqp091.Publishing {
	return amqp091.Publishing{
		DeliveryMode: amqp091.Persistent,
		ContentType:  contentType,
		Headers:      amqp091.Table{"number": int64(seq)},
		Body:         makeBody(publisher, seq, n),
	}
}

// readMessage tells which message a delivery is, and what is wrong with it, "" for nothing.
func readMessage(d *amqp091.Delivery) (id, string) {
	if len(d.Body) < bodyHead {
		return id{}, fmt.Sprintf("body of %d bytes", len(d.Body))
	}
	m := id{binary.BigEndian.Uint32(d.Body), binary.BigEndian.Uint32(d.Body[4:])}
	n := binary.BigEndian.Uint32(d.Body[8:])
	switch {
	case uint64(n) != uint64(len(d.Body)-bodyHead) || int(n) >= len(noise):
		return m, fmt.Sprintf("body of %d bytes says that it has %d", len(d.Body)-bodyHead, n)
	case !bytes.Equal(d.Body, makeBody(m.publisher, m.seq, int(n))):
		return m, "other bytes in the body"
	case d.ContentType != contentType || d.DeliveryMode != amqp091.Persistent || d.Headers["number"] != int64(m.seq):
		return m, fmt.Sprintf("properties: content-type %q, mode %d, headers %v", d.ContentType, d.DeliveryMode, d.Headers)
	}
	return m, ""
}
