package main

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/warrenmq/warren/amqp"
)

var missingQueue = part{"test", scenario{"a missing queue", func(s *stage) {
	s.channel().do(declareQueue("nowhere", passive))
}}}

func never(*result) bool { return false }

func TestTheSameBrokerIsTheSame(t *testing.T) {
	addr := newFakeBroker(t).addr()
	p := pair{&side{name: "one", addr: addr}, &side{name: "other", addr: addr}, never}
	results, err := playAll(t.Context(), []pair{p}, []part{missingQueue})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		`a1 > queue.declare queue="nowhere" passive arguments={}`,
		`a1 < channel.close reply-code=404 reply-text="NOT_FOUND - no queue 'nowhere' in vhost '/'" class-id=50 method-id=10`,
	}
	if r := results[0]; r.Verdict != same || r.Unsteady || !slices.Equal(r.Subject, want) {
		t.Errorf("%+v", r)
	}
}

// TestDistortedReplyIsFound is the negative control: one word of one reply text is changed on its way.
func TestDistortedReplyIsFound(t *testing.T) {
	addr := newFakeBroker(t).addr()
	d, err := distort(addr, "no queue '", "no quEue '")
	if err != nil {
		t.Fatal(err)
	}
	defer d.close()
	p := pair{&side{name: "one", addr: addr}, &side{name: "other", addr: d.addr()}, never}
	results, err := playAll(t.Context(), []pair{p}, []part{missingQueue})
	if err != nil {
		t.Fatal(err)
	}
	r := results[0]
	if first := departure(r.Reference, r.Subject); r.Verdict != different || !strings.Contains(first, "no quEue 'nowhere'") {
		t.Errorf("%+v", r)
	}
	c := comparison{Results: results}
	var report strings.Builder
	c.details(&report)
	if text := report.String(); c.good() || !strings.Contains(text, "no quEue") || !strings.Contains(text, "no queue") {
		t.Errorf("report:\n%s", text)
	}
}

func TestABrokerThatIsGoneIsNoDifference(t *testing.T) {
	addr := newFakeBroker(t).addr()
	d, err := distort(addr, "", "")
	if err != nil {
		t.Fatal(err)
	}
	d.close()
	p := pair{&side{name: "one", addr: addr}, &side{name: "other", addr: d.addr()}, never}
	if _, err := playAll(t.Context(), []pair{p}, []part{missingQueue, missingQueue}); err == nil {
		t.Error("no error")
	}
}

func TestScenarioNamesAreUnique(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range chapters {
		for _, s := range c.scenarios {
			name := c.name + ": " + s.name
			if seen[name] {
				t.Errorf("%s: twice", name)
			}
			seen[name] = true
		}
	}
	if len(seen) < 400 {
		t.Errorf("%d scenarios", len(seen))
	}
}

func TestIntendedDifferencesAreOfScenarios(t *testing.T) {
	all, err := parseExcuses(intendedText)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range all {
		covered := slices.ContainsFunc(chapters, func(c chapter) bool {
			return c.name == e.chapter && slices.ContainsFunc(c.scenarios, func(s scenario) bool { return matches(e.scenario, s.name) })
		})
		if !covered || e.reason == "" || len(e.releases) == 0 {
			t.Errorf("%+v", e)
		}
	}
}

func TestExcuses(t *testing.T) {
	const text = "# comment\n" +
		"4 | c | departs | a1 < two* | first\n" +
		"4 | c | rewritten* | s~ extra=\\d+~~ | second\n" +
		"3.10 | c | departs | a1 < two* | other release\n" +
		"4 | c | gone | a1 < x | third"
	all, err := parseExcuses(text)
	if err != nil {
		t.Fatal(err)
	}
	known := all.against("rabbitmq-4")
	results := []result{
		{Chapter: "c", Scenario: "departs", Verdict: different, Reference: []string{"a1 < one"}, Subject: []string{"a1 < two three"}},
		{Chapter: "c", Scenario: "departs", Verdict: different, Reference: []string{"a1 < one"}, Subject: []string{"a1 < three"}},
		{Chapter: "c", Scenario: "rewritten 1", Verdict: different, Reference: []string{"a extra=1 b"}, Subject: []string{"a b"}},
		{Chapter: "c", Scenario: "rewritten 2", Verdict: different, Reference: []string{"a extra=1 b"}, Subject: []string{"a c"}},
		{Chapter: "c", Scenario: "gone", Verdict: same},
		{Chapter: "c", Scenario: "not excused", Verdict: different, Reference: []string{"a"}, Subject: []string{"b"}},
	}
	known.judge(results)
	want := []verdict{intended, different, intended, different, stale, different}
	for i, r := range results {
		if r.Verdict != want[i] {
			t.Errorf("%s: %s", r.Scenario, r.Verdict)
		}
	}
	for _, bad := range []string{"4 | c | s", "4 | c | s | s~(~x~ | r"} {
		if _, err := parseExcuses(bad); err == nil {
			t.Errorf("%q: no error", bad)
		}
	}
}

