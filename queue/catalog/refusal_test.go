package catalog

import (
	"errors"
	"strings"
	"testing"
)

// apply applies commands that must not be refused, and returns the last result.
func apply(t testing.TB, s *State, cmds ...Command) *Result {
	t.Helper()
	var last *Result
	for _, cmd := range cmds {
		r, err := s.Apply(cmd)
		if err != nil {
			t.Fatalf("%T %+v: %v", cmd, cmd, err)
		}
		last = r
	}
	return last
}

// withVHost returns a state with the vhost "/", and users: root may do everything there, guest nothing.
func withVHost(t testing.TB) *State {
	s := NewState()
	apply(t, s, PutVHost{VHost{Name: "/"}}, PutUser{User{Name: "root"}}, PutUser{User{Name: "guest"}},
		PutPermission{Permission{User: "root", VHost: "/", Configure: ".*", Write: ".*", Read: ".*"}},
		PutPermission{Permission{User: "guest", VHost: "/"}})
	return s
}

func wantRefused(t *testing.T, s *State, cmd Command, kind Kind, text string) {
	t.Helper()
	r, err := s.Apply(cmd)
	var refused *Error
	switch {
	case !errors.As(err, &refused):
		t.Errorf("%T %+v: %+v, %v; want %s", cmd, cmd, r, err, text)
	case refused.Kind != kind || refused.Text != text:
		t.Errorf("%T %+v: refused with\n%d %s, want\n%d %s", cmd, cmd, refused.Kind, refused.Text, kind, text)
	}
}

type args = map[string]any

