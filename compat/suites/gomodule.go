package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/warrenmq/warren/compat/broker"
)

// goModule is the suite that a Go module carries in its own zip, built with the tag "integration" in a scratch
// module that requires nothing else. more are arguments of the test binary.
func goModule(name, module, version, about string, more ...string) Suite {
	return Suite{
		Name: name, Version: version, About: about, Limit: 25 * time.Minute, Available: always,
		Prepare: func(ctx context.Context, shop workshop) error { return buildTests(ctx, shop, module, version) },
		Run: func(ctx context.Context, shop workshop, b *broker.Broker) ([]Result, error) {
			return runTests(ctx, shop, b, name, scratchDir(shop, module, version), more)
		},
	}
}

func scratchDir(shop workshop, module, version string) string {
	return filepath.Join(shop.dir, strings.ReplaceAll(module, "/", "-")+"@"+version)
}

// buildTests compiles the module's test binary and notes where its sources are: tests run in their folder.
func buildTests(ctx context.Context, shop workshop, module, version string) error {
	dir := scratchDir(shop, module, version)
	if ready(dir) {
		return nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module scratch\n\ngo 1.26\n"), 0o644); err != nil {
		return err
	}
	if err := shop.step(ctx, dir, "go", "get", "-t", module+"@"+version); err != nil {
		return err
	}
	if err := shop.step(ctx, dir, "go", "test", "-c", "-tags", "integration", "-o", "suite.test", module); err != nil {
		return err
	}
	cmd := command(ctx, dir, nil, "go", "list", "-m", "-f", "{{.Dir}}", module)
	source, err := cmd.Output()
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "source"), bytes.TrimSpace(source), 0o644); err != nil {
		return err
	}
	return finish(dir)
}

func runTests(ctx context.Context, shop workshop, b *broker.Broker, name, dir string, more []string) ([]Result, error) {
	source, err := os.ReadFile(filepath.Join(dir, "source"))
	if err != nil {
		return nil, err
	}
	ctlPath := filepath.Join(b.Dir, "rabbitmqctl")
	if err := writeCtl(b, ctlPath); err != nil {
		return nil, err
	}
	raw, err := os.Create(filepath.Join(shop.out, name+".jsonl"))
	if err != nil {
		return nil, err
	}
	defer raw.Close()
	env := append(addresses(b), "RABBITMQ_RABBITMQCTL_PATH="+ctlPath)
	argv := []string{"go", "tool", "test2json", "-t", filepath.Join(dir, "suite.test"), "-test.v=test2json", "-test.timeout=20m"}
	cmd := command(ctx, string(source), env, append(argv, more...)...)
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	cmd.Stderr = raw
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	results, err := readTestEvents(io.TeeReader(stdout, raw))
	return results, errors.Join(err, onlyRed(cmd.Wait()))
}

// onlyRed drops the error of a program that ended by itself with a non-zero code, as a suite with red tests does.
func onlyRed(err error) error {
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.Exited() {
		return nil
	}
	return err
}

// testEvent is a line of what go tool test2json writes.
type testEvent struct {
	Action  string
	Test    string
	Elapsed float64
	Output  string
}

// readTestEvents collects the results. A test that was begun and never ended is one that the binary died in.
func readTestEvents(r io.Reader) ([]Result, error) {
	var results []Result
	output := map[string]string{} // of the tests that run
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var e testEvent
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			return nil, fmt.Errorf("%q is no test event: %w", lines.Text(), err)
		}
		if e.Test == "" {
			continue
		}
		switch e.Action {
		case "run":
			output[e.Test] = ""
		case "output":
			text := output[e.Test] + e.Output
			output[e.Test] = text[max(0, len(text)-maxOutput):]
		case "pass", "fail", "skip":
			result := Result{Test: e.Test, Verdict: Verdict(e.Action), Seconds: e.Elapsed}
			if e.Action == "fail" {
				result.Output = output[e.Test]
			}
			results = append(results, result)
			delete(output, e.Test)
		}
	}
	for test, text := range output {
		results = append(results, Result{Test: test, Verdict: Fail, Output: text + "\n(never ended)"})
	}
	return sorted(results), lines.Err()
}
