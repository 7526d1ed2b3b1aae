package state

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestRingAgainstTwin compares the ring with a list that is sorted anew for every turn.
func TestRingAgainstTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var q Queue
		var active []*Consumer // in order of turn within a priority
		var all []*Consumer
		pick := func(t *rapid.T) *Consumer {
			if len(all) == 0 {
				t.Skip("no consumer")
			}
			return rapid.SampledFrom(all).Draw(t, "consumer")
		}
		leave := func(c *Consumer) {
			active = slices.DeleteFunc(active, func(x *Consumer) bool { return x == c })
		}
		t.Repeat(map[string]func(*rapid.T){
			"consume": func(t *rapid.T) {
				c := &Consumer{Priority: rapid.Int64Range(-1, 1).Draw(t, "priority")}
				if !q.Consume(c) {
					t.Fatal("refused")
				}
				all = append(all, c)
			},
			"cancel": func(t *rapid.T) {
				c := pick(t)
				if !q.Cancel(c) || q.Cancel(c) {
					t.Fatal("cancelled not once")
				}
				leave(c)
				all = slices.DeleteFunc(all, func(x *Consumer) bool { return x == c })
			},
			"block": func(t *rapid.T) { c := pick(t); q.Block(c); leave(c) },
			"unblock": func(t *rapid.T) {
				c := pick(t)
				q.Unblock(c)
				if !slices.Contains(active, c) {
					active = append(active, c)
				}
			},
			"serve": func(t *rapid.T) {
				if c := q.Turn(); c != nil {
					q.Served(c)
					leave(c)
					active = append(active, c)
				}
			},
			"": func(t *rapid.T) {
				var want *Consumer
				for _, c := range active {
					if want == nil || c.Priority > want.Priority {
						want = c
					}
				}
				if got := q.Turn(); got != want {
					t.Fatalf("turn is %p, want %p", got, want)
				}
				if n, _ := q.Consumers(); n != len(all) {
					t.Fatalf("%d consumers, want %d", n, len(all))
				}
			},
		})
	})
}

func TestExclusiveConsumer(t *testing.T) {
	var q Queue
	shared, exclusive := &Consumer{}, &Consumer{Exclusive: true}
	if !q.Consume(shared) || q.Consume(exclusive) {
		t.Fatal("an exclusive consumer beside another")
	}
	q.Cancel(shared)
	if !q.Consume(exclusive) || q.Consume(shared) {
		t.Fatal("a consumer beside an exclusive one")
	}
	if _, c := q.Consumers(); c != exclusive {
		t.Fatal("exclusive consumer not told")
	}
	q.Cancel(exclusive)
	if !q.Consume(shared) {
		t.Fatal("the exclusive consumer left its mark")
	}
}