// TestQueueArguments has RabbitMQ's text for every argument that can be wrong.
func TestQueueArguments(t *testing.T) {
	quorum, stream := args{"x-queue-type": "quorum"}, args{"x-queue-type": "stream"}
	for _, c := range []struct {
		base args
		arg  string
		v    any
		want string // what follows the queue; "" if it is fine
	}{
		{nil, "x-message-ttl", int32(-1), ": {value_negative,-1}"},
		{nil, "x-message-ttl", int64(315360000001), ": {value_too_large,315360000001}"},
		{nil, "x-message-ttl", int64(315360000000), ""},
		{nil, "x-message-ttl", int8(0), ""},
		{nil, "x-message-ttl", "60000", `: "expected integer, got longstr"`},
		{nil, "x-message-ttl", float64(1), `: "expected integer, got double"`},
		{nil, "x-expires", uint16(0), ": {value_zero,0}"},
		{nil, "x-expires", int32(-5), ": {value_negative,-5}"},
		{nil, "x-expires", true, `: "expected integer, got bool"`},
		{nil, "x-expires", int64(1800000), ""},
		{nil, "x-max-length", int32(0), ""},
		{nil, "x-max-length", int32(-1), ": {value_negative,-1}"},
		{nil, "x-max-length-bytes", "1", `: "expected integer, got longstr"`},
		{nil, "x-max-priority", uint8(255), ""},
		{nil, "x-max-priority", int32(256), ": {max_value_exceeded,256}"},
		{nil, "x-max-priority", int32(-1), ": {value_negative,-1}"},
		{nil, "x-overflow", "drop-tail", ": invalid_overflow"},
		{nil, "x-overflow", int32(1), ": {unacceptable_type,signedint}"},
		{nil, "x-overflow", "reject-publish-dlx", ""},
		{nil, "x-queue-mode", "lazy", ""},
		{nil, "x-queue-mode", "eager", `: "unsupported queue mode 'eager'"`},
		{nil, "x-queue-version", int32(2), ""},
		{nil, "x-queue-version", int32(3), `: "unsupported queue version '3'"`},
		{nil, "x-single-active-consumer", "yes", ": {unacceptable_type,longstr}"},
		{nil, "x-single-active-consumer", true, ""},
		{nil, "x-queue-type", "fast", `: "unsupported queue type 'fast'"`},
		{nil, "x-queue-type", int32(1), ": {unacceptable_type,signedint}"},
		{nil, "x-queue-leader-locator", "balanced", ""},
		{nil, "x-queue-leader-locator", "random", ": invalid_queue_locator_arg"},
		{nil, "x-dead-letter-routing-key", "k", ": routing_key_but_no_dlx_defined"},
		{args{"x-dead-letter-exchange": "dlx"}, "x-dead-letter-routing-key", "k", ""},
		{args{"x-dead-letter-exchange": "dlx"}, "x-dead-letter-routing-key", int32(1), ": {unacceptable_type,signedint}"},
		{nil, "x-durability", "buffered", ""},
		{nil, "x-durability", "never", ": invalid_durability"},
		{nil, "x-consumer-timeout", int32(1000), ""},
		{nil, "x-ha-policy", "all", ""},
		{nil, "x-queue-master-locator", "min-masters", ""},
		{nil, "anything", args{"a": "b"}, ""},
		{nil, "x-delivery-limit", int32(5), " of queue type rabbit_classic_queue"},
		{quorum, "x-delivery-limit", int32(-1), ""},
		{quorum, "x-delivery-limit", "5", `: "expected integer, got longstr"`},
		{quorum, "x-max-priority", int32(5), " of queue type rabbit_quorum_queue"},
		{quorum, "x-queue-mode", "lazy", " of queue type rabbit_quorum_queue"},
		{quorum, "x-dead-letter-strategy", "at-least-once", ""},
		{quorum, "x-dead-letter-strategy", "sometimes", ": invalid_dlx_strategy"},
		{quorum, "x-quorum-initial-group-size", int32(0), ": {value_zero,0}"},
		{quorum, "x-quorum-initial-group-size", int32(3), ""},
		{stream, "x-max-age", "7D", ""},
		{stream, "x-max-age", "7d", ": invalid_max_age"},
		{stream, "x-max-age", "0D", ": invalid_max_age"},
		{stream, "x-max-age", "D", ": invalid_max_age"},
		{stream, "x-max-age", int32(7), ": {unacceptable_type,signedint}"},
		{stream, "x-message-ttl", int32(7), " of queue type rabbit_stream_queue"},
		{stream, "x-stream-filter-size-bytes", int32(16), ""},
	} {
		s := withVHost(t)
		all := args{c.arg: c.v}
		for k, v := range c.base {
			all[k] = v
		}
		cmd := DeclareQueue{VHost: "/", Name: "q", Durable: true, Args: all, User: "root"}
		if c.want == "" {
			if r := apply(t, s, cmd); !r.Created || s.Queue("/", "q") != r.Queue {
				t.Errorf("%v: no queue", all)
			}
			continue
		}
		wantRefused(t, s, cmd, PreconditionFailed, "invalid arg '"+c.arg+"' for queue 'q' in vhost '/'"+c.want)
		if s.Queue("/", "q") != nil {
			t.Errorf("%v: refused, and the queue is there", all)
		}
	}
}

