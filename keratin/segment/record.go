// Package segment is the format of records, of blocks of records, and of the files that hold a log's older part.
//
// All integers are little endian, all checksums CRC-32C (Castagnoli).
//
// # Record
//
// One event of one log. It is encoded once and is the same bytes in the journal, in a segment and in memory.
//
//	0        1        2                 4                                   8
//	+--------+--------+-----------------+-----------------------------------+
//	| 0xA7   | kind   | flags = 0       | length of data                    |
//	+--------+--------+-----------------+-----------------------------------+
//	| offset: number of the record in its log                               |
//	+-----------------------------------+-----------------------------------+
//	| CRC of data                       | CRC of the 20 bytes before        |
//	+-----------------------------------+-----------------------------------+ 24
//	| data …
//
// The header's checksum is seeded with the log's id: a record can only be read as one of its own log. It is verified
// before the length is used. kind belongs to the owner of the log.
//
// # Block
//
// Consecutive records of one log, written together.
//
//	0                 2        3        4                                   8
//	+-----------------+--------+--------+-----------------------------------+
//	| 'B' 'K'         | ver 1  | kind   | length of the records             |
//	+-----------------+--------+--------+-----------------------------------+
//	| log id                                                                |
//	+-----------------------------------------------------------------------+
//	| offset of the first record                                            |
//	+-----------------------------------+-----------------------------------+
//	| number of records                 | epoch                             |
//	+-----------------------------------+-----------------------------------+
//	| durable: the log's durable frontier when the block was written        |
//	+-----------------------------------+-----------------------------------+
//	| flags = 0                         | CRC of the 44 bytes before        |
//	+-----------------------------------+-----------------------------------+ 48
//	| records …, then zeros up to a multiple of 8
//
// The checksum is seeded with where the block stands (a segment's generation; a journal file's generation and the
// entry's number), so that what a file held in an earlier life never parses. epoch is the boot of the store that
// wrote the block; along a log it never decreases. durable proves what a reader must find before this block: damage
// below it is corruption, never a torn write.
//
// Kinds: 1 records. 2 and 3 are reserved for records that stand in a segment only (a run that begins at a position;
// a reference with position, length and checksum).
//
// # Segment file
//
// A header and blocks, contiguous in offsets and bytes:
//
//	0                                   4                 6                 8
//	+-----------------------------------+-----------------+-----------------+
//	| 'W' 'S' 'E' 'G'                   | version 1       | flags           |
//	+-----------------------------------+-----------------+-----------------+
//	| log id                                                                |
//	+-----------------------------------------------------------------------+
//	| generation: unique among all segments ever made in this store         |
//	+-----------------------------------------------------------------------+
//	| base: offset of the first record                                      |
//	+-----------------------------------+-----------------------------------+
//	| epoch                             | CRC of the 36 bytes before        |
//	+-----------------------------------+-----------------------------------+ 40
//	| zeros up to 64, then blocks …
//
// Unknown versions and flags are refused as newer, not taken for damage.
package segment

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
)

var le = binary.LittleEndian

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Checksum is the CRC-32C of b, continued from seed.
func Checksum(seed uint32, b []byte) uint32 { return crc32.Update(seed, castagnoli, b) }

const (
	// RecordHeader is the bytes of a record before its data.
	RecordHeader = 24
	// MaxData bounds the data of one record.
	MaxData = 1 << 30

	recordMagic = 0xA7
)

// Why a decoder refuses. ErrTooNew is wrapped by *VersionError, the others say what the bytes look like; whether that
// is a torn write or corruption is for the caller, who knows what is durable.
var (
	ErrShort  = errors.New("ends early")
	ErrHeader = errors.New("header checksum or magic does not match")
	ErrData   = errors.New("data checksum does not match")
	ErrOrder  = errors.New("offsets do not continue")
)

// VersionError is a format that a later Warren wrote.
type VersionError struct {
	What    string
	Version uint32
}

func (e *VersionError) Error() string { return e.What + " has a newer format" }

