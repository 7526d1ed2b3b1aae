package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/warrenmq/warren/cmd/warren/config"
)

// program is one run of the command.
type program struct {
	out, err io.Writer // what was asked for; log lines and complaints
	environ  []string  // "NAME=value"

	ready func(*node) // if not nil, called by serve when the node is up
}

// usageError is the fault of whoever typed the command or wrote the settings.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// run carries out the command line and returns the exit code. When ctx is done a running broker stops cleanly.
func (p *program) run(ctx context.Context, args []string) int {
	root := p.root()
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitOK
	}
	for line := range strings.Lines(err.Error()) {
		fmt.Fprintf(p.err, "warren: %s\n", strings.TrimRight(line, "\n"))
	}
	switch {
	case errors.As(err, new(usageError)):
		return exitUsage
	case errors.Is(err, errDamaged):
		return exitDamaged
	}
	return exitFailed
}

// root returns the tree of commands.
func (p *program) root() *cobra.Command {
	root := &cobra.Command{
		Use:           "warren",
		Short:         "A multi-tenant message broker for RabbitMQ's clients",
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetOut(p.out)
	root.SetErr(p.err)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usageError{fmt.Errorf("%w\nsee %s --help", err, cmd.CommandPath())}
	})
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddCommand(p.serveCommand(), p.configCommand(), p.logCommand(), p.versionCommand())
	for cmd := range allCommands(root) {
		refuseArgs(cmd)
	}
	return root
}

// allCommands yields a command and those below it.
func allCommands(cmd *cobra.Command) func(func(*cobra.Command) bool) {
	var walk func(*cobra.Command, func(*cobra.Command) bool) bool
	walk = func(c *cobra.Command, yield func(*cobra.Command) bool) bool {
		if !yield(c) {
			return false
		}
		for _, sub := range c.Commands() {
			if !walk(sub, yield) {
				return false
			}
		}
		return true
	}
	return func(yield func(*cobra.Command) bool) { walk(cmd, yield) }
}

// refuseArgs makes wrong arguments a usage error. A command that only groups others shows its help; without that
// it would take any argument for one.
func refuseArgs(cmd *cobra.Command) {
	if !cmd.Runnable() {
		cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	}
	check := cmd.Args
	if check == nil {
		check = cobra.NoArgs
	}
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if err := check(cmd, args); err != nil {
			return usageError{fmt.Errorf("%w\nsee %s --help", err, cmd.CommandPath())}
		}
		return nil
	}
}

// loadConfig returns the settings that the flags of cmd, the environment and the file add up to.
func (p *program) loadConfig(cmd *cobra.Command) (config.Config, string, error) {
	src := config.Source{Environ: p.environ, Flags: flagsOf(cmd)}
	src.File = p.env(config.EnvFile)
	if flag := cmd.Flags().Lookup("config"); flag != nil && flag.Changed {
		src.File = flag.Value.String()
	}
	c, err := config.Load(src)
	if err != nil {
		return config.Config{}, "", usageError{err}
	}
	return c, src.File, nil
}

// env returns a variable of the environment, or "".
func (p *program) env(name string) string {
	for _, entry := range p.environ {
		if value, ok := strings.CutPrefix(entry, name+"="); ok {
			return value
		}
	}
	return ""
}
