package catalog

import (
	"fmt"

	"github.com/warrenmq/warren/queue/route"
)

// equivalence compares what is declared again with what there is, and tells the first difference in RabbitMQ's words.
type equivalence struct{ kind, vhost, name string }

// first returns the first error of several checks.
func (equivalence) first(checks ...*Error) error {
	for _, err := range checks {
		if err != nil {
			return err
		}
	}
	return nil
}

func (e equivalence) field(name string, current, received any) *Error {
	if current == received {
		return nil
	}
	return e.fail(name, fmt.Sprintf("'%v'", current), fmt.Sprintf("'%v'", received))
}

// args compares the named arguments, in their order; all others may differ. Values are compared as route.Equal does:
// integers of all widths with each other, but a string never with a number.
func (e equivalence) args(names []string, current, received map[string]any) *Error {
	for _, name := range names {
		have, has := current[name]
		want, wants := received[name]
		switch {
		case has == wants && route.Equal(have, want):
		case has && wants:
			return e.fail(name, "'"+plain(have)+"'", "'"+plain(want)+"'")
		case name == argQueueType && (have == TypeClassic || want == TypeClassic):
			// classic is what a queue without the argument is
		default:
			return e.fail(name, typed(have, has), typed(want, wants))
		}
	}
	return nil
}

func (e equivalence) fail(arg, current, received string) *Error {
	return refuse(PreconditionFailed, "inequivalent arg '%s' for %s '%s' in vhost '%s': received %s but current is %s",
		arg, e.kind, e.name, e.vhost, received, current)
}

// typed describes an argument where the other side has none.
func typed(v any, there bool) string {
	if !there {
		return "none"
	}
	return fmt.Sprintf("the value '%s' of type '%s'", plain(v), route.TypeName(v))
}

// plain prints a value: strings as they are, anything else as a term.
func plain(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case []byte:
		return string(v)
	}
	return route.Term(v)
}
