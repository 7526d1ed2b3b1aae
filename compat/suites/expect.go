package main

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

//go:embed expect
var expectations embed.FS

// expected reads the recorded verdicts of a suite on RabbitMQ. Without a recording the map is empty.
func expected(suite string) (map[string]Verdict, error) {
	text, err := expectations.ReadFile("expect/" + suite + ".txt")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	verdicts := map[string]Verdict{}
	for line := range strings.Lines(string(text)) {
		verdict, test, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if !ok {
			return nil, fmt.Errorf("expect/%s.txt: %q is no \"verdict test\"", suite, line)
		}
		verdicts[test] = Verdict(verdict)
	}
	return verdicts, nil
}

// recordExpected writes what expected reads.
func recordExpected(dir, suite string, results []Result) error {
	var text strings.Builder
	for _, r := range results {
		fmt.Fprintf(&text, "%s %s\n", r.Verdict, r.Test)
	}
	return os.WriteFile(filepath.Join(dir, suite+".txt"), []byte(text.String()), 0o644)
}

// excuse is a line of expect/known-red.txt: tests that are allowed not to pass, and why.
type excuse struct {
	suite   string
	broker  string // "warren", "rabbitmq-3.10", or "*"
	pattern string // a test's name, "*" matches within it as in path.Match
	reason  string
}

// readExcuses reads lines "SUITE BROKER PATTERN: REASON". "#" starts a comment line.
func readExcuses() ([]excuse, error) {
	text, err := expectations.ReadFile("expect/known-red.txt")
	if err != nil {
		return nil, err
	}
	return parseExcuses(string(text))
}

func parseExcuses(text string) ([]excuse, error) {
	var list []excuse
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		// A pattern has no blanks, so the reason starts at the first ": ".
		head, reason, ok := strings.Cut(line, ": ")
		words := strings.Fields(head)
		if !ok || len(words) != 3 {
			return nil, fmt.Errorf("expect/known-red.txt: %q is no \"SUITE BROKER PATTERN: REASON\"", line)
		}
		e := excuse{suite: words[0], broker: words[1], pattern: words[2], reason: reason}
		if _, err := path.Match(e.pattern, ""); err != nil {
			return nil, fmt.Errorf("expect/known-red.txt: %q: %w", e.pattern, err)
		}
		list = append(list, e)
	}
	return list, nil
}

// excused finds the reason for which a test may be red.
func excused(list []excuse, broker, suite, test string) (reason string, ok bool) {
	for _, e := range list {
		match, _ := path.Match(e.pattern, test) // checked by parseExcuses
		if e.suite == suite && (e.broker == "*" || e.broker == broker) && (match || e.pattern == test) {
			return e.reason, true
		}
	}
	return "", false
}

// judge compares the outcome with the recording and the excuses.
func (o *Outcome) judge(broker string, excuses []excuse) error {
	recorded, err := expected(o.Suite)
	if err != nil {
		return err
	}
	if len(recorded) == 0 {
		return fmt.Errorf("no verdicts of %s are recorded", o.Suite)
	}
	o.compare(broker, recorded, excuses)
	return nil
}

func (o *Outcome) compare(broker string, recorded map[string]Verdict, excuses []excuse) {
	got := map[string]Result{}
	for _, r := range o.Results {
		got[r.Test] = r
	}
	all := o.Results
	for test := range recorded {
		if _, ok := got[test]; !ok {
			all = append(all, Result{Test: test, Verdict: Absent})
		}
	}
	for _, r := range sorted(all) {
		o.sort(r, recorded[r.Test], broker, excuses)
	}
}

// sort files one result under what it means. recorded is "" for a test that the recording does not know.
func (o *Outcome) sort(r Result, recorded Verdict, broker string, excuses []excuse) {
	reason, mayBeRed := excused(excuses, broker, o.Suite, r.Test)
	if recorded == Pass {
		o.Baseline++
	}
	switch {
	case r.Verdict == Pass && mayBeRed:
		o.Against = append(o.Against, Finding{r.Test, r.Verdict, "passes: take its line out of known-red.txt: " + reason})
	case r.Verdict == Pass:
		if recorded == Pass {
			o.Matched++
		}
	case mayBeRed:
		o.Excused = append(o.Excused, Finding{r.Test, r.Verdict, reason})
	case recorded == Pass:
		o.Against = append(o.Against, Finding{r.Test, r.Verdict, "passes on RabbitMQ"})
	case r.Verdict == Fail:
		o.RedToo = append(o.RedToo, Finding{r.Test, r.Verdict, "on RabbitMQ: " + string(recorded)})
	}
}
