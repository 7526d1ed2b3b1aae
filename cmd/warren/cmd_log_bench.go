package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/warrenmq/warren/keratin/logbench"
)

func (p *program) logBenchCommand() *cobra.Command {
	var (
		o        logbench.Options
		dir      string
		asJSON   bool
		policies []string
	)
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure the storage engine on this machine's disk",
		Long: `Bench measures the storage engine alone, without a broker: how many records per second it takes, and how long an
append waits.

  none        an append is done when it is written; nothing is flushed before the end
  periodic    the same, and every 100 ms what is written is flushed
  on-commit   an append is done when it has been flushed

Each row is of a fresh store below the data directory, which has to be on the disk that is meant; the rows' stores
are removed again, and a broker's data there is not touched. Throughput includes the last flush, and the warm-up
does not count. The probe is a bare flush of 1 KiB at the time of the row.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			for _, name := range policies {
				policy := logbench.Policy(name)
				if policy != logbench.None && policy != logbench.Periodic && policy != logbench.OnCommit {
					return usageError{fmt.Errorf("flag --policy: got %q, want none, periodic or on-commit", name)}
				}
				o.Policies = append(o.Policies, policy)
			}
			return p.logBench(cmd.Context(), dir, o, asJSON)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&dir, "data-dir", "", "`DIR` on the disk to measure (default: the temporary folder)")
	flags.BoolVar(&asJSON, "json", false, "print one JSON object per row")
	flags.StringSliceVar(&policies, "policy", nil, "only these `POLICIES`")
	flags.IntSliceVar(&o.Batches, "batch", []int{1, 16}, "records per append")
	flags.IntSliceVar(&o.Concurrency, "concurrency", []int{1, 8, 64}, "publishers at once")
	flags.IntVar(&o.RecordBytes, "record-bytes", 128, "bytes of a record")
	flags.DurationVar(&o.Duration, "duration", 2*time.Second, "time of each row")
	return cmd
}

// logBench measures and prints each row as soon as it is there.
func (p *program) logBench(ctx context.Context, dir string, o logbench.Options, asJSON bool) error {
	if dir != "" {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	if asJSON {
		lines := json.NewEncoder(p.out)
		return logbench.Run(ctx, dir, o, func(r logbench.Result) error { return lines.Encode(r) })
	}
	const widest = 16 // columns are set before the rows are known, since each row is printed as it comes
	table := tabwriter.NewWriter(p.out, widest, 0, 1, ' ', tabwriter.AlignRight)
	line := func(cells ...string) error {
		if _, err := fmt.Fprintln(table, strings.Join(cells, "\t")+"\t"); err != nil {
			return err
		}
		return table.Flush()
	}
	if err := line("policy", "batch", "concurrency", "records/s", "p50 µs", "p99 µs", "p99.9 µs", "records/flush", "flush probe µs"); err != nil {
		return err
	}
	return logbench.Run(ctx, dir, o, func(r logbench.Result) error {
		return line(string(r.Policy), fmt.Sprint(r.Batch), fmt.Sprint(r.Concurrency), fmt.Sprintf("%.0f", r.RecordsPerS),
			fmt.Sprintf("%.1f", r.P50), fmt.Sprintf("%.1f", r.P99), fmt.Sprintf("%.1f", r.P999),
			fmt.Sprintf("%.1f", r.RecordsPerFlush), fmt.Sprintf("%.0f", r.FlushProbe))
	})
}
