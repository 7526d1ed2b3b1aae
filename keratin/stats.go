package keratin

import (
	"slices"
	"sync/atomic"
	"time"
)

// Stats are counters since Open, but where a field says what is now.
type Stats struct {
	Records       uint64 // written
	Bytes         uint64 // of them, encoded
	Entries       uint64 // journal entries: commits
	JournalBytes  uint64 // written to the journal
	SegmentBytes  uint64 // written to segments
	ReadBytes     uint64 // read from segments
	Flushes       uint64
	FlushSeconds  float64
	FlushedLogs   uint64 // logs that took part, summed over flushes
	Checkpoints   uint64
	Unprepared    uint64 // times a journal file was not ready in time
	FailedLogs    uint64
	Logs          int           // now
	JournalInUse  int64         // bytes of journal files now
	UnsyncedLogs  int           // logs with written records that are not durable, now
	SettledBytes  int64         // of segments that the next checkpoint frees, now
	TruncatedTail uint64        // bytes that recovery cut off the journal
	RecoveryTime  time.Duration // of the last Open
}

type counters struct {
	records, bytes, entries               atomic.Uint64
	journalBytes, segmentBytes, readBytes atomic.Uint64
	flushes, flushNanos, flushedLogs      atomic.Uint64
	checkpoints, unprepared, failedLogs   atomic.Uint64
	truncatedBytes                        atomic.Uint64
	recovery                              atomic.Int64
}

func (c *counters) flushed(took time.Duration, logs int) {
	c.flushes.Add(1)
	c.flushNanos.Add(uint64(took))
	c.flushedLogs.Add(uint64(logs))
}

// Stats returns the counters. It holds up commits for a moment.
func (s *Store) Stats() Stats {
	c := &s.stats
	st := Stats{
		Records: c.records.Load(), Bytes: c.bytes.Load(), Entries: c.entries.Load(),
		JournalBytes: c.journalBytes.Load(), SegmentBytes: c.segmentBytes.Load(), ReadBytes: c.readBytes.Load(),
		Flushes: c.flushes.Load(), FlushSeconds: time.Duration(c.flushNanos.Load()).Seconds(), FlushedLogs: c.flushedLogs.Load(),
		Checkpoints: c.checkpoints.Load(), Unprepared: c.unprepared.Load(), FailedLogs: c.failedLogs.Load(),
		SettledBytes: s.dead.Load(), TruncatedTail: c.truncatedBytes.Load(), RecoveryTime: time.Duration(c.recovery.Load()),
	}
	s.mu.Lock()
	st.Logs = len(s.logs)
	s.mu.Unlock()
	s.flush.mu.Lock()
	st.UnsyncedLogs = len(s.flush.next.logs)
	s.flush.mu.Unlock()
	s.exclusive(func() {
		st.JournalInUse = s.w.file.size
		for _, j := range slices.Concat(s.journal.full, s.journal.kept) {
			st.JournalInUse += j.size
		}
	})
	return st
}
