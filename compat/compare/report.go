package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/warrenmq/warren/compat/load"
)

// Report is everything that a comparison measured.
type Report struct {
	Machine     machine           `json:"machine"`
	Options     settings          `json:"settings"`
	Contestants map[string]string `json:"versions"`
	Runs        []Run             `json:"runs"`
}

// settings are the options that bear on the figures.
type settings struct {
	Rounds   int     `json:"rounds"`
	Seconds  float64 `json:"seconds"`
	BusyWait bool    `json:"rabbitmq_busy_wait"`
}

func settingsOf(o options) settings { return settings{o.rounds, o.seconds, o.busyWait} }

// figures are what the table shows of a run: rates in msg/s, latencies in µs, sizes in MiB, writes in bytes.
type figures struct {
	Rate                     float64
	ConfirmP50, ConfirmP99   float64
	DeliveryP50, DeliveryP99 float64
	CPU                      float64 // µs per message
	RSS                      float64
	Written                  float64 // per message
}

func figuresOf(r *load.Report) figures {
	f := figures{Rate: r.DeliveredPerSecond}
	if r.Confirm != nil {
		f.ConfirmP50, f.ConfirmP99 = float64(r.Confirm.P50), float64(r.Confirm.P99)
	}
	if r.Delivery != nil {
		f.DeliveryP50, f.DeliveryP99 = float64(r.Delivery.P50), float64(r.Delivery.P99)
	}
	if r.Broker != nil {
		f.CPU, f.RSS, f.Written = r.Broker.CPUPerMessage, float64(r.Broker.PeakRSS)/(1<<20), r.Broker.WrittenPerMessage
	}
	return f
}

// line is a contestant's part of a match: medians over the rounds.
type line struct {
	contestant string
	figures
	failed string // the last error of a run, "" if all went well
}

// medians condenses the rounds of one contestant.
func medians(runs []Run) line {
	l := line{contestant: runs[0].Contestant}
	pick := func(of func(figures) float64) float64 {
		var all []float64
		for _, r := range runs {
			all = append(all, of(figuresOf(r.Report)))
		}
		return median(all)
	}
	l.Rate = pick(func(f figures) float64 { return f.Rate })
	l.ConfirmP50 = pick(func(f figures) float64 { return f.ConfirmP50 })
	l.ConfirmP99 = pick(func(f figures) float64 { return f.ConfirmP99 })
	l.DeliveryP50 = pick(func(f figures) float64 { return f.DeliveryP50 })
	l.DeliveryP99 = pick(func(f figures) float64 { return f.DeliveryP99 })
	l.CPU = pick(func(f figures) float64 { return f.CPU })
	l.RSS = pick(func(f figures) float64 { return f.RSS })
	l.Written = pick(func(f figures) float64 { return f.Written })
	for _, r := range runs {
		l.failed = cmp.Or(r.Report.Error, l.failed)
	}
	return l
}

func median(values []float64) float64 {
	v := slices.Sorted(slices.Values(values))
	return (v[(len(v)-1)/2] + v[len(v)/2]) / 2
}

// section is the table's part about one match.
type section struct {
	match string
	probe float64 // median of the probes' medians, in µs
	lines []line  // Warren's first
}

func (r *Report) sections() []section {
	var list []section
	for _, name := range distinct(r.Runs, func(run Run) string { return run.Match }) {
		s := section{match: name}
		runs := only(r.Runs, func(run Run) bool { return run.Match == name })
		var probes []float64
		for _, run := range runs {
			probes = append(probes, float64(run.Probe.P50.Microseconds()))
		}
		s.probe = median(probes)
		for _, who := range distinct(runs, func(run Run) string { return run.Contestant }) {
			s.lines = append(s.lines, medians(only(runs, func(run Run) bool { return run.Contestant == who })))
		}
		list = append(list, s)
	}
	return list
}

func distinct(runs []Run, key func(Run) string) []string {
	var keys []string
	for _, r := range runs {
		if !slices.Contains(keys, key(r)) {
			keys = append(keys, key(r))
		}
	}
	return keys
}

func only(runs []Run, keep func(Run) bool) []Run {
	return slices.DeleteFunc(slices.Clone(runs), func(r Run) bool { return !keep(r) })
}

// print writes the table: a block for each match, Warren's line first, and behind each other line how Warren
// stands to it: as a multiple of its rate, its confirm p99 and its processor time.
func (r *Report) print(w io.Writer) {
	fmt.Fprintf(w, "%-28s %9s %17s %17s %8s %6s %8s   %s\n", "", "msg/s", "confirm p50/p99", "delivery p50/p99", "µs/msg", "MiB", "B/msg", "Warren: rate, p99, CPU")
	for _, s := range r.sections() {
		fmt.Fprintf(w, "\n%s  (bare flush %.0f µs)\n", s.match, s.probe)
		for _, l := range s.lines {
			fmt.Fprintf(w, "  %-26s %9.0f %17s %17s %8.1f %6.0f %8.0f   %s\n", l.contestant, l.Rate,
				latency(l.ConfirmP50, l.ConfirmP99), latency(l.DeliveryP50, l.DeliveryP99), l.CPU, l.RSS, l.Written, s.against(l))
		}
	}
}

