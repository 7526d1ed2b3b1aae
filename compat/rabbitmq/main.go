// Command rabbitmq installs RabbitMQ from Debian into a cache folder and runs it on loopback ports, to compare
// with. Nothing is installed on the machine itself apart from debootstrap.
//
//	rabbitmq install [RELEASE...]           3.10, 4.0, 4; default 3.10 and 4
//	rabbitmq run [FLAGS] RELEASE [COMMAND...]
//
// run prints what is needed to use the broker, one "key=value" a line, then runs COMMAND with the same keys in the
// environment (upper case, prefix RABBITMQ_) and stops the broker when it ends; without COMMAND it serves until
// interrupted or until -for has passed.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/warrenmq/warren/compat/broker"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := dispatch(ctx, os.Args[1:])
	stop()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		os.Exit(exit.ExitCode())
	case err != nil:
		fmt.Fprintln(os.Stderr, "rabbitmq:", err)
		os.Exit(1)
	}
}

func dispatch(ctx context.Context, args []string) error {
	if len(args) > 0 {
		switch args[0] {
		case "install":
			return install(ctx, args[1:])
		case "run":
			return serve(ctx, args[1:])
		}
	}
	return errors.New("usage: rabbitmq install [RELEASE...] | rabbitmq run [FLAGS] RELEASE [COMMAND...]")
}

func install(ctx context.Context, releases []string) error {
	if len(releases) == 0 {
		releases = []string{"3.10", "4"}
	}
	for _, r := range releases {
		if err := broker.Install(ctx, r, os.Stderr); err != nil {
			return err
		}
		tree, err := broker.Tree(r)
		if err != nil {
			return err
		}
		fmt.Println(r, tree)
	}
	return nil
}

func serve(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("run", flag.ContinueOnError)
	var (
		o       broker.Options
		own     = flags.Bool("own-network", false, "run in a network namespace of its own; needs root")
		most    = flags.Duration("for", 24*time.Hour, "stop after this time")
		rawConf = flags.String("config", "", "more lines of rabbitmq.conf, separated by semicolons")
	)
	flags.StringVar(&o.Dir, "dir", "", "folder of the instance (default: a temporary one)")
	flags.IntVar(&o.AMQP, "amqp", 0, "AMQP port (default: a free one)")
	flags.IntVar(&o.HTTP, "http", 0, "management port (default: a free one)")
	flags.BoolVar(&o.BusyWait, "busy-wait", false, "let idle Erlang schedulers spin, as they do by default")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() == 0 {
		return errors.New("run: which release?")
	}
	if *own {
		if err := broker.OwnNetwork(); err != nil {
			return err
		}
	}
	if *rawConf != "" {
		o.Config = strings.Split(*rawConf, ";")
	}
	ctx, cancel := context.WithTimeout(ctx, *most)
	defer cancel()
	b, err := broker.Start(ctx, "rabbitmq-"+flags.Arg(0), o)
	if err != nil {
		return err
	}
	err = use(ctx, b, flags.Args()[1:])
	return errors.Join(err, b.Stop())
}

// use tells about a running broker and runs argv beside it, or waits for the end of ctx.
func use(ctx context.Context, b *broker.Broker, argv []string) error {
	ctl := filepath.Join(b.Dir, "rabbitmqctl")
	if err := b.WriteCtl(ctl); err != nil {
		return err
	}
	facts := [][2]string{
		{"version", b.Version}, {"pid", strconv.Itoa(b.PID())}, {"url", b.URL()}, {"amqp", b.AMQP},
		{"http", b.HTTP}, {"dir", b.Dir}, {"rabbitmqctl", ctl},
	}
	env := os.Environ()
	for _, f := range facts {
		fmt.Printf("%s=%s\n", f[0], f[1])
		env = append(env, "RABBITMQ_"+strings.ToUpper(f[0])+"="+f[1])
	}
	if len(argv) == 0 {
		<-ctx.Done()
		return nil
	}
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = env, os.Stdin, os.Stdout, os.Stderr
	return cmd.Run()
}
