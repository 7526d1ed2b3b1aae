package main

import (
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

//go:embed intended.txt
var intendedText string

// excuse is a line of intended.txt.
type excuse struct {
	releases []string // against which it holds: "3.10", "4"
	chapter  string
	scenario string // or its beginning, with "*" behind it
	reason   string
	used     bool

	// One of both: the first line in which Warren departs, or its beginning, with "*" behind it; or what is rewritten
	// in both transcripts before they are compared.
	departure string
	rewrite   *regexp.Regexp
	by        string
}

// excuses are all that hold against one release.
type excuses []excuse

// parseExcuses reads lines of five fields, separated by " | ". Empty lines and those that begin with "#" are skipped.
func parseExcuses(text string) (excuses, error) {
	var all excuses
	for n, line := range strings.Split(text, "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		fields := strings.Split(line, " | ")
		if len(fields) != 5 {
			return nil, fmt.Errorf("intended.txt:%d: %d fields instead of 5", n+1, len(fields))
		}
		e := excuse{
			releases: strings.Fields(fields[0]), chapter: fields[1], scenario: fields[2], departure: fields[3], reason: fields[4],
		}
		if err := e.parseRewrite(); err != nil {
			return nil, fmt.Errorf("intended.txt:%d: %w", n+1, err)
		}
		all = append(all, e)
	}
	return all, nil
}

// parseRewrite takes a departure of the form s~PATTERN~BY~ for what it is.
func (e *excuse) parseRewrite() (err error) {
	parts := strings.Split(e.departure, "~")
	if len(parts) != 4 || parts[0] != "s" || parts[3] != "" {
		return nil
	}
	e.rewrite, err = regexp.Compile(parts[1])
	e.by = parts[2]
	return err
}

// matches compares with a pattern that may end in "*".
func matches(pattern, s string) bool {
	if beginning, ok := strings.CutSuffix(pattern, "*"); ok {
		return strings.HasPrefix(s, beginning)
	}
	return pattern == s
}

// against returns those that hold against a broker.
func (all excuses) against(reference string) excuses {
	release := strings.TrimPrefix(reference, "rabbitmq-")
	return slices.DeleteFunc(slices.Clone(all), func(e excuse) bool { return !slices.Contains(e.releases, release) })
}

func (e *excuse) covers(r *result) bool {
	return e.chapter == r.Chapter && matches(e.scenario, r.Scenario)
}

// apply rewrites a transcript, and reports whether there was anything to rewrite.
func (e *excuse) apply(transcript []string) (rewritten []string, did bool) {
	rewritten = make([]string, len(transcript))
	for i, line := range transcript {
		rewritten[i] = e.rewrite.ReplaceAllString(line, e.by)
		did = did || rewritten[i] != line
	}
	return rewritten, did
}

// of returns the excuses for a difference, nil if they do not explain all of it: rewriting makes the transcripts the
// same, or what is left departs where it may.
func (all excuses) of(r *result) (found []*excuse) {
	reference, subject := r.Reference, r.Subject
	for i := range all {
		e := &all[i]
		if e.rewrite == nil || !e.covers(r) {
			continue
		}
		var here, there bool
		reference, here = e.apply(reference)
		subject, there = e.apply(subject)
		if here || there {
			found = append(found, e)
		}
	}
	if slices.Equal(reference, subject) {
		return found
	}
	first := departure(reference, subject)
	for i := range all {
		if e := &all[i]; e.rewrite == nil && e.covers(r) && matches(e.departure, first) {
			return append(found, e)
		}
	}
	return nil
}

// judge turns differences that are intended into such. What an excuse is there for and does not happen is stale; one
// for several scenarios is there for at least one of them.
func (all excuses) judge(results []result) {
	for i := range results {
		r := &results[i]
		if r.Verdict != different {
			continue
		}
		for _, e := range all.of(r) {
			r.Verdict, e.used = intended, true
			if r.Reason != "" {
				r.Reason += "; "
			}
			r.Reason += e.reason
		}
	}
	for i := range all {
		e := &all[i]
		for j := range results {
			if r := &results[j]; !e.used && e.covers(r) && r.Verdict == same {
				r.Verdict, r.Reason = stale, e.reason
			}
		}
	}
}
