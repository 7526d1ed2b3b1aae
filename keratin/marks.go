package keratin

import (
	"iter"

	"github.com/warrenmq/warren/keratin/segment"
)

// Offset is the number of a record in its log, dense from 0.
type Offset uint64

// Frontier is an exclusive mark: the offset after the last one it covers.
type Frontier uint64

// Covers tells whether the record at o is below the mark.
func (f Frontier) Covers(o Offset) bool { return uint64(o) < uint64(f) }

// LogID names a log. Ids are chosen by the caller and never reused: what is left of a removed log on disk must not
// be taken for a new one.
type LogID uint64

// Mark is how far a record has come.
type Mark uint8

const (
	Staged  Mark = iota // it has an offset and is in our memory
	Written             // it is in the kernel's: a crash of the process does not lose it
	Durable             // it has been flushed: a loss of power does not lose it
)

// Marks are the frontiers of a log: Durable <= Written <= Staged. Head is the lowest record that is still wanted; it
// runs ahead of the durable mark when records are settled before they are flushed.
type Marks struct{ Head, Staged, Written, Durable Frontier }

// Record is one record of a log. Data is memory that is never changed or reused.
type Record struct {
	Offset Offset
	Kind   uint8
	Data   []byte
}

// Waiter is told once how an append ended: nil when the gate it was staged with has been passed, an error when it
// never will be. It is called without locks from the goroutine that moved the mark, for one log and gate in the order
// of offsets. It must not block; it may Stage, but not Commit.
type Waiter interface{ Committed(err error) }

// Owner is the state machine that lives on a log.
type Owner interface {
	// Written tells that the written mark has moved. The rules of Waiter apply. What is staged here is written by
	// the same running Commit.
	Written(upTo Frontier)
	// Snapshot appends the state that all records below the returned frontier add up to. It is called without
	// locks, from a goroutine of the store. It may Trim the log up to that frontier, if the state makes the records
	// below unnecessary: nothing is gone before a checkpoint with this state, or a later one, is durable.
	Snapshot(dst []byte) ([]byte, Frontier)
}

const (
	arenaMin = 1 << 10
	arenaMax = 64 << 10
)

// Batch collects encoded records for one log. Its zero value is ready. Stage takes the records over and leaves the
// batch empty, to be used again for any log. The memory behind it is handed out once and then left to the garbage
// collector; it grows from 1 to 64 KiB pieces with use.
type Batch struct {
	buf    []byte // the records so far; the capacity behind them is free
	n      int
	sealed int // bytes of buf, in whole records, whose data checksums are there
	arena  int
}

// Reserve appends a record with n bytes of data and returns them, to be filled in before the next call on b.
func (b *Batch) Reserve(kind uint8, n int) []byte {
	need := segment.RecordHeader + n
	if cap(b.buf)-len(b.buf) < need {
		b.grow(need)
	}
	at := len(b.buf) + segment.RecordHeader
	b.buf = segment.AppendRecord(b.buf, kind, n)
	b.n++
	return b.buf[at : at+n : at+n]
}

func (b *Batch) grow(need int) {
	b.arena = min(max(arenaMin, 2*b.arena), arenaMax)
	size := max(b.arena, len(b.buf)+need)
	if len(b.buf) > 0 { // a batch is one piece of memory, so that it is written with one copy
		size = max(size, 2*len(b.buf)+need)
	}
	b.buf = append(make([]byte, 0, size), b.buf...)
}

// Seal computes the checksums of the records' data, of each once. Stage does it too; who stages with a lock of his own
// held calls Seal before taking it.
func (b *Batch) Seal() {
	segment.SealData(b.buf[b.sealed:])
	b.sealed = len(b.buf)
}

// Len is the number of records.
func (b *Batch) Len() int { return b.n }

// Bytes is what the records take up encoded.
func (b *Batch) Bytes() int { return len(b.buf) }

// All returns the records of the batch, kind and data, in order.
func (b *Batch) All() iter.Seq2[uint8, []byte] {
	return func(yield func(uint8, []byte) bool) {
		for rest := b.buf; len(rest) > 0; {
			var r segment.Record
			if r, rest = segment.Next(rest); !yield(r.Kind, r.Data) {
				return
			}
		}
	}
}

// Reset drops the records.
func (b *Batch) Reset() {
	b.buf = b.buf[:0]
	b.n, b.sealed = 0, 0
}

// take hands the records over; the batch goes on behind them. The capacity reaches to the end of the piece of memory,
// by which two batches that lie behind each other are recognised (extend); it must not be appended to.
func (b *Batch) take() []byte {
	data := b.buf
	b.buf = b.buf[len(b.buf):]
	b.n, b.sealed = 0, 0
	return data
}
