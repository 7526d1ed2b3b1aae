package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"unicode/utf8"
)

// comparison is a whole run against one reference.
type comparison struct {
	Reference string   `json:"reference"` // name and version
	Subject   string   `json:"subject"`
	Seconds   float64  `json:"seconds"`
	Results   []result `json:"results"`
}

// count counts the results of a chapter, or of all if it is "".
func (c *comparison) count(chapter string, v verdict) (n int) {
	for _, r := range c.Results {
		if (chapter == "" || r.Chapter == chapter) && r.Verdict == v {
			n++
		}
	}
	return n
}

func (c *comparison) unsteady() (names []string) {
	for _, r := range c.Results {
		if r.Unsteady {
			names = append(names, r.Chapter+": "+r.Scenario)
		}
	}
	return names
}

// chapterNames returns the chapters that were played, in order.
func (c *comparison) chapterNames() (names []string) {
	for _, r := range c.Results {
		if len(names) == 0 || names[len(names)-1] != r.Chapter {
			names = append(names, r.Chapter)
		}
	}
	return names
}

// good reports whether there is nothing to explain.
func (c *comparison) good() bool { return c.count("", different)+c.count("", stale) == 0 }

// table writes a line for each chapter.
func (c *comparison) table(w io.Writer) error {
	fmt.Fprintf(w, "%s beside %s, %.0f s\n\n", c.Subject, c.Reference, c.Seconds)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "chapter\tsame\tdifferent\tintended\tstale")
	row := func(name, chapter string) {
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%d\n", name, c.count(chapter, same), c.count(chapter, different),
			c.count(chapter, intended), c.count(chapter, stale))
	}
	for _, name := range c.chapterNames() {
		row(name, name)
	}
	row("all", "")
	return t.Flush()
}

// details writes the scenarios that are not the same, side by side.
func (c *comparison) details(w io.Writer) {
	for _, want := range []verdict{different, stale, intended} {
		for _, r := range c.Results {
			if r.Verdict != want {
				continue
			}
			fmt.Fprintf(w, "\n%s: %s: %s\n", r.Verdict, r.Chapter, r.Scenario)
			if r.Reason != "" {
				fmt.Fprintf(w, "because: %s\n", r.Reason)
			}
			fmt.Fprintf(w, "\n    %s | %s\n", pad(c.Reference, columnWidth), c.Subject)
			for _, row := range align(r.Reference, r.Subject) {
				row.write(w)
			}
		}
	}
	if names := c.unsteady(); len(names) > 0 {
		fmt.Fprintf(w, "\ndiffered at first, and did not when played with pauses:\n    %s\n", strings.Join(names, "\n    "))
	}
}

// columnWidth is the width of each of the two columns.
const columnWidth = 84

// row is a line of the report: a line of either transcript, "" where there is none.
type row struct{ reference, subject string }

// align puts equal lines of two transcripts beside each other (longest common subsequence).
func align(a, b []string) []row {
	length := make([][]int, len(a)+1) // of the common subsequence of a[i:] and b[j:]
	for i := range length {
		length[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			length[i][j] = max(length[i+1][j], length[i][j+1])
			if a[i] == b[j] {
				length[i][j] = length[i+1][j+1] + 1
			}
		}
	}
	var rows []row
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			rows = append(rows, row{a[i], b[j]})
			i, j = i+1, j+1
		case i < len(a) && j < len(b) && length[i+1][j+1] == length[i][j]: // neither line is common: one pair
			rows = append(rows, row{a[i], b[j]})
			i, j = i+1, j+1
		case j == len(b) || i < len(a) && length[i+1][j] >= length[i][j+1]:
			rows = append(rows, row{a[i], ""})
			i++
		default:
			rows = append(rows, row{"", b[j]})
			j++
		}
	}
	return rows
}

// write writes the row, folding what is wider than its column.
func (r row) write(w io.Writer) {
	mark := " "
	if r.reference != r.subject {
		mark = "!"
	}
	left, right := fold(r.reference), fold(r.subject)
	for i := range max(len(left), len(right)) {
		var l, s string
		if i < len(left) {
			l = left[i]
		}
		if i < len(right) {
			s = right[i]
		}
		fmt.Fprintf(w, "  %s %s | %s\n", mark, pad(l, columnWidth), s)
	}
}

func pad(s string, width int) string {
	return s + strings.Repeat(" ", max(0, width-utf8.RuneCountInString(s)))
}

// fold cuts a line into pieces that fit a column.
func fold(line string) []string {
	var pieces []string
	runes := []rune(line)
	for len(runes) > columnWidth {
		pieces = append(pieces, string(runes[:columnWidth]))
		runes = append([]rune("       "), runes[columnWidth:]...)
	}
	return append(pieces, string(runes))
}

// save writes the table and the details as text, and everything as JSON, into a folder.
func save(dir string, all []comparison) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	var text strings.Builder
	for i := range all {
		if err := all[i].table(&text); err != nil {
			return err
		}
		all[i].details(&text)
		text.WriteString("\n")
	}
	if err := os.WriteFile(filepath.Join(dir, "conformance.txt"), []byte(text.String()), 0o644); err != nil {
		return err
	}
	data, err := json.MarshalIndent(all, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "conformance.json"), data, 0o644)
}
