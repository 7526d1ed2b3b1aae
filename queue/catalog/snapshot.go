package catalog

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"

	"github.com/warrenmq/warren/keratin"
)

type snapshotHead struct {
	V       int           `json:"v"`
	NextLog keratin.LogID `json:"next_log"`
}

// appendSnapshot appends the durable part of a state.
func appendSnapshot(dst []byte, v *View, nextLog keratin.LogID) []byte {
	dst = fmt.Appendf(dst, `{"v":%d,"next_log":%d}`+"\n", formatVersion, nextLog)
	for r := range v.records() {
		if r.durable() {
			dst = append(appendChange(dst, Change{Record: r}), '\n')
		}
	}
	return dst
}

// restore fills an empty state from a snapshot. An empty snapshot is that of the empty state.
func (s *State) restore(snapshot []byte) error {
	if len(snapshot) == 0 {
		return nil
	}
	line, rest, _ := bytes.Cut(snapshot, newline)
	var head snapshotHead
	if err := json.Unmarshal(line, &head); err != nil {
		return fmt.Errorf("catalog: snapshot: %w", err)
	}
	if err := checkVersion(head.V); err != nil {
		return err
	}
	for number := 2; len(rest) > 0; number++ {
		line, rest, _ = bytes.Cut(rest, newline)
		if err := s.restoreLine(line); err != nil {
			return fmt.Errorf("catalog: snapshot, line %d: %w", number, err)
		}
	}
	s.nextLog = max(s.nextLog, head.NextLog)
	return nil
}

var newline = []byte{'\n'}

// restoreLine takes a line apart as appendChange has put it together, which saves half of the time of a restart:
// there may be hundreds of thousands.
func (s *State) restoreLine(line []byte) error {
	change, ok := bytes.CutPrefix(line, []byte(`{"put":"`))
	kind, is, ok2 := bytes.Cut(change, []byte(`","is":`))
	is, ok3 := bytes.CutSuffix(is, []byte("}"))
	if !ok || !ok2 || !ok3 {
		return fmt.Errorf("not a record: %.40q", line)
	}
	return s.replayChange(changeJSON{Put: string(kind), Is: is})
}

// records yields all records, ends before the bindings between them.
func (v *View) records() iter.Seq[Record] {
	return func(yield func(Record) bool) {
		_ = each(v.VHosts(), yield) && each(v.Users(), yield) &&
			each(v.Permissions(), yield) && each(v.TopicPermissions(), yield) &&
			each(v.Exchanges(""), yield) && each(v.Queues(""), yield) && each(v.Bindings(""), yield) &&
			each(v.Policies(""), yield) && each(v.Parameters("", ""), yield)
	}
}

func each[R Record](seq iter.Seq[R], yield func(Record) bool) bool {
	for r := range seq {
		if !yield(r) {
			return false
		}
	}
	return true
}