// TestQueueEquivalence declares a queue twice.
func TestQueueEquivalence(t *testing.T) {
	const differs = "inequivalent arg '%' for queue 'q' in vhost '/': received "
	for _, c := range []struct {
		first, second DeclareQueue
		want          string
	}{
		{DeclareQueue{}, DeclareQueue{}, ""},
		{DeclareQueue{Durable: true}, DeclareQueue{}, "durable: 'false' but current is 'true'"},
		{DeclareQueue{}, DeclareQueue{Durable: true}, "durable: 'true' but current is 'false'"},
		{DeclareQueue{}, DeclareQueue{Durable: true, AutoDelete: true}, "durable: 'true' but current is 'false'"},
		{DeclareQueue{AutoDelete: true}, DeclareQueue{Args: args{"x-expires": int32(1)}}, "auto_delete: 'false' but current is 'true'"},
		{DeclareQueue{Args: args{"x-message-ttl": int32(1000)}}, DeclareQueue{Args: args{"x-message-ttl": int64(1000)}}, ""},
		{
			DeclareQueue{Args: args{"x-message-ttl": int32(1000)}}, DeclareQueue{Args: args{"x-message-ttl": int32(2000)}},
			"x-message-ttl: '2000' but current is '1000'",
		},
		{
			DeclareQueue{Args: args{"x-message-ttl": int32(1000)}}, DeclareQueue{},
			"x-message-ttl: none but current is the value '1000' of type 'signedint'",
		},
		{
			DeclareQueue{}, DeclareQueue{Args: args{"x-message-ttl": int64(1000)}},
			"x-message-ttl: the value '1000' of type 'long' but current is none",
		},
		{
			DeclareQueue{}, DeclareQueue{Args: args{"x-dead-letter-exchange": "dlx"}},
			"x-dead-letter-exchange: the value 'dlx' of type 'longstr' but current is none",
		},
		{
			DeclareQueue{Args: args{"x-max-length": int32(1)}}, DeclareQueue{Args: args{"x-max-length": "1"}},
			"x-max-length: '1' but current is '1'",
		},
		{DeclareQueue{}, DeclareQueue{Args: args{"x-queue-type": "classic"}}, ""},
		{DeclareQueue{Args: args{"x-queue-type": "classic"}}, DeclareQueue{}, ""},
		{
			DeclareQueue{Durable: true, Args: args{"x-queue-type": "quorum"}}, DeclareQueue{Durable: true},
			"x-queue-type: none but current is the value 'quorum' of type 'longstr'",
		},
		{
			DeclareQueue{Durable: true, Args: args{"x-queue-type": "quorum"}},
			DeclareQueue{Durable: true, Args: args{"x-queue-type": "classic"}},
			"x-queue-type: 'classic' but current is 'quorum'",
		},
		{
			DeclareQueue{Durable: true, Args: args{"x-durability": "buffered"}}, DeclareQueue{Durable: true},
			"x-durability: none but current is the value 'buffered' of type 'longstr'",
		},
		{DeclareQueue{Args: args{"x-unknown": "1"}}, DeclareQueue{Args: args{"x-unknown": int32(1)}}, ""},
		{DeclareQueue{Args: args{"x-expires": int32(5)}}, DeclareQueue{Args: args{"x-expires": int32(-5)}}, "x-expires: '-5' but current is '5'"},
		{DeclareQueue{Exclusive: true, Session: "s"}, DeclareQueue{Exclusive: true, Session: "s"}, ""},
		{DeclareQueue{Exclusive: true, Session: "s", Durable: true}, DeclareQueue{Exclusive: true, Session: "s"}, ""},
		{DeclareQueue{Exclusive: true, Session: "s"}, DeclareQueue{Exclusive: true, Session: "other"}, "locked"},
		{DeclareQueue{Exclusive: true, Session: "s"}, DeclareQueue{Session: "s"}, "locked"},
		{DeclareQueue{Session: "s"}, DeclareQueue{Exclusive: true, Session: "s"}, "locked"},
	} {
		s := withVHost(t)
		c.first.VHost, c.first.Name, c.second.VHost, c.second.Name = "/", "q", "/", "q"
		made := apply(t, s, c.first)
		field, rest, _ := strings.Cut(c.want, ": ")
		switch {
		case c.want == "locked":
			wantRefused(t, s, c.second, ResourceLocked, "cannot obtain exclusive access to locked queue 'q' in vhost '/'. "+
				"It could be originally declared on another connection or the exclusive property value does not match "+
				"that of the original declaration.")
		case c.want != "":
			wantRefused(t, s, c.second, PreconditionFailed, strings.ReplaceAll(differs, "%", field)+rest)
		default:
			if r := apply(t, s, c.second); r.Created || len(r.Changes) > 0 || r.Queue != made.Queue {
				t.Errorf("declared %+v twice: %+v", c.first, r)
			}
		}
	}
}

