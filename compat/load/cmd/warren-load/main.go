// Command warren-load drives an AMQP broker with one workload and prints a report in JSON. It exits with 1 if
// the run failed, for instance because a confirmed message got lost.
//
//	warren-load -window 1000 -prefetch 1000 -duration 10s -warm-up 2s -broker-pid 4711
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"

	"github.com/warrenmq/warren/amqp"
	"github.com/warrenmq/warren/compat/load"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run returns the exit code: 0, 1 for a failed run, 2 for wrong flags.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	w, err := parse(args, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err != nil {
		return 2 // the flag package has said why
	}
	report, err := load.Run(ctx, w)
	if report != nil {
		encoder := json.NewEncoder(stdout)
		encoder.SetIndent("", "  ")
		err = errors.Join(err, encoder.Encode(report))
	}
	if err != nil {
		fmt.Fprintln(stderr, "warren-load:", err)
		return 1
	}
	return 0
}

func parse(args []string, stderr io.Writer) (load.Workload, error) {
	var w load.Workload
	f := flag.NewFlagSet("warren-load", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.StringVar((*string)(&w.Client), "client", string(load.Lean), `client: "lean" or "amqp091-go"`)
	f.StringVar(&w.URL, "url", "amqp://guest:guest@127.0.0.1:5672/", "broker")
	f.Func("broker-pid", "process of the broker to measure; may be repeated, or several with commas", func(s string) error {
		return addPIDs(&w.Processes, s)
	})
	f.BoolVar(&w.Descendants, "broker-children", false, "measure the processes' descendants too")
	trafficFlags(f, &w.Shape)
	queueFlags(f, &w.Queueing)

	f.IntVar(&w.Messages, "messages", 0, "stop after this many messages of all publishers")
	f.DurationVar(&w.Duration, "duration", 0, "stop after this time, the warm-up not counted")
	f.DurationVar(&w.WarmUp, "warm-up", 0, "time to leave out of the figures")
	f.DurationVar(&w.Drain, "drain", 0, "time without progress after which outstanding messages count as missing (default 30s)")
	if err := f.Parse(args); err != nil {
		return w, err
	}
	if f.NArg() > 0 {
		err := fmt.Errorf("unexpected argument %q", f.Arg(0))
		fmt.Fprintln(stderr, err)
		return w, err
	}
	return w, nil
}

func trafficFlags(f *flag.FlagSet, s *load.Shape) {
	f.IntVar(&s.Publishers, "publishers", 1, "publishers, each with a connection")
	f.IntVar(&s.Consumers, "consumers", 1, "consumers, each with a connection; -1 for none")
	f.IntVar(&s.Queues, "queues", 1, "queues")
	f.IntVar(&s.Size, "size", 1024, "octets of a body, at least 16")
	f.BoolVar(&s.Transient, "transient", false, "send transient messages")
	f.IntVar(&s.Window, "window", 0, "unconfirmed messages of each publisher; 0 to publish without confirms")
	f.Float64Var(&s.Rate, "rate", 0, "messages per second of all publishers; 0 for as many as possible")
	f.IntVar(&s.Prefetch, "prefetch", 0, "prefetch of each queue's consumer; 0 for no limit")
	f.IntVar(&s.AckEvery, "ack-every", 0, "messages settled by one ack; 1 to ack each (default 100, or the prefetch if less)")
	f.BoolVar(&s.AutoAck, "auto-ack", false, "consume without acks")
	f.BoolVar(&s.Backlog, "backlog", false, "consume when everything has been published")
	f.BoolVar(&s.SkipBodies, "skip-bodies", false, "do not compare the bodies of what is delivered")
}

func queueFlags(f *flag.FlagSet, q *load.Queueing) {
	f.StringVar(&q.QueuePrefix, "queue-prefix", "", "beginning of the queues' names (default a new one)")
	f.BoolVar(&q.QueueNotDurable, "queue-not-durable", false, "declare queues that are not durable")
	f.StringVar(&q.QueueType, "queue-type", "", `x-queue-type, such as "quorum" or "classic"`)
	f.StringVar(&q.Durability, "durability", "", `x-durability, "durable" or "buffered"`)
	f.BoolVar(&q.KeepQueues, "keep-queues", false, "do not delete the queues at the end")
	f.Func("queue-argument", "another argument, name=value, an integer if it looks like one; may be repeated", func(s string) error {
		return addArgument(&q.QueueArguments, s)
	})
}

func addPIDs(pids *[]int, s string) error {
	for field := range strings.SplitSeq(s, ",") {
		pid, err := strconv.Atoi(field)
		if err != nil || pid < 1 {
			return fmt.Errorf("%q is not a process", field)
		}
		*pids = append(*pids, pid)
	}
	return nil
}

func addArgument(t *amqp.Table, s string) error {
	name, value, ok := strings.Cut(s, "=")
	if !ok {
		return errors.New("expected name=value")
	}
	if *t == nil {
		*t = amqp.Table{}
	}
	(*t)[name] = value
	if number, err := strconv.ParseInt(value, 10, 64); err == nil {
		(*t)[name] = number
	}
	return nil
}
