package main

import (
	"encoding/binary"
	"hash/crc32"
	"testing"

	amqp091 "github.com/rabbitmq/amqp091-go"
)

// deliver turns a message into its delivery.
func deliver(m amqp091.Publishing) *amqp091.Delivery {
	return &amqp091.Delivery{
		ContentType: m.ContentType, DeliveryMode: m.DeliveryMode, MessageId: m.MessageId,
		Headers: m.Headers, Body: m.Body,
	}
}

func TestMessageIsRecognised(t *testing.T) {
	for _, n := range []int{0, 1, 1000, maxNoise} {
		publisher, seq, corrupt := readMessage(deliver(makeMessage(7, 42, n)))
		if publisher != 7 || seq != 42 || corrupt != "" {
			t.Errorf("%d bytes: publisher %d, message %d, corrupt %q", n, publisher, seq, corrupt)
		}
	}
}

func TestEveryFlippedBitIsNoticed(t *testing.T) {
	d := deliver(makeMessage(7, 42, 50))
	for bit := range len(d.Body) * 8 {
		d.Body[bit/8] ^= 1 << (bit % 8)
		if _, _, corrupt := readMessage(d); corrupt == "" {
			t.Errorf("bit %d flipped, and nothing noticed", bit)
		}
		d.Body[bit/8] ^= 1 << (bit % 8)
	}
}

func TestForeignPartsAreNoticed(t *testing.T) {
	fresh := func() *amqp091.Delivery { return deliver(makeMessage(7, 42, 50)) }
	for name, spoil := range map[string]func(*amqp091.Delivery){
		"truncated":    func(d *amqp091.Delivery) { d.Body = d.Body[:20] },
		"almost empty": func(d *amqp091.Delivery) { d.Body = d.Body[:3] },
		"other noise": func(d *amqp091.Delivery) { // with a checksum that fits
			end := len(d.Body) - bodyTail
			copy(d.Body[bodyHead:], noiseFor(7, 43, 50))
			binary.BigEndian.PutUint32(d.Body[end:], crc32.Checksum(d.Body[:end], castagnoli))
		},
		"other message's properties": func(d *amqp091.Delivery) { d.MessageId = messageID(7, 43) },
		"no content type":            func(d *amqp091.Delivery) { d.ContentType = "" },
		"transient":                  func(d *amqp091.Delivery) { d.DeliveryMode = amqp091.Transient },
		"no headers":                 func(d *amqp091.Delivery) { d.Headers = nil },
		"header of another type":     func(d *amqp091.Delivery) { d.Headers["length"] = int64(50) },
	} {
		d := fresh()
		spoil(d)
		if _, _, corrupt := readMessage(d); corrupt == "" {
			t.Errorf("%s: not noticed", name)
		}
	}
}
