package route

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// splitWords is the rule of words: the empty key has none.
func splitWords(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(s, ".")
}

// topicMatches is the definition of matching, and exponential.
func topicMatches(pattern, words []string) bool {
	switch {
	case len(pattern) == 0:
		return len(words) == 0
	case pattern[0] == "#":
		return topicMatches(pattern[1:], words) || len(words) > 0 && topicMatches(pattern, words[1:])
	}
	return len(words) > 0 && (pattern[0] == "*" || pattern[0] == words[0]) && topicMatches(pattern[1:], words[1:])
}

// Few words, so that they match often; "" makes empty words, and "a.*" a message may have a '*' in its key.
var (
	patterns = rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "*", "#", "#", ""}), 0, 6).Draw(t, "words"), ".")
	})
	keys = rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "", "*"}), 0, 7).Draw(t, "words"), ".")
	})
)

// TestTopicRules has the cases of RabbitMQ's own tests that the definition leaves open.
func TestTopicRules(t *testing.T) {
	for _, c := range []struct {
		pattern, key string
		want         bool
	}{
		{"", "", true}, {"#", "", true}, {"*", "", false}, {"#.#", "", true}, {"*.#", "", false},
		{"a.*.b", "a..b", true}, {"a..b", "a..b", true}, {"a.b", "a..b", false}, {"a.#.b", "a..b", true},
		{"*.*", ".", true}, {"*", ".", false}, {"", ".", false}, {".", ".", true},
		{"a.#", "a", true}, {"#.a", "a", true}, {"#.a.#", "a", true}, {"a.*", "a", false},
		{"*", "*", true}, {"a.*", "a.#", true}, {"a", "A", false}, {"#a", "#a", true}, {"#a", "a", false},
		{"#.#.#.a", "a", true}, {"*.#.a", "a", false}, {"*.#.a", "a.a", true},
	} {
		x := mustNew(t, Topic)
		x.BindQueue("q", c.pattern, nil)
		if got := len(routed(x, key(c.key))) == 1; got != c.want {
			t.Errorf("pattern %q, key %q: match is %v, want %v", c.pattern, c.key, got, c.want)
		}
		if c.want != topicMatches(splitWords(c.pattern), splitWords(c.key)) {
			t.Errorf("pattern %q, key %q: the twin is wrong", c.pattern, c.key)
		}
	}
}

// TestTopicAgainstTwin compares sets of bindings with a scan over them.
func TestTopicAgainstTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		bound := rapid.SliceOfN(patterns, 0, 30).Draw(t, "patterns")
		x, _ := New[string](Topic)
		for i, p := range bound {
			x.BindQueue(fmt.Sprintf("%02d %s", i, p), p, nil)
		}
		var w Walk[string]
		for _, k := range rapid.SliceOfN(keys, 1, 10).Draw(t, "keys") {
			var want []string
			for i, p := range bound {
				if topicMatches(splitWords(p), splitWords(k)) {
					want = append(want, fmt.Sprintf("%02d %s", i, p))
				}
			}
			got := slices.Sorted(slices.Values(x.Route(&w, key(k), nil)))
			if !slices.Equal(got, want) {
				t.Fatalf("key %q: matched %q, want %q", k, got, want)
			}
		}
	})
}

// TestTopicPrunes: after the last unbind nothing is left of the trie.
func TestTopicPrunes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x, _ := New[string](Topic)
		bound := rapid.SliceOfN(patterns, 1, 60).Draw(t, "patterns")
		for _, p := range bound {
			x.BindQueue("q", p, nil)
		}
		for _, p := range rapid.Permutation(bound).Draw(t, "order") {
			if !x.UnbindQueue("q", p, nil) {
				t.Fatalf("%q is not bound", p)
			}
			if absent := p + ".zz"; x.UnbindQueue("q", absent, nil) {
				t.Fatalf("%q was unbound without having been bound", absent)
			}
		}
		root := &x.matcher.(*topic[string]).root
		if !root.empty() || root.words.few != nil || root.words.many != nil {
			t.Fatalf("left over: %+v", root)
		}
	})
}

