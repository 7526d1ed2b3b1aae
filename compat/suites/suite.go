package main

import (
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/warrenmq/warren/compat/broker"
)

// Suite is one test suite at one version.
type Suite struct {
	Name    string
	Version string // of what it is fetched by: a module, a source distribution, a commit
	About   string
	Limit   time.Duration // for the whole run, the broker's start included
	Missing string        // what to say when it is not available

	Available func() bool
	// Prepare fetches and builds. It runs before every run and does nothing when all is there.
	Prepare func(ctx context.Context, shop workshop) error
	// Run runs the suite without the network. An error means that it could not be run; red tests are results.
	Run func(ctx context.Context, shop workshop, b *broker.Broker) ([]Result, error)
}

// suites are all suites, the quick ones first.
var suites = []Suite{
	amqpTools(),
	kombu("5.6.2"),
	pyAMQP("5.3.1"),
	pika("2126d43a76c14fb8d365d96bd1bdcef13dad75b5"),
	goModule("amqp091-go", "github.com/rabbitmq/amqp091-go", "v1.16.0", "the Go client that RabbitMQ maintains"),
	goModule("streadway", "github.com/streadway/amqp", "v1.1.0", "its predecessor",
		// A certificate inside this test expired on 2024-01-25: no broker is involved, and the goroutine that it
		// leaves behind takes the whole binary down some tests later.
		"-test.skip=^TestTLSHandshake$"),
}

func always() bool { return true }

// workshop is where suites are kept, run and logged.
type workshop struct {
	dir string    // what is fetched, below the cache folder
	out string    // raw output of this run
	log io.Writer // progress of preparations
}

// ready tells whether Prepare has finished there before; finish says that it has.
func ready(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, ".ready"))
	return err == nil
}

func finish(dir string) error { return os.WriteFile(filepath.Join(dir, ".ready"), nil, 0o644) }

// command makes a command that ends as a whole group with ctx.
func command(ctx context.Context, dir string, env []string, argv ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second
	return cmd
}

// step runs a preparing command with its output in the log.
func (w workshop) step(ctx context.Context, dir string, argv ...string) error {
	cmd := command(ctx, dir, nil, argv...)
	cmd.Stdout, cmd.Stderr = w.log, w.log
	return cmd.Run()
}

// addresses are the environment variables by which suites learn where the broker is.
func addresses(b *broker.Broker) []string {
	host, port, _ := strings.Cut(b.AMQP, ":")
	return []string{"AMQP_URL=" + b.URL(), "RABBITMQ_HOST=" + host, "RABBITMQ_5672_TCP=" + port}
}
