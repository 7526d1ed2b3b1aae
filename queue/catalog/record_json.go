package catalog

import (
	"encoding/json"
	"fmt"

	"github.com/warrenmq/warren/keratin"
)

// formatVersion is the version of log records and snapshots that is written; all up to it are read.
const formatVersion = 1

// VersionError refuses a record or snapshot that a later version of Warren has written.
type VersionError struct{ Version int }

func (e *VersionError) Error() string {
	return fmt.Sprintf("the catalog has format %d, newer than %d, the newest this version knows", e.Version, formatVersion)
}

func checkVersion(v int) error {
	switch {
	case v > formatVersion:
		return &VersionError{v}
	case v < 1:
		return fmt.Errorf("catalog: format %d", v)
	}
	return nil
}

// logRecord is a record of the command log: the durable changes of one command.
type logRecord struct {
	V       int          `json:"v"`
	Changes []changeJSON `json:"changes"`
}

// changeJSON is one change: the kind of record that is put or deleted, and the record.
type changeJSON struct {
	Put string          `json:"put"`
	Del string          `json:"del"`
	Is  json.RawMessage `json:"is"`
}

// encodeChanges returns the log record of the durable ones among the changes; nil if there are none.
func encodeChanges(changes []Change) []byte {
	var b []byte
	for _, c := range changes {
		switch {
		case !c.Record.durable():
			continue
		case b == nil:
			b = fmt.Appendf(nil, `{"v":%d,"changes":[`, formatVersion)
		default:
			b = append(b, ',')
		}
		b = appendChange(b, c)
	}
	if b == nil {
		return nil
	}
	return append(b, "]}"...)
}

func appendChange(dst []byte, c Change) []byte {
	verb := "put"
	if c.Delete {
		verb = "del"
	}
	o := object{dst}
	o.begin()
	o.word(verb, c.Record.kind())
	o.key("is")
	o.begin()
	c.Record.encode(&o)
	o.end()
	o.end()
	return o.b
}

// replay makes the changes of a log record.
func (s *State) replay(data []byte) error {
	var rec logRecord
	if err := json.Unmarshal(data, &rec); err != nil {
		return fmt.Errorf("catalog: log record: %w", err)
	}
	if err := checkVersion(rec.V); err != nil {
		return err
	}
	for _, enc := range rec.Changes {
		if err := s.replayChange(enc); err != nil {
			return fmt.Errorf("catalog: log record: %w", err)
		}
	}
	return nil
}

func (s *State) replayChange(enc changeJSON) error {
	kind := enc.Put + enc.Del
	form := forms[kind]
	if form == nil || enc.Put != "" && enc.Del != "" {
		return fmt.Errorf("unknown kind of record %q", kind)
	}
	shape := form()
	if err := json.Unmarshal(enc.Is, shape); err != nil {
		return err
	}
	rec, err := shape.record(s)
	if err != nil {
		return err
	}
	s.redo(Change{Delete: enc.Del != "", Record: rec})
	return nil
}

// shape is the JSON form of a kind of record, to be read; the records' encode methods write it.
type shape interface {
	// record makes the record, sharing with s what records share.
	record(s *State) (Record, error)
}

var forms = map[string]func() shape{
	"vhost":            func() shape { return new(vhostJSON) },
	"user":             func() shape { return new(userJSON) },
	"permission":       func() shape { return new(permissionJSON) },
	"topic_permission": func() shape { return new(topicPermissionJSON) },
	"exchange":         func() shape { return new(exchangeJSON) },
	"queue":            func() shape { return new(queueJSON) },
	"binding":          func() shape { return new(bindingJSON) },
	"policy":           func() shape { return new(policyJSON) },
	"parameter":        func() shape { return new(parameterJSON) },
}

type vhostJSON struct {
	Name        text   `json:"name"`
	Description text   `json:"description"`
	Tags        []text `json:"tags"`
	DefaultType string `json:"default_queue_type"`
	Tracing     bool   `json:"tracing"`
	Protected   bool   `json:"protected"`
}

func (j *vhostJSON) record(*State) (Record, error) {
	return &VHost{string(j.Name), string(j.Description), fromTexts(j.Tags), j.DefaultType, j.Tracing, j.Protected}, nil
}

type userJSON struct {
	Name    text             `json:"name"`
	Hash    string           `json:"password_hash"`
	Hashing string           `json:"hashing_algorithm"`
	Tags    []text           `json:"tags"`
	Limits  map[string]int64 `json:"limits"`
}

