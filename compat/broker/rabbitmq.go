package broker

import (
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

//go:embed rabbitmq.sh
var rabbitmqScript string

// Where an instance finds its own folder inside its tree, and where Debian keeps RabbitMQ's programs.
const (
	rabbitmqHome = "/var/lib/rabbitmq"
	rabbitmqBin  = "/usr/lib/rabbitmq/bin/"
)

// idleSchedulers are the Erlang flags that make waiting schedulers sleep instead of spin. Without them an idle
// RabbitMQ burns processor time that a comparison would book as work.
const idleSchedulers = "+sbwt none +sbwtdcpu none +sbwtdio none"

// prepareRabbitMQ writes the instance's configuration and fills in how it is run.
func (b *Broker) prepareRabbitMQ(release string, o Options) error {
	tree, err := Tree(release)
	if err != nil {
		return err
	}
	if b.Version, err = treeVersion(tree); err != nil {
		return err
	}
	if err := b.writeRabbitMQConfig(release, o.Config); err != nil {
		return err
	}
	env, err := b.rabbitmqEnv(o)
	if err != nil {
		return err
	}
	b.command = func() *exec.Cmd {
		cmd := exec.Command("unshare", "--mount", "--pid", "--fork", "--kill-child=KILL",
			"sh", "-c", rabbitmqScript, "sh", tree, b.DataDir())
		cmd.Dir, cmd.Env = "/", env
		return cmd
	}
	b.served = func(cmd *exec.Cmd) int { return descendant(cmd.Process.Pid, "beam.smp") }
	b.ask = func(cmd *exec.Cmd) error {
		pid := b.served(cmd)
		if pid == 0 {
			return fmt.Errorf("%s has no Erlang machine to ask", b.Name)
		}
		return syscall.Kill(pid, syscall.SIGTERM)
	}
	b.ctl = func(cmd *exec.Cmd) []string {
		pid := strconv.Itoa(b.served(cmd))
		argv := []string{"nsenter", "--target", pid, "--mount", "--pid", "chroot", tree, "env", "-i"}
		return append(append(argv, env...), rabbitmqBin+"rabbitmqctl")
	}
	return nil
}

func (b *Broker) writeRabbitMQConfig(release string, more []string) error {
	lines := []string{
		"listeners.tcp.1 = " + b.AMQP,
		"management.tcp.ip = 127.0.0.1",
		"management.tcp.port = " + portOf(b.HTTP),
		"log.console = true",
		"log.console.level = warning",
		"log.file = false",
	}
	if !strings.HasPrefix(release, "3.") {
		// 4.3 refuses these unless told; clients and their suites still declare them.
		lines = append(lines, "deprecated_features.permit.transient_nonexcl_queues = true")
	}
	lines = append(lines, more...)
	if err := os.MkdirAll(b.DataDir(), 0o755); err != nil {
		return err
	}
	for name, text := range map[string]string{
		"rabbitmq.conf":   strings.Join(lines, "\n") + "\n",
		"enabled_plugins": "[rabbitmq_management].\n",
		".erlang.cookie":  "compat" + portOf(b.AMQP) + "\n",
	} {
		if err := os.WriteFile(filepath.Join(b.DataDir(), name), []byte(text), 0o400); err != nil {
			return err
		}
	}
	return nil
}

// rabbitmqEnv gives the instance a node name, an epmd and ports of its own, all on the loopback interface.
func (b *Broker) rabbitmqEnv(o Options) ([]string, error) {
	ports, err := freePorts(2)
	if err != nil {
		return nil, err
	}
	flags := "-kernel inet_dist_use_interface {127,0,0,1}"
	if !o.BusyWait {
		flags += " " + idleSchedulers
	}
	return append([]string{
		"PATH=/usr/sbin:/usr/bin:/sbin:/bin",
		"LANG=C.UTF-8",
		"HOME=" + rabbitmqHome,
		"ERL_EPMD_ADDRESS=127.0.0.1",
		"ERL_EPMD_PORT=" + strconv.Itoa(ports[0]),
		"RABBITMQ_DIST_PORT=" + strconv.Itoa(ports[1]),
		"RABBITMQ_NODENAME=compat@localhost",
		"RABBITMQ_CONFIG_FILE=" + rabbitmqHome + "/rabbitmq.conf",
		"RABBITMQ_ENABLED_PLUGINS_FILE=" + rabbitmqHome + "/enabled_plugins",
		"RABBITMQ_MNESIA_BASE=" + rabbitmqHome + "/mnesia",
		"RABBITMQ_LOG_BASE=" + rabbitmqHome + "/log",
		"RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS=" + flags,
	}, o.Env...), nil
}

// Ctl is the command line that runs rabbitmqctl against a running RabbitMQ, to be followed by a subcommand; nil
// for a broker that has none.
func (b *Broker) Ctl() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.running == nil || b.ctl == nil {
		return nil
	}
	return b.ctl(b.running.cmd)
}

// WriteCtl writes a script that runs rabbitmqctl against this running RabbitMQ, for programs that want the path
// of such a file.
func (b *Broker) WriteCtl(path string) error {
	argv := b.Ctl()
	if argv == nil {
		return fmt.Errorf("%s has no rabbitmqctl", b.Name)
	}
	var script strings.Builder
	script.WriteString("#!/bin/sh\nexec")
	for _, arg := range argv {
		script.WriteString(" '" + strings.ReplaceAll(arg, "'", `'\''`) + "'")
	}
	script.WriteString(" \"$@\"\n")
	return os.WriteFile(path, []byte(script.String()), 0o755)
}
