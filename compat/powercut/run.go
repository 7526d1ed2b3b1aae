package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"github.com/warrenmq/warren/compat/broker"
	"github.com/warrenmq/warren/compat/torture/history"
)

// least makes the broker's files and memory as small as they may be, so that within an epoch files are recycled and
// messages move to segments.
var least = []string{"WARREN_STORAGE_JOURNAL_FILE_SIZE=1048576", "WARREN_STORAGE_TAIL_SIZE=1048576"}

// flushesInWindow is how many flushes of the disk below may keep a buffered record waiting, see the package comment.
const flushesInWindow = 6

// publishersPerEpoch is how many numbers an epoch may give to its publishers.
const publishersPerEpoch = 8

// cutter is a run on one file system.
type cutter struct {
	o        options
	random   *rand.Rand
	work     string
	disk     *disk
	probe    *probe
	broker   *broker.Broker
	epoch    int
	past     []*epoch // the last ones, newest last
	declared bool
	report   *report
}

// cuts cuts the power o.cuts times on one file system. control names the way in which the broker is known to be wrong,
// "" if it is not: such a run ends with the first violation, and without one it fails.
func cuts(ctx context.Context, o options, fs, control string) (*report, error) {
	c := &cutter{
		o: o, random: rand.New(rand.NewPCG(o.seed, 0)),
		report: &report{FS: fs, Control: control, Seed: o.seed, Violations: map[history.Class]int{}},
	}
	fmt.Printf("%s %s seed %d\n", fs, control, o.seed)
	err := c.prepare(ctx, fs)
	began := time.Now()
	if err == nil {
		err = c.run(ctx)
	}
	c.report.Seconds = time.Since(began).Seconds()
	if c.report.Cuts > 0 {
		c.report.print()
	}
	if err == nil {
		err = c.report.verdict()
	}
	keep := err != nil && control == "" && c.report.Cuts > 0
	return c.report, c.finish(err, keep)
}

// verdict is the end of a run: what was found, against what had to be found.
func (r *report) verdict() error {
	switch {
	case r.Control == "" && r.violated() > 0:
		return fmt.Errorf("%d violations in cut %d; again with -seed %d", r.violated(), r.FirstViolatedAt, r.Seed)
	case r.Control == "" && (r.OwedDurable == 0 || r.Cuts >= 20 && r.OwedBuffered == 0):
		return errors.New("nothing was owed: nothing was tested")
	case r.Control != "" && r.violated() == 0:
		return fmt.Errorf("the control %s has kept everything in %d cuts: this test would not notice such a broker", r.Control, r.Cuts)
	}
	return nil
}

// prepare makes the disk and starts the broker on it.
func (c *cutter) prepare(ctx context.Context, fs string) error {
	var err error
	if c.work, err = c.workFolder(fs); err != nil {
		return err
	}
	if c.disk, err = newDisk(fs, c.work); err != nil {
		return err
	}
	if c.probe, err = newProbe(c.work); err != nil {
		return err
	}
	c.broker, err = broker.Start(ctx, "warren", broker.Options{
		Binary: c.o.binary,
		Dir:    filepath.Join(c.work, "broker"),
		Args:   []string{"--data-dir", c.dataDir()}, // the last one counts
		Env:    least,
	})
	if err == nil {
		c.report.Version = c.broker.Version
	}
	return err
}

func (c *cutter) workFolder(fs string) (string, error) {
	if c.o.dir == "" {
		return os.MkdirTemp("", "powercut-"+fs+"-")
	}
	dir, err := filepath.Abs(filepath.Join(c.o.dir, fs))
	if err != nil {
		return "", err
	}
	return dir, os.MkdirAll(dir, 0o755)
}

// dataDir is below a folder that the broker makes too, so that it has to flush names on the way.
func (c *cutter) dataDir() string { return filepath.Join(c.disk.mount, "warren", "data") }

func (c *cutter) afterCut() string { return filepath.Join(c.work, "after-cut") }

// finish ends everything and removes the work folder, or says where it is.
func (c *cutter) finish(err error, keep bool) error {
	if c.broker != nil {
		c.broker.Kill()
	}
	if c.probe != nil {
		err = errors.Join(err, c.probe.close())
	}
	if c.disk != nil {
		err = errors.Join(err, c.disk.close())
	}
	if keep {
		return fmt.Errorf("%w\nkept: %s", err, c.work)
	}
	if c.work != "" {
		err = errors.Join(err, os.RemoveAll(c.work))
	}
	return err
}

