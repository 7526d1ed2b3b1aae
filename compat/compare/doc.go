// Command compare measures Warren beside RabbitMQ on this machine.
//
//	compare [FLAGS]                      the comparison; prints a table, writes report.md and report.json
//	compare backlog [FLAGS]              one queue grows and drains: resident size, time of a restart in between
//	compare idle-queues [FLAGS]          resident size of idle durable queues
//	compare idle-connections [FLAGS]     resident size of idle connections
//
// # The comparison
//
// All brokers run at once, each on free loopback ports over a fresh folder; those whose turn it is not are idle.
// A match is one workload, driven by one generator, between contestants that promise the same: a Warren queue that
// is durable stands beside a quorum queue (both have flushed what they confirm), a buffered one beside a classic
// queue (neither has). The contestants of a match take turns, round after round:
//
//	round 1:  probe, Warren, RabbitMQ 3.10, RabbitMQ 4;  round 2:  probe, Warren, ...
//
// The probe appends and flushes one message's bytes at a time to a bare file, so that what a figure owes to the disk
// of that minute can be told. The table shows medians over the rounds; the report has every round's figures.
//
// # What the figures are
//
//	msg/s      delivered messages per second of the measured time, the warm-up left out
//	confirm    from sending (paced: from the intended time of sending) to the publisher confirm
//	delivery   from the same moment to the consumer
//	µs/msg     processor time of the broker's process, user and system, per delivered message
//	peak RSS   highest resident size of the broker's process during the run
//	B/msg      bytes that the broker's process caused to be written to the disk, per delivered message
//
// RabbitMQ runs with its schedulers' busy waiting off (see -busy-wait), which lowers its processor time.
package main
