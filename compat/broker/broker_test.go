package broker

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestReadUsageOfThisProcess(t *testing.T) {
	before, err := ReadUsage(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	for began := time.Now(); time.Since(began) < 50*time.Millisecond; { // the unit is 10 ms
	}
	after, err := ReadUsage(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	if after.CPU <= before.CPU {
		t.Errorf("processor time stood still at %v", after.CPU)
	}
	if after.RSS < 1<<20 || after.PeakRSS < after.RSS/2 {
		t.Errorf("resident %d, peak %d", after.RSS, after.PeakRSS)
	}
	if _, err := ReadUsage(1 << 30); err == nil {
		t.Error("a process that does not exist has a usage")
	}
}

func TestDescendant(t *testing.T) {
	cmd := exec.Command("sh", "-c", "sleep 60; true") // with "true" behind it, the shell stays
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var sleep int
	for deadline := time.Now().Add(10 * time.Second); sleep == 0 && time.Now().Before(deadline); {
		sleep = descendant(cmd.Process.Pid, "sleep")
	}
	if sleep == 0 || sleep == cmd.Process.Pid {
		t.Errorf("the shell's sleep is process %d, the shell %d", sleep, cmd.Process.Pid)
	} else if p, err := os.FindProcess(sleep); err != nil || p.Kill() != nil {
		t.Errorf("cannot end the sleep: %v", err)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	if pid := descendant(cmd.Process.Pid, "sleep"); pid != 0 {
		t.Errorf("found %d below a process that is gone", pid)
	}
}

// serveOnce answers one connection with reply.
func serveOnce(t *testing.T, reply string) (addr string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		greeting := make([]byte, 8)
		if _, err := c.Read(greeting); err == nil {
			_, _ = c.Write([]byte(reply)) // the test looks at what arrives
		}
	}()
	t.Cleanup(func() { l.Close(); <-done })
	return l.Addr().String()
}

func TestGreetWantsConnectionStart(t *testing.T) {
	start := "\x01\x00\x00\x00\x00\x00\x20\x00\x0a\x00\x0a and so on"
	if err := greet(serveOnce(t, start)); err != nil {
		t.Error(err)
	}
	for _, reply := range []string{"", "AMQP\x00\x00\x09\x01", "HTTP/1.1 400 Bad Request\r\n", strings.Replace(start, "\x0a\x00\x0a", "\x0a\x00\x32", 1)} {
		if greet(serveOnce(t, reply)) == nil {
			t.Errorf("%q is taken for connection.start", reply)
		}
	}
}

func TestFreePortsDiffer(t *testing.T) {
	ports, err := freePorts(20)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[int]bool{}
	for _, p := range ports {
		if p == 0 || seen[p] {
			t.Errorf("port %d twice, or none", p)
		}
		seen[p] = true
	}
}

func TestStartTellsWhatIsMissing(t *testing.T) {
	t.Setenv("COMPAT_CACHE", t.TempDir())
	for name, want := range map[string]string{
		"warren":         "no warren to run",
		"rabbitmq-3.10":  "is not installed",
		"rabbitmq-99":    "no RabbitMQ release",
		"somethingelse":  "no broker is called",
		"rabbitmq-3.10 ": "no RabbitMQ release",
	} {
		_, err := Start(t.Context(), name, Options{Binary: "/no/such/file", Dir: t.TempDir()})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", name, err, want)
		}
	}
}

// A program that ends instead of serving is told with its last words, and leaves no folder behind.
func TestStartFailsWithTheLog(t *testing.T) {
	fake := filepath.Join(t.TempDir(), "warren")
	script := "#!/bin/sh\n[ \"$1\" = version ] && exec echo 1.2.3\necho 'refused: key, value, what is expected'\nexit 2\n"
	if err := os.WriteFile(fake, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	_, err := Start(t.Context(), "warren", Options{Binary: fake})
	if err == nil || !strings.Contains(err.Error(), "what is expected") || !strings.Contains(err.Error(), "exit status 2") {
		t.Errorf("error %v, want the exit code and the log's end", err)
	}
	if left, _ := filepath.Glob(filepath.Join(temporary, "*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestShellQuoting(t *testing.T) {
	dir := t.TempDir()
	b := &Broker{running: &process{}, ctl: func(*exec.Cmd) []string { return []string{"printf", "%s|", "it's", "two words", "$HOME"} }}
	path := filepath.Join(dir, "rabbitmqctl")
	if err := b.WriteCtl(path); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(path, "list queues").Output()
	if got, want := string(out), "it's|two words|$HOME|list queues|"; err != nil || got != want {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
}
