package segment

import (
	"errors"
	"fmt"
	"io"
)

const (
	// HeaderSize is where a segment's first block stands.
	HeaderSize = 64

	fileMagic   = 'W' | 'S'<<8 | 'E'<<16 | 'G'<<24
	fileVersion = 1
)

// Header is the header of a segment file.
type Header struct {
	Log        uint64
	Generation uint64
	Base       uint64
	Epoch      uint32
}

// Seed is the seed of the block headers in the file.
func (h Header) Seed() uint32 { return Seed(SeedSegmentBlock, h.Generation, 0) }

// Put writes h into the first HeaderSize bytes of dst.
func (h Header) Put(dst []byte) {
	clear(dst[:HeaderSize])
	le.PutUint32(dst[0:], fileMagic)
	le.PutUint16(dst[4:], fileVersion)
	le.PutUint64(dst[8:], h.Log)
	le.PutUint64(dst[16:], h.Generation)
	le.PutUint64(dst[24:], h.Base)
	le.PutUint32(dst[32:], h.Epoch)
	le.PutUint32(dst[36:], Checksum(0, dst[:36]))
}

// DecodeHeader reads a segment's header.
func DecodeHeader(b []byte) (Header, error) {
	if len(b) < HeaderSize {
		return Header{}, ErrShort
	}
	if le.Uint32(b) != fileMagic || le.Uint32(b[36:]) != Checksum(0, b[:36]) {
		return Header{}, ErrHeader
	}
	if v, flags := le.Uint16(b[4:]), le.Uint16(b[6:]); v != fileVersion || flags != 0 {
		return Header{}, &VersionError{What: "segment", Version: uint32(v)}
	}
	return Header{Log: le.Uint64(b[8:]), Generation: le.Uint64(b[16:]), Base: le.Uint64(b[24:]), Epoch: le.Uint32(b[32:])}, nil
}

// Scan reads a segment from its first block on and calls visit for every intact block that continues the log, with
// the position of its header and its records (valid during the call). It ends without error at the end of the file or
// at zeros, where nothing was written, and with a *Damage at anything else.
func Scan(r io.ReaderAt, h Header, visit func(pos int64, b Block, records []byte) error) error {
	var (
		pos    = int64(HeaderSize)
		next   = h.Base
		epoch  = h.Epoch
		salt   = Salt(h.Log)
		seed   = h.Seed()
		head   [BlockHeader]byte
		buffer []byte
	)
	for {
		n, err := r.ReadAt(head[:], pos)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if zero(head[:n]) {
			return nil
		}
		b, err := DecodeBlock(head[:n], seed)
		if err == nil && (b.Log != h.Log || b.First != next || b.Epoch < epoch) {
			err = ErrOrder
		}
		if err != nil {
			return damage(pos, err)
		}
		if buffer, err = readRecords(r, pos+BlockHeader, int64(b.Length), buffer); err != nil {
			return damage(pos, err)
		}
		if err := b.Verify(buffer, salt); err != nil {
			return damage(pos, err)
		}
		if err := visit(pos, b, buffer); err != nil {
			return err
		}
		next, epoch = b.End(), b.Epoch
		pos += int64(b.Size())
	}
}

// readRecords fills buffer in steps, so that a length that the file does not hold is noticed before it is allocated.
func readRecords(r io.ReaderAt, pos, length int64, buffer []byte) ([]byte, error) {
	const step = 1 << 20
	buffer = buffer[:0]
	for int64(len(buffer)) < length {
		n := int(min(step, length-int64(len(buffer))))
		at := len(buffer)
		if cap(buffer)-at < n {
			buffer = append(buffer, make([]byte, n)...)
		} else {
			buffer = buffer[:at+n]
		}
		if _, err := r.ReadAt(buffer[at:], pos+int64(at)); err != nil {
			if errors.Is(err, io.EOF) {
				return buffer, ErrShort
			}
			return buffer, err
		}
	}
	return buffer, nil
}

func zero(b []byte) bool {
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}

// Damage is where a scan met bytes that are not the block it expected.
type Damage struct {
	Pos int64
	Err error
}

func damage(pos int64, err error) error { return &Damage{pos, err} }

func (d *Damage) Error() string { return fmt.Sprintf("at %d: %v", d.Pos, d.Err) }
func (d *Damage) Unwrap() error { return d.Err }
