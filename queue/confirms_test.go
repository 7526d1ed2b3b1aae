package queue

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestConfirmsAgainstTwin compares Confirms with a list of messages that is searched from the front.
func TestConfirmsAgainstTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type twin struct {
			gates int
			nack  bool
		}
		var m meter
		var messages []twin
		var open [][2]uint64 // runs with a gate still closed
		reported, last := uint64(0), uint64(0)
		var outcomes []bool
		c := NewConfirms(func(upTo uint64, multiple, nack bool) {
			if upTo <= reported || multiple != (upTo-reported > 1) {
				t.Fatalf("reported %d after %d, multiple %v", upTo, reported, multiple)
			}
			for ; reported < upTo; reported++ {
				outcomes = append(outcomes, nack)
			}
		})
		t.Repeat(map[string]func(*rapid.T){
			"begin": func(t *rapid.T) {
				gates := rapid.IntRange(1, 3).Draw(t, "gates")
				from := last + 1
				for range rapid.IntRange(1, 200).Draw(t, "n") {
					last++
					c.begin(last, gates, &m)
					messages = append(messages, twin{gates: gates})
				}
				for range gates {
					open = append(open, [2]uint64{from, last})
				}
			},
			"pass": func(t *rapid.T) {
				if len(open) == 0 {
					t.Skip("nothing open")
				}
				i := rapid.IntRange(0, len(open)-1).Draw(t, "run")
				nack := rapid.IntRange(0, 4).Draw(t, "nack") == 0
				r := open[i]
				open = slices.Delete(open, i, i+1)
				c.pass([]run{{c, r[0], r[1]}}, nack)
				for seq := r[0]; seq <= r[1]; seq++ {
					messages[seq-1].gates--
					messages[seq-1].nack = messages[seq-1].nack || nack
				}
			},
			"": func(t *rapid.T) {
				want := 0
				for want < len(messages) && messages[want].gates == 0 {
					if want < len(outcomes) && outcomes[want] != messages[want].nack {
						t.Fatalf("message %d: nack is %v", want+1, outcomes[want])
					}
					want++
				}
				if int(reported) != want || c.Outstanding() != len(messages)-want || m.read().Confirm != uint64(want) {
					t.Fatalf("reported %d, outstanding %d, want %d of %d", reported, c.Outstanding(), want, len(messages))
				}
			},
		})
	})
}

func TestClosedConfirmsAreSilent(t *testing.T) {
	var m meter
	c := NewConfirms(func(uint64, bool, bool) { t.Error("reported") })
	c.begin(1, 1, &m)
	c.Close()
	c.pass([]run{{c, 1, 1}}, false)
	if m.read().Confirm != 0 {
		t.Error("counted")
	}
}

func TestLongRingIsGivenBack(t *testing.T) {
	var m meter
	c := NewConfirms(func(uint64, bool, bool) {})
	for seq := range uint64(3 * keepRing) {
		c.begin(seq+1, 1, &m)
	}
	c.pass([]run{{c, 1, 3 * keepRing}}, false)
	if len(c.gates) != 0 {
		t.Errorf("a ring of %d is kept", len(c.gates))
	}
}
