package config

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/spf13/pflag"
)

var ignoreGiven = cmpopts.IgnoreUnexported(Config{})

func writeFile(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "warren.yaml")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestLoadDefaults(t *testing.T) {
	c, err := Load(Source{Environ: []string{"PATH=/bin", "WARRENS=many"}})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Default(), c, ignoreGiven); diff != "" {
		t.Error(diff)
	}
	if c.Given("amqp.listen") {
		t.Error("a default counts as given")
	}
}

func TestLoadLayers(t *testing.T) {
	file := writeFile(t, `
data_dir: /var/lib/warren
amqp:
  listen: ["0.0.0.0:5672"]
  heartbeat: 30s
  frame_max: 64KiB
  channel_max: 10
http:
  listen: []
storage:
`)
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	flags.String("data-dir", "", "")
	flags.StringArray("amqp-listen", nil, "")
	if err := flags.Parse([]string{"--amqp-listen", "127.0.0.1:1", "--amqp-listen", "[::1]:2"}); err != nil {
		t.Fatal(err)
	}
	c, err := Load(Source{
		File:    file,
		Environ: []string{"WARREN_AMQP_CHANNEL_MAX=20", "WARREN_AMQP_LISTEN=127.0.0.1:9", "WARREN_BROKER_LOOPBACK_USERS=", "WARREN_CONFIG=x"},
		Flags:   map[string]*pflag.Flag{"data_dir": flags.Lookup("data-dir"), "amqp.listen": flags.Lookup("amqp-listen")},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := Default()
	want.DataDir = "/var/lib/warren"
	want.AMQP.Listen = []string{"127.0.0.1:1", "[::1]:2"}
	want.AMQP.Heartbeat = 30 * time.Second
	want.AMQP.FrameMax = 65536
	want.AMQP.ChannelMax = 20
	want.HTTP.Listen = []string{}
	want.Broker.LoopbackUsers = []string{}
	if diff := cmp.Diff(want, c, ignoreGiven); diff != "" {
		t.Error(diff)
	}
	if !c.Given("amqp.listen") || !c.Given("http.listen") || c.Given("log.level") {
		t.Error("given keys are not those that were set")
	}
}

func TestLoadRefuses(t *testing.T) {
	for _, tc := range []struct{ name, text, env, want string }{
		{"unknown key", "amqp:\n  frame_maks: 1\n", "", "amqp.frame_maks: no such setting, want one of listen, heartbeat"},
		{"unknown group", "amqps: {}\n", "", "amqps: no such setting, want one of data_dir, shutdown_timeout, amqp"},
		{"other case", "amqp: {Frame_Max: 8192}\n", "", "amqp.Frame_Max: no such setting"},
		{"dotted key", "amqp.frame_max: 8192\n", "", "amqp.frame_max: no such setting"},
		{"text for a number", "amqp: {channel_max: \"7\"}\n", "", `amqp.channel_max: got "7", want a whole number from 1 to 65535`},
		{"number for text", "data_dir: 7\n", "", "data_dir: got 7, want a path"},
		{"fraction", "amqp: {channel_max: 7.5}\n", "", "amqp.channel_max: got 7.5, want a whole number"},
		{"range", "amqp: {frame_max: 100}\n", "", "amqp.frame_max: got 100, want a number of bytes from 8192 to 16777216"},
		{"size unit", "amqp: {frame_max: 64kb}\n", "", `amqp.frame_max: got "64kb", want a number of bytes`},
		{"duration without a unit", "amqp: {heartbeat: 60}\n", "", `amqp.heartbeat: got 60, want text with a unit`},
		{"share", "alarms: {memory_high_watermark: 60}\n", "", "alarms.memory_high_watermark: got 60, want a number from 0 to 1"},
		{"no share", "alarms: {memory_high_watermark: .nan}\n", "", "alarms.memory_high_watermark: got NaN, want a number from 0 to 1"},
		{"nothing", "data_dir:\n", "", "data_dir: got nothing, want a path"},
		{"scalar for a group", "amqp: 5672\n", "", "amqp: got 5672, want settings below it: listen, "},
		{"scalar for a list", "amqp: {listen: \"127.0.0.1:5672\"}\n", "", "amqp.listen: got \"127.0.0.1:5672\", want a list of HOST:PORT"},
		{"no port", "amqp: {listen: [localhost]}\n", "", "amqp.listen: got [localhost], want a list of HOST:PORT"},
		{"empty list", "amqp: {listen: []}\n", "", "amqp.listen: got [], want a list of HOST:PORT, at least one"},
		{"version", "broker: {claimed_version: \"4.2\"}\n", "", `broker.claimed_version: got "4.2", want three numbers with dots`},
		{"duplicate", "data_dir: a\ndata_dir: b\n", "", "already defined"},
		{"no YAML", "{", "", "yaml: "},
		{"two documents", "data_dir: a\n---\ndata_dir: b\n", "", "want one YAML document"},
		{"unknown variable", "", "WARREN_AMQP_FRAMEMAX=1", "WARREN_AMQP_FRAMEMAX: no such setting, want one of "},
		{"variable of another type", "", "WARREN_AMQP_CHANNEL_MAX=many", `environment WARREN_AMQP_CHANNEL_MAX: amqp.channel_max: got "many", want a whole number`},
		{"hidden by a stronger layer", "amqp: {channel_max: 0}\n", "WARREN_AMQP_CHANNEL_MAX=5", "amqp.channel_max: got 0, want"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			file := writeFile(t, tc.text)
			_, err := Load(Source{File: file, Environ: []string{tc.env}})
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Fatalf("got %v, want an error with %q", err, tc.want)
			}
			if tc.env == "" && !strings.Contains(err.Error(), file) {
				t.Errorf("%v does not name the file", err)
			}
		})
	}
}

func TestLoadReportsAllErrors(t *testing.T) {
	_, err := Load(Source{File: writeFile(t, "a: 1\nb: 2\nlog: {level: loud}\n")})
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok || len(joined.Unwrap()) != 3 {
		t.Fatalf("got %v, want three errors", err)
	}
	if e, ok := errors.AsType[*Error](err); !ok || e.Key != "a" {
		t.Errorf("first error is %v", e)
	}
}

func TestLoadMissingFile(t *testing.T) {
	if _, err := Load(Source{File: filepath.Join(t.TempDir(), "none.yaml")}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}

// TestPrintIsAFile checks that what Print writes is a file with the same meaning.
func TestPrintIsAFile(t *testing.T) {
	want := Default()
	want.AMQP.Heartbeat = 90 * time.Second
	want.AMQP.FrameMax = 12345
	want.Alarms.MemoryHighWatermark = 0.25
	want.HTTP.Listen = []string{"[::]:1", "127.0.0.1:2"}
	want.Broker.LoopbackUsers = []string{}
	var text bytes.Buffer
	if err := want.Print(&text); err != nil {
		t.Fatal(err)
	}
	got, err := Load(Source{File: writeFile(t, text.String())})
	if err != nil {
		t.Fatalf("%v\n%s", err, text.String())
	}
	if diff := cmp.Diff(want, got, ignoreGiven); diff != "" {
		t.Error(diff)
	}
}
