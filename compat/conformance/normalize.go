package main

import (
	"fmt"
	"regexp"
	"strconv"
	"time"
)

// vhostPrefix begins the names of the vhosts that scenarios are played in. Which of them it is depends on the worker.
const vhostPrefix = "conformance-"

// generated are names that a broker makes up. Each is replaced by its kind and a number, in order of appearance, so
// that it is seen when two are the same.
var generated = regexp.MustCompile(`amq\.(gen|ctag)-[A-Za-z0-9_-]{22}\b|amq\.rabbitmq\.reply-to\.[A-Za-z0-9_.+/=-]+`)

var generatedKind = regexp.MustCompile(`^amq\.(gen-|ctag-|rabbitmq\.reply-to\.)`)

// free are parts of lines whose values a broker chooses as it likes.
var free = []struct {
	pattern *regexp.Regexp
	by      string
}{
	{regexp.MustCompile(vhostPrefix + `\d+[ab]`), "/"},
	{regexp.MustCompile(`\b(version|platform|copyright|information|cluster_name)=S:"[^"]*"`), `$1=S:"..."`},
}

var timestamp = regexp.MustCompile(`\bT:(\d+)`)

// normalize replaces what may differ between brokers that behave the same.
func normalize(transcript []string) []string {
	numbers := map[string]string{}
	counts := map[string]int{}
	name := func(s string) string {
		if _, ok := numbers[s]; !ok {
			kind := generatedKind.FindString(s)
			counts[kind]++
			numbers[s] = fmt.Sprintf("%s<%d>", kind, counts[kind])
		}
		return numbers[s]
	}
	lines := make([]string, len(transcript))
	for i, line := range transcript {
		line = generated.ReplaceAllStringFunc(line, name)
		for _, f := range free {
			line = f.pattern.ReplaceAllString(line, f.by)
		}
		lines[i] = timestamp.ReplaceAllStringFunc(line, nowOr)
	}
	return lines
}

// nowOr replaces a time that is about now.
func nowOr(s string) string {
	seconds, err := strconv.ParseInt(s[len("T:"):], 10, 64)
	if err != nil || time.Since(time.Unix(seconds, 0)).Abs() > 2*time.Minute {
		return s
	}
	return "T:now"
}
