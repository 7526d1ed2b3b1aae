package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"github.com/warrenmq/warren/compat/broker"
	"github.com/warrenmq/warren/compat/load"
)

// Run is one run of one contestant.
type Run struct {
	Match      string       `json:"match"`
	Contestant string       `json:"contestant"`
	Round      int          `json:"round"`
	Probe      flush        `json:"probe"`    // just before the round
	LoadAvg    string       `json:"load_avg"` // likewise
	Report     *load.Report `json:"report"`
}

// compare runs the comparison.
func compare(ctx context.Context, args []string) error {
	o, err := parseOptions(args)
	if err != nil {
		return err
	}
	pattern, err := regexp.Compile(o.only)
	if err != nil {
		return err
	}
	var chosen []match
	for _, m := range matches() {
		if pattern.MatchString(m.String()) {
			chosen = append(chosen, m)
		}
	}
	if o.list || len(chosen) == 0 {
		for _, m := range chosen {
			fmt.Printf("%-32s %s\n", m, m.about)
		}
		return nil
	}
	c := &comparison{o: o, scratch: o.dir}
	if c.scratch == "" {
		c.scratch = os.TempDir()
	}
	report := &Report{Machine: thisMachine(c.scratch), Options: settingsOf(o), Contestants: map[string]string{}}
	c.report = report
	brokers, err := startAll(ctx, o)
	defer stopAll(brokers)
	if err != nil {
		return err
	}
	c.brokers = brokers
	for name, b := range brokers {
		report.Contestants[name] = b.Version
	}
	for i, m := range chosen {
		fmt.Fprintf(os.Stderr, "%d/%d %s\n", i+1, len(chosen), m)
		if err := c.play(ctx, m); err != nil {
			return errors.Join(err, report.write(o.out)) // with what there is
		}
	}
	report.print(os.Stdout)
	return report.write(o.out)
}

// comparison is a run of the program.
type comparison struct {
	o       options
	brokers map[string]*broker.Broker
	report  *Report
	scratch string
}

// play plays all rounds of a match.
func (c *comparison) play(ctx context.Context, m match) error {
	for round := range c.o.rounds {
		probe, err := probeFlush(c.scratch, m.shape.Size)
		if err != nil {
			return err
		}
		for _, who := range contestants(m.promise, c.o.peers) {
			r := Run{Match: m.String(), Contestant: who.String(), Round: round + 1, Probe: probe, LoadAvg: loadAverage()}
			if r.Report, err = c.turn(ctx, m, who); err != nil {
				if ctx.Err() != nil || r.Report == nil {
					return fmt.Errorf("%s, %s: %w", m, who, err)
				}
				// A run that lost messages or did not finish is a result, and says so in the report.
				fmt.Fprintf(os.Stderr, "  %s: %v\n", who, err)
			}
			c.report.Runs = append(c.report.Runs, r)
			fmt.Fprintf(os.Stderr, "  %-26s %s\n", who, oneLine(r.Report))
		}
	}
	return nil
}

// turn lets one contestant do the work.
func (c *comparison) turn(ctx context.Context, m match, who contestant) (*load.Report, error) {
	b := c.brokers[who.broker]
	w := load.Workload{Client: m.client, URL: b.URL(), Shape: m.shape, Queueing: who.queue, Bounds: m.bounds(c.o.seconds), Processes: []int{b.PID()}}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute+3*(w.Duration+w.WarmUp))
	defer cancel()
	return load.Run(ctx, w)
}

func oneLine(r *load.Report) string {
	f := figuresOf(r)
	return fmt.Sprintf("%8.0f msg/s  confirm %s  delivery %s  %7.1f µs/msg  %4.0f MiB", f.Rate,
		latency(f.ConfirmP50, f.ConfirmP99), latency(f.DeliveryP50, f.DeliveryP99), f.CPU, f.RSS)
}

func loadAverage() string {
	text, err := os.ReadFile(filepath.Join("/proc", "loadavg"))
	if err != nil {
		return ""
	}
	var one string
	fmt.Sscan(string(text), &one)
	return one
}
