package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"
)

// exitSkipped is the exit code for "this machine does not permit it".
const exitSkipped = 77

// errNotPermitted is why nothing was tested.
var errNotPermitted = errors.New("not permitted here")

// options are the program's flags.
type options struct {
	binary, dir, json string
	fs                []string
	cuts              int
	seed              uint64
	control           bool
	loads             []load
	minUp, maxUp      time.Duration
	window            time.Duration
	recoveryCuts      float64
	until             time.Time
}

func main() {
	o := options{loads: loads}
	flag.StringVar(&o.binary, "binary", "warren", "the warren program")
	flag.StringVar(&o.dir, "dir", "", "work folder (default: a temporary one); kept after a violation")
	flag.StringVar(&o.json, "json", "", "write the reports to this file")
	fs := flag.String("fs", "ext4,xfs", "file systems, in turn: ext4, xfs")
	flag.IntVar(&o.cuts, "cuts", 30, "power cuts under load on each file system; a control may get more")
	flag.Uint64Var(&o.seed, "seed", uint64(time.Now().UnixNano()), "decides every random choice")
	flag.BoolVar(&o.control, "control", false, "build the brokers that do not flush, and demand that they fail")
	flag.DurationVar(&o.window, "window", 200*time.Millisecond, "age from which a buffered message must survive, without what flushes take")
	flag.DurationVar(&o.minUp, "min-up", 50*time.Millisecond, "shortest time from load to cut")
	flag.DurationVar(&o.maxUp, "max-up", 800*time.Millisecond, "longest time from load to cut")
	flag.Float64Var(&o.recoveryCuts, "recovery-cuts", 0.2, "share of restarts that are cut short too")
	most := flag.Duration("for", 6*time.Hour, "stop after this time, between two cuts")
	flag.Parse()
	o.fs = strings.Split(*fs, ",")
	o.until = time.Now().Add(*most)

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := o.check()
	if err == nil {
		err = ownMounts()
	}
	if err == nil {
		err = powercut(ctx, o)
	}
	switch {
	case errors.Is(err, errNotPermitted):
		fmt.Fprintf(os.Stderr, "powercut: SKIPPED, NOTHING WAS TESTED: %v\n", err)
		os.Exit(exitSkipped)
	case err != nil:
		fmt.Fprintln(os.Stderr, "powercut:", err)
		os.Exit(1)
	}
}

func (o *options) check() error {
	for _, fs := range o.fs {
		if !slices.Contains([]string{"ext4", "xfs"}, fs) {
			return fmt.Errorf("no file system %q: want ext4 or xfs", fs)
		}
	}
	switch {
	case o.cuts < 1:
		return errors.New("-cuts must be at least 1")
	case o.window <= 0 || o.minUp <= 0 || o.maxUp < o.minUp:
		return errors.New("want 0 < -window and 0 < -min-up <= -max-up")
	}
	return nil
}

// powercut runs all that was asked for.
func powercut(ctx context.Context, o options) error {
	var (
		reports []*report
		all     []error
	)
	for _, fs := range o.fs {
		var (
			some []*report
			err  error
		)
		if o.control {
			some, err = controls(ctx, o, fs)
		} else {
			var r *report
			r, err = cuts(ctx, o, fs, "")
			some = []*report{r}
		}
		reports = append(reports, some...)
		if err != nil {
			all = append(all, fmt.Errorf("%s: %w", fs, err))
			if errors.Is(err, errNotPermitted) || ctx.Err() != nil {
				break
			}
		}
	}
	if o.json != "" {
		all = append(all, writeJSON(o.json, reports))
	}
	return errors.Join(all...)
}
