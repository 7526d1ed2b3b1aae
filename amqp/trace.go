package amqp

import (
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Tracer prints one direction of a connection, a line for each frame, as a network sniffer would:
//
//	client: 1 basic.publish exchange="" routing-key="q"
//	client: 1 header class=60 size=5 delivery-mode=2
//	client: 1 body size=5 "hello"
//
// It is fed the stream through Write, in pieces of any size, for instance by an io.TeeReader. It shows
// no credentials. After octets that are not a frame it says so and prints nothing more.
type Tracer struct {
	W      io.Writer
	Prefix string // begins each line

	pending []byte // the beginning of a frame
	decoder Decoder
	started bool // the place of the protocol header has been passed
	ended   bool // by a fault
}

// Write takes the next octets of the stream. It always takes all of them; the error is W's.
func (t *Tracer) Write(p []byte) (int, error) {
	if t.ended {
		return len(p), nil
	}
	t.pending = append(t.pending, p...)
	var lines strings.Builder
	if !t.started && len(t.pending) < len(ProtocolHeader) {
		return len(p), nil // no frame is shorter either
	}
	rest := t.skipProtocolHeader(&lines, t.pending)
	for !t.ended {
		f, n, err := ParseFrame(rest, 0)
		if err != nil {
			t.line(&lines, "not a frame: "+err.Error())
			t.ended = true
			break
		}
		if n == 0 {
			break
		}
		t.line(&lines, strconv.Itoa(int(f.Channel))+" "+t.describe(f))
		rest = rest[n:]
	}
	t.pending = append(t.pending[:0], rest...)
	if lines.Len() == 0 {
		return len(p), nil
	}
	_, err := io.WriteString(t.W, lines.String())
	return len(p), err
}

func (t *Tracer) line(lines *strings.Builder, text string) {
	lines.WriteString(t.Prefix)
	lines.WriteString(text)
	lines.WriteByte('\n')
}

// skipProtocolHeader takes a protocol header off the beginning of the stream.
func (t *Tracer) skipProtocolHeader(lines *strings.Builder, b []byte) []byte {
	const size = len(ProtocolHeader)
	if t.started {
		return b
	}
	t.started = true
	if string(b[:4]) != ProtocolHeader[:4] {
		return b
	}
	t.line(lines, fmt.Sprintf("protocol header %q", b[:size]))
	return b[size:]
}

// describe says what is in a frame.
func (t *Tracer) describe(f Frame) string {
	switch f.Type {
	case FrameMethod:
		m, err := t.decoder.Decode(f.Payload)
		if err != nil {
			return "method: " + err.Error()
		}
		return describeMethod(m)
	case FrameHeader:
		return describeHeader(f.Payload)
	case FrameBody:
		const shown = 32
		text := fmt.Sprintf("body size=%d %q", len(f.Payload), f.Payload[:min(len(f.Payload), shown)])
		if len(f.Payload) > shown {
			text += "..."
		}
		return text
	default:
		return "heartbeat"
	}
}

func describeHeader(payload []byte) string {
	class, size, raw, err := ParseHeader(payload)
	if err != nil {
		return "header: " + err.Error()
	}
	text := fmt.Sprintf("header class=%d size=%d", class, size)
	if class != ClassBasic {
		return text
	}
	p, err := ParseProperties(raw)
	if err != nil {
		return text + " " + err.Error()
	}
	return text + describeFields(reflect.ValueOf(p))
}

func describeMethod(m Method) string {
	return m.Name() + describeFields(reflect.ValueOf(m).Elem())
}

// describeFields prints a struct's fields: flags that are set by name, the rest as name=value. Of
// properties it prints those that are there.
func describeFields(v reflect.Value) string {
	var text strings.Builder
	_, optional := v.Interface().(Properties)
	for field, value := range v.Fields() {
		if !field.IsExported() || field.Name == "Present" || optional && value.IsZero() {
			continue
		}
		name := wireName(field.Name)
		if flag, ok := value.Interface().(bool); ok {
			if flag {
				text.WriteString(" " + name)
			}
			continue
		}
		text.WriteString(" " + name + "=" + describeField(field.Name, value.Interface()))
	}
	return text.String()
}

func describeField(name string, value any) string {
	raw, isRaw := value.([]byte)
	switch name {
	case "Arguments", "ServerProperties", "ClientProperties":
		t, err := ParseTable(raw)
		if err != nil {
			return err.Error()
		}
		return describeValue(t)
	case "Response", "Challenge", "NewSecret":
		return fmt.Sprintf("<%d octets>", len(raw))
	}
	if isRaw {
		return strconv.Quote(string(raw))
	}
	return describeValue(value)
}

// describeValue prints a value of a table.
func describeValue(value any) string {
	switch v := value.(type) {
	case nil:
		return "void"
	case string:
		return strconv.Quote(v)
	case Table:
		entries := make([]string, 0, len(v))
		for _, name := range slices.Sorted(maps.Keys(v)) {
			entries = append(entries, name+"="+describeValue(v[name]))
		}
		return "{" + strings.Join(entries, " ") + "}"
	case []any:
		elements := make([]string, 0, len(v))
		for _, element := range v {
			elements = append(elements, describeValue(element))
		}
		return "[" + strings.Join(elements, " ") + "]"
	}
	return fmt.Sprint(value)
}

// wireName turns a field's name in Go into the standard's, such as RoutingKey into routing-key.
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
