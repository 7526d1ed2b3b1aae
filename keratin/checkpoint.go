package keratin

import (
	"cmp"
	"maps"
	"slices"
)

// checkpointDue tells whether enough has been written to the journal, or settled in segments, since the last one.
func (s *Store) checkpointDue() bool {
	full := 0
	s.exclusive(func() { full = len(s.journal.full) })
	return full >= s.o.JournalFiles || s.dead.Load() >= s.deadLimit()
}

func (s *Store) deadLimit() int64 { return s.o.JournalFileBytes * int64(s.o.JournalFiles) }

// checkpoint makes the journal before the current file unnecessary, as far as that can be had, and says so. With
// clean, at the end, nothing is moved for it: recovery finds in the journal what it needs.
func (s *Store) checkpoint(clean bool) error {
	from, limit := s.floor(clean)
	if !clean {
		if err := s.evict(limit); err != nil {
			return err
		}
	}
	c := &checkpointFile{clean: clean, epoch: s.epoch, journal: from, kept: s.keep(from)}
	var logs []*Log
	// Owners first, then the flush that makes durable what their states rest on, then the rest under each log's
	// lock: a state may be older than the marks beside it, never newer than what is durable.
	for _, l := range s.allLogs() {
		if !l.ephemeral {
			logs = append(logs, l)
			c.logs = append(c.logs, l.snapshot())
		}
	}
	if err := s.Sync(); err != nil {
		return err
	}
	var dead []string
	for i, l := range logs {
		dead = append(dead, l.describe(&c.logs[i])...)
	}
	s.dead.Store(0)
	c.seq = s.flush.durable.Load()
	if err := s.writeCheckpoint(c); err != nil {
		return err
	}
	s.stats.checkpoints.Add(1)
	s.discardSegments(dead) // they may go now that nothing names them
	if err := s.sweep(); err != nil {
		return err
	}
	s.retire(c)
	return nil
}

// floor returns the generation of the first journal file a checkpoint may ask to keep, and the age below which
// records must have been moved for that.
func (s *Store) floor(clean bool) (from, limit uint64) {
	oldest := s.ages.oldest()
	s.exclusive(func() {
		from = s.w.file.generation
		for _, j := range slices.Backward(s.journal.full) {
			if clean && j.end >= oldest {
				from = j.generation
			}
		}
		if n := len(s.journal.full); n > 0 && !clean {
			limit = s.journal.full[n-1].end + 1 // a commit that went over the end is dated with it
		}
	})
	return from, limit
}

// keep returns the journal files before from of which something is still needed: all that a log holds, and those with
// records that are in memory and not moved yet.
func (s *Store) keep(from uint64) []keptFile {
	upTo := uint64(0)
	for _, l := range s.allLogs() {
		upTo = max(upTo, l.holdsJournal(from))
	}
	oldest := s.ages.oldest()
	var kept []keptFile
	s.exclusive(func() {
		for _, j := range slices.Concat(s.journal.kept, s.journal.full) {
			if j.generation < from && (j.generation <= upTo || j.end >= oldest) {
				kept = append(kept, keptFile{j.generation, j.next})
			}
		}
	})
	return kept
}

// holdsJournal returns the generation of the last journal file of which a log may have the only copy of something that
// cannot be moved, because the log has failed or is damaged. The first time that is the current file.
func (l *Log) holdsJournal(current uint64) uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failed == nil || l.failed == ErrClosed || l.ephemeral {
		return 0
	}
	if l.held == 0 {
		l.held = current
	}
	return l.held
}

// snapshot asks the owner for its state. An owner that is not as far yet as the checkpoint it recovers from does not
// count: what was recovered is handed on.
func (l *Log) snapshot() checkpointLog {
	l.mu.Lock()
	owner := l.owner
	l.mu.Unlock()
	var state []byte
	at := uint64(0)
	if owner != nil {
		var f Frontier
		state, f = owner.Snapshot(nil)
		at = uint64(f)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if owner == nil || at < l.state.at {
		return checkpointLog{id: l.id, at: l.state.at, state: l.state.bytes}
	}
	l.state.bytes, l.state.at = nil, at
	return checkpointLog{id: l.id, at: at, state: state}
}

// describe fills in where the log's records are, forgets the segments that are wholly below its head and returns
// their names.
func (l *Log) describe(c *checkpointLog) (dead []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c.head, c.durable, c.moved = l.trim.head, l.marks.durable, l.older.next
	if l.failed != nil {
		// Nothing is given up that may be needed for a repair.
		for _, g := range l.older.files {
			c.segments = append(c.segments, *g)
		}
		return nil
	}
	l.older.files = slices.DeleteFunc(slices.Clone(l.older.files), func(g *segmentFile) bool {
		if g.end <= l.trim.head {
			dead = append(dead, g.name)
			return true
		}
		c.segments = append(c.segments, *g)
		return false
	})
	l.older.dead = 0
	return dead
}

// allLogs returns the logs by id.
func (s *Store) allLogs() []*Log {
	s.mu.Lock()
	defer s.mu.Unlock()
	logs := slices.Collect(maps.Values(s.logs))
	slices.SortFunc(logs, func(a, b *Log) int { return cmp.Compare(a.id, b.id) })
	return logs
}
