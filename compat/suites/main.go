package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"github.com/warrenmq/warren/compat/broker"
)

// options are the program's flags.
type options struct {
	broker string
	binary string
	only   string
	out    string
	json   string
	record string // folder of the expectations to write, "" to compare
	list   bool
}

func main() {
	runtime.LockOSThread() // the commands that this goroutine starts die with its thread, which so is the last to end
	if len(os.Args) > 1 && os.Args[1] == "ctl" {
		exit(ctl(os.Args[2:]))
	}
	var o options
	flag.StringVar(&o.broker, "broker", "warren", "the broker to test: warren or rabbitmq-RELEASE")
	flag.StringVar(&o.binary, "binary", "warren", "the warren program")
	flag.StringVar(&o.only, "only", "", "run only these suites, separated by commas")
	flag.StringVar(&o.out, "out", "", "folder for the suites' raw output (default: below the temporary folder)")
	flag.StringVar(&o.json, "json", "", "write every result to this file")
	flag.StringVar(&o.record, "record", "", "write the verdicts to this folder instead of comparing them")
	flag.BoolVar(&o.list, "list", false, "list the suites")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	exit(run(ctx, o))
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "suites:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

func run(ctx context.Context, o options) error {
	chosen, err := choose(o.only)
	if err != nil {
		return err
	}
	if o.list {
		for _, s := range chosen {
			fmt.Printf("%-14s %-12s %s\n", s.Name, s.Version, s.About)
		}
		return nil
	}
	shop := workshop{dir: filepath.Join(broker.CacheDir(), "suites"), log: os.Stderr}
	if !broker.InOwnNetwork() {
		if err := prepare(ctx, shop, o, chosen); err != nil {
			return err
		}
	}
	if err := broker.OwnNetwork(); err != nil {
		return err
	}
	if o.out == "" {
		if o.out, err = os.MkdirTemp("", "suites-"); err != nil {
			return err
		}
	}
	if o.out, err = filepath.Abs(o.out); err != nil {
		return err
	}
	shop.out = o.out
	if err := os.MkdirAll(o.out, 0o755); err != nil {
		return err
	}
	return execute(ctx, shop, o, chosen)
}

// prepare fetches and builds everything that needs the network.
func prepare(ctx context.Context, shop workshop, o options, chosen []Suite) error {
	if release, ok := strings.CutPrefix(o.broker, "rabbitmq-"); ok {
		if err := broker.Install(ctx, release, shop.log); err != nil {
			return err
		}
	}
	for _, s := range chosen {
		if err := s.Prepare(ctx, shop); err != nil {
			return fmt.Errorf("prepare %s: %w", s.Name, err)
		}
	}
	return nil
}

// execute runs the suites, prints the table and tells whether anything counts against the broker.
func execute(ctx context.Context, shop workshop, o options, chosen []Suite) error {
	excuses, err := readExcuses()
	if err != nil {
		return err
	}
	report := Report{Broker: o.broker}
	for _, s := range chosen {
		if !s.Available() {
			fmt.Fprintf(os.Stderr, "%s is left out: %s\n", s.Name, s.Missing)
			report.Suites = append(report.Suites, Outcome{Suite: s.Name, Version: s.Version, LeftOut: s.Missing})
			continue
		}
		results, version, err := runSuite(ctx, shop, o, s)
		if err != nil {
			return fmt.Errorf("%s: %w", s.Name, err)
		}
		report.Version = version
		outcome := Outcome{Suite: s.Name, Version: s.Version, Results: results}
		if o.record != "" {
			if err := recordExpected(o.record, s.Name, results); err != nil {
				return err
			}
		} else if err := outcome.judge(o.broker, excuses); err != nil {
			return err
		}
		report.Suites = append(report.Suites, outcome)
	}
	report.Print(os.Stdout)
	fmt.Fprintln(os.Stderr, "raw output:", shop.out)
	if o.json != "" {
		if err := report.write(o.json); err != nil {
			return err
		}
	}
	if n := report.Counting(); n > 0 {
		return fmt.Errorf("%d verdicts count against %s", n, o.broker)
	}
	return nil
}

// runSuite runs one suite against a broker of its own, on the ports that suites take for granted.
func runSuite(ctx context.Context, shop workshop, o options, s Suite) ([]Result, string, error) {
	fmt.Fprintf(os.Stderr, "%s %s ...\n", s.Name, s.Version)
	ctx, cancel := context.WithTimeout(ctx, s.Limit)
	defer cancel()
	b, err := broker.Start(ctx, o.broker, broker.Options{Binary: o.binary, AMQP: 5672, HTTP: 15672})
	if err != nil {
		return nil, "", err
	}
	results, err := s.Run(ctx, shop, b)
	if !b.Alive() {
		err = errors.Join(err, fmt.Errorf("the broker ended while %s ran", s.Name))
	}
	keep := filepath.Join(shop.out, s.Name+".broker.log")
	if text, rerr := os.ReadFile(b.LogFile()); rerr == nil {
		err = errors.Join(err, os.WriteFile(keep, text, 0o644))
	}
	return results, b.Version, errors.Join(err, b.Stop())
}

// choose picks suites by name, all if only is empty.
func choose(only string) ([]Suite, error) {
	if only == "" {
		return suites, nil
	}
	var chosen []Suite
	for name := range strings.SplitSeq(only, ",") {
		i := slices.IndexFunc(suites, func(s Suite) bool { return s.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("no suite is called %q (see -list)", name)
		}
		chosen = append(chosen, suites[i])
	}
	return chosen, nil
}
