package catalog

import (
	"crypto/sha256"
	"encoding/base64"
	"net/url"
	"strings"

	"github.com/warrenmq/warren/keratin"
	"github.com/warrenmq/warren/queue/route"
)

// Record is one of the kinds of entry: *VHost, *User, *Permission, *TopicPermission, *Exchange, *Queue,
// *Binding, *Policy or *Parameter. Once part of a State it never changes; that includes its tables.
type Record interface {
	// durable: survives a restart, so its changes are logged.
	durable() bool
	// kind is the record's name in the log.
	kind() string
	// encode writes its fields to the log, in the form that the shape of its kind reads.
	encode(o *object)
}

// VHost is a name space for queues and exchanges.
type VHost struct {
	Name, Description string
	Tags              []string
	DefaultQueueType  string // for queues declared without x-queue-type; "" for classic
	Tracing           bool
	Protected         bool // from deletion
}

// User is somebody who may log in.
type User struct {
	Name         string
	PasswordHash string // see HashPassword; "" cannot log in with a password
	Hashing      string // HashSHA256, …
	Tags         []string
	Limits       map[string]int64 // max-connections, max-channels
}

// HasTag reports whether the user has the tag, e.g. "administrator".
func (u *User) HasTag(tag string) bool {
	for _, t := range u.Tags {
		if t == tag {
			return true
		}
	}
	return false
}

// Exchange is where messages are published to. Its name is unique in the vhost; "" is the default exchange.
type Exchange struct {
	VHost, Name, Type             string
	Durable, AutoDelete, Internal bool
	Args                          map[string]any
}

// Queue is a queue as declared.
type Queue struct {
	VHost, Name string
	Type        string // TypeClassic, TypeQuorum or TypeStream
	Durable     bool   // false if Exclusive: such a queue does not outlive its connection
	Exclusive   bool
	AutoDelete  bool
	Args        map[string]any
	Owner       string // the session of an exclusive queue
	LogID       keratin.LogID
}

// The queue types, as x-queue-type and the HTTP API name them.
const (
	TypeClassic = "classic"
	TypeQuorum  = "quorum"
	TypeStream  = "stream"
)

// CommandLog is the log the catalog's own records are on. Queues' logs are numbered from the next one.
const CommandLog keratin.LogID = 1

// TransientBase is where the log ids of transient queues begin. They leave no record, so they are counted apart
// and start again with every run; their logs do not outlive one either.
const TransientBase keratin.LogID = 1 << 62

// DestKind says what a binding leads to.
type DestKind uint8

// What a binding leads to.
const (
	ToQueue DestKind = iota
	ToExchange
)

// String returns the name the HTTP API has for it: "queue" or "exchange".
func (k DestKind) String() string {
	if k == ToExchange {
		return "exchange"
	}
	return "queue"
}

// Binding leads messages from an exchange to a queue or another exchange. All fields but Durable together are its
// identity.
type Binding struct {
	VHost, Source, Destination string
	Kind                       DestKind
	Key                        string
	Args                       map[string]any
	Durable                    bool // both ends are

	args string // canonical form of Args, "" without; what identity and order go by
}

// PropertiesKey names the binding among those between the same two ends, in the form the HTTP API has: "~" for
// the empty key, else the key, URL-quoted; with arguments the key, "~" and a hash of them.
func (b *Binding) PropertiesKey() string {
	key := strings.ReplaceAll(url.QueryEscape(b.Key), "+", "%20")
	key = strings.ReplaceAll(key, "~", "%7E")
	if b.args == "" {
		if key == "" {
			return "~"
		}
		return key
	}
	sum := sha256.Sum256([]byte(b.args))
	return key + "~" + base64.RawURLEncoding.EncodeToString(sum[:16])
}

// newBinding makes a binding with its identity.
func newBinding(b Binding) *Binding {
	b.args = ""
	if len(b.Args) > 0 {
		b.args = string(appendTable(nil, b.Args))
	} else {
		b.Args = nil
	}
	return &b
}

// Policy gives arguments to the queues and exchanges whose names match.
type Policy struct {
	VHost, Name, Pattern string
	ApplyTo              string // all, queues, exchanges, classic_queues, quorum_queues, streams
	Priority             int64
	Definition           map[string]any
	Operator             bool // an operator policy, in a name space of its own
}

// Parameter is a runtime parameter of a component; VHost is "" for a global one. The limits of a vhost are the
// component "vhost-limits", name "limits".
type Parameter struct {
	Component, VHost, Name string
	Value                  any
}

func (*VHost) durable() bool           { return true }
func (*User) durable() bool            { return true }
func (*Permission) durable() bool      { return true }
func (*TopicPermission) durable() bool { return true }
func (x *Exchange) durable() bool      { return x.Durable }
func (q *Queue) durable() bool         { return q.Durable }
func (b *Binding) durable() bool       { return b.Durable }
func (*Policy) durable() bool          { return true }
func (*Parameter) durable() bool       { return true }

func (*VHost) kind() string           { return "vhost" }
func (*User) kind() string            { return "user" }
func (*Permission) kind() string      { return "permission" }
func (*TopicPermission) kind() string { return "topic_permission" }
func (*Exchange) kind() string        { return "exchange" }
func (*Queue) kind() string           { return "queue" }
func (*Binding) kind() string         { return "binding" }
func (*Policy) kind() string          { return "policy" }
func (*Parameter) kind() string       { return "parameter" }

// predeclared returns the exchanges every vhost begins with.
func predeclared(vhost string) []*Exchange {
	make := func(name, typ string, internal bool) *Exchange {
		return &Exchange{VHost: vhost, Name: name, Type: typ, Durable: true, Internal: internal}
	}
	return []*Exchange{
		make("", route.Direct, false),
		make("amq.direct", route.Direct, false),
		make("amq.fanout", route.Fanout, false),
		make("amq.topic", route.Topic, false),
		make("amq.headers", route.Headers, false),
		make("amq.match", route.Headers, false),
		make("amq.rabbitmq.trace", route.Topic, true),
	}
}
