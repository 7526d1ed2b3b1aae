// Command suites runs other people's AMQP 0-9-1 test suites, unmodified and pinned, against one broker, and
// compares each test's verdict with the one it has on RabbitMQ.
//
//	suites [-broker warren] [-binary FILE] [-only NAME,...] [-out DIR] [-json FILE] [-record]
//
// # What counts
//
// expect/SUITE.txt holds the verdict of every test on RabbitMQ 3.10, recorded with -record: one line "pass NAME",
// "skip NAME" or "fail NAME". expect/known-red.txt names the tests that are allowed to be red, on which broker, and
// why. A run fails when
//
//   - a test that passes on RabbitMQ does not pass here (red, skipped, or not run at all: a suite that dies half
//     way misses its other tests) and known-red.txt does not excuse it, or
//   - an excused test passes: its line has to go.
//
// Tests that RabbitMQ itself does not pass, and tests the recording does not know, are shown and do not count.
//
// # How a suite runs
//
// First everything is fetched and built, with the network: modules by the Go proxy, source distributions by pip,
// amqp-tools by apt, all below the cache folder of package broker. A checkout that no registry has is looked for
// in $SUITES_DIR; without it that suite is left out, with a line that says so. Then the program enters a network
// namespace of its own, where the ports 5672 and 15672 that the suites insist on are free and nothing outside can
// be reached, and runs one suite after the other, each against a broker of its own on an empty folder.
package main
