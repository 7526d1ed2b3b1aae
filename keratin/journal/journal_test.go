package journal

import (
	"bytes"
	"encoding/hex"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"

	"github.com/warrenmq/warren/keratin/segment"
)

var update = flag.Bool("update", false, "write the golden files anew")

// entry encodes an entry with one block of one record for each log.
func entry(generation uint64, e Entry, logs []uint64, text string) []byte {
	b := make([]byte, EntryHeader)
	for _, log := range logs {
		records := segment.AppendRecord(make([]byte, 0, segment.RecordHeader+len(text)), 1, len(text))
		copy(records[segment.RecordHeader:], text)
		segment.SealData(records)
		segment.Seal(records, segment.Salt(log), e.Seq)
		k := segment.Block{Log: log, First: e.Seq, Count: 1, Epoch: e.Epoch, Durable: e.Durable, Length: uint32(len(records))}
		at := len(b)
		b = append(b, make([]byte, k.Size())...)
		copy(b[at+segment.BlockHeader:], records)
		k.Put(b[at:])
	}
	e.Count, e.Length = uint32(len(logs)), uint32(len(b)-EntryHeader)
	e.Put(b, EntrySeed(generation))
	e.SealBlocks(b[EntryHeader:], generation)
	return b
}

func file(generation uint64, entries ...[]byte) []byte {
	b := make([]byte, FileHeader)
	Header{Generation: generation, Epoch: 2}.Put(b)
	for _, e := range entries {
		b = append(b, e...)
	}
	return b
}

func example() []byte {
	return file(5,
		entry(5, Entry{Epoch: 2, Seq: 7, Durable: 6, Group: 1, Index: 7}, []uint64{1, 9}, "hello"),
		entry(5, Entry{Epoch: 2, Seq: 8, Durable: 8, Group: 1, Term: 4, Index: 8}, []uint64{9}, ""))
}

func TestGolden(t *testing.T) {
	b := example()
	got := hex.Dump(b[:64]) + hex.Dump(b[FileHeader:])
	name := filepath.Join("testdata", "journal-v1.hex")
	if *update {
		if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("format has changed:\n%s", got)
	}
}

func scan(b []byte, generation uint64) (entries []Entry, intact []bool, err error) {
	s := NewScanner(bytes.NewReader(b), int64(len(b)), generation)
	for {
		e, blocks, err := s.Next()
		if err != nil {
			return entries, intact, err
		}
		entries = append(entries, e)
		intact = append(intact, e.Intact(generation, blocks) == nil)
	}
}

func TestScan(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		generation := rapid.Uint64().Draw(t, "generation")
		n := rapid.IntRange(0, 10).Draw(t, "entries")
		var raw [][]byte
		var want []Entry
		for i := range n {
			e := Entry{Epoch: 1, Seq: uint64(i) + 1, Group: 1, Index: uint64(i) + 1}
			logs := rapid.SliceOfN(rapid.Uint64(), 1, 5).Draw(t, "logs")
			raw = append(raw, entry(generation, e, logs, rapid.StringN(0, 50, 300).Draw(t, "text")))
			e.Count, e.Length = uint32(len(logs)), uint32(len(raw[i])-EntryHeader)
			want = append(want, e)
		}
		b := append(file(generation, raw...), make([]byte, rapid.IntRange(0, 200).Draw(t, "zeros"))...)
		got, intact, err := scan(b, generation)
		if err != io.EOF || len(got) != len(want) {
			t.Fatalf("%d entries of %d, %v", len(got), len(want), err)
		}
		for i := range got {
			if got[i] != want[i] || !intact[i] {
				t.Fatalf("entry %d: %+v, want %+v, intact %v", i, got[i], want[i], intact[i])
			}
		}
		if stale, _, _ := scan(b, generation+1); len(stale) != 0 {
			t.Fatal("an earlier life was read")
		}
		cut := rapid.IntRange(FileHeader, len(b)).Draw(t, "cut")
		got, _, err = scan(b[:cut], generation)
		if len(got) > len(want) || err != io.EOF && !errors.Is(err, segment.ErrShort) {
			t.Fatalf("cut: %d entries, %v", len(got), err)
		}
	})
}

