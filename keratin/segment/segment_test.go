package segment

import (
	"bytes"
	"encoding/hex"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

var update = flag.Bool("update", false, "write the golden files anew")

// build returns records of a log, sealed.
func build(log, first uint64, texts ...string) []byte {
	var n int
	for _, s := range texts {
		n += RecordHeader + len(s)
	}
	b := make([]byte, 0, n)
	for i, s := range texts {
		b = AppendRecord(b, uint8(i+1), len(s))
		copy(b[len(b)-len(s):], s)
	}
	SealData(b)
	Seal(b, Salt(log), first)
	return b
}

// file returns a segment file with one block per argument.
func file(h Header, blocks ...[]string) []byte {
	b := make([]byte, HeaderSize)
	h.Put(b)
	next := h.Base
	for _, texts := range blocks {
		records := build(h.Log, next, texts...)
		k := Block{Log: h.Log, First: next, Count: uint32(len(texts)), Epoch: h.Epoch, Durable: next, Length: uint32(len(records))}
		at := len(b)
		b = append(b, make([]byte, k.Size())...)
		copy(b[at+BlockHeader:], records)
		k.Put(b[at:])
		SealBlock(b[at:], h.Seed())
		next = k.End()
	}
	return b
}

var example = Header{Log: 0x1122334455667788, Generation: 0x0000000300000001, Base: 41, Epoch: 3}

// TestGolden: the format is what it was when version 1 was published.
func TestGolden(t *testing.T) {
	got := hex.Dump(file(example, []string{"hello", ""}, []string{strings.Repeat("x", 30)}))
	name := filepath.Join("testdata", "segment-v1.hex")
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

func scan(b []byte, h Header) (records [][]byte, err error) {
	err = Scan(bytes.NewReader(b), h, func(_ int64, k Block, data []byte) error {
		for range k.Count {
			var r Record
			r, data = Next(data)
			records = append(records, bytes.Clone(r.Data))
		}
		return nil
	})
	return records, err
}

func TestScan(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := Header{Log: rapid.Uint64().Draw(t, "log"), Generation: rapid.Uint64().Draw(t, "gen"), Base: rapid.Uint64Range(0, 1<<60).Draw(t, "base"), Epoch: rapid.Uint32().Draw(t, "epoch")}
		texts := rapid.SliceOfN(rapid.SliceOfN(rapid.StringN(0, 40, 200), 1, 5), 0, 8).Draw(t, "blocks")
		b := file(h, texts...)
		if got, err := DecodeHeader(b); err != nil || got != h {
			t.Fatalf("header %+v, %v", got, err)
		}
		zeros := rapid.IntRange(0, 100).Draw(t, "zeros")
		got, err := scan(append(bytes.Clone(b), make([]byte, zeros)...), h)
		if err != nil {
			t.Fatal(err)
		}
		want := 0
		for _, block := range texts {
			for _, s := range block {
				if string(got[want]) != s {
					t.Fatalf("record %d differs", want)
				}
				want++
			}
		}
		if len(got) != want {
			t.Fatalf("%d records, want %d", len(got), want)
		}
		// Cut anywhere: what is read is a prefix, and a cut within a block is noticed.
		cut := rapid.IntRange(HeaderSize, len(b)).Draw(t, "cut")
		part, err := scan(b[:cut], h)
		if len(part) > want {
			t.Fatal("more records than there were")
		}
		for i := range part {
			if !bytes.Equal(part[i], got[i]) {
				t.Fatalf("record %d differs after a cut", i)
			}
		}
		if _, damaged := errors.AsType[*Damage](err); err != nil && !damaged {
			t.Fatal(err)
		}
	})
}

// TestEveryBit: whichever bit is flipped, no record is read that was not written.
func TestEveryBit(t *testing.T) {
	b := file(example, []string{"hello", ""}, []string{strings.Repeat("x", 30), "y"})
	want, err := scan(b, example)
	if err != nil {
		t.Fatal(err)
	}
	for i := range len(b) * 8 {
		flipped := bytes.Clone(b)
		flipped[i/8] ^= 1 << (i % 8)
		h, err := DecodeHeader(flipped)
		if err != nil {
			if i/8 >= 40 {
				t.Errorf("bit %d: header: %v", i, err)
			}
			continue
		}
		got, err := scan(flipped, h)
		if err == nil && len(got) != len(want) {
			t.Fatalf("bit %d: %d records and no error", i, len(got))
		}
		for j := range got {
			if !bytes.Equal(got[j], want[j]) {
				t.Fatalf("bit %d: record %d differs", i, j)
			}
		}
	}
}

// TestStale: bytes of another life of the file, or of another log, do not parse.
func TestStale(t *testing.T) {
	b := file(example, []string{"hello"})
	for _, h := range []Header{
		{Log: example.Log, Generation: example.Generation + 1, Base: example.Base, Epoch: example.Epoch},
		{Log: example.Log + 1, Generation: example.Generation, Base: example.Base, Epoch: example.Epoch},
		{Log: example.Log, Generation: example.Generation, Base: example.Base + 1, Epoch: example.Epoch},
		{Log: example.Log, Generation: example.Generation, Base: example.Base, Epoch: example.Epoch + 1},
	} {
		if got, err := scan(b, h); len(got) != 0 || err == nil {
			t.Errorf("%+v: read %d records, %v", h, len(got), err)
		}
	}
}

func TestNewer(t *testing.T) {
	b := file(example, []string{"hello"})
	le.PutUint16(b[4:], fileVersion+1)
	le.PutUint32(b[36:], Checksum(0, b[:36]))
	_, err := DecodeHeader(b)
	if v, ok := errors.AsType[*VersionError](err); !ok || v.Version != fileVersion+1 {
		t.Errorf("segment: %v", err)
	}
	b = file(example, []string{"hello"})
	b[HeaderSize+2] = blockVersion + 1
	SealBlock(b[HeaderSize:], example.Seed())
	if _, err := scan(b, example); err == nil {
		t.Error("block of a newer version was read")
	} else if _, ok := errors.AsType[*VersionError](err); !ok {
		t.Errorf("block: %v", err)
	}
}

func FuzzScan(f *testing.F) {
	f.Add(file(example, []string{"hello", ""}, []string{"x"}))
	f.Add(make([]byte, 200))
	f.Fuzz(func(t *testing.T, b []byte) {
		h, err := DecodeHeader(b)
		if err != nil {
			h = example
		}
		next := h.Base
		err = Scan(bytes.NewReader(b), h, func(_ int64, k Block, data []byte) error {
			if k.First != next {
				t.Fatal("gap")
			}
			next = k.End()
			return k.Verify(data, Salt(h.Log))
		})
		if _, ok := errors.AsType[*Damage](err); err != nil && !ok {
			t.Fatal(err)
		}
	})
}

func FuzzDecode(f *testing.F) {
	f.Add(build(1, 0, "hello"), uint64(1))
	f.Fuzz(func(t *testing.T, b []byte, log uint64) {
		r, rest, err := Decode(b, Salt(log))
		if err == nil && RecordHeader+len(r.Data)+len(rest) != len(b) {
			t.Fatal("bytes are missing")
		}
	})
}
