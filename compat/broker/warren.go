package broker

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
)

// prepareWarren fills in how a warren binary is run.
func (b *Broker) prepareWarren(o Options) error {
	binary, err := exec.LookPath(cmp.Or(o.Binary, "warren"))
	if err != nil {
		return fmt.Errorf("no warren to run (build ./cmd/warren and name the file): %w", err)
	}
	if out, err := exec.Command(binary, "version").Output(); err == nil {
		b.Version, _, _ = strings.Cut(strings.TrimSpace(string(out)), "\n")
	}
	args := append([]string{"serve", "--data-dir", b.DataDir(), "--amqp-listen", b.AMQP, "--http-listen", b.HTTP}, o.Args...)
	b.command = func() *exec.Cmd {
		cmd := exec.Command(binary, args...)
		cmd.Dir = b.Dir
		cmd.Env = append(os.Environ(), o.Env...)
		return cmd
	}
	b.served = func(cmd *exec.Cmd) int { return cmd.Process.Pid }
	b.ask = func(cmd *exec.Cmd) error { return cmd.Process.Signal(syscall.SIGTERM) }
	return nil
}
