package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/warrenmq/warren/compat/load"
)

// madeUp makes up a run with a rate, and latencies and costs that follow from it.
func madeUp(match, contestant string, round int, rate float64) Run {
	us := int64(1e6 / rate)
	return Run{
		Match: match, Contestant: contestant, Round: round, Probe: flush{P50: time.Duration(round) * time.Millisecond},
		Report: &load.Report{
			DeliveredPerSecond: rate,
			Confirm:            &load.Latency{P50: us, P99: 10 * us},
			Delivery:           &load.Latency{P50: 2 * us, P99: 20 * us},
			Broker:             &load.Usage{CPUPerMessage: 1e5 / rate, PeakRSS: 64 << 20, WrittenPerMessage: 1100},
		},
	}
}

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		in   []float64
		want float64
	}{{[]float64{3}, 3}, {[]float64{9, 1}, 5}, {[]float64{9, 1, 2}, 2}, {[]float64{4, 1, 9, 2}, 3}} {
		if got := median(c.in); got != c.want {
			t.Errorf("median of %v is %v, want %v", c.in, got, c.want)
		}
	}
}

func TestSectionsTakeMediansAndKeepOrder(t *testing.T) {
	r := Report{Runs: []Run{
		madeUp("m1", "warren durable", 1, 1000), madeUp("m1", "rabbitmq-4 quorum", 1, 100),
		madeUp("m1", "warren durable", 2, 4000), madeUp("m1", "rabbitmq-4 quorum", 2, 500),
		madeUp("m1", "warren durable", 3, 2000), madeUp("m1", "rabbitmq-4 quorum", 3, 200),
		madeUp("m0", "warren durable", 1, 10),
	}}
	s := r.sections()
	if len(s) != 2 || s[0].match != "m1" || s[0].probe != 2000 || len(s[0].lines) != 2 {
		t.Fatalf("sections: %+v", s)
	}
	ours, theirs := s[0].lines[0], s[0].lines[1]
	if ours.contestant != "warren durable" || ours.Rate != 2000 || theirs.Rate != 200 || theirs.ConfirmP99 != 50_000 {
		t.Errorf("lines: %+v, %+v", ours, theirs)
	}
	if got, want := s[0].against(theirs), "×10.00, ×0.10, ×0.10"; got != want {
		t.Errorf("ratios %q, want %q", got, want)
	}
	if got := s[0].against(ours); got != "" {
		t.Errorf("Warren beside itself: %q", got)
	}
}

func TestFailedRunShows(t *testing.T) {
	bad := madeUp("m", "warren durable", 1, 1000)
	bad.Report.Error = "3 messages lost"
	r := Report{Runs: []Run{bad, madeUp("m", "warren durable", 2, 1000)}}
	var table strings.Builder
	r.print(&table)
	if !strings.Contains(table.String(), "FAILED: 3 messages lost") {
		t.Errorf("the table hides a failure:\n%s", table.String())
	}
}

// What was not measured is shown as such, not as zero.
func TestMissingFigures(t *testing.T) {
	r := Report{Runs: []Run{
		{Match: "tiny", Contestant: "warren durable", Round: 1, Report: &load.Report{DeliveredPerSecond: 5}},
		{Match: "tiny", Contestant: "rabbitmq-4 quorum", Round: 1, Report: &load.Report{}},
	}}
	s := r.sections()[0]
	if got := s.against(s.lines[1]); got != "–, –, –" {
		t.Errorf("ratios to nothing: %q", got)
	}
	if got := latency(0, 0); got != "–" {
		t.Errorf("no latency: %q", got)
	}
}

func TestWriteReport(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new")
	r := Report{Machine: thisMachine("/"), Contestants: map[string]string{"warren": "1.2.3"}, Runs: []Run{madeUp("m", "warren durable", 1, 1000)}}
	if err := r.write(dir); err != nil {
		t.Fatal(err)
	}
	md, err := os.ReadFile(filepath.Join(dir, "report.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"warren: 1.2.3", "| m (bare flush 1000 µs) | warren durable | 1000 | 1/10 ms |", "| m | warren durable | 1 | 1000/0 |"} {
		if !strings.Contains(string(md), want) {
			t.Errorf("report.md lacks %q:\n%s", want, md)
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, "report.json"))
	if err != nil {
		t.Fatal(err)
	}
	var back Report
	if err := json.Unmarshal(text, &back); err != nil || back.Runs[0].Report.DeliveredPerSecond != 1000 {
		t.Errorf("report.json: %v, %+v", err, back.Runs)
	}
}

func TestEveryMatchHasBothSides(t *testing.T) {
	names := map[string]bool{}
	for _, m := range matches() {
		if names[m.String()] {
			t.Errorf("%s twice", m)
		}
		names[m.String()] = true
		list := contestants(m.promise, []string{"rabbitmq-3.10", "rabbitmq-4"})
		if len(list) != 3 || list[0].broker != "warren" || list[0].queue.Durability != string(m.promise) {
			t.Errorf("%s: %v", m, list)
		}
		for _, c := range list[1:] {
			if want := map[promise]string{durable: "quorum", buffered: "classic"}[m.promise]; c.queue.QueueType != want {
				t.Errorf("%s: %s has type %q, want %q", m, c, c.queue.QueueType, want)
			}
		}
	}
}

func TestMachineIsDescribed(t *testing.T) {
	m := thisMachine(t.TempDir())
	if m.Cores < 1 || m.MemoryGiB <= 0 || m.Kernel == "" || m.Filesystem == "" || m.Go == "" {
		t.Errorf("%+v", m)
	}
	if fs := filesystemOf("/proc/self"); fs != "proc" {
		t.Errorf("/proc is a %q", fs)
	}
}

func TestProbeFlushes(t *testing.T) {
	dir := t.TempDir()
	f, err := probeFlush(dir, 1024)
	if err != nil || f.Count < 1 || f.P50 <= 0 || f.P99 < f.P50 {
		t.Errorf("%+v, %v", f, err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestOptionsAreChecked(t *testing.T) {
	for _, args := range [][]string{{"-rounds", "0"}, {"-seconds", "0"}, {"-nosuch"}} {
		if _, err := parseOptions(args); err == nil {
			t.Errorf("%v is accepted", args)
		}
	}
	if err := dispatch(t.Context(), []string{"nosuch"}); err == nil {
		t.Error("an unknown subcommand is accepted")
	}
}
