package main

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"
)

// verdict is the outcome of a scenario.
type verdict string

const (
	same      verdict = "same"
	different verdict = "different"
	intended  verdict = "intended"
	stale     verdict = "stale" // an intended difference that is not there
)

// result is a scenario with its outcome.
type result struct {
	Chapter   string   `json:"chapter"`
	Scenario  string   `json:"scenario"`
	Verdict   verdict  `json:"verdict"`
	Reason    string   `json:"reason,omitempty"`   // of an intended difference
	Unsteady  bool     `json:"unsteady,omitempty"` // differed, and did not when played with pauses
	Seconds   float64  `json:"seconds"`
	Reference []string `json:"reference"` // transcripts
	Subject   []string `json:"subject"`
}

// pauses are taken while settling, by the number of the attempt. The last one decides.
var pauses = []time.Duration{0, 100 * time.Millisecond, 400 * time.Millisecond}

// part is a scenario in its chapter.
type part struct {
	chapter string
	scenario
}

// pair is a worker's access to the brokers that it compares.
type pair struct {
	reference, subject *side
	excused            func(*result) bool // whether the difference is known; saves repeating it
}

// playAll plays the parts, each of the pairs one at a time, and returns the results in the order of the parts.
func playAll(ctx context.Context, pairs []pair, parts []part) ([]result, error) {
	results := make([]result, len(parts))
	todo := make(chan int)
	errs := make([]error, len(pairs))
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var workers sync.WaitGroup
	for i, p := range pairs {
		workers.Go(func() {
			for n := range todo {
				var err error
				if results[n], err = p.compare(parts[n]); err != nil {
					errs[i] = fmt.Errorf("%s: %s: %w", parts[n].chapter, parts[n].name, err)
					cancel()
					return
				}
			}
		})
	}
	for n := range parts {
		select {
		case todo <- n:
		case <-ctx.Done():
		}
	}
	close(todo)
	workers.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return results, ctx.Err()
}

// compare plays a scenario on both sides, again with pauses while there is a difference.
func (p pair) compare(one part) (r result, err error) {
	r = result{Chapter: one.chapter, Scenario: one.name, Verdict: different}
	began := time.Now()
	defer func() { r.Seconds = time.Since(began).Seconds() }()
	for attempt, pause := range pauses {
		if r.Reference, r.Subject, err = p.play(one.scenario, pause); err != nil {
			return r, err
		}
		if slices.Equal(r.Reference, r.Subject) {
			r.Verdict, r.Unsteady = same, attempt > 0
			break
		}
		if p.excused(&r) {
			break
		}
	}
	return r, nil
}

// play plays a scenario once on both sides at the same time.
func (p pair) play(sc scenario, pause time.Duration) (reference, subject []string, err error) {
	var referenceErr, subjectErr error
	var both sync.WaitGroup
	both.Go(func() { reference, referenceErr = perform(p.reference, sc, pause) })
	both.Go(func() { subject, subjectErr = perform(p.subject, sc, pause) })
	both.Wait()
	if referenceErr != nil {
		return nil, nil, referenceErr
	}
	return reference, subject, subjectErr
}

// departure is the first line in which the subject departs from the reference, "" if it just ends before.
func departure(reference, subject []string) string {
	for i, line := range subject {
		if i >= len(reference) || reference[i] != line {
			return line
		}
	}
	return ""
}
