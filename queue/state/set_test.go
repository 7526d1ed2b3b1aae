package state

import (
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestSetAgainstMap compares a set with a map, with enough entries for many blocks.
func TestSetAgainstMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s set
		twin := map[Offset]entry{}
		put := func(off Offset) {
			if _, ok := twin[off]; !ok {
				twin[off] = entry{off: off, size: uint32(off) + 1}
				s.add(twin[off])
			}
		}
		run := func(t *rapid.T) (from, step, n Offset) {
			return Offset(rapid.IntRange(0, 5000).Draw(t, "from")),
				Offset(rapid.SampledFrom([]int{1, 2, 7, 61, 63}).Draw(t, "step")),
				Offset(rapid.IntRange(1, 200).Draw(t, "n"))
		}
		t.Repeat(map[string]func(*rapid.T){
			"ascending": func(t *rapid.T) {
				for from, step, n := run(t); n > 0; n-- {
					put(from)
					from += step
				}
			},
			"descending": func(t *rapid.T) {
				for from, step, n := run(t); n > 0; n-- {
					put(from + n*step)
				}
			},
			"remove": func(t *rapid.T) {
				for from, step, n := run(t); n > 0; n-- {
					e, ok := s.remove(from)
					if want, found := twin[from]; ok != found || e != want {
						t.Fatalf("removed %v, %v at %d; want %v, %v", e, ok, from, want, found)
					}
					delete(twin, from)
					from += step
				}
			},
			"": func(t *rapid.T) {
				s.check(t, "set")
				offs := slices.Sorted(maps.Keys(twin))
				i := 0
				s.all(func(e entry) {
					if i >= len(offs) || e != twin[offs[i]] {
						t.Fatalf("entry %d is %v", i, e)
					}
					i++
				})
				if i != len(offs) {
					t.Fatalf("%d entries, want %d", i, len(offs))
				}
				at := Offset(rapid.IntRange(0, 6000).Draw(t, "ceil"))
				j, _ := slices.BinarySearch(offs, at)
				if e, ok := s.ceil(at); ok != (j < len(offs)) || ok && e.off != offs[j] {
					t.Fatalf("ceil of %d is %v, %v", at, e, ok)
				}
			},
		})
	})
}
