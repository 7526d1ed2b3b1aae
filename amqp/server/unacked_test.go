package server

import (
	"testing"

	"pgregory.net/rapid"
)

// twin is unacked as a slice.
type twin []uint64

func (w twin) find(tag uint64) int {
	for i, t := range w {
		if t == tag {
			return i
		}
	}
	return -1
}

func TestUnackedAgainstTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var u unacked
		var w twin
		var tag uint64
		t.Repeat(map[string]func(*rapid.T){
			"push": func(t *rapid.T) {
				for range rapid.IntRange(1, 40).Draw(t, "n") {
					tag += uint64(rapid.IntRange(1, 3).Draw(t, "step"))
					u.push(delivered{tag: tag, offset: 7, state: unsettled})
					w = append(w, tag)
				}
			},
			"settle one": func(t *rapid.T) {
				tag := rapid.Uint64Range(0, tag+1).Draw(t, "tag")
				d, i := u.get(tag), w.find(tag)
				if (d != nil) != (i >= 0) {
					t.Fatalf("get(%d) = %v, want index %d", tag, d, i)
				}
				if d != nil {
					u.settle(d)
					u.drop()
					w = append(w[:i:i], w[i+1:]...)
				}
			},
			"settle up to": func(t *rapid.T) {
				tag := rapid.Uint64Range(0, tag+1).Draw(t, "tag")
				for i := range u.upTo(tag) {
					if d := u.at(i); d.state == unsettled {
						if tag != 0 && d.tag > tag {
							t.Fatalf("upTo(%d) reaches %d", tag, d.tag)
						}
						u.settle(d)
					}
				}
				u.drop()
				var rest twin
				for _, x := range w {
					if tag != 0 && x > tag {
						rest = append(rest, x)
					}
				}
				w = rest
			},
			"": func(t *rapid.T) {
				if u.live != len(w) {
					t.Fatalf("live %d, want %d", u.live, len(w))
				}
				if u.n > 2*u.live+ringSpare || len(u.ring) > max(8*u.n, 4*ringSpare, 2*ringStart) {
					t.Fatalf("%d entries in a ring of %d for %d living", u.n, len(u.ring), u.live)
				}
				k := 0
				for i := range u.n {
					if d := u.at(i); d.state == unsettled {
						if d.tag != w[k] {
							t.Fatalf("entry %d is %d, want %d", i, d.tag, w[k])
						}
						k++
					}
				}
			},
		})
	})
}

// TestUnackedMemoryIsBoundedByTheLiving keeps the first delivery for ever and settles a million others.
func TestUnackedMemoryIsBoundedByTheLiving(t *testing.T) {
	var u unacked
	u.push(delivered{tag: 1, state: unsettled})
	for tag := uint64(2); tag < 1_000_000; tag++ {
		u.push(delivered{tag: tag, state: unsettled})
		u.settle(u.get(tag))
		u.drop()
	}
	if u.live != 1 || len(u.ring) > 4*ringSpare {
		t.Fatalf("%d living in a ring of %d", u.live, len(u.ring))
	}
	if u.get(1) == nil {
		t.Fatal("the first delivery is lost")
	}
}
