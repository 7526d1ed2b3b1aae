package keratin

import (
	"bytes"
	"testing"

	"github.com/warrenmq/warren/keratin/segment"
	"github.com/warrenmq/warren/keratin/vfs"
)

// sealedAs returns the data checksums in a batch, one after the other, as they stand there.
func sealedAs(b *Batch) (sums []byte) {
	for rest := b.buf; len(rest) > 0; {
		sums = append(sums, rest[16:20]...)
		_, rest = segment.Next(rest)
	}
	return sums
}

// sealAnew returns what the checksums have to be.
func sealAnew(records []byte) []byte {
	b := &Batch{buf: bytes.Clone(records)}
	b.Seal()
	return sealedAs(b)
}

// TestSealOnce pins that a batch computes no checksum twice, neither by Seal nor in Stage, and none too few.
func TestSealOnce(t *testing.T) {
	s, err := Open("", small(vfs.NewMem()))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Abandon()
	l, _, err := s.OpenLog(1, LogOptions{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var b Batch
	for round := range 3 {
		first := b.Reserve(1, 5)
		copy(first, "first")
		b.Seal()
		sum := sealedAs(&b)
		first[0] ^= 1 // a checksum computed again would be another one
		copy(b.Reserve(1, 2000), "second, which makes the batch move")
		b.Seal()
		copy(b.Reserve(1, 5), "third")
		staged := b.buf
		if _, err := l.Stage(&b, Written, nil); err != nil {
			t.Fatal(err)
		}
		got := sealedAs(&Batch{buf: staged})
		if want := append(sum, sealAnew(staged)[4:]...); !bytes.Equal(got, want) {
			t.Errorf("round %d: checksums are %x, want %x", round, got, want)
		}
	}
	b.Reserve(1, 1)
	b.Seal()
	b.Reset()
	copy(b.Reserve(1, 5), "again")
	if b.Seal(); !bytes.Equal(sealedAs(&b), sealAnew(b.buf)) {
		t.Error("a batch used again after Reset is not sealed")
	}
}
