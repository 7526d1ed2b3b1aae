package main

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"reflect"
	"strings"
	"unicode"

	"github.com/warrenmq/warren/amqp"
)

// describe renders a method with all of its fields. Of flags only those that are set are shown.
func describe(m amqp.Method) string {
	var text strings.Builder
	text.WriteString(m.Name())
	for field, value := range reflect.ValueOf(m).Elem().Fields() {
		if !field.IsExported() {
			continue
		}
		name := wireName(field.Name)
		switch v := value.Interface().(type) {
		case bool:
			if v {
				text.WriteString(" " + name)
			}
		case []byte:
			text.WriteString(" " + name + "=" + describeOctets(field.Name, v))
		case string:
			fmt.Fprintf(&text, " %s=%q", name, v)
		default:
			fmt.Fprintf(&text, " %s=%v", name, v)
		}
	}
	return text.String()
}

func describeOctets(field string, raw []byte) string {
	switch field {
	case "ServerProperties":
		if t, err := amqp.ParseTable(raw); err == nil {
			raw = amqp.AppendTable(nil, t) // sorted: nobody looks at their order
		}
		return describeTable(raw)
	case "Arguments", "ClientProperties":
		return describeTable(raw)
	}
	return fmt.Sprintf("%q", raw)
}

// wireName turns a field's name in Go into the standard's: RoutingKey into routing-key.
func wireName(field string) string {
	var name strings.Builder
	lower := false
	for _, c := range field {
		if unicode.IsUpper(c) && lower {
			name.WriteByte('-')
		}
		lower = unicode.IsLower(c)
		name.WriteRune(unicode.ToLower(c))
	}
	return name.String()
}

// content is a message on its way through a channel.
type content struct {
	method string // that announced it, described
	raw    []byte // property flags and properties
	size   uint64 // -1 until the header is there
	body   []byte
	frames int // of the body
}

func (c *content) complete() bool { return c.raw != nil && uint64(len(c.body)) >= c.size }

// shownBody is how long a body may be to be shown rather than summed up.
const shownBody = 64

// describe renders the message in one line: its method, its properties as they are on the wire, its body.
func (c *content) describe() string {
	text := c.method + " " + describeProperties(c.raw) + " "
	if len(c.body) > shownBody {
		text += fmt.Sprintf("body=%d:%x", len(c.body), sha256.Sum256(c.body))
	} else {
		text += fmt.Sprintf("body=%q", c.body)
	}
	if c.frames > 1 {
		text += fmt.Sprintf(" in %d frames", c.frames)
	}
	return text
}

// describeProperties renders the properties that are there, a present but empty one too.
func describeProperties(raw []byte) string {
	info, err := amqp.PropertiesInfo(raw)
	if err != nil {
		return fmt.Sprintf("(%v: % x)", err, raw)
	}
	p, err := amqp.ParseProperties(raw)
	if err != nil {
		return fmt.Sprintf("(%v: % x)", err, raw)
	}
	var shown []string
	show := func(flag amqp.PropertyFlags, name, value string) {
		if p.Present&flag != 0 {
			shown = append(shown, name+"="+value)
		}
	}
	quote := func(s string) string { return fmt.Sprintf("%q", s) }
	show(amqp.HasContentType, "content-type", quote(p.ContentType))
	show(amqp.HasContentEncoding, "content-encoding", quote(p.ContentEncoding))
	show(amqp.HasHeaders, "headers", describeTable(info.Headers))
	show(amqp.HasDeliveryMode, "delivery-mode", fmt.Sprint(p.DeliveryMode))
	show(amqp.HasPriority, "priority", fmt.Sprint(p.Priority))
	show(amqp.HasCorrelationID, "correlation-id", quote(p.CorrelationID))
	show(amqp.HasReplyTo, "reply-to", quote(p.ReplyTo))
	show(amqp.HasExpiration, "expiration", quote(p.Expiration))
	show(amqp.HasMessageID, "message-id", quote(p.MessageID))
	show(amqp.HasTimestamp, "timestamp", fmt.Sprint(p.Timestamp.Unix()))
	show(amqp.HasType, "type", quote(p.Type))
	show(amqp.HasUserID, "user-id", quote(p.UserID))
	show(amqp.HasAppID, "app-id", quote(p.AppID))
	show(amqp.HasClusterID, "cluster-id", quote(p.ClusterID))
	return "(" + strings.Join(shown, " ") + ")"
}

// describeTable renders the entries of a table in their order on the wire, with the type of each value:
// {count=l:1 reason=S:"rejected"}.
func describeTable(raw []byte) string {
	if _, err := amqp.ParseTable(raw); err != nil {
		return fmt.Sprintf("{%v: % x}", err, raw)
	}
	w := walker{rest: raw}
	return w.table(len(raw))
}

// walker reads the entries of a table that has been checked.
type walker struct{ rest []byte }

func (w *walker) take(n int) []byte {
	b := w.rest[:n]
	w.rest = w.rest[n:]
	return b
}

func (w *walker) u8() int     { return int(w.take(1)[0]) }
func (w *walker) u16() uint16 { return binary.BigEndian.Uint16(w.take(2)) }
func (w *walker) u32() uint32 { return binary.BigEndian.Uint32(w.take(4)) }
func (w *walker) u64() uint64 { return binary.BigEndian.Uint64(w.take(8)) }

func (w *walker) table(size int) string {
	var entries []string
	for end := len(w.rest) - size; len(w.rest) > end; {
		name := w.take(w.u8())
		entries = append(entries, string(name)+"="+w.value())
	}
	return "{" + strings.Join(entries, " ") + "}"
}

func (w *walker) array(size int) string {
	var values []string
	for end := len(w.rest) - size; len(w.rest) > end; {
		values = append(values, w.value())
	}
	return "[" + strings.Join(values, " ") + "]"
}

// value renders a value behind its tag and a colon.
func (w *walker) value() string {
	tag := w.take(1)[0]
	var text string
	switch tag {
	case 't':
		text = fmt.Sprint(w.u8() != 0)
	case 'b':
		text = fmt.Sprint(int8(w.u8()))
	case 'B':
		text = fmt.Sprint(w.u8())
	case 's':
		text = fmt.Sprint(int16(w.u16()))
	case 'u':
		text = fmt.Sprint(w.u16())
	case 'I':
		text = fmt.Sprint(int32(w.u32()))
	case 'i':
		text = fmt.Sprint(w.u32())
	case 'l', 'L':
		text = fmt.Sprint(int64(w.u64()))
	case 'T':
		text = fmt.Sprint(w.u64())
	case 'f':
		text = fmt.Sprint(math.Float32frombits(w.u32()))
	case 'd':
		text = fmt.Sprint(math.Float64frombits(w.u64()))
	case 'D':
		scale := w.u8()
		text = fmt.Sprintf("%de-%d", w.u32(), scale)
	case 'S':
		text = fmt.Sprintf("%q", w.take(int(w.u32())))
	case 'x':
		text = fmt.Sprintf("%x", w.take(int(w.u32())))
	case 'F':
		text = w.table(int(w.u32()))
	case 'A':
		text = w.array(int(w.u32()))
	}
	return string(tag) + ":" + text
}
