package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// wrong is a broker that must fail.
type wrong struct {
	tag   string // of the build
	loads []load // under which it does
	cuts  int    // that it gets at least; it ends with the first one that shows it
}

// wrongs are the brokers that must fail on a file system. On xfs an fdatasync of a file happens to flush its name too,
// so that whoever forgets the directories is not found out there.
var wrongs = map[string][]wrong{
	"ext4": {{tag: "noflush", loads: loads}, {tag: "nodirflush", loads: []load{recycling}, cuts: 200}},
	"xfs":  {{tag: "noflush", loads: loads}},
}

// controls builds the brokers that do not flush and demands of each that it fails.
func controls(ctx context.Context, o options, fs string) ([]*report, error) {
	dir, err := os.MkdirTemp("", "powercut-control-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir) // left-overs in the temporary folder are no error
	var (
		reports []*report
		all     []error
	)
	for _, w := range wrongs[fs] {
		binary := filepath.Join(dir, "warren-"+w.tag)
		build := exec.CommandContext(ctx, "go", "build", "-tags", w.tag, "-o", binary, "github.com/warrenmq/warren/cmd/warren")
		if out, err := build.CombinedOutput(); err != nil {
			return reports, fmt.Errorf("build with %s: %w\n%s", w.tag, err, out)
		}
		o := o
		o.binary, o.loads, o.cuts = binary, w.loads, max(o.cuts, w.cuts)
		r, err := cuts(ctx, o, fs, w.tag)
		reports = append(reports, r)
		if errors.Is(err, errNotPermitted) || ctx.Err() != nil {
			return reports, err
		}
		all = append(all, err)
	}
	return reports, errors.Join(all...)
}
