package header

import (
	"encoding/binary"
	"slices"
	"strings"
)

// The reasons for which a message is dead-lettered.
const (
	Rejected = "rejected"
	Expired  = "expired"
	MaxLen   = "maxlen"
)

// Death is one dead-lettering.
type Death struct {
	Queue, Reason string
	Exchange      string   // that the message had been published to
	Keys          []string // its routing keys
	Time          int64    // Unix, seconds
}

// History is what has happened to a message, the latest first, one entry for each queue and reason.
type History []Past

// Past is a queue that a message has died in, and of what.
type Past struct{ Queue, Reason string }

// Cycle reports whether the message, if it now went to a queue, would go round without anybody having rejected it.
func (h History) Cycle(queue string) bool {
	for _, d := range h {
		if d.Reason == Rejected {
			return false
		}
		if d.Queue == queue {
			return true
		}
	}
	return false
}

// Bury returns the properties that a message goes on with after a death, and its history, this death included.
// genuine tells that the x-death header that is there, if any, was made by this broker; a publisher's is replaced.
//
//	x-death                 array of tables, the latest death first: count, reason, queue, time (of the first of
//	                        its kind), exchange, routing-keys, and original-expiration
//	x-first-death-queue, -reason, -exchange    set by the first death
//	x-last-death-queue, -reason, -exchange     set by every death
//
// The headers come out sorted by name, as from RabbitMQ. The expiration is taken out: where the message goes it begins
// a new life.
func Bury(properties []byte, genuine bool, d Death) ([]byte, History, error) {
	f, err := split(properties)
	if err != nil {
		return nil, nil, err
	}
	headers := f.raw[13]
	if f.flags&flagHeaders == 0 {
		headers = make([]byte, 4)
	}
	var kept []entry
	var deaths []death
	first := false
	err = table(headers, func(e entry) {
		switch e.name {
		case "x-death":
			if genuine {
				deaths = parseDeaths(e)
			}
			return
		case "x-last-death-queue", "x-last-death-reason", "x-last-death-exchange":
			return
		case "x-first-death-queue", "x-first-death-reason", "x-first-death-exchange":
			if !genuine {
				return
			}
			first = true
		}
		kept = append(kept, e)
	})
	if err != nil {
		return nil, nil, err
	}
	deaths = add(deaths, d, f.value(flagExpiration))
	kept = append(kept, entry{"x-death", 'A', appendDeaths(nil, deaths)})
	if !first {
		kept = append(kept, where("x-first-death-", d)...)
	}
	kept = append(kept, where("x-last-death-", d)...)
	slices.SortStableFunc(kept, func(a, b entry) int { return strings.Compare(a.name, b.name) })
	f.raw[13], f.raw[8] = joinTable(kept), nil
	f.flags = f.flags&^flagExpiration | flagHeaders
	h := make(History, len(deaths))
	for i, x := range deaths {
		h[i] = x.Past
	}
	return f.join(), h, nil
}

func where(prefix string, d Death) []entry {
	return []entry{
		{prefix + "queue", 'S', longstr(d.Queue)}, {prefix + "reason", 'S', longstr(d.Reason)}, {prefix + "exchange", 'S', longstr(d.Exchange)},
	}
}

func longstr(s string) []byte {
	return append(binary.BigEndian.AppendUint32(make([]byte, 0, 4+len(s)), uint32(len(s))), s...)
}

// joinTable encodes a table, its length in front.
func joinTable(entries []entry) []byte {
	out, at := begin(nil)
	for _, e := range entries {
		out = append(appendName(out, e.name, e.tag), e.value...)
	}
	return end(out, at)
}

// death is an element of x-death.
type death struct {
	Past
	count int    // where in raw the count stands
	raw   []byte // the table, its length in front
}

// parseDeaths reads an x-death header. What is not as this package writes it is left out.
func parseDeaths(e entry) (all []death) {
	if e.tag != 'A' {
		return nil
	}
	for b := e.value[4:]; len(b) > 0; {
		n := valueLen(b[0], b[1:])
		if n < 0 || n > len(b)-1 {
			return all
		}
		if d, ok := parseDeath(b[0], b[1:1+n]); ok {
			all = append(all, d)
		}
		b = b[1+n:]
	}
	return all
}

func parseDeath(tag byte, raw []byte) (d death, ok bool) {
	if tag != 'F' {
		return d, false
	}
	d.raw = slices.Clone(raw)
	at := 4
	err := table(raw, func(e entry) {
		at += 2 + len(e.name)
		switch {
		case e.name == "count" && e.tag == 'l':
			d.count = at
		case e.name == "queue" && e.tag == 'S':
			d.Queue = string(e.value[4:])
		case e.name == "reason" && e.tag == 'S':
			d.Reason = string(e.value[4:])
		}
		at += len(e.value)
	})
	return d, err == nil && d.count > 0
}

// add puts a death in front: a new one, or the one of the same queue and reason, counted again.
func add(deaths []death, d Death, expiration []byte) []death {
	p := Past{d.Queue, d.Reason}
	i := slices.IndexFunc(deaths, func(x death) bool { return x.Past == p })
	if i < 0 {
		return slices.Insert(deaths, 0, newDeath(d, expiration))
	}
	x := deaths[i]
	count := x.raw[x.count : x.count+8]
	binary.BigEndian.PutUint64(count, binary.BigEndian.Uint64(count)+1)
	return slices.Insert(slices.Delete(deaths, i, i+1), 0, x)
}

func newDeath(d Death, expiration []byte) death {
	raw, from := begin(nil)
	if expiration != nil {
		raw = appendText(raw, "original-expiration", string(expiration[1:]))
	}
	raw = appendName(raw, "count", 'l')
	count := len(raw)
	raw = binary.BigEndian.AppendUint64(raw, 1)
	raw = appendText(raw, "reason", d.Reason)
	raw = appendText(raw, "queue", d.Queue)
	raw = binary.BigEndian.AppendUint64(appendName(raw, "time", 'T'), uint64(d.Time))
	raw = appendText(raw, "exchange", d.Exchange)
	raw, keys := begin(appendName(raw, "routing-keys", 'A'))
	for _, key := range d.Keys {
		raw = binary.BigEndian.AppendUint32(append(raw, 'S'), uint32(len(key)))
		raw = append(raw, key...)
	}
	return death{Past{d.Queue, d.Reason}, count, end(end(raw, keys), from)}
}

func appendDeaths(dst []byte, deaths []death) []byte {
	dst, at := begin(dst)
	for _, d := range deaths {
		dst = append(append(dst, 'F'), d.raw...)
	}
	return end(dst, at)
}

// Copies returns the routing keys in the CC header. (BCC is taken out before a message gets here.)
func Copies(properties []byte) (keys []string) {
	f, err := split(properties)
	if err != nil || f.flags&flagHeaders == 0 {
		return nil
	}
	_ = table(f.raw[13], func(e entry) { // malformed: what has been found so far
		if e.name != "CC" || e.tag != 'A' {
			return
		}
		for b := e.value[4:]; len(b) > 0; {
			n := valueLen(b[0], b[1:])
			if n < 0 || n > len(b)-1 {
				return
			}
			if b[0] == 'S' {
				keys = append(keys, string(b[5:1+n]))
			}
			b = b[1+n:]
		}
	})
	return keys
}
