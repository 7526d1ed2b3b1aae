// Command conformance plays the same scenarios against two brokers and compares everything that a client can see:
// methods and their order, reply codes and texts, class and method ids, properties down to the type of each header,
// counts, redelivered flags, and whether a channel, a connection or a socket was closed.
//
//	conformance -binary ./warren -against rabbitmq-3.10
//	conformance -binary ./warren -against rabbitmq-3.10,rabbitmq-4 -only 'ack|dead letters' -out DIR
//	conformance -subject rabbitmq-4 -against rabbitmq-3.10      # how the releases differ
//	conformance -control                                        # through a proxy that changes one reply text
//
// Nothing of RabbitMQ is recorded: it runs beside Warren. The exit status is 1 if there is a difference that is not
// intended, or an intended one that is not there.
//
// # Scenarios
//
// A chapter is a file chapter_….go, a scenario a short function in it. It acts through a stage:
//
//	{"the tag of another channel is unknown", func(s *stage) {
//		a := s.channel()                                   // a connection and a channel on it
//		b := a.client.channel(2)
//		a.do(declareQueue("q", 0), publish("", "q", "m"), get("q", 0))
//		b.do(ack(1))
//	}},
//
// Each do is a step: its methods are written at once, each that has an answer is waited for, and then the stage
// settles. What arrived on each channel during a step, in order, makes the transcript:
//
//	a1 > basic.ack delivery-tag=1 ...
//	a1 < channel.close reply-code=406 ...
//
// # Settling
//
// A step is over when everything it caused has arrived. Nobody tells a client so; but in both brokers a channel
// carries out its methods in order, and a queue answers after what it was told before. So the stage asks every
// channel (channel.flow), then every queue (a passive declare, on channels of its own), twice, because a dead letter
// moves on to another queue, then every channel again. Where this does not hold, two plays of a scenario differ and
// are repeated with pauses in between; what differs even then is reported, and what differs only without pauses is
// counted as unsteady. A queue with x-expires is not asked, since a declare renews its lease.
//
// # Normalising
//
// What may differ between two brokers that behave the same is replaced in one place, normalize.go. Confirms of one
// step are gathered into one line, because how they are grouped, and how they mix with deliveries, is free.
//
// # Intended differences
//
// intended.txt has one line for each; docs/compatibility.md says them to people. A line names the first line of the
// transcript in which Warren departs, so that it excuses nothing else.
package main
