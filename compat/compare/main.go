package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/warrenmq/warren/compat/broker"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := dispatch(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "compare:", err)
		os.Exit(1)
	}
}

// dispatch runs the subcommand that args begin with, or the comparison.
func dispatch(ctx context.Context, args []string) error {
	commands := map[string]func(context.Context, []string) error{
		"backlog": backlog, "idle-queues": idleQueues, "idle-connections": idleConnections,
	}
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		command, ok := commands[args[0]]
		if !ok {
			return fmt.Errorf("no subcommand %q: want backlog, idle-queues or idle-connections", args[0])
		}
		return command(ctx, args[1:])
	}
	return compare(ctx, args)
}

// options are the flags of the comparison.
type options struct {
	binary   string
	peers    []string
	rounds   int
	seconds  float64
	only     string
	out      string
	dir      string
	busyWait bool
	list     bool
}

func parseOptions(args []string) (options, error) {
	var o options
	flags := flag.NewFlagSet("compare", flag.ContinueOnError)
	flags.StringVar(&o.binary, "binary", "warren", "the warren program")
	peers := flags.String("peers", "rabbitmq-3.10,rabbitmq-4", "what to compare with, separated by commas")
	flags.IntVar(&o.rounds, "rounds", 3, "how often each contestant runs each workload")
	flags.Float64Var(&o.seconds, "seconds", 5, "measured time of one run")
	flags.StringVar(&o.only, "only", "", "run only matches whose name matches this regular expression")
	flags.StringVar(&o.out, "out", ".", "folder for report.md and report.json")
	flags.StringVar(&o.dir, "dir", "", "folder for the brokers' data (default: the temporary folder)")
	flags.BoolVar(&o.busyWait, "busy-wait", false, "let RabbitMQ's idle schedulers spin, as they do by default")
	flags.BoolVar(&o.list, "list", false, "list the matches")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if *peers != "" {
		o.peers = strings.Split(*peers, ",")
	}
	if o.rounds < 1 || o.seconds <= 0 {
		return o, fmt.Errorf("-rounds %d -seconds %v: both must be above 0", o.rounds, o.seconds)
	}
	return o, nil
}

// startAll starts every broker of the comparison, installing those that are missing.
func startAll(ctx context.Context, o options) (map[string]*broker.Broker, error) {
	brokers := map[string]*broker.Broker{}
	for _, name := range append([]string{"warren"}, o.peers...) {
		if release, ok := strings.CutPrefix(name, "rabbitmq-"); ok {
			if err := broker.Install(ctx, release, os.Stderr); err != nil {
				return brokers, err
			}
		}
		dir, err := os.MkdirTemp(o.dir, "compare-"+name+"-")
		if err != nil {
			return brokers, err
		}
		b, err := broker.Start(ctx, name, broker.Options{Binary: o.binary, Dir: dir, BusyWait: o.busyWait})
		if err != nil {
			return brokers, err
		}
		brokers[name] = b
		fmt.Fprintf(os.Stderr, "%s %s: pid %d, %s\n", name, b.Version, b.PID(), b.AMQP)
	}
	return brokers, nil
}

// stopAll ends the brokers and removes their folders.
func stopAll(brokers map[string]*broker.Broker) {
	for _, b := range brokers {
		if err := b.Stop(); err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", b.Name, err)
		}
		_ = os.RemoveAll(b.Dir)
	}
}
