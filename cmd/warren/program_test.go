package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// runMain is set in the environment of the test binary when it is to be the command itself.
const runMain = "RUN_MAIN_OF_WARREN"

func TestMain(m *testing.M) {
	if os.Getenv(runMain) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// command runs a command line to its end.
func command(t *testing.T, environ []string, args ...string) (code int, out, complaints string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	p := program{out: &stdout, err: &stderr, environ: environ}
	code = p.run(t.Context(), args)
	return code, stdout.String(), stderr.String()
}

// served is a broker that runs inside the test.
type served struct {
	*node
	dir     string
	stopped chan struct{} // closed when serve has returned
	code    int           // valid then
	log     lockedBuffer
	cancel  context.CancelFunc
}

// serveNode runs "warren serve" on free ports until the test ends.
func serveNode(t *testing.T, dir string, args ...string) *served {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	s := &served{dir: dir, stopped: make(chan struct{}), cancel: cancel}
	up := make(chan *node, 1)
	p := program{out: &s.log, err: &s.log, ready: func(n *node) { up <- n }}
	args = append([]string{"serve", "--data-dir", dir, "--amqp-listen", "127.0.0.1:0", "--http-listen", "127.0.0.1:0"}, args...)
	go func() {
		defer close(s.stopped)
		s.code = p.run(ctx, args)
	}()
	t.Cleanup(func() { s.stop(t) })
	select {
	case s.node = <-up:
	case <-s.stopped:
		t.Fatalf("serve ended with %d:\n%s", s.code, s.log.String())
	case <-time.After(30 * time.Second):
		t.Fatalf("serve is not ready:\n%s", s.log.String())
	}
	return s
}

// stop ends the broker cleanly and returns its exit code.
func (s *served) stop(t *testing.T) int {
	t.Helper()
	s.cancel()
	select {
	case <-s.stopped:
	case <-time.After(30 * time.Second):
		t.Fatalf("serve does not stop:\n%s", s.log.String())
	}
	return s.code
}

func (s *served) amqpURL() string {
	return "amqp://guest:guest@" + s.amqpListeners[0].Addr().String() + "/"
}
func (s *served) httpURL() string { return "http://" + s.httpListeners[0].Addr().String() }

// lockedBuffer takes log lines from many goroutines.
type lockedBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

func TestVersion(t *testing.T) {
	code, out, _ := command(t, nil, "version")
	if code != exitOK || !strings.HasPrefix(out, "warren ") {
		t.Errorf("got %d, %q", code, out)
	}
}

func TestUsage(t *testing.T) {
	for _, tc := range []struct {
		args []string
		want string
	}{
		{[]string{"serve", "--no-such-flag"}, "unknown flag: --no-such-flag"},
		{[]string{"serve", "extra"}, "unknown command"},
		{[]string{"version", "extra"}, "unknown command"},
		{[]string{"log", "verify"}, "accepts 1 arg"},
		{[]string{"dance"}, "unknown command"},
		{[]string{"serve", "--amqp-listen", "nowhere"}, "flag --amqp-listen: amqp.listen: got [nowhere], want a list of HOST:PORT"},
		{[]string{"serve", "--log-level", "loud"}, `log.level: got "loud", want debug, info, warn or error`},
	} {
		code, _, complaints := command(t, nil, tc.args...)
		if code != exitUsage || !strings.Contains(complaints, tc.want) {
			t.Errorf("%q: got %d, %q; want %d and %q", tc.args, code, complaints, exitUsage, tc.want)
		}
	}
}

func TestConfigCheck(t *testing.T) {
	file := filepath.Join(t.TempDir(), "warren.yaml")
	if err := os.WriteFile(file, []byte("amqp:\n  frame_max: 64KiB\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	code, out, complaints := command(t, []string{"WARREN_CONFIG=" + file}, "config", "check", "--data-dir", "/d")
	if code != exitOK || !strings.Contains(out, "frame_max: 65536") || !strings.Contains(out, "data_dir: /d") {
		t.Errorf("got %d, %q, %q", code, out, complaints)
	}
	code, _, complaints = command(t, []string{"WARREN_DATADIR=x"}, "config", "check", "--config", file)
	if code != exitUsage || !strings.Contains(complaints, "environment: WARREN_DATADIR: no such setting") {
		t.Errorf("got %d, %q", code, complaints)
	}
	code, _, complaints = command(t, nil, "config", "check", "--config", filepath.Join(t.TempDir(), "none"))
	if code != exitUsage || !strings.Contains(complaints, "no such file") {
		t.Errorf("got %d, %q", code, complaints)
	}
}
