package catalog

import "regexp"

// Permission is what a user may do in a vhost: three regular expressions on resource names, unanchored; the empty
// one matches nothing.
type Permission struct {
	User, VHost            string
	Configure, Write, Read string

	patterns [3]pattern // by Access
}

// TopicPermission limits the routing keys a user may publish and bind with on a topic exchange.
type TopicPermission struct {
	User, VHost, Exchange string
	Write, Read           string
}

// Access is a kind of permission.
type Access uint8

// The kinds of permission.
const (
	Configure Access = iota
	Write
	Read
)

// String returns the word for it in refusals.
func (a Access) String() string { return [...]string{"configure", "write", "read"}[a] }

// Resource is what a permission is asked for.
type Resource struct {
	Kind string // KindQueue or KindExchange
	Name string
}

// The kinds of resource, as they are called in refusals.
const (
	KindQueue    = "queue"
	KindExchange = "exchange"
)

// Check returns nil if the user may do that with the resource, else the *Error (403) to tell. The default exchange
// goes by the name amq.default.
func (v *View) Check(user, vhost string, r Resource, a Access) error {
	name := r.Name
	if name == "" && r.Kind == KindExchange {
		name = "amq.default"
	}
	if p := v.Permission(user, vhost); p != nil && p.patterns[a].matches(name) {
		return nil
	}
	return refuse(AccessRefused, "%s access to %s '%s' in vhost '%s' refused for user '%s'", a, r.Kind, name, vhost, user)
}

// HasAccess reports whether the user may open connections to the vhost.
func (v *View) HasAccess(user, vhost string) bool { return v.Permission(user, vhost) != nil }

// permission returns p ready for checks, or an error if a pattern is not a regular expression.
func (c *patterns) permission(p Permission) (*Permission, error) {
	for a, expr := range []string{p.Configure, p.Write, p.Read} {
		m, err := c.compile(expr)
		if err != nil {
			return nil, err
		}
		p.patterns[a] = m
	}
	return &p, nil
}

// pattern is a compiled expression. The two that nearly everybody has need no engine.
type pattern struct {
	all bool
	re  *regexp.Regexp // nil: all or nothing
}

func (p pattern) matches(name string) bool { return p.all || p.re != nil && p.re.MatchString(name) }

// patterns remembers what it compiled: users mostly share a few expressions, so they share the compiled ones.
type patterns struct {
	compiled map[string]*regexp.Regexp
}

// maxCompiled bounds what is remembered: past the bound the memory starts anew.
const maxCompiled = 1024

func (c *patterns) compile(expr string) (pattern, error) {
	switch expr {
	case "", "^$":
		return pattern{}, nil
	case ".*", "^.*$", ".*$", "^.*":
		return pattern{all: true}, nil
	}
	re := c.compiled[expr]
	if re == nil {
		var err error
		if re, err = regexp.Compile(expr); err != nil {
			return pattern{}, err
		}
		if c.compiled == nil || len(c.compiled) >= maxCompiled {
			c.compiled = make(map[string]*regexp.Regexp)
		}
		c.compiled[expr] = re
	}
	return pattern{re: re}, nil
}
