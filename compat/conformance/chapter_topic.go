package main

import "fmt"

// Which keys a topic binding matches: for each pattern all keys are published, and those that arrive are seen.
var topicChapter = chapter{"topic", join(
	each([]string{
		"", "a", "a.b", "a.b.c", "*", "#", "*.*", "#.#", "*.#", "#.*", "a.*", "a.#", "*.b", "#.b", "a.*.c", "a.#.c", "#.b.#", "*.b.*",
		"a.#.b.#", "#.#.#", "a..b", "*..*", ".", "a.", ".a", "..", "#.", ".#", "*.", "a*", "a#", "**", "##", "#.*.#", "*.*.*", "a.*.#", "#.c", "A.b",
	}, func(pattern string) string { return fmt.Sprintf("the pattern %q", pattern) },
		func(s *stage, pattern string) {
			a := s.channel()
			a.do(declareExchange("x", "topic", 0), declareQueue("q", 0), bindQueue("q", "x", pattern))
			for _, key := range []string{
				"", "a", "b", "c", "a.b", "a.c", "b.c", "a.b.c", "a.x.c", "a.x.y.c", "x.b.y", "a.b.b", "a.b.c.d", "..", ".", "a.", ".a", "a..b", "*", "#", "a.*", "a.#", "aa", "A.b",
			} {
				a.send(publish("x", key, key))
			}
			a.do(consume("q", "c", noAck))
		}),
	[]scenario{
		{"many wildcards in a key of many words", func(s *stage) {
			a := s.channel()
			a.do(declareExchange("x", "topic", 0), declareQueue("q", 0), bindQueue("q", "x", "#.a.#.a.*"))
			a.do(publish("x", "a.a.a.a.a.a.a.a.a.a", "1"), publish("x", "b.a.b.a.b", "2"), publish("x", "a.a", "3"), get("q", noAck), get("q", noAck), get("q", noAck))
		}},
		{"a direct exchange knows no wildcards", func(s *stage) {
			a := s.channel()
			a.do(declareExchange("x", "direct", 0), declareQueue("q", 0), bindQueue("q", "x", "#"))
			a.do(publish("x", "a", "1"), publish("x", "#", "2"), get("q", noAck), get("q", noAck))
		}},
	},
)}