// against compares Warren's line with l.
func (s section) against(l line) string {
	ours := s.lines[0]
	switch {
	case l.failed != "":
		return "FAILED: " + l.failed
	case l.contestant == ours.contestant:
		return ""
	}
	return fmt.Sprintf("%s, %s, %s", ratio(ours.Rate, l.Rate), ratio(ours.ConfirmP99, l.ConfirmP99), ratio(ours.CPU, l.CPU))
}

func ratio(a, b float64) string {
	if b == 0 {
		return "–"
	}
	return fmt.Sprintf("×%.2f", a/b)
}

// latency formats two latencies in µs.
func latency(p50, p99 float64) string {
	if p50 == 0 && p99 == 0 {
		return "–"
	}
	return fmt.Sprintf("%s/%s ms", ms(p50), ms(p99))
}

func ms(us float64) string {
	if us >= 100_000 {
		return fmt.Sprintf("%.0f", us/1000)
	}
	return fmt.Sprintf("%.3g", us/1000)
}

// write writes report.json and report.md into dir.
func (r *Report) write(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	text, err := json.MarshalIndent(r, "", "\t")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "report.json"), append(text, '\n'), 0o644); err != nil {
		return err
	}
	var md strings.Builder
	r.markdown(&md)
	return os.WriteFile(filepath.Join(dir, "report.md"), []byte(md.String()), 0o644)
}

// markdown writes the report for people.
func (r *Report) markdown(w io.Writer) {
	m := r.Machine
	fmt.Fprintf(w, "# Warren beside RabbitMQ\n\n")
	fmt.Fprintf(w, "%s. %d × %s, %.0f GiB, Linux %s, %s, %s, revision %s. Load averages at the beginning: %s.\n\n",
		m.When.Format("2006-01-02 15:04 MST"), m.Cores, m.CPU, m.MemoryGiB, m.Kernel, m.Filesystem, m.Go, cmp.Or(m.Revision, "unknown"), m.Load)
	for _, name := range slices.Sorted(maps.Keys(r.Contestants)) {
		fmt.Fprintf(w, "- %s: %s\n", name, cmp.Or(r.Contestants[name], "version unknown"))
	}
	fmt.Fprintf(w, "\n%d rounds of %v s after a warm-up of a quarter of that (3 s with 100 queues, 10 s with 1,000), contestants taking turns; RabbitMQ's busy waiting is %s.\n",
		r.Options.Rounds, r.Options.Seconds, map[bool]string{false: "off", true: "on"}[r.Options.BusyWait])
	fmt.Fprintf(w, "Broker, generator and disk share the machine. Medians over the rounds; every round is below.\n\n")
	fmt.Fprintf(w, "| work | contestant | msg/s | confirm p50/p99 | delivery p50/p99 | broker µs/msg | peak RSS MiB | B/msg | Warren: rate, confirm p99, CPU |\n|---|---|--:|--:|--:|--:|--:|--:|---|\n")
	for _, s := range r.sections() {
		for _, l := range s.lines {
			fmt.Fprintf(w, "| %s (bare flush %.0f µs) | %s | %.0f | %s | %s | %.1f | %.0f | %.0f | %s |\n", s.match, s.probe, l.contestant, l.Rate,
				latency(l.ConfirmP50, l.ConfirmP99), latency(l.DeliveryP50, l.DeliveryP99), l.CPU, l.RSS, l.Written, s.against(l))
		}
	}
	fmt.Fprintf(w, "\n## What the works are\n\n")
	for _, work := range workloads() {
		fmt.Fprintf(w, "- %s: %s\n", work.name, work.about)
	}
	fmt.Fprintf(w, "\n## Every round\n\n| work | contestant | round | bare flush p50/p99 µs | load | msg/s | confirm p50/p99 | delivery p50/p99 | broker µs/msg | generator µs/msg | peak RSS MiB | B/msg | error |\n|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|---|\n")
	for _, run := range r.Runs {
		f := figuresOf(run.Report)
		fmt.Fprintf(w, "| %s | %s | %d | %d/%d | %s | %.0f | %s | %s | %.1f | %.1f | %.0f | %.0f | %s |\n", run.Match, run.Contestant, run.Round,
			run.Probe.P50.Microseconds(), run.Probe.P99.Microseconds(), run.LoadAvg, f.Rate, latency(f.ConfirmP50, f.ConfirmP99),
			latency(f.DeliveryP50, f.DeliveryP99), f.CPU, run.Report.Generator.CPUPerMessage, f.RSS, f.Written, run.Report.Error)
	}
}
