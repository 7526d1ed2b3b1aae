package main

import "github.com/spf13/cobra"

func (p *program) logCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "log",
		Short: "Look at a data directory, or measure the storage engine",
	}
	cmd.AddCommand(p.logBenchCommand(), p.logDumpCommand(), p.logVerifyCommand())
	return cmd
}
