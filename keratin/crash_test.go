package keratin

import (
	"bytes"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"hash/fnv"
	"io/fs"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/warrenmq/warren/keratin/vfs"
)

var (
	crashSeeds = flag.Int("keratin.crashes", 12, "seeds for the crash test, each some hundred crash points")
	crashSeed  = flag.Uint64("keratin.seed", 0, "run the crash test with this seed only")
)

// twin is the dumb model of one log: every record ever staged, and what its owner was told.
type twin struct {
	mu        sync.Mutex
	base      uint64 // offset of records[0]
	records   [][]byte
	confirmed uint64 // frontier told durable
	written   uint64 // frontier told written
	head      uint64 // trimmed up to
	log       *Log
	marks     Marks // seen last
}

func (w *twin) end() uint64 { return w.base + uint64(len(w.records)) }

// sum is the state that the records below a frontier add up to.
func (w *twin) sum(below uint64) uint64 {
	h := fnv.New64a()
	for o := uint64(0); o < below; o++ {
		h.Write(w.records[o-w.base])
	}
	return h.Sum64()
}

func (w *twin) Written(upTo Frontier) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.written = max(w.written, uint64(upTo))
}

func (w *twin) Snapshot(dst []byte) ([]byte, Frontier) {
	w.mu.Lock()
	defer w.mu.Unlock()
	at := w.written
	dst = binary.LittleEndian.AppendUint64(dst, at)
	return binary.LittleEndian.AppendUint64(dst, w.sum(at)), Frontier(at)
}

type confirmation struct {
	w    *twin
	upTo uint64
	gate Mark
}

func (c confirmation) Committed(err error) {
	if err != nil {
		return
	}
	c.w.mu.Lock()
	defer c.w.mu.Unlock()
	if c.gate == Durable {
		c.w.confirmed = max(c.w.confirmed, c.upTo)
	}
}

// bounds is what recovery may find of a log.
type bounds struct{ least, most, head uint64 }

// crashPoint is a file system at the moment of a crash, with what must be in it.
type crashPoint struct {
	fs     *vfs.Mem
	bounds []bounds
}

type crashRun struct {
	t     *testing.T
	rng   *rand.Rand
	twins []*twin
	early bool

	mu     sync.Mutex
	points []crashPoint
	budget int
	clones *rand.Rand
}

func (r *crashRun) bound() []bounds {
	var out []bounds
	for _, w := range r.twins {
		w.mu.Lock()
		out = append(out, bounds{w.confirmed, w.end(), w.head})
		w.mu.Unlock()
	}
	return out
}

// point takes a crash point: lower bounds before, upper bounds after the clone.
func (r *crashRun) point(mem *vfs.Mem) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.budget == 0 || r.clones.IntN(3) != 0 {
		return
	}
	r.budget--
	keep := []int{0, 30, 50, 80, 100}[r.clones.IntN(5)]
	before := r.bound()
	p := crashPoint{fs: mem.Crash(r.clones, keep), bounds: r.bound()}
	for i := range before {
		p.bounds[i].least = before[i].least
	}
	r.points = append(r.points, p)
}

// keeper is an owner that does nothing and hands on what was recovered.
type keeper struct {
	mu    sync.Mutex
	state []byte
	at    Frontier
}

func (k *keeper) Written(Frontier) {}

func (k *keeper) Snapshot(dst []byte) ([]byte, Frontier) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return append(dst, k.state...), k.at
}

var errLost = errors.New("promise broken")

// check opens the file system, compares every log with its twin, and returns how far each came.
func (r *crashRun) check(p crashPoint) (ends []uint64, err error) {
	s, err := Open("", r.options(p.fs))
	if err != nil {
		return nil, fmt.Errorf("%w: open: %w", errLost, err)
	}
	defer s.Abandon()
	for i, w := range r.twins {
		k := &keeper{}
		l, rec, err := s.OpenLog(LogID(i+1), LogOptions{}, k)
		if err != nil {
			return nil, fmt.Errorf("%w: log %d: %w", errLost, i+1, err)
		}
		if len(rec.State) > 0 {
			k.mu.Lock()
			k.state, k.at = rec.State, Frontier(binary.LittleEndian.Uint64(rec.State))
			k.mu.Unlock()
		}
		m, b := rec.Marks, p.bounds[i]
		if uint64(m.Staged) < b.least || uint64(m.Staged) > b.most || m.Staged != m.Durable || m.Staged != m.Written {
			return nil, fmt.Errorf("%w: log %d: marks %+v, bounds %+v", errLost, i+1, m, b)
		}
		if uint64(m.Head) > b.head {
			return nil, fmt.Errorf("%w: log %d: head %d, trimmed to %d", errLost, i+1, m.Head, b.head)
		}
		var c Cursor
		for o := m.Head; o < m.Staged; o++ {
			x, err := l.Next(&c, Offset(o), m.Staged)
			if err != nil {
				return nil, fmt.Errorf("%w: log %d record %d of %+v: %w", errLost, i+1, o, m, err)
			}
			if !bytes.Equal(x.Data, w.records[uint64(o)-w.base]) {
				return nil, fmt.Errorf("%w: log %d record %d differs", errLost, i+1, o)
			}
		}
		if len(rec.State) > 0 {
			at := binary.LittleEndian.Uint64(rec.State)
			if at > uint64(m.Staged) || w.sum(at) != binary.LittleEndian.Uint64(rec.State[8:]) {
				return nil, fmt.Errorf("%w: log %d: state at %d of %+v does not add up", errLost, i+1, at, m)
			}
		}
		ends = append(ends, uint64(m.Staged))
	}
	return ends, nil
}

