package main

import (
	"bufio"
	"errors"

	"github.com/spf13/cobra"

	"github.com/warrenmq/warren/keratin"
)

func (p *program) logDumpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "dump DIR",
		Short: "Print what is in a data directory",
		Long: `Dump prints the checkpoint, the journal's entries and the segments of a data directory that no broker has open,
one line per piece, without the messages themselves. It changes nothing.`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			out := bufio.NewWriter(p.out)
			return errors.Join(keratin.Dump(args[0], out), out.Flush())
		},
	}
}
