package main

import (
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReadTestEvents(t *testing.T) {
	const events = `{"Action":"start"}
{"Action":"run","Test":"TestGood"}
{"Action":"pass","Test":"TestGood","Elapsed":0.5}
{"Action":"run","Test":"TestBad"}
{"Action":"output","Test":"TestBad","Output":"it is bad\n"}
{"Action":"run","Test":"TestBad/part"}
{"Action":"skip","Test":"TestBad/part","Elapsed":0}
{"Action":"fail","Test":"TestBad","Elapsed":0.25}
{"Action":"run","Test":"TestDiesInside"}
{"Action":"output","Test":"TestDiesInside","Output":"panic: interface conversion"}
{"Action":"fail","Elapsed":1}
`
	got, err := readTestEvents(strings.NewReader(events))
	if err != nil {
		t.Fatal(err)
	}
	want := []Result{
		{Test: "TestBad", Verdict: Fail, Seconds: 0.25, Output: "it is bad\n"},
		{Test: "TestBad/part", Verdict: Skip},
		{Test: "TestDiesInside", Verdict: Fail, Output: "panic: interface conversion\n(never ended)"},
		{Test: "TestGood", Verdict: Pass, Seconds: 0.5},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if _, err := readTestEvents(strings.NewReader("not JSON\n")); err == nil {
		t.Error("a line that is no event is accepted")
	}
}

func TestReadJUnit(t *testing.T) {
	const report = `<?xml version="1.0"?><testsuites><testsuite>
<testcase classname="m.C" name="good" time="0.5"/>
<testcase classname="m.C" name="bad" time="1"><failure message="x">assert 1 == 2</failure></testcase>
<testcase classname="m.C" name="broken" time="1"><error message="x">no fixture</error></testcase>
<testcase classname="m.C" name="left" time="0"><skipped type="s">kqueue</skipped></testcase>
<testcase classname="m.C" name="good after all" time="1"><failure>first try</failure></testcase>
<testcase classname="m.C" name="good after all" time="1"/>
</testsuite></testsuites>`
	got, err := readJUnit([]byte(report))
	if err != nil {
		t.Fatal(err)
	}
	want := []Result{
		{Test: "m.C::bad", Verdict: Fail, Seconds: 1, Output: "assert 1 == 2"},
		{Test: "m.C::broken", Verdict: Fail, Seconds: 1, Output: "no fixture"},
		{Test: "m.C::good", Verdict: Pass, Seconds: 0.5},
		{Test: "m.C::good after all", Verdict: Pass, Seconds: 1},
		{Test: "m.C::left", Verdict: Skip},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if _, err := readJUnit([]byte(`<testsuites><testsuite/></testsuites>`)); err == nil {
		t.Error("a report without a test is accepted")
	}
}

func TestCompare(t *testing.T) {
	recorded := map[string]Verdict{"good": Pass, "worse": Pass, "gone": Pass, "left out": Pass, "excused": Pass, "mended": Pass, "red": Fail, "skipped": Skip}
	excuses, err := parseExcuses("# comment\n\ns warren excused: of a reason\ns warren mend*: was broken\nother * worse: not this suite\ns rabbitmq-4 gone: not this broker\n")
	if err != nil {
		t.Fatal(err)
	}
	o := Outcome{Suite: "s", Results: []Result{
		{Test: "good", Verdict: Pass}, {Test: "worse", Verdict: Fail}, {Test: "left out", Verdict: Skip},
		{Test: "excused", Verdict: Fail}, {Test: "mended", Verdict: Pass}, {Test: "red", Verdict: Fail},
		{Test: "skipped", Verdict: Skip}, {Test: "new and red", Verdict: Fail}, {Test: "new and good", Verdict: Pass},
	}}
	o.compare("warren", recorded, excuses)
	names := func(list []Finding) (names []string) {
		for _, f := range list {
			names = append(names, string(f.Verdict)+" "+f.Test)
		}
		return names
	}
	if got, want := names(o.Against), []string{"absent gone", "skip left out", "pass mended", "fail worse"}; !slices.Equal(got, want) {
		t.Errorf("against: %q, want %q", got, want)
	}
	if got, want := names(o.Excused), []string{"fail excused"}; !slices.Equal(got, want) {
		t.Errorf("excused: %q, want %q", got, want)
	}
	if got, want := names(o.RedToo), []string{"fail new and red", "fail red"}; !slices.Equal(got, want) {
		t.Errorf("red too: %q, want %q", got, want)
	}
	if o.Matched != 1 || o.Baseline != 6 {
		t.Errorf("%d of %d, want 1 of 6", o.Matched, o.Baseline)
	}
}

func TestParseExcusesRefuses(t *testing.T) {
	for _, line := range []string{"suite broker pattern", "suite pattern: reason", "s b p[: reason"} {
		if _, err := parseExcuses(line); err == nil {
			t.Errorf("%q is accepted", line)
		}
	}
}

// Every suite has its recording, with something in it that passes, and every excuse is about a recorded test.
func TestExpectationsFit(t *testing.T) {
	excuses, err := readExcuses()
	if err != nil {
		t.Fatal(err)
	}
	files, err := fs.Glob(expectations, "expect/*.txt")
	if err != nil || len(files) != len(suites)+1 {
		t.Errorf("%d files of expectations for %d suites (%v)", len(files), len(suites), err)
	}
	used := make([]bool, len(excuses))
	for _, s := range suites {
		recorded, err := expected(s.Name)
		if err != nil {
			t.Error(err)
		}
		passing := 0
		for test, verdict := range recorded {
			if verdict == Pass {
				passing++
			}
			for i := range excuses {
				if _, ok := excused(excuses[i:i+1], excuses[i].broker, s.Name, test); ok {
					used[i] = true
				}
			}
		}
		if passing == 0 {
			t.Errorf("%s: no passing test is recorded", s.Name)
		}
	}
	for i, e := range excuses {
		if !used[i] {
			t.Errorf("known-red.txt: %s %s excuses no recorded test", e.suite, e.pattern)
		}
	}
}

func TestChoose(t *testing.T) {
	all, err := choose("")
	if err != nil || len(all) != len(suites) {
		t.Errorf("all: %d, %v", len(all), err)
	}
	some, err := choose("pika,kombu")
	if err != nil || len(some) != 2 || some[0].Name != "pika" {
		t.Errorf("some: %v, %v", some, err)
	}
	if _, err := choose("pika,nosuch"); err == nil {
		t.Error("an unknown suite is accepted")
	}
}