func (r *crashRun) options(fsys vfs.FS) Options {
	return Options{FS: fsys, JournalFileBytes: 16 << 10, SegmentBytes: 8 << 10, TailBytes: 4 << 10, OpenFiles: 2, SyncInterval: 200 * time.Microsecond}
}

// generation works on the file system for a while, taking crash points, and returns them.
func (r *crashRun) generation(mem *vfs.Mem, steps, points int) []crashPoint {
	t := r.t
	r.points, r.budget = nil, points
	r.clones = rand.New(rand.NewPCG(r.rng.Uint64(), 0))
	fault := vfs.NewFault(mem)
	fault.SetRule(func(op vfs.Op, _ string) error {
		switch op {
		case vfs.OpRead, vfs.OpList, vfs.OpSize, vfs.OpOpen, vfs.OpClose:
		default:
			r.point(mem)
		}
		return nil
	})
	s, err := Open("", r.options(fault))
	if err != nil {
		t.Fatal(err)
	}
	if r.early {
		s.ConfirmEarly()
	}
	for i, w := range r.twins {
		l, rec, err := s.OpenLog(LogID(i+1), LogOptions{}, w)
		if err != nil {
			t.Fatal(err)
		}
		w.mu.Lock()
		w.log, w.written, w.confirmed, w.head = l, uint64(rec.Marks.Written), uint64(rec.Marks.Durable), uint64(rec.Marks.Head)
		w.mu.Unlock()
	}
	var b Batch
	for range steps {
		w := r.twins[r.rng.IntN(len(r.twins))]
		switch n := r.rng.IntN(20); {
		case n == 0:
			if err := s.Sync(); err != nil {
				t.Fatal(err)
			}
		case n < 3:
			w.mu.Lock()
			head := w.head + r.rng.Uint64N(w.end()-w.head+1)
			w.head = head
			l := w.log
			w.mu.Unlock()
			l.Trim(Frontier(head))
		case n == 3 && r.rng.IntN(8) == 0:
			time.Sleep(300 * time.Microsecond) // lets the flush timer fire; nothing depends on it
		default:
			w.mu.Lock()
			for range 1 + r.rng.IntN(6) {
				data := make([]byte, r.rng.IntN(400))
				for i := range data {
					data[i] = byte(r.rng.Uint32())
				}
				copy(b.Reserve(uint8(n), len(data)), data)
				w.records = append(w.records, data)
			}
			gate := Mark(1 + r.rng.IntN(2))
			c := confirmation{w, w.end(), gate}
			l := w.log
			w.mu.Unlock()
			if _, err := l.Stage(&b, gate, c); err != nil {
				t.Fatal(err)
			}
		}
		if r.rng.IntN(3) > 0 {
			s.Commit()
		}
		m := w.log.Marks()
		if m.Durable > m.Written || m.Written > m.Staged || m.Durable < w.marks.Durable && w.marks.Staged == m.Staged {
			t.Fatalf("marks %+v after %+v", m, w.marks)
		}
	}
	s.Commit()
	r.stop(s, mem)
	return r.points
}

// stop ends a generation, cleanly or by the death of the process, which is a crash point as well.
func (r *crashRun) stop(s *Store, mem *vfs.Mem) {
	clean := r.rng.IntN(4) == 0
	if clean {
		if err := s.Close(); err != nil {
			r.t.Fatal(err)
		}
	}
	keep := 100
	if clean {
		keep = 0
	}
	bounds := r.bound()
	r.points = append(r.points, crashPoint{fs: mem.Crash(r.clones, keep), bounds: bounds})
	s.Abandon()
}