func TestQueueRefusals(t *testing.T) {
	s := withVHost(t)
	q := func(name string) DeclareQueue {
		return DeclareQueue{VHost: "/", Name: name, User: "root", Session: "s"}
	}
	typed := func(typ string, change func(*DeclareQueue)) DeclareQueue {
		c := q("q")
		c.Durable, c.Args = true, args{"x-queue-type": typ}
		change(&c)
		return c
	}
	elsewhere := q("q")
	elsewhere.VHost = "nowhere"
	wantRefused(t, s, elsewhere, NotAllowed, "vhost nowhere not found")
	wantRefused(t, s, q("amq.q"), AccessRefused, "queue name 'amq.q' contains reserved prefix 'amq.*'")
	wantRefused(t, s, typed("quorum", func(c *DeclareQueue) { c.AutoDelete = true }), PreconditionFailed,
		"invalid property 'auto-delete' for queue 'q' in vhost '/'")
	wantRefused(t, s, typed("stream", func(c *DeclareQueue) { c.Exclusive = true }), PreconditionFailed,
		"invalid property 'exclusive-owner' for queue 'q' in vhost '/'")
	wantRefused(t, s, typed("quorum", func(c *DeclareQueue) { c.Durable = false }), PreconditionFailed,
		"invalid property 'non-durable' for queue 'q' in vhost '/'")
	wantRefused(t, s, typed("quorum", func(c *DeclareQueue) { c.ServerNamed = true }), PreconditionFailed,
		"Cannot declare a server-named queue for type rabbit_quorum_queue")
	wantRefused(t, s, typed("classic", func(c *DeclareQueue) { c.Args["x-dead-letter-exchange"] = int32(1) }), PreconditionFailed,
		"invalid type 'signedint' for arg 'x-dead-letter-exchange' in queue 'q' in vhost '/'")
	wantRefused(t, s, typed("classic", func(c *DeclareQueue) { c.Args["a"] = 1 }), PreconditionFailed,
		"a field table cannot hold a value of type int")

	named := q("amq.gen-x")
	named.ServerNamed = true
	apply(t, s, named)
	wantRefused(t, s, q("amq.gen-x"), AccessRefused, "queue name 'amq.gen-x' contains reserved prefix 'amq.*'") // although it exists

	apply(t, s, PutParameter{Parameter{Component: "vhost-limits", VHost: "/", Name: "limits", Value: args{"max-queues": int64(2)}}}, q("a\r\nb"))
	if s.Queue("/", "ab") == nil {
		t.Error("line ends were not dropped from the name")
	}
	wantRefused(t, s, q("c"), PreconditionFailed, "cannot declare queue 'c': queue limit in vhost '/' (2) is reached")
	apply(t, s, q("ab"), DeleteQueue{VHost: "/", Name: "ab"}, q("c"))
	apply(t, s, PutParameter{Parameter{Component: "vhost-limits", VHost: "/", Name: "limits", Value: args{"max-queues": int64(-1)}}}, q("d"))
}

func TestQueueDefaultType(t *testing.T) {
	s := NewState()
	apply(t, s, PutVHost{VHost{Name: "/", DefaultQueueType: "quorum"}})
	typeOf := func(c DeclareQueue) string {
		c.VHost = "/"
		return apply(t, s, c).Queue.Type
	}
	for name, c := range map[string]DeclareQueue{
		"quorum":  {Name: "a", Durable: true},
		"classic": {Name: "b", Durable: true, Args: args{"x-queue-type": "classic"}},
		"stream":  {Name: "c", Durable: true, Args: args{"x-queue-type": "stream"}},
	} {
		if got := typeOf(c); got != name {
			t.Errorf("%+v became a %s queue", c, got)
		}
	}
	given := args{"x-queue-type": "undefined"}
	if got := typeOf(DeclareQueue{Name: "d", Durable: true, Args: given}); got != "quorum" {
		t.Errorf("type undefined became %s", got)
	}
	if given["x-queue-type"] != "undefined" {
		t.Error("the caller's table was changed")
	}
	for name, c := range map[string]DeclareQueue{"e": {}, "f": {Durable: true, AutoDelete: true}, "g": {Durable: true, Exclusive: true, Session: "s"}} {
		c.Name = name
		if got := typeOf(c); got != "classic" {
			t.Errorf("%+v became a %s queue", c, got)
		}
	}
	apply(t, s, DeclareQueue{VHost: "/", Name: "a", Durable: true}) // equivalent: the default is put in first
}

