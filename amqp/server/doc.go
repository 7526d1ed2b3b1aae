// Package server speaks AMQP 0-9-1 as RabbitMQ does and turns what clients ask for into calls of package queue.
//
// # A connection
//
// Two goroutines serve a connection. Its reader is the only one that decodes frames and runs commands; its writer is
// the only one that writes to the socket. Everything that has to go out (replies, confirms, deliveries) is appended
// to the connection's [output] by whoever has it, under a short lock, and leaves with the writer's next write.
//
//	socket ─read(2)→ buffer ─frames→ channel ─publish→ queue.Publisher ─┐  once per batch: Publisher.Flush,
//	                                        ─ack────→ settler per queue ─┘  Settle, Session.Commit, output.flush
//	socket ←writev── writer ←chunk── output ←append── replies (reader), confirms (committer), deliveries (queues)
//
// What one read(2) brought is one batch. Frames are decoded in place; publishes are encoded into the queues' batches
// as they come, acknowledgements are collected per queue, and both are handed over once, when the buffer holds no
// further whole frame. A command that could observe them (a declare that counts messages, a get, a cancel) hands
// them over before it runs, so that a connection's commands take effect in their order.
//
// # States
//
//	header → start-ok → tune-ok → open → running → closing → (socket closed)
//
// Until open the handshake timeout runs, frames are at most 8 KiB and only channel 0 may be used. A channel is open or
// closing: from our channel.close to the peer's close-ok everything on it is discarded. The same holds for
// the connection after our connection.close.
//
// # Bounds
//
// While the node is short of something (Server.Block), connections that publish are not read.
//
// What a peer can make us hold is bounded: the read buffer by frame-max, contents being assembled by
// Options.MaxMessageSize twice per connection, a transaction by Options.MaxTransaction, and outgoing octets by three marks: above outputHigh
// deliveries are refused and their consumers resumed below outputLow; above outputHard the reader stops reading.
// A peer that does not take what is written for Options.WriteTimeout is disconnected, and so is one that has been
// silent for two heartbeat intervals.
//
// # Failures
//
// There are three kinds. The peer's fault has an AMQP code and a text (*queue.Error) and closes the channel or the
// connection; so has bad framing (the codec's errors), which always closes the connection; anything else is ours: it is
// logged once and told as 541 without detail. A panic in a reader is of the third kind.
//
// # Locks
//
// In the order in which they may be taken: a queue's or a confirms' lock (package queue holds one when it calls Deliver or
// reports a confirm), channels.mu, channel.mu, output.mu. Package queue is never called with one of ours held. Server.mu,
// conn.meta and the monitor's lock are taken alone; the monitor's before output.mu.
package server
