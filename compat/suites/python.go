package main

import (
	"context"
	_ "embed"
	"encoding/xml"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/warrenmq/warren/compat/broker"
)

// pythonPackages are what the Python suites run with, pinned.
//
//go:embed requirements.txt
var pythonPackages string

// kombu is the integration suite of Celery's messaging library, from its source distribution.
func kombu(version string) Suite {
	return sdist("kombu", "kombu", version, "Celery's messaging library", "t/integration/test_py_amqp.py")
}

// pyAMQP is the integration suite of the client below kombu. Half of it is TLS.
func pyAMQP(version string) Suite {
	return sdist("py-amqp", "amqp", version, "the Python client below kombu", "t/integration")
}

// pika is the acceptance suite of a Python client. Neither its source distribution nor its wheel has the tests,
// so a checkout is needed.
func pika(commit string) Suite {
	checkout := func() string {
		return filepath.Join(os.Getenv("SUITES_DIR"), "pika")
	}
	return Suite{
		Name: "pika", Version: commit, About: "a Python client; needs a checkout in $SUITES_DIR/pika", Limit: 15 * time.Minute,
		Missing: "$SUITES_DIR/pika is no checkout of github.com/pika/pika",
		Available: func() bool {
			_, err := os.Stat(filepath.Join(checkout(), "tests", "acceptance"))
			return os.Getenv("SUITES_DIR") != "" && err == nil
		},
		Prepare: func(ctx context.Context, shop workshop) error {
			head, err := exec.CommandContext(ctx, "git", "-C", checkout(), "rev-parse", "HEAD").Output()
			if got := strings.TrimSpace(string(head)); err == nil && got != commit {
				return fmt.Errorf("%s is at %s, the recorded verdicts are of %s", checkout(), got, commit)
			}
			return makeVenv(ctx, shop)
		},
		Run: func(ctx context.Context, shop workshop, b *broker.Broker) ([]Result, error) {
			return pytest(ctx, shop, b, "pika", checkout(), "--timeout=120", "tests/acceptance")
		},
	}
}

// sdist is a suite that a source distribution carries.
func sdist(name, dist, version, about string, args ...string) Suite {
	dir := func(shop workshop) string { return filepath.Join(shop.dir, dist+"-"+version) }
	return Suite{
		Name: name, Version: version, About: about, Limit: 15 * time.Minute, Available: always,
		Prepare: func(ctx context.Context, shop workshop) error {
			if err := makeVenv(ctx, shop); err != nil || ready(dir(shop)) {
				return err
			}
			if err := shop.step(ctx, shop.dir, venv(shop, "pip"), "download", "--quiet", "--no-deps",
				"--no-binary", ":all:", "--dest", shop.dir, dist+"=="+version); err != nil {
				return err
			}
			if err := shop.step(ctx, shop.dir, "tar", "-xzf", dist+"-"+version+".tar.gz"); err != nil {
				return err
			}
			return finish(dir(shop))
		},
		Run: func(ctx context.Context, shop workshop, b *broker.Broker) ([]Result, error) {
			return pytest(ctx, shop, b, name, dir(shop), append([]string{"--timeout=120"}, args...)...)
		},
	}
}

func venv(shop workshop, program string) string {
	return filepath.Join(shop.dir, "venv", "bin", program)
}

// makeVenv makes the virtual environment that all Python suites share.
func makeVenv(ctx context.Context, shop workshop) error {
	dir := filepath.Join(shop.dir, "venv")
	if ready(dir) {
		return nil
	}
	if err := os.MkdirAll(shop.dir, 0o755); err != nil {
		return err
	}
	if err := shop.step(ctx, shop.dir, "python3", "-m", "venv", "--clear", dir); err != nil {
		if err := broker.AptInstall(ctx, shop.log, "python3-venv"); err != nil {
			return err
		}
		if err := shop.step(ctx, shop.dir, "python3", "-m", "venv", "--clear", dir); err != nil {
			return err
		}
	}
	list := filepath.Join(dir, "requirements.txt")
	if err := os.WriteFile(list, []byte(pythonPackages), 0o644); err != nil {
		return err
	}
	if err := shop.step(ctx, shop.dir, venv(shop, "pip"), "install", "--quiet", "--requirement", list); err != nil {
		return err
	}
	return finish(dir)
}

// pytest runs the tests below dir against b. The suites' own "try five times" marks are without effect: a test
// passes the first time or not at all.
func pytest(ctx context.Context, shop workshop, b *broker.Broker, name, dir string, args ...string) ([]Result, error) {
	raw, err := os.Create(filepath.Join(shop.out, name+".log"))
	if err != nil {
		return nil, err
	}
	defer raw.Close()
	report := filepath.Join(shop.out, name+".xml")
	argv := append([]string{venv(shop, "python"), "-m", "pytest", "-q", "-p", "no:cacheprovider", "--junit-xml=" + report}, args...)
	env := append(addresses(b), "PYTHONPATH="+dir, "PYTHONDONTWRITEBYTECODE=1")
	cmd := command(ctx, dir, env, argv...)
	cmd.Stdout, cmd.Stderr = raw, raw
	if err := onlyRed(cmd.Run()); err != nil {
		return nil, err
	}
	text, err := os.ReadFile(report)
	if err != nil {
		return nil, err
	}
	return readJUnit(text)
}

// junitCase is one test in the XML that pytest writes.
type junitCase struct {
	Class   string    `xml:"classname,attr"`
	Name    string    `xml:"name,attr"`
	Seconds float64   `xml:"time,attr"`
	Failure *junitEnd `xml:"failure"`
	Error   *junitEnd `xml:"error"`
	Skipped *junitEnd `xml:"skipped"`
}

type junitEnd struct {
	Text string `xml:",chardata"`
}

func readJUnit(text []byte) ([]Result, error) {
	var doc struct {
		Cases []junitCase `xml:"testsuite>testcase"`
	}
	if err := xml.Unmarshal(text, &doc); err != nil {
		return nil, err
	}
	if len(doc.Cases) == 0 {
		return nil, errors.New("pytest collected no test")
	}
	var results []Result
	for _, c := range doc.Cases {
		r := Result{Test: c.Class + "::" + c.Name, Verdict: Pass, Seconds: c.Seconds}
		for _, end := range []*junitEnd{c.Failure, c.Error} {
			if end != nil {
				r.Verdict = Fail
				r.Output += end.Text[max(0, len(end.Text)-maxOutput):]
			}
		}
		if c.Skipped != nil && r.Verdict == Pass {
			r.Verdict = Skip
		}
		results = append(results, r)
	}
	return sorted(results), nil
}