// run goes through several generations, each of which starts from a crash of the one before.
func (r *crashRun) run(generations, points int) (n int, err error) {
	mem := vfs.NewMem()
	for range generations {
		all := r.generation(mem, 150, points)
		chosen := all[r.rng.IntN(len(all))]
		for _, p := range all {
			n++
			if err := r.twice(p); err != nil {
				return n, err
			}
		}
		ends, err := r.check(crashPoint{fs: chosen.fs, bounds: chosen.bounds})
		if err != nil {
			return n, err
		}
		for i, w := range r.twins {
			w.records = w.records[:ends[i]-w.base]
			w.confirmed, w.written, w.head, w.marks = ends[i], ends[i], min(w.head, ends[i]), Marks{}
		}
		mem = chosen.fs
	}
	return n, nil
}

// twice checks a crash point, crashes the recovery at some operation, and checks that what is recovered is the same.
func (r *crashRun) twice(p crashPoint) error {
	mem := p.fs.Crash(r.rng, 100)
	first, err := r.check(crashPoint{fs: mem, bounds: p.bounds})
	if err != nil {
		return err
	}
	again, err := r.check(crashPoint{fs: mem.Crash(r.rng, 0), bounds: p.bounds})
	if err != nil {
		return fmt.Errorf("second time: %w", err)
	}
	if fmt.Sprint(first) != fmt.Sprint(again) {
		return fmt.Errorf("%w: recovered %v, then %v", errLost, first, again)
	}
	if err := r.withoutCheckpoint(p); err != nil {
		return err
	}
	// A second loss of power while the first recovery is at work, which reads from memory what may not be on disk.
	mem = p.fs.Crash(r.rng, 100)
	at, seen := r.rng.IntN(40), 0
	var cut *vfs.Mem
	fault := vfs.NewFault(mem)
	var mu sync.Mutex
	fault.SetRule(func(vfs.Op, string) error {
		mu.Lock()
		defer mu.Unlock()
		if seen++; seen == at {
			cut = mem.Crash(r.rng, 50)
		}
		return nil
	})
	s, err := Open("", r.options(fault))
	if err != nil {
		return err
	}
	s.Abandon()
	if cut != nil {
		if _, err := r.check(crashPoint{fs: cut, bounds: p.bounds}); err != nil {
			return fmt.Errorf("crash at operation %d of the recovery: %w", at, err)
		}
	}
	return nil
}

// withoutCheckpoint checks that one checkpoint of two is enough, and that a store without any is refused.
func (r *crashRun) withoutCheckpoint(p crashPoint) error {
	both, any := p.fs.Crash(r.rng, 100), false
	for _, name := range []string{checkpointName, checkpointCopy} {
		mem := p.fs.Crash(r.rng, 100)
		if err := mem.Remove(name); errors.Is(err, fs.ErrNotExist) {
			continue // a store that was just being made
		} else if err != nil {
			return err
		}
		any = true
		if err := both.Remove(name); err != nil {
			return err
		}
		if _, err := mem.Open(otherCheckpoint(name)); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if _, err := r.check(crashPoint{fs: mem, bounds: p.bounds}); err != nil {
			return fmt.Errorf("without %s: %w", name, err)
		}
	}
	if s, err := Open("", r.options(both)); err == nil {
		s.Abandon()
		if any && slices.ContainsFunc(p.bounds, func(b bounds) bool { return b.least > 0 }) {
			return fmt.Errorf("%w: without any checkpoint a store was opened as if it were new", errLost)
		}
	} else if !corrupt(err) {
		return err
	}
	return nil
}

func otherCheckpoint(name string) string {
	if name == checkpointName {
		return checkpointCopy
	}
	return checkpointName
}

func newCrashRun(t *testing.T, seed uint64) *crashRun {
	r := &crashRun{t: t, rng: rand.New(rand.NewPCG(seed, 1))}
	for range 1 + r.rng.IntN(4) {
		r.twins = append(r.twins, &twin{})
	}
	return r
}

func TestCrash(t *testing.T) {
	seeds := *crashSeeds
	first := uint64(time.Now().UnixNano())
	if *crashSeed != 0 {
		first, seeds = *crashSeed, 1
	}
	total := 0
	for i := range seeds {
		seed := first + uint64(i)
		n, err := newCrashRun(t, seed).run(5, 12)
		if err != nil {
			t.Fatalf("-keratin.seed=%d: %v", seed, err)
		}
		total += n
	}
	t.Logf("%d crash points from seed %d on", total, first)
}

// TestCrashControl: a store that confirms before it flushes must not get through.
func TestCrashControl(t *testing.T) {
	for seed := range uint64(20) {
		r := newCrashRun(t, seed)
		r.early = true
		if _, err := r.run(3, 40); err != nil {
			if !errors.Is(err, errLost) {
				t.Fatal(err)
			}
			return
		}
	}
	t.Fatal("the crash test does not notice early confirms")
}
