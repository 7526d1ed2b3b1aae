// Command warren is a message broker that RabbitMQ's AMQP 0-9-1 clients connect to unchanged.
//
// main only knows signals and exit codes. A program is one run of the command with its streams and environment;
// the commands hang off it, one per file, and serve starts a node, which is the broker put together from the
// packages that do the work.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// Exit codes.
const (
	exitOK      = 0
	exitFailed  = 1   // the command could not do its work
	exitUsage   = 2   // wrong flags, arguments or settings
	exitDamaged = 3   // log verify has found damage
	exitForced  = 130 // a second signal came before a clean stop was done
)

func main() {
	ctx, stop := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	go func() { // ends with the process
		<-signals
		stop()
		<-signals
		os.Exit(exitForced)
	}()
	p := program{out: os.Stdout, err: os.Stderr, environ: os.Environ()}
	os.Exit(p.run(ctx, os.Args[1:]))
}
