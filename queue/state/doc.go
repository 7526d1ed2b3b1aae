// Package state is one queue as a value: which messages are ready, which are out with a consumer, whose turn it
// is. It takes events and answers with what follows from them; it has no clock, no lock, no log and no goroutine.
//
// A queue's log holds message records and event records in one sequence of offsets. The state never holds
// messages, only what became of them:
//
//	      head            cursor         visible      end
//	       |                |               |          |
//	-------+----------------+---------------+----------+
//	settled|  L  U  s  U L s| f  f  e  f  f | f  f  e  |  not yet
//	-------+----------------+---------------+----------+
//	        \_ exact sets _/ \__ a count and a sum ___/
//
// Below the cursor every message has been delivered at least once. Those still alive are in one of two exact
// sets: unacked (U, out with a consumer) and listed (L, requeued or recovered, ready again). From the cursor on
// all messages are fresh (f, never delivered): a range, a count and a sum of bytes, so that a backlog of a hundred
// million messages takes no more room than one. The range may hold event records (e); who reads the log meets them
// and tells the state to Skip.
//
// Ready are the listed and the fresh messages, in the order of their offsets; since every listed offset is below
// the cursor, the lowest listed one comes first, if there is one. A requeued message thereby is back at its original
// position.
//
// In a queue with priorities the ready messages are no range, for the higher priority is delivered first, and within
// one the lower offset. All of them are listed, delivered before or not, in one set for each priority: 16 bytes a
// message. The cursor is always at the end.
//
// Invariants, at rest between two calls:
//   - head <= cursor <= end and visible <= end. head is the lowest live offset, end when nothing is alive.
//   - listed and unacked are disjoint and wholly below the cursor; gone is wholly at or above it.
//   - with priorities cursor = end, and nothing is fresh or gone.
//   - a message is delivered only below visible; that is what has been written to the log.
//   - what Settled answers, as records on the log, and the messages on the log add up to the state: Replay of the
//     same records gives the same live messages.
//
// gone exists after a recovery only: the log then tells of messages settled at or above the recovered cursor, which
// ran behind. Its intervals go away as the cursor passes them.
package state
