// Package catalog holds what a broker knows apart from messages: vhosts, users, permissions, exchanges, queues,
// bindings, policies and parameters.
//
// # State is a deterministic machine
//
// A Command asks for something ("declare queue q so"); State.Apply checks it against the state, in RabbitMQ's
// order and with RabbitMQ's words, and either refuses it with an *Error, having changed nothing, or carries it
// out and returns a Result: what there is now, and every Change made on the way, cascades spelled out. Apply
// knows no clock, no randomness and no I/O: names, salts and hashes come in the command, log ids are counted.
//
// Records (*Queue, *Exchange, …) are immutable once made. Changing one puts another in its place, so readers
// keep what they hold, and the trees' copy-on-write snapshots (View) are whole and cheap.
//
// # Catalog puts the machine on a log
//
//	Propose(cmd) ─▶ decide: Apply under the lock, changes visible to later commands
//	                  │ stage the durable changes as one record of the command log
//	                  ▼
//	                commit, and wait for the flush (shared with everybody else who waits)
//	                  ▼
//	                deliver: Options.Applied(result), in the order of decision ─▶ the proposer returns
//
// Invariants:
//
//   - The order of decisions, of records on the log, and of Applied calls is one and the same.
//   - Nobody is told of a change, nor acts on it, before the flush that covers it and all decided before it. A
//     result that rests on somebody else's pending change ("the queue exists already") waits for that too.
//   - Transient entities (non-durable queues and exchanges, exclusive queues, bindings with such an end) live in
//     the same order and under the same names but leave no record; a restart begins without them.
//   - After a failed flush nothing more is decided: every caller gets the log's error until it is reopened.
//
// # Why the log holds changes and not commands
//
// A command's outcome may hang on transient entities (a name that is taken, the last binding of an auto-delete
// exchange, a limit), which are not there when it is replayed; and on checks that a later version may refine. Its
// durable changes hang on nothing, so replay is exact: the state after any log is the durable part of the state
// that wrote it. One queue log id is never given out twice because the change that makes a queue names it.
//
// # Formats
//
// A record of the command log (kind 1) is JSON in one line:
//
//	{"v":1,"changes":[{"put":"queue","is":{"vhost":"/","name":"q",…,"log":2}},{"del":"binding","is":{…}}]}
//
// A snapshot is a head and one line per durable record, in an order in which each may rest on earlier ones:
//
//	{"v":1,"next_log":17}
//	{"put":"vhost","is":{"name":"/"}}
//	{"put":"queue","is":{…}}
//
// Field tables keep their wire types: a list of [key, tag, value], sorted by key, tags as on the wire (see
// table.go). Strings that are not UTF-8 are written as {"b64":"…"}. A version above ours is refused, not guessed.
package catalog
