package main

import (
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/warrenmq/warren/compat/torture/history"
)

// report is the result of all cuts of one file system.
type report struct {
	FS              string                `json:"fs"`
	Control         string                `json:"control,omitempty"`
	Version         string                `json:"version"`
	Seed            uint64                `json:"seed"`
	Cuts            int                   `json:"cuts"`          // under load
	RecoveryCuts    int                   `json:"recovery_cuts"` // while starting
	OwedDurable     int                   `json:"owed_durable"`  // pairs of a message and a queue
	OwedBuffered    int                   `json:"owed_buffered"`
	Unknown         int                   `json:"unknown"` // messages
	Recovered       int                   `json:"recovered"`
	Deliveries      int                   `json:"deliveries"`
	AcksUndone      int                   `json:"acks_undone"`
	LostInWindow    int                   `json:"lost_in_window"` // pairs of buffered queues
	OldestLostMS    float64               `json:"oldest_lost_ms"` // before the cut
	WidestWindowMS  float64               `json:"widest_window_ms"`
	SlowestStartMS  float64               `json:"slowest_start_ms"`
	Seconds         float64               `json:"seconds"`
	Violations      map[history.Class]int `json:"violations"`
	Examples        []string              `json:"examples,omitempty"`
	ViolatedInCuts  int                   `json:"violated_in_cuts"`
	FirstViolatedAt int                   `json:"first_violated_cut,omitempty"`
}

const maxExamples = 20

func (r *report) add(f *finding) {
	r.OwedDurable += f.confirmed[durable]
	r.OwedBuffered += f.confirmed[buffered]
	r.Unknown += f.unknown
	r.Recovered += f.recovered
	r.Deliveries += f.deliveries
	r.AcksUndone += f.undone
	r.LostInWindow += f.withinLost
	r.OldestLostMS = max(r.OldestLostMS, milliseconds(f.oldestLost))
	for class, n := range f.violations {
		r.Violations[class] += n
	}
	r.Examples = append(r.Examples, f.examples[:min(len(f.examples), maxExamples-len(r.Examples))]...)
	if f.violated() > 0 {
		r.ViolatedInCuts++
		if r.FirstViolatedAt == 0 {
			r.FirstViolatedAt = r.Cuts
		}
	}
}

func (r *report) violated() int {
	n := 0
	for _, c := range r.Violations {
		n += c
	}
	return n
}

func (r *report) print() {
	fmt.Printf("%s %s, seed %d: %d cuts under load and %d while recovering in %.0f s, slowest start %.0f ms\n",
		r.FS, r.Version, r.Seed, r.Cuts, r.RecoveryCuts, r.Seconds, r.SlowestStartMS)
	fmt.Printf("  owed: durable %d, buffered %d; not confirmed %d, recovered all the same %d; deliveries %d, acknowledgements undone %d\n",
		r.OwedDurable, r.OwedBuffered, r.Unknown, r.Recovered, r.Deliveries, r.AcksUndone)
	fmt.Printf("  buffered, lost within the window: %d, the oldest %.0f ms before the cut; the widest window was %.0f ms\n",
		r.LostInWindow, r.OldestLostMS, r.WidestWindowMS)
	for _, class := range classes {
		fmt.Printf("  %-10s %d\n", class, r.Violations[class])
	}
	for _, example := range r.Examples {
		fmt.Printf("      %s\n", example)
	}
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func writeJSON(path string, reports []*report) error {
	text, err := json.MarshalIndent(reports, "", "\t")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o644)
}
