package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// messages leaves a data directory behind that holds some messages.
func messages(t *testing.T) (dir string) {
	t.Helper()
	s := serveNode(t, t.TempDir())
	ch := open(t, s)
	if _, err := ch.QueueDeclare("q", true, false, false, false, nil); err != nil {
		t.Fatal(err)
	}
	for range 20 {
		publish(t, ch, "q", "a body that can be found again")
	}
	s.stop(t)
	return s.dir
}

func TestLogVerify(t *testing.T) {
	dir := messages(t)
	code, out, complaints := command(t, nil, "log", "verify", dir)
	if code != exitOK || !strings.Contains(out, "stopped cleanly") {
		t.Fatalf("got %d, %q, %q", code, out, complaints)
	}
	flipBody(t, dir)
	code, out, complaints = command(t, nil, "log", "verify", dir)
	if code != exitDamaged || !strings.Contains(out, "damage: ") || !strings.Contains(complaints, "is damaged in 1 places") {
		t.Errorf("with a flipped bit: got %d, %q, %q", code, out, complaints)
	}
	code, _, _ = command(t, nil, "log", "verify", filepath.Join(dir, "none"))
	if code != exitFailed {
		t.Errorf("no directory: got %d", code)
	}
	if _, err := os.Stat(filepath.Join(dir, "none")); err == nil {
		t.Error("verify has made the directory")
	}
}

// flipBody changes one bit of one message in the file that holds it.
func flipBody(t *testing.T, dir string) {
	t.Helper()
	done := false
	err := filepath.WalkDir(dir, func(name string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || done {
			return err
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if i := bytes.Index(text, []byte("a body that can be found again")); i >= 0 {
			text[i] ^= 1
			done = true
			return os.WriteFile(name, text, 0o600)
		}
		return nil
	})
	if err != nil || !done {
		t.Fatalf("no message found in %s: %v", dir, err)
	}
}

func TestLogVerifyRefusesUsedDirectory(t *testing.T) {
	s := serveNode(t, t.TempDir())
	code, _, complaints := command(t, nil, "log", "verify", s.dir)
	if code != exitFailed || !strings.Contains(complaints, "in use by process") {
		t.Errorf("got %d, %q", code, complaints)
	}
}

func TestLogDump(t *testing.T) {
	code, out, complaints := command(t, nil, "log", "dump", messages(t))
	if code != exitOK || !strings.Contains(out, "checkpoint: clean true") || !strings.Contains(out, "log 1:") {
		t.Errorf("got %d, %q, %q", code, out, complaints)
	}
}

func TestLogBench(t *testing.T) {
	dir := t.TempDir()
	code, out, complaints := command(t, nil, "log", "bench", "--json", "--data-dir", dir, "--duration", "300ms", "--policy", "on-commit,none", "--batch", "4", "--concurrency", "2")
	if code != exitOK {
		t.Fatalf("got %d, %q", code, complaints)
	}
	rows := json.NewDecoder(strings.NewReader(out))
	for _, policy := range []string{"on-commit", "none"} {
		var row map[string]any
		if err := rows.Decode(&row); err != nil {
			t.Fatalf("%v in %q", err, out)
		}
		if row["policy"] != policy || row["batch"] != 4.0 || row["concurrency"] != 2.0 || row["records_per_s"].(float64) <= 0 {
			t.Errorf("got %v", row)
		}
		for _, key := range []string{"p50_us", "p99_us", "p999_us", "records_per_flush", "flush_probe_us"} {
			if _, has := row[key]; !has {
				t.Errorf("no %s in %v", key, row)
			}
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	code, out, _ = command(t, nil, "log", "bench", "--duration", "10ms", "--policy", "none", "--batch", "1", "--concurrency", "1")
	if code != exitOK || strings.Count(out, "\n") != 2 || !strings.Contains(out, "records/s") {
		t.Errorf("got %d, %q", code, out)
	}
	if code, _, complaints := command(t, nil, "log", "bench", "--policy", "sometimes"); code != exitUsage {
		t.Errorf("got %d, %q", code, complaints)
	}
}
