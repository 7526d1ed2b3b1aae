package main

import (
	"testing"

	"github.com/warrenmq/warren/compat/torture/history"
)

func TestVerdict(t *testing.T) {
	report := func(confirmed int, violations map[history.Class]int) history.Report {
		return history.Report{Confirmed: confirmed, Violations: violations}
	}
	lost, phantom := map[history.Class]int{history.Lost: 1}, map[history.Class]int{history.Phantom: 2}
	for name, c := range map[string]struct {
		control string
		report  history.Report
		allow   string
		good    bool
	}{
		"clean":                       {report: report(10, nil), good: true},
		"nothing confirmed":           {report: report(0, nil)},
		"lost":                        {report: report(10, lost)},
		"phantom":                     {report: report(10, phantom)},
		"phantom, allowed":            {report: report(10, phantom), allow: "phantom", good: true},
		"lost, phantom allowed":       {report: report(10, lost), allow: "phantom"},
		"control that loses":          {control: "proxy", report: report(10, lost), good: true},
		"control that loses nothing":  {control: "proxy", report: report(10, phantom)},
		"control that was never used": {control: "build", report: report(0, lost)},
	} {
		var o options
		if c.allow != "" {
			if err := o.allow(c.allow); err != nil {
				t.Fatal(err)
			}
		}
		s := summary{Control: c.control, Result: c.report}
		if err := s.verdict(&o); (err == nil) != c.good {
			t.Errorf("%s: verdict %v", name, err)
		}
	}
	if err := new(options).allow("nosuch"); err == nil {
		t.Error("an unknown class is allowed")
	}
}

func TestOptionsAreChecked(t *testing.T) {
	good := options{kills: 1, perCheck: 1, minUp: 1, maxUp: 1, load: load{publishers: 1, consumers: 1, direct: 1, window: 1, perEpoch: 1}}
	if err := good.check(); err != nil {
		t.Error(err)
	}
	for name, spoil := range map[string]func(*options){
		"no kills":     func(o *options) { o.kills = 0 },
		"never up":     func(o *options) { o.maxUp = 0 },
		"no publisher": func(o *options) { o.publishers = 0 },
		"no queue":     func(o *options) { o.direct = 0 },
		"no control":   func(o *options) { o.control = "hope" },
	} {
		o := good
		spoil(&o)
		if o.check() == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}

func TestTopologyRoutesEveryQueue(t *testing.T) {
	topology := newTopology(3, 2)
	reached := map[string]int{}
	for _, r := range topology.routes {
		for _, q := range r.queues {
			reached[q]++
		}
	}
	for _, q := range topology.queues {
		if reached[q] == 0 {
			t.Errorf("nothing is published to %s", q)
		}
	}
	if len(topology.queues) != 6 || len(reached) != 6 {
		t.Errorf("queues %v, reached %v", topology.queues, reached)
	}
}