func TestExchangeRefusals(t *testing.T) {
	s := withVHost(t)
	x := DeclareExchange{VHost: "/", Name: "x", Type: "direct", Durable: true, Args: args{"alternate-exchange": "ae", "other": int32(1)}, User: "root"}
	made := apply(t, s, x)
	if r := apply(t, s, x); !made.Created || r.Created || r.Exchange != made.Exchange {
		t.Errorf("declared twice: %+v, %+v", made, r)
	}
	again := func(change func(*DeclareExchange)) DeclareExchange {
		c := x
		change(&c)
		return c
	}
	const differs = "inequivalent arg '%' for exchange 'x' in vhost '/': received "
	for field, c := range map[string]struct {
		cmd  DeclareExchange
		want string
	}{
		"type":        {again(func(c *DeclareExchange) { c.Type, c.Durable = "fanout", false }), "'fanout' but current is 'direct'"},
		"durable":     {again(func(c *DeclareExchange) { c.Durable = false }), "'false' but current is 'true'"},
		"auto_delete": {again(func(c *DeclareExchange) { c.AutoDelete = true }), "'true' but current is 'false'"},
		"internal":    {again(func(c *DeclareExchange) { c.Internal = true }), "'true' but current is 'false'"},
		"alternate-exchange": {
			again(func(c *DeclareExchange) { c.Args = nil }),
			"none but current is the value 'ae' of type 'longstr'",
		},
	} {
		wantRefused(t, s, c.cmd, PreconditionFailed, strings.ReplaceAll(differs, "%", field)+c.want)
	}
	apply(t, s, again(func(c *DeclareExchange) { c.Args = args{"alternate-exchange": "ae"} }))

	wantRefused(t, s, again(func(c *DeclareExchange) { c.Type = "x-odd" }), PreconditionFailed, "unknown exchange type 'x-odd'")
	wantRefused(t, s, again(func(c *DeclareExchange) { c.Name = "" }), AccessRefused, "operation not permitted on the default exchange")
	wantRefused(t, s, again(func(c *DeclareExchange) { c.Name = "amq.new" }), AccessRefused,
		"exchange name 'amq.new' contains reserved prefix 'amq.*'")
	wantRefused(t, s, again(func(c *DeclareExchange) { c.Name, c.Args = "y", args{"alternate-exchange": int32(1)} }), PreconditionFailed,
		"invalid type 'signedint' for arg 'alternate-exchange' in exchange 'y' in vhost '/'")
	apply(t, s, DeclareExchange{VHost: "/", Name: "amq.topic", Type: "topic", Durable: true})

	wantRefused(t, s, DeleteExchange{VHost: "/", Name: "amq.topic"}, AccessRefused,
		"deletion of system exchange 'amq.topic' in vhost '/' not allowed")
	wantRefused(t, s, DeleteExchange{VHost: "/"}, AccessRefused, "operation not permitted on the default exchange")
	apply(t, s, DeclareQueue{VHost: "/", Name: "q"}, Bind{VHost: "/", Source: "x", Destination: "q"})
	wantRefused(t, s, DeleteExchange{VHost: "/", Name: "x", IfUnused: true}, PreconditionFailed, "exchange 'x' in vhost '/' in use")
	apply(t, s, Unbind{VHost: "/", Source: "x", Destination: "q"}, DeleteExchange{VHost: "/", Name: "x", IfUnused: true})
	if r := apply(t, s, DeleteExchange{VHost: "/", Name: "x"}); len(r.Changes) != 0 {
		t.Errorf("deleting what is not there: %+v", r)
	}
}

