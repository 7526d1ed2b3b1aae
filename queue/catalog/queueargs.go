package catalog

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/warrenmq/warren/queue/route"
)

// Arguments of queues that more than the lists below refer to.
const (
	argQueueType = "x-queue-type"
	argDLX       = "x-dead-letter-exchange"
)

// queueArgs lists the arguments of each queue type in the order in which a redeclared queue's are compared. Arguments
// that are on no list are kept and shown, and mean nothing. x-durability is our own. RabbitMQ refuses
// x-consumer-timeout for classic queues; frameworks set it for any, so it is not on a list that could refuse it.
var queueArgs = map[string][]string{
	TypeClassic: {
		"x-expires", "x-message-ttl", argDLX, "x-dead-letter-routing-key", "x-max-length", "x-max-length-bytes",
		"x-max-priority", "x-overflow", "x-queue-mode", "x-queue-version", "x-single-active-consumer", argQueueType,
		"x-queue-leader-locator", "x-durability",
	},
	TypeQuorum: {
		"x-expires", "x-message-ttl", argDLX, "x-dead-letter-routing-key", "x-dead-letter-strategy", "x-max-length",
		"x-max-length-bytes", "x-max-in-memory-length", "x-max-in-memory-bytes", "x-overflow",
		"x-single-active-consumer", argQueueType, "x-quorum-initial-group-size", "x-delivery-limit",
		"x-consumer-disconnected-timeout", "x-delayed-retry-type", "x-delayed-retry-min", "x-delayed-retry-max",
		"x-member-placement-tag", "x-queue-leader-locator", "x-durability",
	},
	TypeStream: {
		"x-max-length-bytes", "x-max-age", "x-stream-max-segment-size-bytes", "x-stream-filter-size-bytes",
		"x-initial-cluster-size", "x-queue-leader-locator", argQueueType, "x-durability",
	},
}

// fault is what is wrong with an argument: an Erlang term, as it stands in the error text. "" is nothing.
type fault string

// argCheck validates one argument's value; args are all of them.
type argCheck struct {
	name  string
	check func(v any, args map[string]any) fault
}

// argChecks are in the order in which RabbitMQ makes them.
var argChecks = []argCheck{
	{"x-expires", checkExpires},
	{"x-message-ttl", checkTTL},
	{"x-dead-letter-routing-key", checkDeadLetterKey},
	{"x-dead-letter-strategy", oneOf("invalid_dlx_strategy", "at-most-once", "at-least-once")},
	{"x-max-length", checkSize},
	{"x-max-length-bytes", checkSize},
	{"x-max-in-memory-length", checkSize},
	{"x-max-in-memory-bytes", checkSize},
	{"x-max-priority", checkMaxPriority},
	{"x-overflow", oneOf("invalid_overflow", "drop-head", "reject-publish", "reject-publish-dlx")},
	{"x-queue-mode", checkQueueMode},
	{"x-queue-version", checkQueueVersion},
	{"x-single-active-consumer", checkBool},
	{"x-quorum-initial-group-size", checkGroupSize},
	{"x-delivery-limit", checkInt},
	{"x-consumer-disconnected-timeout", checkSize},
	{"x-max-age", checkMaxAge},
	{"x-stream-max-segment-size-bytes", checkSize},
	{"x-stream-filter-size-bytes", checkFilterSize},
	{"x-initial-cluster-size", checkGroupSize},
	{"x-queue-leader-locator", oneOf("invalid_queue_locator_arg", "client-local", "balanced")},
	{"x-durability", oneOf("invalid_durability", "durable", "buffered")},
	{"x-consumer-timeout", checkSize},
}

// checkQueueArgs validates the arguments of a queue about to be made.
func checkQueueArgs(vhost, name string, args map[string]any) error {
	if len(args) == 0 {
		return nil
	}
	invalid := func(arg string, f fault) error {
		return refuse(PreconditionFailed, "invalid arg '%s' for queue '%s' in vhost '%s': %s", arg, name, vhost, f)
	}
	typ := TypeClassic
	if v, ok := args[argQueueType]; ok {
		if f := checkQueueType(v); f != "" {
			return invalid(argQueueType, f)
		}
		typ = v.(string)
	}
	for _, c := range argChecks {
		v, ok := args[c.name]
		if !ok || belongsElsewhere(c.name, typ) {
			continue
		}
		if f := c.check(v, args); f != "" {
			return invalid(c.name, f)
		}
	}
	for _, arg := range slices.Sorted(maps.Keys(args)) {
		if belongsElsewhere(arg, typ) {
			return refuse(PreconditionFailed, "invalid arg '%s' for queue '%s' in vhost '%s' of queue type rabbit_%s_queue",
				arg, name, vhost, typ)
		}
	}
	return nil
}

