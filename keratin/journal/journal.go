// Package journal is the format of the journal: the files through which every log of a store becomes durable.
//
// # Journal file
//
// A file is written from front to back, once per life. Before it is used it has been filled with zeros (or with an
// earlier life), so that a flush need not wait for the file system to record new blocks; between lives it is renamed
// and gets a new number, its generation.
//
//	0                                   4                 6                 8
//	+-----------------------------------+-----------------+-----------------+
//	| 'W' 'J' 'N' 'L'                   | version 1       | flags = 0       |
//	+-----------------------------------+-----------------+-----------------+
//	| generation: number of the file, also its name                         |
//	+-----------------------------------+-----------------------------------+
//	| epoch                             | CRC of the 20 bytes before        |
//	+-----------------------------------+-----------------------------------+ 24
//	| zeros up to 4096, then entries …
//
// # Entry
//
// What one commit wrote: blocks of any number of logs (package segment), all or nothing.
//
//	0                 2        3        4                                   8
//	+-----------------+--------+--------+-----------------------------------+
//	| 'J' 'E'         | ver 1  | flags 0| number of blocks                  |
//	+-----------------+--------+--------+-----------------------------------+
//	| length of the blocks              | epoch                             |
//	+-----------------------------------+-----------------------------------+
//	| sequence: number of the entry, dense over the files                   |
//	+-----------------------------------------------------------------------+
//	| durable: every entry with a lower sequence had been flushed           |
//	+-----------------------------------------------------------------------+
//	| group                                                                 |
//	+-----------------------------------------------------------------------+
//	| term                                                                  |
//	+-----------------------------------------------------------------------+
//	| index: number of the entry in its group                               |
//	+-----------------------------------+-----------------------------------+
//	| reserved = 0                      | CRC of the 60 bytes before        |
//	+-----------------------------------+-----------------------------------+ 64
//	| blocks …, each a multiple of 8 bytes
//
// The header's checksum is seeded with the generation, those of the blocks with generation and sequence. Entries begin
// at multiples of 8.
//
// # Which entries count
//
// Sequences are dense and epochs never decrease. A file holds entries only up to the first sequence of the file after
// it: a store that starts anew after a crash begins a new file with the sequence after the last intact entry, and
// what the old file holds from there on is void. In the same way an entry of a group with an index that is not above
// the last one's, written under a higher term or epoch, cuts the group's suffix from that index on (Cut).
//
// Group, term and index are 1, 0 and the sequence on a node without replication.
package journal

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"

	"github.com/warrenmq/warren/keratin/segment"
)

var le = binary.LittleEndian

const (
	// FileHeader is where the first entry of a file stands.
	FileHeader = 4096
	// EntryHeader is the bytes of an entry before its blocks.
	EntryHeader = 64
	// MaxEntry bounds the blocks of one entry in bytes.
	MaxEntry = 1<<31 - 1

	fileMagic    = 'W' | 'J'<<8 | 'N'<<16 | 'L'<<24
	fileVersion  = 1
	entryMagic   = 'J' | 'E'<<8
	entryVersion = 1

	// SingleGroup is the group of a node without replication.
	SingleGroup = 1
)

// FileName is the name of the file with that generation.
func FileName(generation uint64) string { return fmt.Sprintf("%016x.journal", generation) }

// ParseFileName is the inverse of FileName.
func ParseFileName(name string) (generation uint64, ok bool) {
	hex, found := strings.CutSuffix(name, ".journal")
	if !found || len(hex) != 16 {
		return 0, false
	}
	g, err := strconv.ParseUint(hex, 16, 64)
	return g, err == nil
}

// Header is the header of a journal file.
type Header struct {
	Generation uint64
	Epoch      uint32
}

// Put writes h into the first FileHeader bytes of dst.
func (h Header) Put(dst []byte) {
	clear(dst[:FileHeader])
	le.PutUint32(dst[0:], fileMagic)
	le.PutUint16(dst[4:], fileVersion)
	le.PutUint64(dst[8:], h.Generation)
	le.PutUint32(dst[16:], h.Epoch)
	le.PutUint32(dst[20:], segment.Checksum(0, dst[:20]))
}

