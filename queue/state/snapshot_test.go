package state

import (
	"encoding/binary"
	"fmt"
	"testing"
)

// lively returns a queue with ready messages, delivered before or not, and unacked ones, in all its priorities.
func lively(highest uint8) *Queue {
	q := New(highest)
	if highest == 0 {
		q.Append(0, 10, 100)
	} else {
		for off := range Offset(10) {
			q.AppendEach(off, []Arrival{{10, uint8(off % 3)}})
		}
	}
	q.Visible(10)
	for range 5 {
		m, _ := q.Next()
		q.Delivered(m, 10, false)
	}
	q.Requeue([]Offset{1, 2, 3})
	return &q
}

func TestRestoreRefusesNonsense(t *testing.T) {
	for _, highest := range []uint8{0, 2} {
		good := lively(highest).AppendSnapshot(nil)
		if _, err := Restore(good, 0, highest); err != nil {
			t.Fatal(err)
		}
		for cut := 1; cut < len(good); cut++ {
			if _, err := Restore(good[:cut], 0, highest); err == nil {
				t.Errorf("highest priority %d: a snapshot cut at %d is taken", highest, cut)
			}
		}
		huge := binary.AppendUvarint([]byte{snapshotVersion(highest), 10, 10, 0, 0, 0}, 1<<60)
		if _, err := Restore(huge, 0, highest); err == nil {
			t.Errorf("highest priority %d: a snapshot of 2^60 entries is taken", highest)
		}
		if _, err := Restore(good, 0, 2-highest); err == nil {
			t.Errorf("highest priority %d: the snapshot is taken for one of another kind", highest)
		}
	}
	for why, s := range map[string][]byte{
		"a priority above the highest":         {priorityVersion, 3, 3, 0, 0, 0, 1, 1, 7, 0, 3, 0},
		"a fresh message besides the priority": {priorityVersion, 3, 2, 1, 7, 0, 1, 1, 7, 0, 2, 0},
		"a message twice":                      {priorityVersion, 3, 3, 0, 0, 0, 2, 1, 7, 0, 2, 0, 7, 0, 1, 0},
	} {
		if _, err := Restore(s, 0, 2); err == nil {
			t.Errorf("%s is taken", why)
		}
	}
}

// TestManyDeliveries pins that a message that has been delivered more often than can be counted stays so.
func TestManyDeliveries(t *testing.T) {
	var q Queue
	q.Append(0, 1, 1)
	q.Visible(1)
	for range maxDeliveries + 3 {
		m, _ := q.Next()
		q.Delivered(m, 1, false)
		q.Requeue([]Offset{0})
	}
	r, err := Restore(q.AppendSnapshot(nil), 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	r.Recovered(false)
	for name, q := range map[string]*Queue{"queue": &q, "restored": &r} {
		if m, ok := q.Next(); !ok || m.Deliveries != maxDeliveries || !m.Redelivered {
			t.Errorf("%s: next is %+v, %v", name, m, ok)
		}
	}
}

func FuzzRestore(f *testing.F) {
	for _, highest := range []uint8{0, 2} {
		q := lively(highest)
		f.Add(q.AppendSnapshot(nil), []byte{1, 10, 1, 0, 1}, highest)
	}
	f.Fuzz(func(t *testing.T, snap, settled []byte, highest uint8) {
		if len(snap) == 0 {
			return
		}
		q, err := Restore(snap, 0, highest)
		if err != nil {
			return
		}
		if q.ReplaySettled(Offset(q.End()), settled) == nil {
			if _, err := Restore(q.AppendSnapshot(nil), 0, highest); err != nil {
				t.Fatal("a state that was replayed does not restore")
			}
		}
	})
}

// BenchmarkPrioritySnapshot tells how long a queue with priorities is held up by a snapshot.
func BenchmarkPrioritySnapshot(b *testing.B) {
	for _, highest := range []uint8{9, 255} {
		b.Run(fmt.Sprint(highest), func(b *testing.B) {
			q, _ := backlog(highest, 1_000_000)
			var s []byte
			for b.Loop() {
				s = q.AppendSnapshot(s[:0])
			}
			b.ReportMetric(float64(len(s))/1e6, "B/message")
		})
	}
}
