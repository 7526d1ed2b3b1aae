// Package amqp is the codec of AMQP 0-9-1 with RabbitMQ's extensions: bytes to
// frames, methods, content headers, properties and field tables, and back. It does
// no input or output, holds no connection state and knows no broker; a server and a
// client stand on it alike.
//
// # Frames
//
// A connection starts with eight octets from the client, "AMQP" 0 0 9 1. From then
// on both directions are a sequence of frames; all integers are big-endian:
//
//	 0        1         3            7                 7+size
//	+------+---------+------------+-----------------+------+
//	| type | channel |    size    |     payload     | 0xCE |
//	+------+---------+------------+-----------------+------+
//	  1      2         4            size              1       octets
//
// The negotiated frame-max counts the whole frame, so a payload holds at most
// frame-max - 8 octets ([FrameOverhead]); as in RabbitMQ, 8 octets more are let pass on
// input. Type is one of
//
//	1 method      class u16 | method u16 | arguments
//	2 header      class u16 | weight u16 = 0 | body size u64 | property flags u16 | properties
//	3 body        a piece of the body; empty bodies have no body frame
//	8 heartbeat   empty, on channel 0
//
// A message is one method frame (basic.publish, deliver, return, get-ok), one header
// frame and as many body frames as its size takes, all on one channel, in this order.
//
// # Arguments
//
//	bit        consecutive bits share octets, lowest bit first
//	octet, short, long, longlong   unsigned, 1, 2, 4, 8 octets
//	shortstr   length u8  | octets
//	longstr    length u32 | octets
//	timestamp  seconds since 1970, u64
//	table      length u32 | entries: name shortstr | type octet | value
//	array      length u32 | values:  type octet | value
//
// Types in tables and arrays are RabbitMQ's, which differ from the standard's; see
// [Table] for them and for the Go type of each.
//
// # Properties
//
// Bit 15 of the flags stands for the first property, bit 2 for the fourteenth; those
// whose bit is set follow in that order. Bits 1 and 0 (a further flag word) are never set.
//
// # Who owns the bytes
//
// Nothing is copied that need not be. A [Frame]'s payload aliases the input, and byte
// slices in methods alias the payload; strings are copies. [Decoder.Decode] says how long
// a method lives. Tables inside methods and properties stay encoded: they are checked
// when decoded, and parsed by whoever needs them ([ParseTable]). Appending functions have
// the form of the built-in append: they return dst extended, and keep nothing.
//
// # Bad input
//
// Every length is checked against the octets present before it is used, nesting is
// bounded by [MaxDepth], and nothing is allocated in proportion to a length that was only
// claimed. Errors are *[FrameError], *[SyntaxError] and *[UnknownMethodError].
package amqp
