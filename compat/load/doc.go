// Package load drives an AMQP 0-9-1 broker with one workload, measures what comes out, and checks
// that nothing confirmed got lost. It knows the broker by its address alone, so that brokers can be
// compared.
//
// # Workers
//
// A run has publishers, consumers and queues, each queue reached through the default exchange:
//
//	publisher 0 --+--> queue 0 --+--> consumer 0
//	publisher 1 --+--> queue 1 --+--> consumer 1
//	                   ...
//
// Every publisher and every consumer has a connection and a channel of its own. With more queues than workers
// each worker has its share of the queues, a publisher visiting its own in turn; with more workers
// than queues they share. Publishers go as fast as the window of unconfirmed messages lets them, or
// at a rate.
//
// # Clients
//
// Two clients run the same workers (see [Client]): one is amqp091-go as its users call it; the other
// speaks through this project's codec, reads and writes in batches and allocates nothing per message, so that
// the broker is what is measured.
//
// # Messages
//
// A body begins with a stamp, and goes on in a pattern that depends on nothing:
//
//	0           2            8                       16            size
//	+-----------+------------+-----------------------+-------------+
//	| publisher |  sequence  |  intended send time   |   pattern   |
//	+-----------+------------+-----------------------+-------------+
//	  u16         u48          ns since the run began
//
// The sequence counts a publisher's messages from 1, as publisher confirms do.
//
// # Time
//
// At a rate, message k of a run is meant for the moment k/rate after its beginning, and latencies count from that
// moment, whenever the message was really sent: a broker that stalls is charged with all the
// messages that had to wait meanwhile, and not only with the one that was on its way. How late the
// generator itself was stands beside it. Without a rate they count from sending. What was meant for the warm-up
// is left out.
//
//	begin     warm end                     stop            end
//	  |-- warm-up --|---- measured ---------|---- drain ----|
//	                ^ rates and CPU         ^ publishing ends; all that is outstanding comes in
//
// A run bounded by count stops when the last message has come out; one bounded by time, at that time.
//
// # Verdict
//
// Each (publisher, sequence) is marked when it is delivered. A run fails if at its end a confirmed
// message (without confirms: any message sent) has not been delivered, or if a message came out that was not
// put in: unknown stamp, other queue, other length, other bytes. Messages delivered twice are
// counted, and allowed.
package load
