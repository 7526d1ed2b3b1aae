package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

// open returns a channel in confirm mode.
func open(t *testing.T, s *served) *amqp.Channel {
	t.Helper()
	conn, err := amqp.DialConfig(s.amqpURL(), amqp.Config{Properties: amqp.Table{"connection_name": t.Name()}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	ch, err := conn.Channel()
	if err != nil {
		t.Fatal(err)
	}
	if err := ch.Confirm(false); err != nil {
		t.Fatal(err)
	}
	return ch
}

// publish publishes a persistent message and waits for its confirm.
func publish(t *testing.T, ch *amqp.Channel, queue, body string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	c, err := ch.PublishWithDeferredConfirmWithContext(ctx, "", queue, true, false,
		amqp.Publishing{DeliveryMode: amqp.Persistent, Body: []byte(body)})
	if err != nil {
		t.Fatal(err)
	}
	if ok, err := c.WaitContext(ctx); !ok {
		t.Fatalf("not confirmed: %v", err)
	}
}

// TestServeKeepsMessages publishes, stops the broker cleanly, starts it again and consumes.
func TestServeKeepsMessages(t *testing.T) {
	dir := t.TempDir()
	s := serveNode(t, dir)
	ch := open(t, s)
	if _, err := ch.QueueDeclare("kept", true, false, false, false, nil); err != nil {
		t.Fatal(err)
	}
	for _, body := range []string{"one", "two", "three"} {
		publish(t, ch, "kept", body)
	}
	closed := ch.NotifyClose(make(chan *amqp.Error, 1))
	if code := s.stop(t); code != exitOK {
		t.Fatalf("exit code %d:\n%s", code, s.log.String())
	}
	if reason := <-closed; reason == nil || reason.Code != amqp.ConnectionForced {
		t.Errorf("the client was told %v, want %d", reason, amqp.ConnectionForced)
	}

	s = serveNode(t, dir)
	ch = open(t, s)
	for _, want := range []string{"one", "two", "three"} {
		m, ok, err := ch.Get("kept", true)
		if err != nil || !ok || string(m.Body) != want {
			t.Fatalf("got %q, %v, %v; want %q", m.Body, ok, err, want)
		}
		if m.Redelivered {
			t.Errorf("%q is flagged as redelivered after a clean stop", want)
		}
	}
}

// TestServeLogsListeners checks that there is one line per listener, with its address.
func TestServeLogsListeners(t *testing.T) {
	s := serveNode(t, t.TempDir(), "--amqp-listen", "127.0.0.1:0")
	s.stop(t)
	listening := map[string]int{}
	ready := false
	lines := bufio.NewScanner(strings.NewReader(s.log.String()))
	for lines.Scan() {
		var line struct{ Msg, Protocol, Address string }
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			t.Errorf("%v: %s", err, lines.Text())
		}
		if line.Msg == "listening" {
			listening[line.Protocol]++
			if _, port, err := net.SplitHostPort(line.Address); err != nil || port == "0" {
				t.Errorf("address %q", line.Address)
			}
		}
		ready = ready || line.Msg == "ready"
	}
	if listening["amqp"] != 2 || listening["http"] != 1 || !ready {
		t.Errorf("got %v and ready %v, want two amqp and one http listener", listening, ready)
	}
}

func TestServeRefusesUsedDirectory(t *testing.T) {
	s := serveNode(t, t.TempDir())
	code, _, complaints := command(t, nil, "serve", "--data-dir", s.dir, "--amqp-listen", "127.0.0.1:0", "--http-listen", "127.0.0.1:0")
	if code != exitFailed || !strings.Contains(complaints, s.dir) {
		t.Errorf("got %d, %q", code, complaints)
	}
	publishWorks(t, s)
}

// TestServeRefusesUsedPort checks that nothing stays behind when a start fails half way.
func TestServeRefusesUsedPort(t *testing.T) {
	s := serveNode(t, t.TempDir())
	dir := t.TempDir()
	code, _, complaints := command(t, nil, "serve", "--data-dir", dir, "--amqp-listen", "127.0.0.1:0", "--http-listen", s.httpListeners[0].Addr().String())
	if code != exitFailed || !strings.Contains(complaints, "address already in use") {
		t.Errorf("got %d, %q", code, complaints)
	}
	publishWorks(t, serveNode(t, dir))
}

func publishWorks(t *testing.T, s *served) {
	t.Helper()
	ch := open(t, s)
	if _, err := ch.QueueDeclare("works", true, false, false, false, nil); err != nil {
		t.Fatal(err)
	}
	publish(t, ch, "works", "x")
}

// call makes a request of the HTTP API as guest.
func call(t *testing.T, s *served, method, path string, into any) int {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, s.httpURL()+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.SetBasicAuth("guest", "guest")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	if into != nil {
		if err := json.Unmarshal(text, into); err != nil {
			t.Fatalf("%s %s: %v: %s", method, path, err, text)
		}
	}
	return answer.StatusCode
}

// TestServeShowsConnections checks that a connection is listed at once, and closed with the reason given.
func TestServeShowsConnections(t *testing.T) {
	s := serveNode(t, t.TempDir())
	ch := open(t, s)
	closed := ch.NotifyClose(make(chan *amqp.Error, 1))
	var list []struct {
		Name, User, VHost, State string
		ClientProperties         map[string]any `json:"client_properties"`
	}
	call(t, s, "GET", "/api/connections", &list)
	if len(list) != 1 || list[0].ClientProperties["connection_name"] != t.Name() || list[0].User != "guest" || list[0].VHost != "/" || list[0].State != "running" {
		t.Fatalf("got %+v", list)
	}
	path := "/api/connections/" + url.PathEscape(list[0].Name)
	r, _ := http.NewRequestWithContext(t.Context(), "DELETE", s.httpURL()+path, nil)
	r.SetBasicAuth("guest", "guest")
	r.Header.Set("X-Reason", "time to go")
	answer, err := http.DefaultClient.Do(r)
	if err != nil || answer.StatusCode != http.StatusNoContent {
		t.Fatalf("got %v, %v", answer, err)
	}
	if reason := <-closed; reason == nil || reason.Code != amqp.ConnectionForced || !strings.Contains(reason.Reason, "time to go") {
		t.Errorf("the client was told %v", reason)
	}
	deadline := time.Now().Add(5 * time.Second)
	for call(t, s, "GET", "/api/connections", &list); len(list) > 0; call(t, s, "GET", "/api/connections", &list) {
		if time.Now().After(deadline) {
			t.Fatalf("still listed: %+v", list)
		}
	}
	if status := call(t, s, "DELETE", path, nil); status != http.StatusNotFound {
		t.Errorf("closing it again gives %d", status)
	}
}

// process is the command as a process of its own.
type process struct {
	*exec.Cmd
	lines *bufio.Scanner // of its standard error
}

// startProcess runs "warren serve" on free ports and waits until it is ready.
func startProcess(t *testing.T, dir string) *process {
	t.Helper()
	cmd := exec.Command(os.Args[0], "serve", "--data-dir", dir, "--amqp-listen", "127.0.0.1:0", "--http-listen", "127.0.0.1:0")
	cmd.Env = append(os.Environ(), runMain+"=1")
	pipe, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return &process{cmd, bufio.NewScanner(pipe)}
}

// await reads log lines up to the one with the message, and returns it.
func (p *process) await(t *testing.T, message string) map[string]any {
	t.Helper()
	for p.lines.Scan() {
		var line map[string]any
		if err := json.Unmarshal(p.lines.Bytes(), &line); err != nil {
			t.Fatalf("%v: %s", err, p.lines.Text())
		}
		if line["msg"] == message {
			return line
		}
	}
	t.Fatalf("no line %q", message)
	return nil
}

func (p *process) signal(t *testing.T) {
	t.Helper()
	if err := p.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
}

// TestProcessStopsOnSignal checks SIGTERM, the exit code, and that the lock is given back.
func TestProcessStopsOnSignal(t *testing.T) {
	dir := t.TempDir()
	p := startProcess(t, dir)
	p.await(t, "ready")
	p.signal(t)
	p.await(t, "stopped")
	if err := p.Wait(); err != nil {
		t.Errorf("ended with %v", err)
	}
	serveNode(t, dir)
}

// TestProcessSecondSignal checks that a second signal does not wait for a client that does not leave.
func TestProcessSecondSignal(t *testing.T) {
	p := startProcess(t, t.TempDir())
	address := p.await(t, "listening")["address"].(string)
	p.await(t, "ready")
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	ears := &deaf{Conn: conn, woken: make(chan struct{})}
	defer close(ears.woken)
	if _, err := amqp.Open(ears, amqp.Config{Vhost: "/", SASL: []amqp.Authentication{&amqp.PlainAuth{Username: "guest", Password: "guest"}}}); err != nil {
		t.Fatal(err)
	}
	ears.shut.Store(true)
	p.signal(t)
	p.await(t, "stopping")
	p.signal(t)
	exit := &exec.ExitError{}
	if err := p.Wait(); !errors.As(err, &exit) || exit.ExitCode() != exitForced {
		t.Errorf("ended with %v, want exit code %d", err, exitForced)
	}
}

// deaf is a connection whose owner stops to hear anything.
type deaf struct {
	net.Conn
	shut  atomic.Bool
	woken chan struct{}
}

func (d *deaf) Read(p []byte) (int, error) {
	n, err := d.Conn.Read(p)
	if d.shut.Load() {
		<-d.woken
		return 0, net.ErrClosed
	}
	return n, err
}