// TestTopicIsNotExponential: a key and patterns that make backtracking explode.
func TestTopicIsNotExponential(t *testing.T) {
	x := mustNew(t, Topic)
	for i := 1; i <= 60; i++ {
		x.BindQueue("hit", strings.Repeat("#.", i)+"a", nil)
		x.BindQueue("miss", strings.Repeat("#.a.", i)+"b", nil)
		x.BindQueue("miss", strings.Repeat("#.*.", i)+"b", nil)
		x.BindQueue("miss", strings.Repeat("*.#.", i)+"b", nil)
	}
	k := strings.TrimSuffix(strings.Repeat("a.", 127), ".")
	began := time.Now()
	wantRoute(t, x, key(k), "hit")
	if took := time.Since(began); took > time.Second {
		t.Errorf("one key took %v", took)
	}
}

func FuzzTopic(f *testing.F) {
	f.Add("a.#.b\n#\n*.b\n", "a.b")
	f.Add("#.#.#\n\n.\n", "")
	f.Add("#.a.#.a\na.*..b", "a..b.a")
	f.Fuzz(func(t *testing.T, bound, k string) {
		words := splitWords(k)
		if len(bound) > 200 || len(words) > 12 || strings.Count(bound, "#") > 12 {
			t.Skip("too much for the twin")
		}
		x := mustNew(t, Topic)
		var want []string
		list := strings.Split(bound, "\n")
		for i, p := range list {
			q := fmt.Sprint(100 + i)
			x.BindQueue(q, p, nil)
			if topicMatches(splitWords(p), words) {
				want = append(want, q)
			}
		}
		wantRoute(t, x, key(k), want...)
		for i, p := range list {
			if !x.UnbindQueue(fmt.Sprint(100+i), p, nil) {
				t.Errorf("%q is not bound", p)
			}
		}
		if root := &x.matcher.(*topic[string]).root; !root.empty() {
			t.Errorf("left over: %+v", root)
		}
	})
}

// BenchmarkTopic routes among 100,000 bindings of several makes, to pointers as the broker does.
func BenchmarkTopic(b *testing.B) {
	const bindings = 100_000
	word := func(r *rand.Rand, n int) string { return fmt.Sprintf("w%d", r.IntN(n)) }
	for _, c := range []struct {
		name    string
		pattern func(r *rand.Rand, i int) string
	}{
		{"literal", func(r *rand.Rand, i int) string {
			return fmt.Sprintf("tenant%d.orders.%s.%s", i%1000, word(r, 10), word(r, 10))
		}},
		{"star", func(r *rand.Rand, i int) string {
			return fmt.Sprintf("tenant%d.*.%s.%s", i%1000, word(r, 10), word(r, 100))
		}},
		{"hash-end", func(r *rand.Rand, i int) string { return fmt.Sprintf("tenant%d.%s.#", i%1000, word(r, 1000)) }},
		{"hash-middle", func(r *rand.Rand, i int) string {
			return fmt.Sprintf("tenant%d.#.%s.#.%s", i%1000, word(r, 100), word(r, 100))
		}},
		{"hash-front", func(r *rand.Rand, i int) string {
			return fmt.Sprintf("#.%s.#.%s", word(r, 300), word(r, 300))
		}},
		{"mixed", func(r *rand.Rand, i int) string {
			parts := []string{fmt.Sprintf("tenant%d", i%1000)}
			for range 1 + r.IntN(4) {
				parts = append(parts, []string{"*", "#", word(r, 20), word(r, 20), word(r, 20)}[r.IntN(5)])
			}
			return strings.Join(parts, ".")
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			r := rand.New(rand.NewPCG(1, 2))
			x, _ := New[*int](Topic)
			queues := make([]int, 1000)
			for i := range bindings {
				x.BindQueue(&queues[i%len(queues)], c.pattern(r, i), nil)
			}
			msgs := make([]Message, 1024)
			for i := range msgs {
				msgs[i] = key(fmt.Sprintf("tenant%d.orders.%s.%s", r.IntN(1000), word(r, 10), word(r, 10)))
			}
			var w Walk[*int]
			var answer []*int
			found := 0
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				answer = x.Route(&w, msgs[i%len(msgs)], answer[:0])
				found += len(answer)
			}
			b.ReportMetric(float64(found)/float64(b.N), "queues/op")
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "routes/s")
		})
	}
}
