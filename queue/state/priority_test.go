package state

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"unsafe"
)

// backlog returns a queue with n ready messages of random priorities, and what their entries take.
func backlog(highest uint8, n int) (q Queue, bytes uintptr) {
	q = New(highest)
	rng := rand.New(rand.NewPCG(1, 1))
	for off := range n {
		q.AppendEach(Offset(off), []Arrival{{100, uint8(rng.UintN(uint(highest) + 1))}})
	}
	q.Visible(q.End())
	for _, s := range q.listed.sets {
		bytes += uintptr(len(s.blocks)) * (unsafe.Sizeof(block{}) + unsafe.Sizeof(&block{}))
	}
	return q, bytes
}

// TestPrioritiesCostAnEntryEach pins what a ready message takes in a queue with priorities.
func TestPrioritiesCostAnEntryEach(t *testing.T) {
	if n := unsafe.Sizeof(entry{}); n != 16 {
		t.Errorf("an entry takes %d bytes", n)
	}
	const n = 100_000
	if _, bytes := backlog(9, n); bytes > 17*n {
		t.Errorf("%d ready messages take %d bytes", n, bytes)
	}
}

// TestPrioritiesAllocateNothing pins that a message's usual way through a queue with priorities allocates nothing.
func TestPrioritiesAllocateNothing(t *testing.T) {
	q := New(9)
	each := make([]Arrival, 50)
	for i := range each {
		each[i] = Arrival{1, uint8(i % 10)}
	}
	var record []byte
	var offs []Offset
	way := func() {
		q.AppendEach(Offset(q.End()), each)
		q.Visible(q.End())
		offs = offs[:0]
		for {
			m, ok := q.Next()
			if !ok {
				break
			}
			q.Delivered(m, 1, false)
			offs = append(offs, m.Offset)
		}
		q.Settle(offs)
		record = q.AppendSettled(record[:0])
		q.Event(Offset(q.End()))
	}
	for range 100 {
		way()
	}
	if n := testing.AllocsPerRun(100, way); n > 0 {
		t.Errorf("%v allocations per %d messages", n, len(each))
	}
}

// TestPurgeIsShort pins that the record of a purge does not name each message of a queue with priorities.
func TestPurgeIsShort(t *testing.T) {
	q, _ := backlog(9, 100_000)
	if n := q.Purge(); n != 100_000 {
		t.Errorf("purged %d", n)
	}
	if record := q.AppendSettled(nil); len(record) > 16 {
		t.Errorf("the record of a purge takes %d bytes", len(record))
	}
}

func BenchmarkPriorities(b *testing.B) {
	for _, highest := range []uint8{9, 255} {
		b.Run(fmt.Sprint(highest), func(b *testing.B) {
			q, _ := backlog(highest, 100_000)
			off := Offset(q.End())
			b.ReportAllocs()
			for b.Loop() {
				q.AppendEach(off, []Arrival{{100, uint8(off) % highest}})
				q.Visible(q.End())
				m, _ := q.Next()
				q.Delivered(m, 100, true)
				q.Head()
				q.ForgetSettled()
				off++
			}
		})
	}
}
