package keratin

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path"

	"github.com/warrenmq/warren/keratin/journal"
	"github.com/warrenmq/warren/keratin/segment"
)

// Damage below the durable mark costs the logs whose records it hit, and nobody else. Everything else in and behind a
// damaged place is found again, because
//
//   - blocks stand at multiples of 8 and their checksums are seeded with the sequence of their entry: one whose header
//     is gone still has blocks that can be told;
//   - a block whose own header is gone still has records that can be told, by the log's salt.
//
// Which log has lost something then shows in its offsets: a later block does not continue, or the log is shorter than
// the checkpoint says. A log can be shortened unnoticed only if the block's header and its first record are both
// unreadable, no later block of that log has been written, and neither had the log been when the checkpoint was. The
// store tells of every such place (Store.Damage), and keeps the bytes in a file of their own.

const (
	// maxLost bounds how many sequences are tried for blocks of entries whose headers are unreadable.
	maxLost = 64
	// asideExt is the end of the names of files that are kept for a human being.
	asideExt = ".damaged"
)

// addLost adds what stands between two intact entries of one file: seq is the sequence of the one before, 0 if the file
// begins with it, and e the one behind.
func (r *recovery) addLost(j *journalFile, from, to int64, seq uint64, e journal.Entry) error {
	region, err := readRegion(j, from, to)
	if err != nil {
		return err
	}
	lo := seq + 1
	if seq == 0 {
		for lo = e.Seq - min(e.Seq-1, maxLost); lo < e.Seq && !holds(region, j.generation, lo); {
			lo++
		}
	}
	if lo >= e.Seq {
		return nil
	}
	lost := readEntry{Entry: e, blocks: region, file: j, pos: from, until: e.Seq}
	lost.Seq, lost.Index, lost.Durable = lo, e.Index-min(e.Index, e.Seq-lo), 0
	r.add(lost)
	return nil
}

// holds tells whether any block of an entry stands in a region.
func holds(region []byte, generation, seq uint64) bool {
	seed := journal.BlockSeed(generation, seq)
	for ; len(region) >= segment.BlockHeader; region = region[8:] {
		if _, err := segment.DecodeBlock(region, seed); err == nil {
			return true
		}
	}
	return false
}

// addHole adds what stands where entries lo up to hi should be, between the files of prev and e; either may be nil. A
// file whose entries are all unreadable may have cut off the end of the file of an earlier boot, which then is void.
func (r *recovery) addHole(files []*journalFile, prev, e *readEntry, lo, hi uint64) error {
	var lost []readEntry
	for i := len(files) - 1; i >= 0; i-- {
		j := files[i]
		from, to := int64(journal.FileHeader), j.size
		if e != nil && j.generation >= e.file.generation {
			continue
		}
		if prev != nil && j == prev.file {
			from = prev.end()
		}
		region, err := readRegion(j, from, to)
		if err != nil {
			return err
		}
		if len(region) > 0 {
			x := readEntry{Entry: journal.Entry{Seq: lo}, blocks: region, file: j, pos: from, until: hi}
			if prev != nil {
				x.stamp = prev.stamp
			}
			lost = append(lost, x)
		}
		if prev != nil && j == prev.file || len(region) > 0 && i > 0 && files[i-1].epoch < j.epoch {
			break
		}
	}
	if len(lost) == 0 {
		j := files[len(files)-1]
		if e != nil {
			j = e.file
		}
		lost = append(lost, readEntry{Entry: journal.Entry{Seq: lo}, file: j, pos: journal.FileHeader, until: hi})
	}
	for i := range lost {
		r.entries = append(r.entries, lost[len(lost)-1-i])
	}
	return nil
}

// readRegion returns a part of a file without the zeros at its end.
func readRegion(j *journalFile, from, to int64) ([]byte, error) {
	if from >= to {
		return nil, nil
	}
	b := make([]byte, to-from)
	n, err := j.f.ReadAt(b, from)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	n = len(bytes.TrimRight(b[:n], "\x00"))
	return b[:min(n+7, len(b))&^7], nil
}

// salvage gives the logs what can be read of a damaged entry, or of entries whose headers are gone.
func (r *recovery) salvage(e *readEntry) error {
	lo, found := e.Seq, 0
	if e.until > maxLost {
		lo = max(lo, e.until-maxLost)
	}
	for seq := lo; seq < e.after(); seq++ {
		n, err := r.search(e, seq)
		if err != nil {
			return err
		}
		found += n
	}
	switch {
	case e.until > 0:
		r.lose(e, fmt.Sprintf("entries %d to %d are unreadable, %d blocks of them are not", e.Seq, e.until-1, found))
	case found != int(e.Count):
		r.lose(e, fmt.Sprintf("of %d blocks in entry %d, %d are unreadable", e.Count, e.Seq, int(e.Count)-found))
	}
	return nil
}

func (r *recovery) lose(e *readEntry, why string) {
	r.damage = append(r.damage, &CorruptError{File: e.file.name(), Offset: e.pos, Why: why})
	r.aside = append(r.aside, *e)
}

// search looks for the blocks of one entry in e. It returns how many there are.
func (r *recovery) search(e *readEntry, seq uint64) (found int, err error) {
	seed := journal.BlockSeed(e.file.generation, seq)
	pos := e.end() - int64(len(e.blocks))
	for rest := e.blocks; len(rest) >= segment.BlockHeader; {
		b, err := segment.DecodeBlock(rest, seed)
		if asVersion(err) != nil {
			return found, versionError(e.file.name(), err)
		}
		var records []byte
		switch {
		case err == nil && b.Size() <= len(rest):
			records = rest[segment.BlockHeader:][:b.Length:b.Length]
			err = b.Verify(records, segment.Salt(b.Log))
		case e.until == 0: // what stands in it is of this entry and no other
			b, records, err = r.recognise(rest)
		default:
			b = segment.Block{}
		}
		step := 8
		if b.Count > 0 {
			found++
			r.give(b, records, err, e, pos)
			step = min(b.Size(), len(rest))
		}
		rest = rest[step:]
		pos += int64(step)
	}
	return found, nil
}

// recognise reads the records of a block whose header is damaged, if they are of a log that is known or that the header
// names. The header is the witness that they are all there: its count or its length.
func (r *recovery) recognise(rest []byte) (segment.Block, []byte, error) {
	damaged, records := rest[:segment.BlockHeader], rest[segment.BlockHeader:]
	try := func(id uint64) (b segment.Block) {
		first, count, length := segment.Run(records, segment.Salt(id))
		if count == 0 {
			return b
		}
		return segment.Block{Log: id, First: first, Count: count, Length: uint32(length)}
	}
	b := try(le.Uint64(damaged[8:]))
	for id := range r.logs {
		if b.Count > 0 {
			break
		}
		b = try(uint64(id))
	}
	if b.Count > 0 && b.Count != le.Uint32(damaged[24:]) && b.Length != le.Uint32(damaged[4:]) {
		return b, records[:b.Length:b.Length], segment.ErrData
	}
	return b, records[:b.Length:b.Length], nil
}

// keepAside writes what could not be attributed to files of its own, before the journal goes on and is used again.
func (r *recovery) keepAside() error {
	for _, e := range r.aside {
		if len(e.blocks) == 0 {
			continue
		}
		name := path.Join(journalDir, fmt.Sprintf("%016x-%08x%s", e.file.generation, e.pos, asideExt))
		if err := r.s.writeWhole(name, e.blocks); err != nil {
			return err
		}
	}
	if len(r.aside) == 0 {
		return nil
	}
	return r.fs.SyncDir(journalDir)
}
