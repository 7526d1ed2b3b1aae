package route

import (
	"fmt"
	"slices"
	"strings"
)

// headers compares binding arguments with the message's headers, as RabbitMQ does:
//
//	x-match       every argument must match   one must match   arguments named x-… count
//	all (default) yes                                          no
//	any                                       yes              no
//	all-with-x    yes                                          yes, x-match aside
//	any-with-x                                yes              yes, x-match aside
//
// An argument without a value (void) matches if the header is there; any other if the header is there and
// Equal. Without arguments that count, "all" matches every message and "any" none. The binding key plays no
// part in matching but is part of a binding's identity.
type headers[Q comparable] struct {
	bindings []headersBinding[Q]
}

type headersBinding[Q comparable] struct {
	to     dest[Q]
	key    string
	args   map[string]any
	any    bool
	fields []field // the arguments that count
}

type field struct {
	name  string
	value any
}

func checkHeadersArgs(args map[string]any) string {
	v, ok := args["x-match"]
	if !ok {
		return ""
	}
	s, ok := v.(string)
	if !ok {
		return fmt.Sprintf("Invalid x-match field type %s (value %s); expected longstr", TypeName(v), Term(v))
	}
	switch s {
	case "all", "any", "all-with-x", "any-with-x":
		return ""
	}
	return fmt.Sprintf("Invalid x-match field value %s; expected all, any, all-with-x, or any-with-x", Term(s))
}

func (x *headers[Q]) bind(d dest[Q], key string, args map[string]any) {
	mode, _ := args["x-match"].(string)
	b := headersBinding[Q]{to: d, key: key, args: args, any: strings.HasPrefix(mode, "any")}
	withX := strings.HasSuffix(mode, "-with-x")
	for name, v := range args {
		if name == "x-match" || strings.HasPrefix(name, "x-") && !withX {
			continue
		}
		b.fields = append(b.fields, field{name, v})
	}
	x.bindings = append(x.bindings, b)
}

func (x *headers[Q]) unbind(d dest[Q], key string, args map[string]any) bool {
	i := slices.IndexFunc(x.bindings, func(b headersBinding[Q]) bool {
		return b.to == d && b.key == key && identicalTables(b.args, args)
	})
	if i < 0 {
		return false
	}
	last := len(x.bindings) - 1
	x.bindings[i] = x.bindings[last]
	x.bindings[last] = headersBinding[Q]{}
	x.bindings = x.bindings[:last]
	return true
}

func (x *headers[Q]) match(w *Walk[Q]) {
	if len(x.bindings) == 0 {
		return
	}
	table := w.table()
	for i := range x.bindings {
		if b := &x.bindings[i]; b.matches(table) {
			w.take(b.to)
		}
	}
}

func (b *headersBinding[Q]) matches(table map[string]any) bool {
	for i := range b.fields {
		f := &b.fields[i]
		have, ok := table[f.name]
		ok = ok && (f.value == nil || Equal(f.value, have))
		if ok == b.any {
			return ok
		}
	}
	return !b.any
}
