package admin

// storageFamilies are the metrics of the storage engine. warren_storage_flushed_logs_total over
// warren_storage_flushes_total is how many queues share a flush, and records over flushes how many messages do.
func (c *collector) storageFamilies() {
	for _, f := range []struct {
		name, help string
		value      func(*snapshot) float64
	}{
		{"records", "Records written: messages, acknowledgements and other events", func(s *snapshot) float64 { return float64(s.storage.Records) }},
		{"record_bytes", "Bytes of the records written", func(s *snapshot) float64 { return float64(s.storage.Bytes) }},
		{"commits", "Journal entries written, each with all that was pending on all queues", func(s *snapshot) float64 { return float64(s.storage.Entries) }},
		{"journal_written_bytes", "Bytes written to the journal", func(s *snapshot) float64 { return float64(s.storage.JournalBytes) }},
		{"segment_written_bytes", "Bytes written to segments", func(s *snapshot) float64 { return float64(s.storage.SegmentBytes) }},
		{"segment_read_bytes", "Bytes read from segments", func(s *snapshot) float64 { return float64(s.storage.ReadBytes) }},
		{"flushes", "Flushes", func(s *snapshot) float64 { return float64(s.storage.Flushes) }},
		{"flush_seconds", "Time spent in flushes", func(s *snapshot) float64 { return s.storage.FlushSeconds }},
		{"flushed_logs", "Logs that took part in flushes, summed over the flushes", func(s *snapshot) float64 { return float64(s.storage.FlushedLogs) }},
		{"checkpoints", "Checkpoints written", func(s *snapshot) float64 { return float64(s.storage.Checkpoints) }},
		{"failed_logs", "Logs that a failed write or flush has put out of service", func(s *snapshot) float64 { return float64(s.storage.FailedLogs) }},
		{"journal_unprepared", "Journal files that were needed before they had been prepared", func(s *snapshot) float64 { return float64(s.storage.Unprepared) }},
	} {
		c.counter("warren_storage_"+f.name+"_total", f.help, f.value)
	}
	for _, f := range []struct {
		name, help string
		value      func(*snapshot) float64
	}{
		{"logs", "Logs in the data directory", func(s *snapshot) float64 { return float64(s.storage.Logs) }},
		{"journal_bytes", "Bytes of the journal files in use", func(s *snapshot) float64 { return float64(s.storage.JournalInUse) }},
		{"unsynced_logs", "Logs with records that have been written and not yet flushed", func(s *snapshot) float64 { return float64(s.storage.UnsyncedLogs) }},
		{"settled_bytes", "Bytes of segments that the next checkpoint frees", func(s *snapshot) float64 { return float64(s.storage.SettledBytes) }},
		{"recovery_seconds", "Time that the last start spent on recovery", func(s *snapshot) float64 { return s.storage.RecoveryTime.Seconds() }},
		{"recovery_truncated_bytes", "Bytes of a torn tail that the last start cut off", func(s *snapshot) float64 { return float64(s.storage.TruncatedTail) }},
		{"failed", "is 1 when nothing can be made durable until a restart", func(s *snapshot) float64 { return bit(s.failed) }},
	} {
		c.gauge("warren_storage_"+f.name, f.help, f.value)
	}
}