func TestBindRefusals(t *testing.T) {
	s := withVHost(t)
	apply(t, s, DeclareQueue{VHost: "/", Name: "q"}, DeclareQueue{VHost: "/", Name: "own", Exclusive: true, Session: "s"})
	wantRefused(t, s, Bind{VHost: "/", Source: "no", Destination: "nor"}, NotFound, "no exchange 'no' in vhost '/'")
	wantRefused(t, s, Bind{VHost: "/", Source: "amq.topic", Destination: "no"}, NotFound, "no queue 'no' in vhost '/'")
	wantRefused(t, s, Bind{VHost: "/", Source: "amq.topic", Destination: "q", Kind: ToExchange}, NotFound, "no exchange 'q' in vhost '/'")
	wantRefused(t, s, Bind{VHost: "/", Destination: "q"}, AccessRefused, "operation not permitted on the default exchange")
	wantRefused(t, s, Bind{VHost: "/", Source: "amq.topic", Kind: ToExchange}, AccessRefused, "operation not permitted on the default exchange")
	wantRefused(t, s, Unbind{VHost: "/", Destination: "q"}, AccessRefused, "operation not permitted on the default exchange")
	wantRefused(t, s, Bind{VHost: "/", Source: "amq.headers", Destination: "q", Args: args{"x-match": "foo"}}, PreconditionFailed,
		`Invalid x-match field value <<"foo">>; expected all, any, all-with-x, or any-with-x`)
	for _, cmd := range []Command{
		Bind{VHost: "/", Source: "amq.topic", Destination: "own", Session: "t"},
		DeleteQueue{VHost: "/", Name: "own", Session: "t"},
	} {
		wantRefused(t, s, cmd, ResourceLocked, Locked("/", "own").Text)
	}
	for range 2 {
		r := apply(t, s, Bind{VHost: "/", Source: "amq.topic", Destination: "own", Session: "s"})
		if got := len(r.Changes); r.Created != (got == 1) || got > 1 {
			t.Errorf("bind: %+v", r)
		}
	}
	// What is not there is unbound already.
	for _, cmd := range []Command{
		Unbind{VHost: "/", Source: "amq.topic", Destination: "q", Key: "no"}, Unbind{VHost: "/", Source: "no", Destination: "q"},
		Unbind{VHost: "/", Source: "amq.topic", Destination: "no"}, DeleteQueue{VHost: "/", Name: "no"},
	} {
		if r := apply(t, s, cmd); len(r.Changes) > 0 {
			t.Errorf("%+v changed %+v", cmd, r.Changes)
		}
	}
}

