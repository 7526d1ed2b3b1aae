package main

import (
	"github.com/spf13/cobra"
)

func (p *program) configCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "config", Short: "Look at the settings of a broker"}
	check := &cobra.Command{
		Use:   "check",
		Short: "Check file, environment and flags, and print the settings that they add up to",
		Long: `Check reads the settings as "warren serve" would, with the same flags, and prints them as a file.
Every setting is listed with what it is for and with the variable that sets it.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, _, err := p.loadConfig(cmd)
			if err != nil {
				return err
			}
			return c.Print(p.out)
		},
	}
	addConfigFlags(check)
	cmd.AddCommand(check)
	return cmd
}