// DecodeHeader reads a file's header.
func DecodeHeader(b []byte) (Header, error) {
	if len(b) < 24 {
		return Header{}, segment.ErrShort
	}
	if le.Uint32(b) != fileMagic || le.Uint32(b[20:]) != segment.Checksum(0, b[:20]) {
		return Header{}, segment.ErrHeader
	}
	if v, flags := le.Uint16(b[4:]), le.Uint16(b[6:]); v != fileVersion || flags != 0 {
		return Header{}, &segment.VersionError{What: "journal", Version: uint32(v)}
	}
	return Header{Generation: le.Uint64(b[8:]), Epoch: le.Uint32(b[16:])}, nil
}

// Entry is a decoded entry header.
type Entry struct {
	Count   uint32 // of blocks
	Length  uint32 // bytes of the blocks
	Epoch   uint32
	Seq     uint64
	Durable uint64 // every entry below had been flushed when this one was written
	Group   uint64
	Term    uint64
	Index   uint64
}

// Size is what the entry takes up with its header.
func (e Entry) Size() int { return EntryHeader + int(e.Length) }

// EntrySeed is the seed of the entry headers in a file.
func EntrySeed(generation uint64) uint32 { return segment.Seed(segment.SeedEntry, generation, 0) }

// BlockSeed is the seed of the block headers in an entry.
func BlockSeed(generation, seq uint64) uint32 {
	return segment.Seed(segment.SeedEntryBlock, generation, seq)
}

// Put writes the header of e into dst. entrySeed is EntrySeed of the file.
func (e Entry) Put(dst []byte, entrySeed uint32) {
	le.PutUint16(dst[0:], entryMagic)
	dst[2], dst[3] = entryVersion, 0
	le.PutUint32(dst[4:], e.Count)
	le.PutUint32(dst[8:], e.Length)
	le.PutUint32(dst[12:], e.Epoch)
	le.PutUint64(dst[16:], e.Seq)
	le.PutUint64(dst[24:], e.Durable)
	le.PutUint64(dst[32:], e.Group)
	le.PutUint64(dst[40:], e.Term)
	le.PutUint64(dst[48:], e.Index)
	le.PutUint32(dst[56:], 0)
	le.PutUint32(dst[60:], segment.Checksum(entrySeed, dst[:60]))
}

// DecodeEntry reads an entry header. It says nothing about the blocks.
func DecodeEntry(b []byte, entrySeed uint32) (Entry, error) {
	if len(b) < EntryHeader {
		return Entry{}, segment.ErrShort
	}
	if le.Uint16(b) != entryMagic || le.Uint32(b[60:]) != segment.Checksum(entrySeed, b[:60]) {
		return Entry{}, segment.ErrHeader
	}
	if b[2] != entryVersion || b[3] != 0 || le.Uint32(b[56:]) != 0 {
		return Entry{}, &segment.VersionError{What: "journal entry", Version: uint32(b[2])}
	}
	e := Entry{
		Count:   le.Uint32(b[4:]),
		Length:  le.Uint32(b[8:]),
		Epoch:   le.Uint32(b[12:]),
		Seq:     le.Uint64(b[16:]),
		Durable: le.Uint64(b[24:]),
		Group:   le.Uint64(b[32:]),
		Term:    le.Uint64(b[40:]),
		Index:   le.Uint64(b[48:]),
	}
	if e.Length > MaxEntry || e.Length%8 != 0 || uint64(e.Count)*segment.BlockHeader > uint64(e.Length) || e.Durable > e.Seq {
		return Entry{}, segment.ErrHeader
	}
	return e, nil
}

// SealBlocks binds blocks, whose headers have been put, to the entry and the file they are written to.
func (e Entry) SealBlocks(blocks []byte, generation uint64) {
	seed := BlockSeed(generation, e.Seq)
	for len(blocks) > 0 {
		blocks = blocks[segment.SealBlock(blocks, seed):]
	}
}
