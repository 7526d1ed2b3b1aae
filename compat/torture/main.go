package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"github.com/warrenmq/warren/compat/torture/history"
)

func main() {
	var o options
	flag.StringVar(&o.broker, "broker", "warren", "the broker: warren or rabbitmq-RELEASE")
	flag.StringVar(&o.binary, "binary", "warren", "the warren program")
	flag.StringVar(&o.dir, "dir", "", "folder of the broker's data (default: a temporary one); kept when the check fails")
	flag.Uint64Var(&o.seed, "seed", uint64(time.Now().UnixNano()), "decides every random choice")
	flag.IntVar(&o.kills, "kills", 25, "how often to kill")
	flag.IntVar(&o.perCheck, "kills-per-check", 5, "kills between two checks")
	flag.DurationVar(&o.minUp, "min-up", 100*time.Millisecond, "shortest time from load to kill")
	flag.DurationVar(&o.maxUp, "max-up", 2*time.Second, "longest time from load to kill")
	flag.Float64Var(&o.killRecovery, "kill-recovery", 0.25, "share of restarts that are killed while recovering")
	flag.IntVar(&o.publishers, "publishers", 4, "publishing connections")
	flag.IntVar(&o.consumers, "consumers", 2, "consuming connections of each queue")
	flag.IntVar(&o.direct, "queues", 3, "durable queues; one more takes its messages from a fanout exchange only")
	flag.IntVar(&o.buffered, "buffered", 2, "buffered queues")
	flag.IntVar(&o.window, "window", 500, "messages in flight of a publisher")
	flag.IntVar(&o.perEpoch, "per-epoch", 20_000, "most messages of a publisher between two kills")
	flag.StringVar(&o.control, "control", "", "negative control: proxy, or build (the binary confirms early)")
	flag.Func("allow", "a class of violations that does not fail the run (RabbitMQ: phantom); may be repeated", o.allow)
	flag.StringVar(&o.json, "json", "", "write the report to this file")
	most := flag.Duration("for", 6*time.Hour, "stop after this time, between two cycles")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	o.until = time.Now().Add(*most)
	if err := torture(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "torture:", err)
		os.Exit(1)
	}
}

// options are the program's flags.
type options struct {
	broker, binary, dir string
	control, json       string
	allowed             []history.Class
	seed                uint64
	kills, perCheck     int
	until               time.Time
	minUp, maxUp        time.Duration
	killRecovery        float64
	load
}

// load is how much the clients do.
type load struct {
	publishers, consumers, direct, buffered int
	window, perEpoch                        int
}

func (o *options) allow(name string) error {
	if !slices.Contains(history.Classes, history.Class(name)) {
		return fmt.Errorf("no such class, have %v", history.Classes)
	}
	o.allowed = append(o.allowed, history.Class(name))
	return nil
}

// counting is the number of violations that fail a run.
func (o *options) counting(r *history.Report) int {
	n := r.Violated()
	for _, class := range o.allowed {
		n -= r.Violations[class]
	}
	return n
}

func (o *options) check() error {
	switch {
	case o.kills < 1 || o.perCheck < 1:
		return errors.New("-kills and -kills-per-check must be at least 1")
	case o.minUp <= 0 || o.maxUp < o.minUp:
		return errors.New("-max-up must not be below -min-up, and that above 0")
	case o.publishers < 1 || o.consumers < 1 || o.direct < 1 || o.buffered < 0 || o.window < 1 || o.perEpoch < 1:
		return errors.New("publishers, consumers, queues, window and messages must be at least 1")
	case o.control != "" && o.control != "proxy" && o.control != "build":
		return fmt.Errorf("no control %q: want proxy or build", o.control)
	}
	return nil
}

// summary is the report of a whole run.
type summary struct {
	Broker        string         `json:"broker"`
	Version       string         `json:"version"`
	Control       string         `json:"control,omitempty"`
	Seed          uint64         `json:"seed"`
	Kills         int            `json:"kills"`          // under load
	RecoveryKills int            `json:"recovery_kills"` // while starting
	Cycles        int            `json:"cycles"`
	SlowestStart  float64        `json:"slowest_start_s"` // from exec to serving after a kill
	Result        history.Report `json:"result"`
}

func (s *summary) print() {
	r := s.Result
	fmt.Printf("\n%s %s, seed %d: %d kills under load and %d while recovering, in %d cycles; slowest restart %.0f ms\n",
		s.Broker, s.Version, s.Seed, s.Kills, s.RecoveryKills, s.Cycles, s.SlowestStart*1000)
	fmt.Printf("  published %d: confirmed %d, nacked %d, unknown %d\n", r.Published, r.Confirmed, r.Nacked, r.Unknown)
	fmt.Printf("  deliveries %d: recovered %d, again %d, acknowledgements undone %d\n", r.Deliveries, r.Recovered, r.Again, r.AcksUndone)
	for _, class := range history.Classes {
		fmt.Printf("  %-10s %d", class, r.Violations[class])
		for _, queue := range slices.Sorted(maps.Keys(r.Queues[class])) {
			fmt.Printf("  %s %d", queue, r.Queues[class][queue])
		}
		fmt.Println()
		for _, example := range r.Examples[class] {
			fmt.Printf("      %s\n", example)
		}
	}
}

func (s *summary) write(path string) error {
	text, err := json.MarshalIndent(s, "", "\t")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o644)
}

// verdict is the end of a run: what was found, against what had to be found.
func (s *summary) verdict(o *options) error {
	switch {
	case s.Result.Confirmed == 0:
		return errors.New("not one message was confirmed: nothing was tested")
	case s.Control != "" && s.Result.Violations[history.Lost] == 0:
		return errors.New("the negative control lost nothing: this test would not notice a broker that lies")
	case s.Control == "" && o.counting(&s.Result) > 0:
		return fmt.Errorf("%d violations; again with -seed %d", o.counting(&s.Result), s.Seed)
	}
	return nil
}
