package main

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/warrenmq/warren/amqp"
)

// channel is a client's side of one channel of a connection.
type channel struct {
	client *client
	number uint16
	hidden bool // the scenario knows nothing of it
	open   bool
	broken bool // the peer waits for more of a message, so that nothing can be asked

	awaited []awaited // answers that have not come
	arrived []event   // in this step
	partial *content  // of a message that arrives

	queue     string   // the last one declared here
	published uint64   // since confirm.select
	pending   []uint64 // published and not confirmed
	confirms  bool
}

// awaited is an answer to come.
type awaited struct {
	names []string
	asked bool // by the stage, not the scenario: not for the transcript
}

// event is something that has arrived.
type event struct {
	line      string
	returned  bool
	confirmed []uint64 // publishes that were confirmed, or refused
	refused   bool
}

func (ch *channel) label() string { return fmt.Sprint(ch.client.label, ch.number) }

func (ch *channel) note(line string) { ch.arrived = append(ch.arrived, event{line: line}) }

// do is a step: the items are sent one after another, each answer awaited before the next, and everything settles.
func (ch *channel) do(items ...item) {
	for _, it := range items {
		ch.send(it)
		if it.answer != nil {
			ch.waitAnswers()
		}
	}
	ch.waitConfirms()
	ch.client.stage.settle()
}

// pipeline is do with all items in one write.
func (ch *channel) pipeline(items ...item) {
	ch.send(items...)
	ch.waitAnswers()
	ch.waitConfirms()
	ch.client.stage.settle()
}

// send writes the items and waits for nothing. What it causes belongs to the next step.
func (ch *channel) send(items ...item) {
	var b []byte
	for _, it := range items {
		ch.client.stage.say(ch.label() + " > " + it.line)
		b = append(b, it.frames(ch.number, ch.client.maxPayload)...)
		if it.answer != nil {
			ch.awaited = append(ch.awaited, awaited{names: it.answer})
		}
		ch.sending(it.method)
	}
	ch.client.write(b)
}

// sending follows what a method means for the client.
func (ch *channel) sending(m amqp.Method) {
	s := ch.client.stage
	switch m := m.(type) {
	case *amqp.BasicPublish:
		if ch.confirms {
			ch.published++
			ch.pending = append(ch.pending, ch.published)
		}
	case *amqp.ConfirmSelect:
		ch.confirms = ch.confirms || m.NoWait
	case *amqp.QueueDeclare:
		if !m.Passive {
			s.declares(ch.client, m)
		}
	case *amqp.ExchangeDeclare:
		if !m.Passive {
			s.exchanges[m.Exchange] = true
		}
	case *amqp.ConnectionTuneOk:
		if m.FrameMax > amqp.FrameOverhead {
			ch.client.maxPayload = m.FrameMax - amqp.FrameOverhead
		}
		ch.client.channelMax = m.ChannelMax
	case *amqp.ConnectionClose:
		ch.client.leaving = true
	case *amqp.ChannelClose:
		ch.confirms, ch.pending = false, nil
	}
}

// waitAnswers waits for the answers of what has been sent.
func (ch *channel) waitAnswers() {
	c := ch.client
	c.pump(ch.client.stage.answerTime(), func() bool { return len(ch.awaited) == 0 || c.closing })
	if c.closing {
		c.awaitSilence()
	}
	for _, a := range ch.awaited {
		if c.ended {
			break // that the socket has been closed says it all
		}
		c.stage.kept = true
		ch.note("no " + strings.Join(a.names, " or ") + " comes")
	}
	ch.awaited = nil
}

// awaitSilence waits for the socket to be closed after connection.close.
func (c *client) awaitSilence() {
	if c.astray {
		c.hangUp()
		return
	}
	if !c.pump(endTime, func() bool { return c.ended }) {
		c.at(0).note("the socket stays open")
		c.hangUp()
	}
}

func (ch *channel) waitConfirms() {
	if !ch.client.pump(ch.client.stage.answerTime(), func() bool { return len(ch.pending) == 0 || !ch.open }) && !ch.client.ended {
		ch.note(fmt.Sprint("no confirm comes of ", ch.pending))
		ch.pending = nil
	}
}

// shut ends the channel without a word.
func (ch *channel) shut() {
	ch.open, ch.confirms, ch.broken = false, false, false
	ch.pending, ch.published, ch.queue, ch.awaited = nil, 0, "", nil
}

// take handles a frame.
func (ch *channel) take(f amqp.Frame) {
	switch f.Type {
	case amqp.FrameMethod:
		ch.takeMethod(f.Payload)
	case amqp.FrameHeader:
		ch.takeHeader(f.Payload)
	case amqp.FrameBody:
		ch.takeBody(f.Payload)
	case amqp.FrameHeartbeat: // comes when it comes
	}
}

