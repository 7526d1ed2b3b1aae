// Package broker runs the brokers that the programs under compat look at from outside: a warren binary, or a
// RabbitMQ taken from Debian. It starts them on given or free loopback ports over a fresh folder, tells when they
// serve, measures their processes, and makes sure that nothing outlives the program that started them.
//
// # Names
//
// A broker is named by one word: "warren", or "rabbitmq-R" where R is one of the releases of [Releases], for
// example "rabbitmq-3.10" and "rabbitmq-4".
//
// # How RabbitMQ is kept apart
//
// Each release is a Debian tree of its own (debootstrap) in the cache folder, with its own libc and Erlang, so the
// machine that runs it needs neither. An instance lives in a mount and a process namespace of its own:
//
//	unshare --mount --pid            the instance: gone as a whole when its first process ends, epmd included
//	  chroot TREE                    shared, read in practice
//	    /var/lib/rabbitmq  <- bind   DIR/state of this instance: configuration, cookie, data, logs
//
// Several instances of one release can therefore run side by side. Everything listens on 127.0.0.1.
//
// # Life
//
//	Start -> serving -> Kill or Stop -> (Restart -> serving -> ...) -> Stop
//
// An instance ends with the program that started it, however that one ends: the kernel kills it (parent-death
// signal), and a RabbitMQ's namespace takes every process in it along.
package broker