// belongsElsewhere reports whether the argument is known, but to other queue types only.
func belongsElsewhere(arg, typ string) bool {
	if slices.Contains(queueArgs[typ], arg) {
		return false
	}
	for _, known := range queueArgs {
		if slices.Contains(known, arg) {
			return true
		}
	}
	return false
}

func unacceptable(v any) fault { return fault("{unacceptable_type," + route.TypeName(v) + "}") }

func checkQueueType(v any) fault {
	t, ok := v.(string)
	switch {
	case !ok:
		return unacceptable(v)
	case !isQueueType(t):
		return fault(fmt.Sprintf("%q", "unsupported queue type '"+t+"'"))
	}
	return ""
}

// integer returns the value of an integer argument. A timestamp is not one.
func integer(v any) (int64, fault) {
	n, ok := route.Integer(v)
	if !ok || route.TypeName(v) == "timestamp" {
		return 0, fault(fmt.Sprintf("%q", "expected integer, got "+route.TypeName(v)))
	}
	return n, ""
}

func checkInt(v any, _ map[string]any) fault {
	_, f := integer(v)
	return f
}

func checkSize(v any, _ map[string]any) fault {
	n, f := integer(v)
	if f == "" && n < 0 {
		return fault(fmt.Sprintf("{value_negative,%d}", n))
	}
	return f
}

// maxExpiry is ten years, in milliseconds.
const maxExpiry = 10 * 365 * 24 * 60 * 60 * 1000

func checkTTL(v any, args map[string]any) fault {
	n, f := integer(v)
	if f == "" && n > maxExpiry {
		return fault(fmt.Sprintf("{value_too_large,%d}", n))
	}
	return checkSize(v, args)
}

func checkExpires(v any, args map[string]any) fault {
	if f := checkNonZero(v); f != "" {
		return f
	}
	return checkTTL(v, args)
}

func checkGroupSize(v any, args map[string]any) fault {
	if f := checkNonZero(v); f != "" {
		return f
	}
	return checkSize(v, args)
}

func checkNonZero(v any) fault {
	n, f := integer(v)
	if f == "" && n == 0 {
		return "{value_zero,0}"
	}
	return f
}

func checkMaxPriority(v any, args map[string]any) fault {
	if n, f := integer(v); f == "" && n > 255 {
		return fault(fmt.Sprintf("{max_value_exceeded,%d}", n))
	}
	return checkSize(v, args)
}

func checkQueueVersion(v any, args map[string]any) fault {
	if n, f := integer(v); f == "" && n >= 0 && n != 1 && n != 2 {
		return fault(fmt.Sprintf("%q", fmt.Sprintf("unsupported queue version '%d'", n)))
	}
	return checkSize(v, args)
}

func checkQueueMode(v any, _ map[string]any) fault {
	mode, ok := v.(string)
	switch {
	case !ok:
		return unacceptable(v)
	case mode != "default" && mode != "lazy":
		return fault(fmt.Sprintf("%q", "unsupported queue mode '"+mode+"'"))
	}
	return ""
}

func checkBool(v any, _ map[string]any) fault {
	if _, ok := v.(bool); !ok {
		return unacceptable(v)
	}
	return ""
}

func checkDeadLetterKey(v any, args map[string]any) fault {
	if _, ok := v.(string); !ok {
		return unacceptable(v)
	}
	if _, ok := args[argDLX]; !ok {
		return "routing_key_but_no_dlx_defined"
	}
	return ""
}

// checkMaxAge wants a number above 0 and a unit: "7D".
func checkMaxAge(v any, _ map[string]any) fault {
	age, ok := v.(string)
	if !ok {
		return unacceptable(v)
	}
	digits := strings.TrimRight(age, "YMDhms")
	if len(age)-len(digits) != 1 || strings.Trim(digits, "0123456789") != "" || strings.Trim(digits, "0") == "" {
		return "invalid_max_age"
	}
	return ""
}

func checkFilterSize(v any, args map[string]any) fault {
	if n, f := integer(v); f == "" && n >= 0 && (n < 16 || n > 255) {
		return fault(fmt.Sprintf("{value_out_of_range,%d}", n))
	}
	return checkSize(v, args)
}

// oneOf makes the check of an argument that is one of a few words.
func oneOf(otherwise fault, words ...string) func(any, map[string]any) fault {
	return func(v any, _ map[string]any) fault {
		word, ok := v.(string)
		switch {
		case !ok:
			return unacceptable(v)
		case !slices.Contains(words, word):
			return otherwise
		}
		return ""
	}
}
