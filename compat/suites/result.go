package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// Verdict is what a test came to.
type Verdict string

// The verdicts.
const (
	Pass   Verdict = "pass"
	Fail   Verdict = "fail"
	Skip   Verdict = "skip"
	Absent Verdict = "absent" // expected, and no result came
)

// Result is one test's result.
type Result struct {
	Test    string  `json:"test"`
	Verdict Verdict `json:"verdict"`
	Seconds float64 `json:"seconds"`
	Output  string  `json:"output,omitempty"` // of a red test, its end
}

// maxOutput bounds what is kept of a red test's output.
const maxOutput = 4 << 10

// Finding is a verdict that counts against the broker, or tells of an expectation that is out of date.
type Finding struct {
	Test    string  `json:"test"`
	Verdict Verdict `json:"verdict"`
	Why     string  `json:"why"`
}

// Outcome is what one suite came to.
type Outcome struct {
	Suite    string    `json:"suite"`
	Version  string    `json:"version"`
	LeftOut  string    `json:"left_out,omitempty"` // why it did not run
	Results  []Result  `json:"results"`
	Against  []Finding `json:"against"`  // counts
	Excused  []Finding `json:"excused"`  // red, and known to be
	RedToo   []Finding `json:"red_too"`  // red here, and not passing on RabbitMQ either
	Baseline int       `json:"baseline"` // how many pass on RabbitMQ
	Matched  int       `json:"matched"`  // how many of those pass here
}

// Report is what the run came to.
type Report struct {
	Broker  string    `json:"broker"`
	Version string    `json:"version"`
	Suites  []Outcome `json:"suites"`
}

// Counting is the number of verdicts that count against the broker.
func (r *Report) Counting() int {
	n := 0
	for _, s := range r.Suites {
		n += len(s.Against)
	}
	return n
}

func (o *Outcome) count(v Verdict) int {
	n := 0
	for _, r := range o.Results {
		if r.Verdict == v {
			n++
		}
	}
	return n
}

func (o *Outcome) seconds() float64 {
	s := 0.0
	for _, r := range o.Results {
		if !strings.Contains(r.Test, "/") { // a Go test's time holds its subtests'
			s += r.Seconds
		}
	}
	return s
}

// Print writes the table, then each finding, then the sum in the form that continuous integration reads.
func (r *Report) Print(w io.Writer) {
	fmt.Fprintf(w, "\n%s %s\n\n", r.Broker, r.Version)
	fmt.Fprintf(w, "%-14s %-10s %6s %6s %6s %8s %10s %8s %8s\n",
		"suite", "version", "pass", "fail", "skip", "seconds", "of rabbit", "excused", "against")
	var passed, failed, skipped int
	for _, s := range r.Suites {
		if s.LeftOut != "" {
			fmt.Fprintf(w, "%-14s %-10.10s left out: %s\n", s.Suite, s.Version, s.LeftOut)
			continue
		}
		fmt.Fprintf(w, "%-14s %-10.10s %6d %6d %6d %8.1f %10s %8d %8d\n", s.Suite, s.Version,
			s.count(Pass), s.count(Fail), s.count(Skip), s.seconds(),
			fmt.Sprintf("%d/%d", s.Matched, s.Baseline), len(s.Excused), len(s.Against))
		passed += s.count(Pass)
		failed += len(s.Against)
		skipped += s.count(Skip) + len(s.Excused) + len(s.RedToo)
	}
	for _, s := range r.Suites {
		printFindings(w, s.Suite+": counts against the broker", s.Against)
		printFindings(w, s.Suite+": known red", s.Excused)
		printFindings(w, s.Suite+": does not pass on RabbitMQ either", s.RedToo)
	}
	fmt.Fprintf(w, "\n%d passed, %d failed, %d skipped\n", passed, failed, skipped)
}

func printFindings(w io.Writer, title string, list []Finding) {
	if len(list) == 0 {
		return
	}
	fmt.Fprintf(w, "\n%s\n", title)
	for _, f := range list {
		fmt.Fprintf(w, "  %-6s %s  (%s)\n", f.Verdict, f.Test, f.Why)
	}
}

func (r *Report) write(path string) error {
	text, err := json.MarshalIndent(r, "", "\t")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o644)
}

// sorted orders results by name and keeps the last one of a name: a suite that repeats a test means the last try.
func sorted(results []Result) []Result {
	last := map[string]Result{}
	for _, r := range results {
		last[r.Test] = r
	}
	list := make([]Result, 0, len(last))
	for _, r := range last {
		list = append(list, r)
	}
	slices.SortFunc(list, func(a, b Result) int { return strings.Compare(a.Test, b.Test) })
	return list
}