// Seed makes the start value of a checksum from two numbers that say where the bytes belong. purpose keeps the seeds
// of different structures apart. It is part of the format: the 64-bit finaliser of SplitMix, applied in turn to
// purpose, and to the sum of the result and each number; the low half of the last result.
func Seed(purpose, a, b uint64) uint32 { return uint32(mix(mix(mix(purpose)+a) + b)) }

func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// The purposes of seeds.
const (
	SeedRecord       = 1 // log id, 0
	SeedSegmentBlock = 2 // generation of the segment, 0
	SeedEntry        = 3 // generation of the journal file, 0
	SeedEntryBlock   = 4 // generation of the journal file, sequence of the entry
)

// Salt is the seed of the record headers of a log.
func Salt(log uint64) uint32 { return Seed(SeedRecord, log, 0) }

// Record is a decoded record. Data aliases what it was decoded from.
type Record struct {
	Offset uint64
	Kind   uint8
	Data   []byte
}

// AppendRecord appends a record of n data bytes whose data, offset and checksums are still to come (SealData, Seal).
// It returns the extended slice; the data are its last n bytes.
func AppendRecord(dst []byte, kind uint8, n int) []byte {
	at := len(dst)
	dst = dst[:at+RecordHeader+n]
	h := dst[at : at+RecordHeader]
	le.PutUint64(h[0:], uint64(recordMagic)|uint64(kind)<<8|uint64(n)<<32)
	return dst
}

// SealData writes the data checksums of all records in b, which AppendRecord made.
func SealData(b []byte) {
	for len(b) > 0 {
		end := RecordHeader + int(le.Uint32(b[4:]))
		le.PutUint32(b[16:], Checksum(0, b[RecordHeader:end]))
		b = b[end:]
	}
}

// Seal gives the records in b the offsets from first on and writes their header checksums.
func Seal(b []byte, salt uint32, first uint64) {
	for len(b) > 0 {
		le.PutUint64(b[8:], first)
		le.PutUint32(b[20:], Checksum(salt, b[:20]))
		first++
		b = b[RecordHeader+int(le.Uint32(b[4:])):]
	}
}

// Next splits the first record off b without looking at checksums: for bytes that were verified or made here.
func Next(b []byte) (Record, []byte) {
	end := RecordHeader + int(le.Uint32(b[4:]))
	return Record{Offset: le.Uint64(b[8:]), Kind: b[1], Data: b[RecordHeader:end:end]}, b[end:]
}

// Decode splits the first record off b and verifies it.
func Decode(b []byte, salt uint32) (Record, []byte, error) {
	if len(b) < RecordHeader {
		return Record{}, nil, ErrShort
	}
	if b[0] != recordMagic || le.Uint32(b[20:]) != Checksum(salt, b[:20]) {
		return Record{}, nil, ErrHeader
	}
	if f := le.Uint16(b[2:]); f != 0 {
		return Record{}, nil, &VersionError{What: "record", Version: uint32(f)}
	}
	n := le.Uint32(b[4:])
	if n > MaxData {
		return Record{}, nil, ErrHeader
	}
	if uint64(len(b)-RecordHeader) < uint64(n) {
		return Record{}, nil, ErrShort
	}
	r, rest := Next(b)
	if le.Uint32(b[16:]) != Checksum(0, r.Data) {
		return Record{}, nil, ErrData
	}
	return r, rest, nil
}

// Skip returns b without its first n records, which were verified before.
func Skip(b []byte, n uint64) []byte {
	for ; n > 0; n-- {
		b = b[RecordHeader+int(le.Uint32(b[4:])):]
	}
	return b
}

// Run returns how b begins: the offset of the first of the intact records of one log with consecutive offsets that stand
// there, how many they are, and their bytes.
func Run(b []byte, salt uint32) (first uint64, count uint32, length int) {
	for rest := b; ; count++ {
		r, behind, err := Decode(rest, salt)
		if err != nil || count > 0 && r.Offset != first+uint64(count) {
			return first, count, length
		}
		if count == 0 {
			first = r.Offset
		}
		rest, length = behind, len(b)-len(behind)
	}
}
