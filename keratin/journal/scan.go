package journal

import (
	"errors"
	"fmt"
	"io"

	"github.com/warrenmq/warren/keratin/segment"
)

// window is how much is read at a time: blocks that a caller keeps hold no more than that in memory.
const window = 1 << 20

// Scanner reads the entries of one journal file in order.
type Scanner struct {
	r    io.ReaderAt
	size int64
	seed uint32
	pos  int64
	buf  []byte // the file's bytes from pos on, as far as they have been read
}

// NewScanner starts behind the header of a file of size bytes with that generation.
func NewScanner(r io.ReaderAt, size int64, generation uint64) *Scanner {
	return &Scanner{r: r, size: size, seed: EntrySeed(generation), pos: FileHeader}
}

// Pos is where the next entry stands, or would.
func (s *Scanner) Pos() int64 { return s.pos }

// Next returns the entry at Pos with its blocks, which the caller may keep, and moves behind it. The header has been
// verified, the blocks have not. io.EOF: there is nothing that looks like an entry (zeros, an earlier life, or
// damage; see Find). segment.ErrShort: the file ends before the entry does.
func (s *Scanner) Next() (Entry, []byte, error) {
	if err := s.fill(EntryHeader); err != nil {
		if errors.Is(err, segment.ErrShort) {
			err = io.EOF
		}
		return Entry{}, nil, err
	}
	e, err := DecodeEntry(s.buf, s.seed)
	if errors.Is(err, segment.ErrHeader) {
		return Entry{}, nil, io.EOF
	}
	if err != nil {
		return Entry{}, nil, err
	}
	if err := s.fill(e.Size()); err != nil {
		return e, nil, err
	}
	blocks := s.buf[EntryHeader:e.Size():e.Size()]
	s.advance(int64(e.Size()))
	return e, blocks, nil
}

// Skip moves n bytes on.
func (s *Scanner) Skip(n int64) {
	if n <= int64(len(s.buf)) {
		s.advance(n)
		return
	}
	s.pos += n
	s.buf = nil
}

func (s *Scanner) advance(n int64) {
	s.pos += n
	s.buf = s.buf[n:]
}

// fill reads until buf holds n bytes, into a fresh buffer: slices of the old one are in the caller's hands. Nothing is
// allocated for bytes that the file does not have.
func (s *Scanner) fill(n int) error {
	if len(s.buf) >= n {
		return nil
	}
	left := s.size - s.pos
	if left < int64(n) {
		return segment.ErrShort
	}
	fresh := make([]byte, min(int64(max(n, window)), left))
	have := copy(fresh, s.buf)
	if _, err := s.r.ReadAt(fresh[have:], s.pos+int64(have)); err != nil {
		return err
	}
	s.buf = fresh
	return nil
}

// Find looks from Pos on for an entry header with a sequence above after and moves to it. It steps over whatever is
// not one. false: the file holds no such entry. It is how damage in the middle is told from a torn end: a later
// entry may state that what is damaged had been flushed.
func (s *Scanner) Find(after uint64) (Entry, bool, error) {
	for {
		if err := s.fill(EntryHeader); err != nil {
			if errors.Is(err, segment.ErrShort) {
				err = nil
			}
			return Entry{}, false, err
		}
		for len(s.buf) >= EntryHeader {
			if le.Uint16(s.buf) == entryMagic {
				if e, err := DecodeEntry(s.buf, s.seed); err == nil && e.Seq > after {
					return e, true, nil
				}
			}
			s.advance(8)
		}
	}
}

// EachBlock calls visit for every block of an entry, with its records. err is nil if the block is intact; else the
// block's records are damaged but the header names the log. It returns an error if a header is damaged: which
// log that block and those behind it belong to is unknown.
func (e Entry) EachBlock(generation uint64, blocks []byte, visit func(b segment.Block, records []byte, err error)) error {
	seed := BlockSeed(generation, e.Seq)
	for i := range e.Count {
		b, err := segment.DecodeBlock(blocks, seed)
		if err != nil {
			return fmt.Errorf("block %d of entry %d: %w", i, e.Seq, err)
		}
		if b.Size() > len(blocks) {
			return fmt.Errorf("block %d of entry %d: %w", i, e.Seq, segment.ErrShort)
		}
		records := blocks[segment.BlockHeader : segment.BlockHeader+int(b.Length) : segment.BlockHeader+int(b.Length)]
		visit(b, records, b.Verify(records, segment.Salt(b.Log)))
		blocks = blocks[b.Size():]
	}
	if len(blocks) != 0 {
		return fmt.Errorf("entry %d: %d bytes behind its blocks", e.Seq, len(blocks))
	}
	return nil
}

// Intact tells whether an entry is as it was written.
func (e Entry) Intact(generation uint64, blocks []byte) error {
	var bad error
	err := e.EachBlock(generation, blocks, func(_ segment.Block, _ []byte, err error) {
		if bad == nil {
			bad = err
		}
	})
	if err != nil {
		return err
	}
	return bad
}

// Cuts tells whether e, read after last, takes the place of last and of what follows it: the same group's index
// written anew under a higher term or epoch.
func (e Entry) Cuts(last Entry) bool {
	return e.Group == last.Group && e.Index <= last.Index &&
		(e.Term > last.Term || e.Term == last.Term && e.Epoch > last.Epoch)
}
