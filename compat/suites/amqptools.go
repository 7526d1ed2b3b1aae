package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/warrenmq/warren/compat/broker"
)

// amqpTools drives the command-line tools of rabbitmq-c, as Debian ships them.
func amqpTools() Suite {
	return Suite{
		Name: "amqp-tools", Version: "debian", About: "command-line tools of the C client, from Debian",
		Limit: 3 * time.Minute, Available: always,
		Prepare: func(ctx context.Context, shop workshop) error {
			if _, err := exec.LookPath("amqp-publish"); err == nil {
				return nil
			}
			return broker.AptInstall(ctx, shop.log, "amqp-tools")
		},
		Run: runTools,
	}
}

// toolStep is one call of a tool and what it must come to.
type toolStep struct {
	name   string
	argv   []string
	stdin  string
	code   int
	stdout string // exactly; "*" for anything
}

// toolSteps is a session: each step builds on those before.
var toolSteps = []toolStep{
	{name: "declare", argv: []string{"amqp-declare-queue", "-d", "-q", "tools"}, stdout: "tools\n"},
	{name: "declare-again", argv: []string{"amqp-declare-queue", "-d", "-q", "tools"}, stdout: "tools\n"},
	{name: "declare-inequivalent", argv: []string{"amqp-declare-queue", "-q", "tools"}, code: 1},
	{name: "get-empty", argv: []string{"amqp-get", "-q", "tools"}, code: 2},
	{name: "publish-body", argv: []string{"amqp-publish", "-p", "-r", "tools", "-b", "one"}},
	{name: "publish-stdin", argv: []string{"amqp-publish", "-p", "-r", "tools", "-C", "text/plain"}, stdin: "two"},
	{name: "publish-lines", argv: []string{"amqp-publish", "-r", "tools", "-l"}, stdin: "three\nfour\n"},
	{name: "get-first", argv: []string{"amqp-get", "-q", "tools"}, stdout: "one"},
	{name: "consume-one", argv: []string{"amqp-consume", "-q", "tools", "-c", "1", "cat"}, stdout: "two"},
	{name: "consume-lines", argv: []string{"amqp-consume", "-q", "tools", "-c", "2", "-p", "1", "cat"}, stdout: "three\nfour\n"},
	{name: "get-drained", argv: []string{"amqp-get", "-q", "tools"}, code: 2},
	{name: "get-missing", argv: []string{"amqp-get", "-q", "no such queue"}, code: 1},
	{name: "publish-fanout", argv: []string{"amqp-publish", "-e", "amq.fanout", "-b", "to nobody"}},
	{name: "declare-other", argv: []string{"amqp-declare-queue", "-q", "other"}, stdout: "other\n"},
	{name: "publish-10k", argv: []string{"amqp-publish", "-r", "other", "-l"}, stdin: strings.Repeat("line\n", 10_000)},
	{name: "consume-10k", argv: []string{"amqp-consume", "-q", "other", "-c", "200", "-p", "10", "cat"}, stdout: strings.Repeat("line\n", 200)},
	{name: "delete-filled", argv: []string{"amqp-delete-queue", "-q", "other"}, stdout: "9800\n"},
	{name: "delete", argv: []string{"amqp-delete-queue", "-q", "tools"}, stdout: "0\n"},
	{name: "delete-missing", argv: []string{"amqp-delete-queue", "-q", "tools"}, stdout: "0\n"},
}

func runTools(ctx context.Context, shop workshop, b *broker.Broker) ([]Result, error) {
	raw, err := os.Create(filepath.Join(shop.out, "amqp-tools.log"))
	if err != nil {
		return nil, err
	}
	defer raw.Close()
	var results []Result
	for _, s := range toolSteps {
		r := s.run(ctx, b)
		results = append(results, r)
		fmt.Fprintf(raw, "%s %s %.3fs\n%s", r.Verdict, r.Test, r.Seconds, r.Output)
	}
	return sorted(results), nil
}

func (s toolStep) run(ctx context.Context, b *broker.Broker) Result {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	url := strings.TrimSuffix(b.URL(), "/") // these tools take "/" for the vhost of no name
	argv := append([]string{s.argv[0], "--url", url}, s.argv[1:]...)
	cmd := command(ctx, os.TempDir(), nil, argv...)
	var stdout, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(s.stdin), &stdout, &stderr
	start := time.Now()
	err := cmd.Run()
	r := Result{Test: s.name, Verdict: Pass, Seconds: time.Since(start).Seconds()}
	code := 0
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		code = exit.ExitCode()
	case err != nil:
		r.Verdict, r.Output = Fail, err.Error()
		return r
	}
	if code != s.code || s.stdout != "*" && stdout.String() != s.stdout {
		r.Verdict = Fail
		r.Output = fmt.Sprintf("%q: code %d, want %d; printed %.200q, want %.200q; %.500s\n",
			argv, code, s.code, stdout.String(), s.stdout, stderr.String())
	}
	return r
}
