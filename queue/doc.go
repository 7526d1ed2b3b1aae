// Package queue is the broker behind the wire: vhosts with their exchanges, bindings and queues, the consumers of
// those queues, and the users who may touch them. It knows nothing of AMQP frames and nothing of files.
//
// # Parts
//
//	Session ──declare, bind──▶ catalog ──changes──▶ vhost: routing graph, queues     (rare, durable, one at a time)
//	   │
//	   ├─ Publisher ──route──▶ batch per queue ──▶ Queue ──▶ Log ──▶ committer       (often, batch-wise)
//	   └─ Consumer  ◀──────── Sink.Deliver ◀──── Queue ◀── Written ◀──┘
//
// What exists is decided by queue/catalog, a state machine fed by a log of its own. This package turns its changes
// into things at work: a routing graph (queue/route) per vhost and a Queue per queue, which is a state machine
// (queue/state) and a Log under one mutex. A Queue has no goroutine: delivery runs on whoever made it possible, be
// it the committing goroutine that reports progress, a consumer that starts or has capacity again, or a requeue.
//
// # The life of a message
//
//  1. Publisher.Publish finds the queues (a cache per publisher, void when the vhost's generation has moved) and
//     encodes the message straight into a batch per queue. These are the only copies of its bytes.
//  2. Publisher.Flush stages each batch on its queue's log under the queue's lock, which orders the records, and
//     commits. The batch's gate is the mark that confirms its messages:
//     durable for persistent messages in a durable queue, written for transient ones and for queues with
//     x-durability=buffered or without durability.
//  3. The log's committer reports the written mark: the queue offers what has become visible to its consumers, in
//     turn. A consumer without capacity refuses, drops out of the ring and comes back with Resume.
//  4. When the gate has been passed, the batch's confirms are counted off; a channel is told of the longest prefix
//     of its messages that have passed the gates of all their queues.
//  5. Settling moves the message out of the state and puts a record on the same log, which nobody waits for. When
//     the lowest live offset has moved, the log is trimmed to it.
//
// # Records
//
// A queue's log holds records of these kinds. Numbers are unsigned varints.
//
//	kind 1, message   version and flags | expiry | length, exchange | length, routing key | length, properties | body
//	                  high nibble: version 1. bit 0: persistent; bit 1: there is an expiry, in Unix milliseconds;
//	                  bit 2: it expires unless it is delivered at once; bit 3: it is a dead letter, whose x-death
//	                  header is the broker's own. The properties are the property flags and list of the content
//	                  header, as received; the body is the rest of the record.
//	kind 2, settled   messages | bytes | spans, see state.Settled
//
// A record of another kind or version was written by a later release; the queue is not opened.
//
// # Recovery
//
// A queue is its last snapshot and the records since. After an unclean stop every recovered message counts as
// delivered before (redelivered), since deliveries leave no trace on the log. A queue whose log is damaged is kept
// out of service alone; the others start.
//
// # Rules
//
// A queue's arguments may ask for more than keeping messages (see rules):
//
//   - Messages of a higher priority are delivered first (x-max-priority, up to which the priority property counts; none
//     is 0). Such a queue holds 16 bytes in memory for each ready message; the others hold none.
//   - Messages that expire (x-message-ttl, expiration) go when they have got to the head, or to the head of their
//     priority. An alarm is set for the heads only.
//   - Beyond its greatest length (x-max-length, x-max-length-bytes) a queue drops messages from the head, which is of
//     the highest priority there is, or refuses new ones, which nacks them.
//   - A queue that nobody uses is deleted (x-expires).
//   - One consumer at a time may get all messages (x-single-active-consumer): the one that came first.
//   - What was rejected, expired or dropped may be dead-lettered. Such a message stays unacked in its queue while it
//     is published, without the queue's lock, to where it goes; then it is settled. Its arrival is thereby on the
//     disk before its departure: a crash may double it, and not lose it.
//
// # Locks
//
// In this order; a goroutine that holds one takes only later ones:
//
//	catalog's order of application → vhost.mu → Queue.mu → a log's own
//	                                            Queue.mu → whatever Sink.Deliver takes
//	                                                       Confirms.mu → whatever emit takes
//
// Callbacks of the log (Written, Committed) come without any lock and may stage, but not commit.
package queue
