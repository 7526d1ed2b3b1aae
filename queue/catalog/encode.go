package catalog

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
)

// object writes a JSON object field by field. Fields that are empty are left out, but for those written by text.
type object struct{ b []byte }

func (o *object) begin() { o.b = append(o.b, '{') }
func (o *object) end()   { o.b = append(o.b, '}') }

func (o *object) key(name string) {
	if o.b[len(o.b)-1] != '{' {
		o.b = append(o.b, ',')
	}
	o.b = append(append(append(o.b, '"'), name...), `":`...)
}

// text writes a string of any bytes, also the empty one.
func (o *object) text(name, s string) {
	o.key(name)
	o.b = appendText(o.b, s)
}

// word writes a string, unless it is empty.
func (o *object) word(name, s string) {
	if s != "" {
		o.text(name, s)
	}
}

func (o *object) flag(name string, yes bool) {
	if yes {
		o.key(name)
		o.b = append(o.b, "true"...)
	}
}

func (o *object) number(name string, n int64) {
	if n != 0 {
		o.key(name)
		o.b = strconv.AppendInt(o.b, n, 10)
	}
}

func (o *object) words(name string, list []string) {
	for i, s := range list {
		if i == 0 {
			o.key(name)
			o.b = append(o.b, '[')
		} else {
			o.b = append(o.b, ',')
		}
		o.b = appendText(o.b, s)
	}
	if len(list) > 0 {
		o.b = append(o.b, ']')
	}
}

func (o *object) table(name string, t map[string]any) {
	if len(t) > 0 {
		o.key(name)
		o.b = appendTable(o.b, t)
	}
}

func (h *VHost) encode(o *object) {
	o.text("name", h.Name)
	o.word("description", h.Description)
	o.words("tags", h.Tags)
	o.word("default_queue_type", h.DefaultQueueType)
	o.flag("tracing", h.Tracing)
	o.flag("protected", h.Protected)
}

func (u *User) encode(o *object) {
	o.text("name", u.Name)
	o.word("password_hash", u.PasswordHash)
	o.word("hashing_algorithm", u.Hashing)
	o.words("tags", u.Tags)
	if len(u.Limits) == 0 {
		return
	}
	o.key("limits")
	o.begin()
	for _, name := range slices.Sorted(maps.Keys(u.Limits)) {
		quoted, err := json.Marshal(name) // a limit's name is ours and need not keep odd bytes
		if err != nil {
			panic(err) // a string always marshals
		}
		o.key(string(quoted[1 : len(quoted)-1]))
		o.b = strconv.AppendInt(o.b, u.Limits[name], 10)
	}
	o.end()
}

func (p *Permission) encode(o *object) {
	o.text("user", p.User)
	o.text("vhost", p.VHost)
	o.text("configure", p.Configure)
	o.text("write", p.Write)
	o.text("read", p.Read)
}

func (p *TopicPermission) encode(o *object) {
	o.text("user", p.User)
	o.text("vhost", p.VHost)
	o.text("exchange", p.Exchange)
	o.text("write", p.Write)
	o.text("read", p.Read)
}

func (x *Exchange) encode(o *object) {
	o.text("vhost", x.VHost)
	o.text("name", x.Name)
	o.word("type", x.Type)
	o.flag("durable", x.Durable)
	o.flag("auto_delete", x.AutoDelete)
	o.flag("internal", x.Internal)
	o.table("args", x.Args)
}

func (q *Queue) encode(o *object) {
	o.text("vhost", q.VHost)
	o.text("name", q.Name)
	o.word("type", q.Type)
	o.flag("durable", q.Durable)
	o.flag("auto_delete", q.AutoDelete)
	o.table("args", q.Args)
	o.number("log", int64(q.LogID))
}

func (b *Binding) encode(o *object) {
	o.text("vhost", b.VHost)
	o.text("source", b.Source)
	o.number("kind", int64(b.Kind))
	o.text("destination", b.Destination)
	o.text("key", b.Key)
	o.table("args", b.Args)
}

func (p *Policy) encode(o *object) {
	o.text("vhost", p.VHost)
	o.text("name", p.Name)
	o.text("pattern", p.Pattern)
	o.word("apply_to", p.ApplyTo)
	o.number("priority", p.Priority)
	o.table("definition", p.Definition)
	o.flag("operator", p.Operator)
}

func (p *Parameter) encode(o *object) {
	o.text("component", p.Component)
	o.word("vhost", p.VHost)
	o.text("name", p.Name)
	o.key("value")
	o.b = append(appendValue(append(o.b, '['), p.Value), ']')
}
