package segment

const (
	// BlockHeader is the bytes of a block before its records.
	BlockHeader = 48

	blockMagic   = 'B' | 'K'<<8
	blockVersion = 1

	// KindRecords is the kind of a block that is followed by its records.
	KindRecords = 1
)

// Block is a decoded block header.
type Block struct {
	Log     uint64
	First   uint64 // offset of the first record
	Count   uint32
	Epoch   uint32
	Durable uint64 // the log's durable frontier when this was written
	Length  uint32 // bytes of the records
}

// End is the offset after the last record.
func (b Block) End() uint64 { return b.First + uint64(b.Count) }

// Size is what the block takes up with header and padding.
func (b Block) Size() int { return Padded(int(b.Length)) }

// Padded is the size of a block whose records take n bytes.
func Padded(n int) int { return (BlockHeader + n + 7) &^ 7 }

// Put writes the header of b into dst, but for the checksum (SealBlock).
func (b Block) Put(dst []byte) {
	le.PutUint16(dst[0:], blockMagic)
	dst[2], dst[3] = blockVersion, KindRecords
	le.PutUint32(dst[4:], b.Length)
	le.PutUint64(dst[8:], b.Log)
	le.PutUint64(dst[16:], b.First)
	le.PutUint32(dst[24:], b.Count)
	le.PutUint32(dst[28:], b.Epoch)
	le.PutUint64(dst[32:], b.Durable)
	le.PutUint64(dst[40:], 0)
}

// SealBlock writes the checksum of the block header in b and returns the size of the block, which is behind it.
func SealBlock(b []byte, seed uint32) int {
	le.PutUint32(b[44:], Checksum(seed, b[:44]))
	return Padded(int(le.Uint32(b[4:])))
}

// DecodeBlock reads a block header. It says nothing about the records.
func DecodeBlock(b []byte, seed uint32) (Block, error) {
	if len(b) < BlockHeader {
		return Block{}, ErrShort
	}
	if le.Uint16(b) != blockMagic || le.Uint32(b[44:]) != Checksum(seed, b[:44]) {
		return Block{}, ErrHeader
	}
	if b[2] != blockVersion || b[3] != KindRecords || le.Uint32(b[40:]) != 0 {
		return Block{}, &VersionError{What: "block", Version: uint32(b[2])}
	}
	k := Block{
		Log:     le.Uint64(b[8:]),
		First:   le.Uint64(b[16:]),
		Count:   le.Uint32(b[24:]),
		Epoch:   le.Uint32(b[28:]),
		Durable: le.Uint64(b[32:]),
		Length:  le.Uint32(b[4:]),
	}
	// Every record has a header, so that a count cannot promise more than the length can hold.
	if k.Count == 0 || uint64(k.Count)*RecordHeader > uint64(k.Length) || k.First+uint64(k.Count) < k.First {
		return Block{}, ErrHeader
	}
	return k, nil
}

// Verify checks that records, the k.Length bytes after the header, are the block's records, all of them intact.
func (b Block) Verify(records []byte, salt uint32) error {
	if len(records) != int(b.Length) {
		return ErrShort
	}
	for offset := b.First; offset < b.End(); offset++ {
		r, rest, err := Decode(records, salt)
		if err != nil {
			return err
		}
		if r.Offset != offset {
			return ErrOrder
		}
		records = rest
	}
	if len(records) != 0 {
		return ErrOrder
	}
	return nil
}