func (ch *channel) takeMethod(payload []byte) {
	m, err := ch.client.decoder.Decode(payload)
	if err != nil {
		ch.note(fmt.Sprintf("method % x: %v", payload, err))
		return
	}
	line := describe(m)
	if whole := amqp.AppendMethod(nil, 0, m); !bytes.Equal(whole[7:len(whole)-1], payload) {
		line += fmt.Sprintf(" (in % x)", payload) // fields that the standard reserves differ
	}
	if ch.partial != nil {
		ch.note("within a message:")
		ch.partial = nil
	}
	asked := ch.answered(m.Name())
	ch.took(m, line, asked)
	if ch.number == 0 {
		ch.client.took(m)
	}
}

// answered takes the method off the answers to come. asked says that it was the stage that asked.
func (ch *channel) answered(name string) (asked bool) {
	for i, a := range ch.awaited {
		if slices.Contains(a.names, name) {
			ch.awaited = slices.Delete(ch.awaited, i, i+1)
			return a.asked
		}
	}
	if name == "connection.close" || name == "channel.close" {
		ch.awaited = nil
	}
	return false
}

// took follows what a method that arrived means for the channel, and notes it.
func (ch *channel) took(m amqp.Method, line string, asked bool) {
	switch m := m.(type) {
	case *amqp.BasicDeliver, *amqp.BasicGetOk, *amqp.BasicReturn:
		ch.partial = &content{method: line}
		return
	case *amqp.BasicAck:
		ch.confirmed(m.DeliveryTag, m.Multiple, false)
		return
	case *amqp.BasicNack:
		ch.confirmed(m.DeliveryTag, m.Multiple, true)
		return
	case *amqp.ChannelOpenOk:
		ch.open = true
	case *amqp.ConfirmSelectOk:
		ch.confirms = true
	case *amqp.ChannelCloseOk:
		ch.shut()
	case *amqp.ChannelClose:
		ch.shut()
		if !ch.client.stage.holdCloseOk {
			ch.client.write(amqp.AppendMethod(nil, ch.number, &amqp.ChannelCloseOk{}))
		}
	case *amqp.QueueDeclareOk:
		ch.queue = m.Queue
		ch.client.stage.declared(ch.client, m.Queue, ch.hidden)
	}
	if !asked {
		ch.note(line)
	}
}

// confirmed notes which publishes a confirm covers.
func (ch *channel) confirmed(tag uint64, multiple, refused bool) {
	covers := func(seq uint64) bool { return seq == tag || multiple && (tag == 0 || seq < tag) }
	var covered, rest []uint64
	for _, seq := range ch.pending {
		if covers(seq) {
			covered = append(covered, seq)
		} else {
			rest = append(rest, seq)
		}
	}
	if covered == nil {
		ch.note(fmt.Sprintf("confirm of %d, which nobody waits for", tag))
		return
	}
	ch.pending = rest
	ch.arrived = append(ch.arrived, event{confirmed: covered, refused: refused})
}

func (ch *channel) takeHeader(payload []byte) {
	class, size, raw, err := amqp.ParseHeader(payload)
	if ch.partial == nil || ch.partial.raw != nil || class != amqp.ClassBasic || err != nil {
		ch.note(fmt.Sprintf("unexpected header frame % x: %v", payload, err))
		return
	}
	ch.partial.raw, ch.partial.size = slices.Clone(raw), size
	ch.completes()
}

func (ch *channel) takeBody(payload []byte) {
	if ch.partial == nil || ch.partial.raw == nil {
		ch.note(fmt.Sprintf("unexpected body frame %q", payload))
		return
	}
	ch.partial.body = append(ch.partial.body, payload...)
	ch.partial.frames++
	ch.completes()
}

func (ch *channel) completes() {
	if !ch.partial.complete() {
		return
	}
	line := ch.partial.describe()
	ch.partial = nil
	ch.arrived = append(ch.arrived, event{line: line, returned: strings.HasPrefix(line, "basic.return")})
}

// flush returns the lines of the step: what arrived, its confirms gathered. They stand where the first one was if
// something was returned, for that a return comes before its confirm is a promise; else at the end.
func (ch *channel) flush() []string {
	events := ch.arrived
	ch.arrived = nil
	ordered := slices.ContainsFunc(events, func(e event) bool { return e.returned })
	var lines []string
	confirms := map[bool][]uint64{}
	place := -1
	for _, e := range events {
		if e.confirmed == nil {
			lines = append(lines, e.line)
			continue
		}
		confirms[e.refused] = append(confirms[e.refused], e.confirmed...)
		if ordered && place < 0 {
			place = len(lines)
		}
	}
	if len(confirms) == 0 {
		return lines
	}
	if place < 0 {
		place = len(lines)
	}
	return slices.Insert(lines, place, confirmLine(confirms))
}

func confirmLine(confirms map[bool][]uint64) string {
	var parts []string
	for _, refused := range slices.SortedFunc(maps.Keys(confirms), func(a, b bool) int {
		if a == b {
			return 0
		} else if b {
			return -1
		}
		return 1
	}) {
		slices.Sort(confirms[refused])
		word := "confirmed"
		if refused {
			word = "refused"
		}
		parts = append(parts, fmt.Sprint(word, " ", confirms[refused]))
	}
	return strings.Join(parts, ", ")
}