// TestPermissionsAreChecked gives the user all but one permission and names the one that is missed.
func TestPermissionsAreChecked(t *testing.T) {
	s := withVHost(t)
	apply(t, s, DeclareQueue{VHost: "/", Name: "q"}, DeclareExchange{VHost: "/", Name: "x", Type: "direct"}, PutUser{User{Name: "u"}})
	dlx, ae := args{"x-dead-letter-exchange": "dlx"}, args{"alternate-exchange": "ae"}
	for _, c := range []struct {
		cmd  Command
		may  Permission
		want string
	}{
		{DeclareQueue{VHost: "/", Name: "q", User: "u"}, Permission{Write: ".*", Read: ".*"}, "configure access to queue 'q'"},
		{DeclareQueue{VHost: "/", Name: "new", Args: dlx, User: "u"}, Permission{Configure: ".*", Write: ".*"}, "read access to queue 'new'"},
		{DeclareQueue{VHost: "/", Name: "new", Args: dlx, User: "u"}, Permission{Configure: ".*", Read: ".*", Write: "^new$"}, "write access to exchange 'dlx'"},
		{DeleteQueue{VHost: "/", Name: "q", User: "u"}, Permission{Configure: "^(a|b)$"}, "configure access to queue 'q'"},
		{DeclareExchange{VHost: "/", Name: "x", Type: "direct", User: "u"}, Permission{Configure: "^xx"}, "configure access to exchange 'x'"},
		{DeclareExchange{VHost: "/", Name: "y", Type: "direct", Args: ae, User: "u"}, Permission{Configure: "y", Write: ".*"}, "read access to exchange 'y'"},
		{DeclareExchange{VHost: "/", Name: "y", Type: "direct", Args: ae, User: "u"}, Permission{Configure: "y", Read: ".*"}, "write access to exchange 'ae'"},
		{DeleteExchange{VHost: "/", Name: "x", User: "u"}, Permission{Write: ".*", Read: ".*"}, "configure access to exchange 'x'"},
		{Bind{VHost: "/", Source: "x", Destination: "q", User: "u"}, Permission{Read: ".*"}, "write access to queue 'q'"},
		{Bind{VHost: "/", Source: "x", Destination: "q", User: "u"}, Permission{Write: ".*"}, "read access to exchange 'x'"},
		{Unbind{VHost: "/", Source: "x", Destination: "x", Kind: ToExchange, User: "u"}, Permission{Read: ".*"}, "write access to exchange 'x'"},
	} {
		c.may.User, c.may.VHost = "u", "/"
		apply(t, s, PutPermission{c.may})
		wantRefused(t, s, c.cmd, AccessRefused, c.want+" in vhost '/' refused for user 'u'")
	}
}

func TestCheck(t *testing.T) {
	s := withVHost(t)
	apply(t, s, PutPermission{Permission{User: "guest", VHost: "/", Configure: "^$", Write: "amq\\.def", Read: "^a"}})
	for _, c := range []struct {
		r    Resource
		a    Access
		want bool
	}{
		{Resource{KindQueue, ""}, Configure, false}, {Resource{KindExchange, ""}, Write, true}, {Resource{KindQueue, "ba"}, Read, false},
		{Resource{KindQueue, "ab"}, Read, true}, {Resource{KindExchange, "x"}, Write, false},
	} {
		if err := s.Check("guest", "/", c.r, c.a); (err == nil) != c.want {
			t.Errorf("%v %v: %v", c.a, c.r, err)
		}
	}
	err := s.Check("nobody", "/", Resource{KindExchange, ""}, Write)
	if err == nil || err.Error() != "write access to exchange 'amq.default' in vhost '/' refused for user 'nobody'" {
		t.Errorf("a user without permissions: %v", err)
	}
	if s.HasAccess("nobody", "/") || !s.HasAccess("guest", "/") {
		t.Error("HasAccess is wrong")
	}
	if _, err := s.Apply(PutPermission{Permission{User: "guest", VHost: "/", Read: "("}}); err == nil {
		t.Error("a pattern that is no regular expression was taken")
	}
}

func TestPassive(t *testing.T) {
	s := withVHost(t)
	apply(t, s, DeclareQueue{VHost: "/", Name: "own", Exclusive: true, Session: "s"})
	if q, err := s.PassiveQueue("/", "own", "s"); err != nil || q.Name != "own" {
		t.Errorf("own queue: %v, %v", q, err)
	}
	for name, want := range map[string]*Error{"own": Locked("/", "own"), "no": NoQueue("/", "no")} {
		var got *Error
		if _, err := s.PassiveQueue("/", name, "t"); !errors.As(err, &got) || *got != *want {
			t.Errorf("queue %s: %v", name, err)
		}
	}
	if x, err := s.PassiveExchange("/", "amq.match"); err != nil || x.Type != "headers" {
		t.Errorf("amq.match: %v, %v", x, err)
	}
	var got *Error
	if _, err := s.PassiveExchange("/", "no"); !errors.As(err, &got) || *got != *NoExchange("/", "no") {
		t.Errorf("exchange no: %v", err)
	}
}