func (c *cutter) run(ctx context.Context) error {
	for c.report.Cuts < c.o.cuts && time.Now().Before(c.o.until) {
		if err := c.cycle(ctx); err != nil {
			return fmt.Errorf("cut %d: %w", c.report.Cuts, err)
		}
		if c.report.violated() > 0 {
			return nil // more cuts would only bury it
		}
		if c.report.Control != "" {
			if err := c.renew(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// renew starts anew on an empty disk. A control needs that: after damage that no client can see, the broker keeps old
// files for good, and so no longer does what would show its fault.
func (c *cutter) renew(ctx context.Context) error {
	c.broker.Kill()
	if err := c.disk.renew(); err != nil {
		return err
	}
	c.declared, c.past = false, nil
	return c.broker.Restart(ctx)
}

// cycle is one cut and its check.
func (c *cutter) cycle(ctx context.Context) error {
	if !c.declared {
		if err := declare(c.broker.URL()); err != nil {
			return err
		}
		c.declared = true
	}
	c.probe.reset()
	e := newEpoch(c.epoch, c.past)
	c.epoch += 2 // the drain counts as one
	load := c.o.loads[c.random.IntN(len(c.o.loads))]
	e.begin(ctx, c.broker.URL(), load, uint32(c.report.Cuts*publishersPerEpoch), c.random)
	up := load.longer + c.o.minUp + time.Duration(c.random.Int64N(int64(c.o.maxUp-c.o.minUp)+1))
	select {
	case <-time.After(up):
	case <-ctx.Done():
	}
	if !c.broker.Alive() {
		return errors.Join(errors.New("the broker had ended by itself"), c.stop(e))
	}
	slowest, err := c.probe.slowest()
	e.window = c.o.window + flushesInWindow*slowest
	e.cutoff = time.Since(e.start) // before the cut begins: see the package comment
	if err := errors.Join(err, c.disk.cut(), c.stop(e), ctx.Err()); err != nil {
		return err
	}
	c.report.Cuts++
	f, err := c.recover(ctx)
	if err != nil {
		return err
	}
	if f == nil {
		if err := e.drain(ctx, c.broker.URL()); err != nil {
			return err
		}
		f = e.check(c.before())
	}
	c.report.add(f)
	c.report.WidestWindowMS = max(c.report.WidestWindowMS, milliseconds(e.window))
	fmt.Printf("%4d cuts: owed durable %d, buffered %d; lost in the window of %.0f ms %d, oldest %.0f ms; deliveries %d, violations %d\n",
		c.report.Cuts, f.confirmed[durable], f.confirmed[buffered], milliseconds(e.window), f.withinLost,
		milliseconds(f.oldestLost), f.deliveries, f.violated())
	if f.violated() > 0 {
		return nil
	}
	c.past = append(c.past, e)
	c.past = c.past[max(0, len(c.past)-pastEpochs):]
	return e.forget(c.broker.URL())
}

func (c *cutter) before() *epoch {
	if len(c.past) == 0 {
		return nil
	}
	return c.past[len(c.past)-1]
}

// stop kills the broker and waits for the clients.
func (c *cutter) stop(e *epoch) error {
	c.broker.Kill()
	return e.end()
}

// recover brings power and broker back, cutting the power again while the broker starts if chance wants it so. A broker
// that does not start is a finding.
func (c *cutter) recover(ctx context.Context) (*finding, error) {
	if err := c.disk.remount(); err != nil {
		return nil, err
	}
	if err := c.copyData(); err != nil {
		return nil, err
	}
	for c.random.Float64() < c.o.recoveryCuts {
		if err := c.cutRecovery(ctx, time.Duration(c.random.Int64N(int64(60*time.Millisecond)))); err != nil {
			return nil, err
		}
	}
	began := time.Now()
	if err := c.broker.Restart(ctx); err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		f := &finding{violations: map[history.Class]int{}}
		f.blame(start, "%v", err)
		return f, nil
	}
	c.report.SlowestStartMS = max(c.report.SlowestStartMS, milliseconds(time.Since(began)))
	return nil, nil
}

// cutRecovery starts the broker and takes the power away after a while, whether it serves by then or not. That it ends
// by itself before that is for the start that follows to judge.
func (c *cutter) cutRecovery(ctx context.Context, after time.Duration) error {
	soon, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	var cutErr error
	timer := time.AfterFunc(after, func() {
		cutErr = c.disk.cut()
		cancel()
	})
	_ = c.broker.Restart(soon) // kills what it has started when soon ends
	<-soon.Done()
	timer.Stop()
	c.broker.Kill()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	c.report.RecoveryCuts++
	return errors.Join(cutErr, c.disk.remount())
}

// copyData keeps the data folder as the broker is going to find it. Nothing is there if the cut left no name of it.
func (c *cutter) copyData() error {
	if err := os.RemoveAll(c.afterCut()); err != nil {
		return err
	}
	err := os.CopyFS(c.afterCut(), os.DirFS(c.disk.mount))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}
