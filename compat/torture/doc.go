// Command torture kills a broker again and again while clients use it, and checks that it kept its word.
//
//	torture [-broker warren] [-binary FILE] [-seed N] [-kills 25] [-for 30m] [-control proxy] ...
//
// # A run
//
//	cycle    start; (epoch, kill -9, restart) × -kills-per-check; drain; kill -9, restart; see that all is empty; check
//	epoch    publishers with confirms, consumers that acknowledge while it goes on; ends with a kill at a random time
//
// Some restarts are themselves killed within the first milliseconds, so that recovery is cut short too. Package
// history says what is recorded and what the check demands. Memory is bounded by a cycle, whatever -kills is.
//
// # Replay
//
// The seed, printed first, decides every choice: when to kill, what to publish where, in which sizes, when to
// acknowledge. What it cannot decide is how the operating system interleaves the processes, so a replay repeats the
// load and the timing, and usually the fault.
//
// # Negative control
//
// A test that cannot fail proves nothing. With -control proxy the publishers talk to the broker through a proxy
// that confirms messages before it passes them on, as a broker would that confirms before it writes: then the run
// must find lost messages, and fails if it does not. With -control build the binary itself is such a broker
// (built with the tag confirmearly).
package main
