package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/warrenmq/warren/keratin"
)

// errDamaged is in the error of log verify when it has found what should not be there.
var errDamaged = errors.New("damaged")

func (p *program) logVerifyCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "verify DIR",
		Short: "Check every record of a data directory",
		Long: `Verify reads every record of a data directory that no broker has open, and changes nothing. It prints what there
is, one line per damaged place, and exits with 3 if there is any. An unfinished entry at the end of the journal is
what a crash leaves behind; the next start cuts it off, and it is no damage.`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return p.logVerify(args[0]) },
	}
}

func (p *program) logVerify(dir string) error {
	r, err := keratin.Verify(dir)
	if err != nil {
		return err
	}
	stopped := "not stopped cleanly"
	if r.Clean {
		stopped = "stopped cleanly"
	}
	_, err = fmt.Fprintf(p.out, "%s: %s, %d logs, %d records in %d segments and %d journal files, %d bytes of an unfinished entry\n",
		dir, stopped, r.Logs, r.Records, r.Segments, r.JournalFiles, r.Torn)
	for _, damage := range r.Damage {
		_, werr := fmt.Fprintf(p.out, "damage: %v\n", damage)
		err = errors.Join(err, werr)
	}
	if n := len(r.Damage); n > 0 {
		err = errors.Join(err, fmt.Errorf("data directory %s is %w in %d places", dir, errDamaged, n))
	}
	return err
}