func (j *userJSON) record(*State) (Record, error) {
	return &User{string(j.Name), j.Hash, j.Hashing, fromTexts(j.Tags), j.Limits}, nil
}

type permissionJSON struct {
	User      text `json:"user"`
	VHost     text `json:"vhost"`
	Configure text `json:"configure"`
	Write     text `json:"write"`
	Read      text `json:"read"`
}

func (j *permissionJSON) record(s *State) (Record, error) {
	return s.patterns.permission(Permission{
		User: string(j.User), VHost: string(j.VHost),
		Configure: string(j.Configure), Write: string(j.Write), Read: string(j.Read),
	})
}

type topicPermissionJSON struct {
	User     text `json:"user"`
	VHost    text `json:"vhost"`
	Exchange text `json:"exchange"`
	Write    text `json:"write"`
	Read     text `json:"read"`
}

func (j *topicPermissionJSON) record(*State) (Record, error) {
	return &TopicPermission{string(j.User), string(j.VHost), string(j.Exchange), string(j.Write), string(j.Read)}, nil
}

type exchangeJSON struct {
	VHost      text   `json:"vhost"`
	Name       text   `json:"name"`
	Type       string `json:"type"`
	Durable    bool   `json:"durable"`
	AutoDelete bool   `json:"auto_delete"`
	Internal   bool   `json:"internal"`
	Args       table  `json:"args"`
}

func (j *exchangeJSON) record(s *State) (Record, error) {
	return &Exchange{s.vhostName(j.VHost), string(j.Name), j.Type, j.Durable, j.AutoDelete, j.Internal, j.Args}, nil
}

type queueJSON struct {
	VHost      text          `json:"vhost"`
	Name       text          `json:"name"`
	Type       string        `json:"type"`
	Durable    bool          `json:"durable"`
	AutoDelete bool          `json:"auto_delete"`
	Args       table         `json:"args"`
	LogID      keratin.LogID `json:"log"`
}

func (j *queueJSON) record(s *State) (Record, error) {
	return &Queue{
		VHost: s.vhostName(j.VHost), Name: string(j.Name), Type: j.Type,
		Durable: j.Durable, AutoDelete: j.AutoDelete, Args: j.Args, LogID: j.LogID,
	}, nil
}

type bindingJSON struct {
	VHost       text     `json:"vhost"`
	Source      text     `json:"source"`
	Kind        DestKind `json:"kind"`
	Destination text     `json:"destination"`
	Key         text     `json:"key"`
	Args        table    `json:"args"`
}

// record shares the names with the records of the ends: with many bindings that is most of their memory.
func (j *bindingJSON) record(s *State) (Record, error) {
	b := Binding{
		VHost: s.vhostName(j.VHost), Source: string(j.Source), Destination: string(j.Destination),
		Kind: j.Kind, Key: string(j.Key), Args: j.Args, Durable: true,
	}
	if x := s.Exchange(b.VHost, b.Source); x != nil {
		b.Source = x.Name
	}
	if q := s.Queue(b.VHost, b.Destination); q != nil && b.Kind == ToQueue {
		b.Destination = q.Name
	}
	return newBinding(b), nil
}

type policyJSON struct {
	VHost      text   `json:"vhost"`
	Name       text   `json:"name"`
	Pattern    text   `json:"pattern"`
	ApplyTo    string `json:"apply_to"`
	Priority   int64  `json:"priority"`
	Definition table  `json:"definition"`
	Operator   bool   `json:"operator"`
}

func (j *policyJSON) record(s *State) (Record, error) {
	return &Policy{
		s.vhostName(j.VHost), string(j.Name), string(j.Pattern), j.ApplyTo, j.Priority, j.Definition, j.Operator,
	}, nil
}

type parameterJSON struct {
	Component text  `json:"component"`
	VHost     text  `json:"vhost"`
	Name      text  `json:"name"`
	Value     value `json:"value"`
}

func (j *parameterJSON) record(*State) (Record, error) {
	return &Parameter{string(j.Component), string(j.VHost), string(j.Name), j.Value.v}, nil
}

// vhostName returns the name as the vhost's own record has it.
func (s *State) vhostName(name text) string {
	if h := s.VHost(string(name)); h != nil {
		return h.Name
	}
	return string(name)
}

func fromTexts(t []text) []string {
	if len(t) == 0 {
		return nil
	}
	s := make([]string, len(t))
	for i := range t {
		s[i] = string(t[i])
	}
	return s
}