// TestEveryBit: whichever bit is flipped, an entry that is taken for intact is what was written, and an entry behind
// the damage is found.
func TestEveryBit(t *testing.T) {
	b := example()
	want, _, _ := scan(b, 5)
	first := want[0].Size()
	for i := range (len(b) - FileHeader) * 8 {
		at := FileHeader + i/8
		flipped := bytes.Clone(b)
		flipped[at] ^= 1 << (i % 8)
		got, intact, _ := scan(flipped, 5)
		for j := range got {
			if intact[j] && got[j] != want[j] {
				t.Fatalf("bit %d: entry %d is %+v", i, j, got[j])
			}
		}
		if at < FileHeader+first {
			s := NewScanner(bytes.NewReader(flipped), int64(len(flipped)), 5)
			e, found, err := s.Find(want[0].Seq)
			if err != nil || !found || e != want[1] {
				t.Fatalf("bit %d: found %v %+v, %v", i, found, e, err)
			}
		}
	}
}

func TestCuts(t *testing.T) {
	last := Entry{Seq: 9, Index: 9, Group: 1, Term: 3, Epoch: 2}
	for _, c := range []struct {
		e    Entry
		want bool
	}{
		{Entry{Index: 10, Group: 1, Term: 3, Epoch: 2}, false},
		{Entry{Index: 9, Group: 1, Term: 3, Epoch: 3}, true},
		{Entry{Index: 5, Group: 1, Term: 4, Epoch: 2}, true},
		{Entry{Index: 9, Group: 1, Term: 3, Epoch: 2}, false},
		{Entry{Index: 5, Group: 2, Term: 4, Epoch: 3}, false},
		{Entry{Index: 5, Group: 1, Term: 2, Epoch: 3}, false},
	} {
		if got := c.e.Cuts(last); got != c.want {
			t.Errorf("%+v: %v", c.e, got)
		}
	}
}

func TestNewer(t *testing.T) {
	b := example()
	b[4] = fileVersion + 1
	le.PutUint32(b[20:], segment.Checksum(0, b[:20]))
	if _, err := DecodeHeader(b); err == nil {
		t.Error("newer file was read")
	} else if _, ok := errors.AsType[*segment.VersionError](err); !ok {
		t.Error(err)
	}
	e := b[FileHeader:]
	e[2] = entryVersion + 1
	le.PutUint32(e[60:], segment.Checksum(EntrySeed(5), e[:60]))
	if _, _, err := scan(b, 5); err == nil {
		t.Error("newer entry was read")
	} else if _, ok := errors.AsType[*segment.VersionError](err); !ok {
		t.Error(err)
	}
}

func TestFileName(t *testing.T) {
	for _, g := range []uint64{0, 1, 1 << 63} {
		if got, ok := ParseFileName(FileName(g)); !ok || got != g {
			t.Errorf("%d became %d", g, got)
		}
	}
	for _, name := range []string{"", "x.journal", "0000000000000001", "000000000000000g.journal"} {
		if _, ok := ParseFileName(name); ok {
			t.Errorf("%q was taken", name)
		}
	}
}

func FuzzScanner(f *testing.F) {
	f.Add(example()[FileHeader:], uint64(0))
	f.Fuzz(func(t *testing.T, tail []byte, after uint64) {
		b := append(make([]byte, FileHeader), tail...)
		s := NewScanner(bytes.NewReader(b), int64(len(b)), 5)
		for {
			e, blocks, err := s.Next()
			if err == io.EOF {
				if _, found, err := s.Find(after); err != nil || !found {
					return
				}
				continue
			}
			if err != nil {
				return
			}
			if len(blocks) != int(e.Length) {
				t.Fatal("length")
			}
			_ = e.Intact(5, blocks) // it must not panic, that is all
		}
	})
}