func TestNormalize(t *testing.T) {
	now := strconv.FormatInt(time.Now().Unix(), 10)
	got := normalize([]string{
		`queue="amq.gen-AAAAAAAAAAAAAAAAAAAAAA" vhost 'conformance-12b'`,
		`queue="amq.gen-BBBBBBBBBBBBBBBBBBBBBB" tag="amq.ctag-AAAAAAAAAAAAAAAAAAAAAA"`,
		`queue="amq.gen-AAAAAAAAAAAAAAAAAAAAAA" queue="amq.gen-short" time=T:` + now + ` T:1700000000`,
		`version=S:"4.3.6" product=S:"RabbitMQ"`,
	})
	want := []string{
		`queue="amq.gen-<1>" vhost '/'`,
		`queue="amq.gen-<2>" tag="amq.ctag-<1>"`,
		`queue="amq.gen-<1>" queue="amq.gen-short" time=T:now T:1700000000`,
		`version=S:"..." product=S:"RabbitMQ"`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

func TestConfirmsOfAStepAreGathered(t *testing.T) {
	c := &client{stage: newStage(&side{}, 0), channels: map[uint16]*channel{}}
	ch := c.at(1)
	ch.pending = []uint64{1, 2, 3, 4, 5}
	ch.confirmed(2, true, false)
	ch.note("a delivery")
	ch.confirmed(4, false, true)
	ch.confirmed(5, true, false)
	ch.confirmed(5, false, false)
	want := []string{"a delivery", "confirm of 5, which nobody waits for", "confirmed [1 2 3 5], refused [4]"}
	if got := ch.flush(); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	// A return has to come before its confirm.
	for _, early := range []bool{true, false} {
		ch.pending = []uint64{6}
		if early {
			ch.confirmed(6, false, false)
		}
		ch.arrived = append(ch.arrived, event{line: "basic.return", returned: true})
		if !early {
			ch.confirmed(6, false, false)
		}
		if got := ch.flush(); (got[0] == "basic.return") == early {
			t.Errorf("%q", got)
		}
	}
}

func TestTypesAndPresenceAreShown(t *testing.T) {
	p := amqp.Properties{Present: amqp.HasPriority, Headers: amqp.Table{
		"a": int32(1), "b": int64(1), "c": "x", "d": nil, "e": []any{true, 1.5}, "f": amqp.Table{"g": []byte("h")}, "t": unixTime(5),
		"m": amqp.Decimal{Scale: 1, Value: 25}, "n": int16(-1), "o": uint16(1), "p": int8(-1), "q": uint8(1), "r": uint32(1), "s": float32(0.5),
	}}
	const want = `(headers={a=I:1 b=l:1 c=S:"x" d=V: e=A:[t:true d:1.5] f=F:{g=x:68} m=D:25e-1 n=s:-1 o=u:1 p=b:-1 q=B:1 r=i:1 s=f:0.5 t=T:5} priority=0)`
	if got := describeProperties(amqp.AppendProperties(nil, &p)); got != want {
		t.Errorf("%s", got)
	}
	if got := describeTable([]byte("\x01aL\x00\x00\x00\x00\x00\x00\x00\x01")); got != "{a=L:1}" {
		t.Errorf("%s", got)
	}
}

func TestAlign(t *testing.T) {
	got := align([]string{"a", "b", "c", "d"}, []string{"a", "x", "c", "e", "d"})
	want := []row{{"a", "a"}, {"b", "x"}, {"c", "c"}, {"", "e"}, {"d", "d"}}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}
