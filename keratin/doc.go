// Package keratin is the storage engine: many logs in one data directory, made durable together.
//
// # What it promises
//
// Every log has three marks, all exclusive frontiers: Staged (offset assigned, in our memory), Written (in the
// kernel's memory: survives the death of the process) and Durable (flushed: survives a loss of power), with
// Durable <= Written <= Staged. After a crash a log holds at least what was durable and at most what was written,
// from its beginning without a gap, every byte as it was; opening twice gives the same.
//
// # Life of a record
//
//	Batch.Reserve       encoded once, in the caller's memory
//	Log.Stage           offset, checksums; now in the log's tail, from which readers are served
//	Store.Commit        one journal entry for everything staged, in all logs: Written
//	flusher             one fdatasync for everything committed since the last one: Durable
//	janitor, later      moved to its log's segment, if anybody still wants it, and out of memory
//	janitor, at last    the segment is removed when all of it is settled, the journal file used again
//
// A queue whose consumers keep up never touches a segment. The journal holds the only durable copy of what is in
// memory; segments hold only records that were durable before they were moved. A checkpoint says from which journal
// file on recovery has to read, and names the segments that count.
//
// # Rules
//
// Group commit has no timer: Commit makes the caller the writer if nobody is, and the writer goes on until nothing is
// staged; the flusher takes everything that was written while it was busy. Only data that nobody waits for is flushed
// by a timer (Options.SyncInterval).
//
// A failed write or flush of the journal fails the store, one of a segment fails its log, for good: every waiter and
// later caller gets the same *FailedError, marks stand still, nothing is tried again. Opening anew reads what is
// really there.
//
// Memory is bounded by age: what was written more than TailBytes ago, counted in bytes written since, is moved to
// segments; at twice that, Commit waits for it.
//
// Records are moved and removed for settled (Log.Trim) only when everything staged before the call of Trim is
// durable, and a segment's file goes only after a checkpoint that does not name it.
//
// Damage costs the logs it hit and no others, and nothing is removed because it could not be read: see salvage.go. A log that is out of service keeps the journal files that hold
// records of it; the journal goes on without them.
//
// # Goroutines and locks
//
// A store has two goroutines, the flusher and the janitor; a log has none. Locks are taken in this order:
//
//	Store.closing -> Store.w.mu (the writer) -> Store.mu -> Log.mu -> pending.mu, ages.mu, flusher.mu, descriptors.mu
//
// Owners and waiters are called with no lock but possibly the writer's, which they cannot meet: they may Stage, not
// Commit, Sync or Close. Whoever calls Sync must not hold a lock that a waiter takes.
//
// # Files
//
//	LOCK                      flock of the process that has the directory
//	checkpoint                see checkpointfile.go; checkpoint.copy is the same
//	journal/GGGG.journal      package journal; GGGG is the generation
//	segments/LLLL-BBBB.segment   package segment; log id and base offset
//	….damaged                 kept for a human being, never read
//	spill/…                   segments of ephemeral logs, removed by Open
package keratin
