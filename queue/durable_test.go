package queue_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"go.uber.org/zap/zaptest"

	"github.com/warrenmq/warren/keratin"
	"github.com/warrenmq/warren/keratin/vfs"
	"github.com/warrenmq/warren/queue"
)

// onDisk is a broker on the storage engine, on a file system in memory.
type onDisk struct {
	t     *testing.T
	fs    *vfs.Mem
	store *keratin.Store
	b     *queue.Broker
	s     *queue.Session
	p     *queue.Publisher
}

func openOnDisk(t *testing.T, fs *vfs.Mem) *onDisk {
	t.Helper()
	store, err := keratin.Open("", keratin.Options{FS: fs, JournalFileBytes: 128 << 10, SegmentBytes: 128 << 10})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Abandon)
	b, err := queue.Open(queue.Options{Store: queue.OnKeratin(store), Log: zaptest.NewLogger(t)})
	if err != nil {
		t.Fatal(err)
	}
	u, err := b.Authenticate("guest", "guest", true)
	if err != nil {
		t.Fatal(err)
	}
	s, err := b.Connect(u, "/", "test")
	if err != nil {
		t.Fatal(err)
	}
	return &onDisk{t, fs, store, b, s, s.NewPublisher()}
}

// ledger is what the test knows about the messages of one queue.
type ledger struct {
	confirmed map[string]bool
	settled   map[string]bool // and the settle record is known to be durable
	published int
}

// TestPowerLoss publishes with confirms, consumes and settles, cuts the power at a random moment, and checks that
// every confirmed message that was not settled is there, in order, and none is invented.
func TestPowerLoss(t *testing.T) {
	for seed := range uint64(10) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { powerLoss(t, rand.New(rand.NewPCG(seed, 1))) })
	}
}

func powerLoss(t *testing.T, rng *rand.Rand) {
	fs := vfs.NewMem()
	queues := []string{"a", "b", "c"}
	books := map[string]*ledger{}
	next := 0
	for round := range 3 {
		w := openOnDisk(t, fs)
		for _, name := range queues {
			if _, err := w.s.DeclareQueue(queue.QueueDeclare{Name: name, Durable: true}); err != nil {
				t.Fatal(err)
			}
			if books[name] == nil {
				books[name] = &ledger{map[string]bool{}, map[string]bool{}, 0}
			}
		}
		work(t, rng, w, queues, books, &next)
		crashed := fs.Crash(rng, rng.IntN(101))
		w.store.Abandon()
		fs = crashed
		check(t, openOnDisk(t, fs), books, round)
		w = nil
	}
}

// work publishes and settles for a while. What was confirmed by its end is in the books.
func work(t *testing.T, rng *rand.Rand, w *onDisk, queues []string, books map[string]*ledger, next *int) {
	type sent struct{ queue, body string }
	var all []sent
	confirmed := make(chan uint64, 10000)
	c := queue.NewConfirms(func(upTo uint64, _, nack bool) {
		if nack {
			t.Error("nack")
		}
		confirmed <- upTo
	})
	pad := string(make([]byte, rng.IntN(2000)))
	for range rng.IntN(40) + 1 {
		for range rng.IntN(30) + 1 {
			name := queues[rng.IntN(len(queues))]
			body := fmt.Sprintf("%08d%s", *next, pad)
			*next++
			all = append(all, sent{name, body[:8]})
			books[name].published = *next
			if _, err := w.p.Publish(persistent(name, body), c, uint64(len(all))); err != nil {
				t.Fatal(err)
			}
		}
		w.p.Flush()
		if rng.IntN(3) == 0 {
			settleSome(t, rng, w, queues[rng.IntN(len(queues))], books)
		}
		if rng.IntN(5) == 0 {
			for upTo := range confirmed {
				if upTo == uint64(len(all)) {
					break
				}
			}
		}
	}
	c.Close()
	close(confirmed)
	upTo := uint64(len(all)) - uint64(c.Outstanding())
	for _, m := range all[:upTo] {
		books[m.queue].confirmed[m.body] = true
	}
}

// settleSome settles some messages at the head of a queue; others it leaves unacked.
func settleSome(t *testing.T, rng *rand.Rand, w *onDisk, name string, books map[string]*ledger) {
	for range rng.IntN(50) {
		var d queue.Delivery
		ok, _, err := w.s.Get(name, false, &d)
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			break
		}
		if rng.IntN(4) > 0 {
			d.Queue.Settle([]queue.Offset{d.Offset})
			books[name].settled[string(d.Body[:8])] = true
		}
	}
	w.s.Commit()
}

// check drains what there is without settling it.
func check(t *testing.T, w *onDisk, books map[string]*ledger, round int) {
	for name, book := range books {
		last := ""
		found := map[string]bool{}
		for {
			var d queue.Delivery
			ok, _, err := w.s.Get(name, false, &d)
			if err != nil {
				t.Fatal(err)
			}
			if !ok {
				break
			}
			body := string(d.Body[:8])
			if body <= last {
				t.Errorf("round %d, queue %s: %s after %s", round, name, body, last)
			}
			if !d.Redelivered {
				t.Errorf("round %d, queue %s: %s is not flagged redelivered", round, name, body)
			}
			last, found[body] = body, true
		}
		for body := range book.confirmed {
			if !found[body] && !book.settled[body] {
				t.Errorf("round %d, queue %s: confirmed message %s is lost", round, name, body)
			}
		}
		s, _ := w.b.Queue("/", name)
		if s.Ready != 0 || int(s.Unacked) != len(found) || s.ReadyBytes != 0 {
			t.Errorf("round %d, queue %s: %+v, but %d were found", round, name, s.Totals, len(found))
		}
		// From here on the books hold what survived.
		for body := range book.confirmed {
			if !found[body] {
				delete(book.confirmed, body)
			}
		}
	}
	if err := w.b.Close(); err != nil {
		t.Fatal(err)
	}
	if err := w.store.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestCleanStop checks that a clean stop keeps everything, order and flags included.
func TestCleanStopOnDisk(t *testing.T) {
	fs := vfs.NewMem()
	w := openOnDisk(t, fs)
	if _, err := w.s.DeclareQueue(queue.QueueDeclare{Name: "q", Durable: true}); err != nil {
		t.Fatal(err)
	}
	for i := range 1000 {
		if _, err := w.p.Publish(persistent("q", fmt.Sprint(i)), nil, 0); err != nil {
			t.Fatal(err)
		}
		if i%100 == 99 {
			w.p.Flush()
		}
	}
	var offsets []queue.Offset
	var q *queue.Queue
	for range 10 {
		var d queue.Delivery
		if ok, _, err := w.s.Get("q", false, &d); !ok || err != nil {
			t.Fatal(ok, err)
		}
		q, offsets = d.Queue, append(offsets, d.Offset)
	}
	q.Settle(offsets[5:])
	w.s.Commit()
	w.s.Close()
	if err := w.b.Close(); err != nil {
		t.Fatal(err)
	}
	if err := w.store.Close(); err != nil {
		t.Fatal(err)
	}
	w = openOnDisk(t, fs)
	s, _ := w.b.Queue("/", "q")
	if s.Ready != 995 || s.Unacked != 0 {
		t.Errorf("%+v", s.Totals)
	}
	for i := range 995 {
		var d queue.Delivery
		if ok, _, err := w.s.Get("q", true, &d); !ok || err != nil {
			t.Fatal(ok, err)
		}
		want := i
		if i >= 5 {
			want += 5
		}
		if string(d.Body) != fmt.Sprint(want) || d.Redelivered != (i < 5) {
			t.Fatalf("message %d is %s, redelivered %v", i, d.Body, d.Redelivered)
		}
	}
}

// TestPowerLossWhileDeadLettering rejects confirmed messages into a dead-letter queue and cuts the power: each is
// still in its queue, or has arrived, or both.
func TestPowerLossWhileDeadLettering(t *testing.T) {
	for seed := range uint64(10) {
		rng := rand.New(rand.NewPCG(seed, 3))
		w := openOnDisk(t, vfs.NewMem())
		for name, args := range map[string]map[string]any{
			"q": {"x-dead-letter-exchange": "", "x-dead-letter-routing-key": "dead"}, "dead": nil,
		} {
			if _, err := w.s.DeclareQueue(queue.QueueDeclare{Name: name, Durable: true, Args: args}); err != nil {
				t.Fatal(err)
			}
		}
		const n = 50
		for i := range n {
			if _, err := w.p.Publish(persistent("q", fmt.Sprintf("%08d", i)), nil, 0); err != nil {
				t.Fatal(err)
			}
		}
		w.p.Flush()
		if err := w.store.Sync(); err != nil {
			t.Fatal(err)
		}
		for range rng.IntN(n) {
			var d queue.Delivery
			if ok, _, err := w.s.Get("q", false, &d); !ok || err != nil {
				t.Fatal(ok, err)
			}
			d.Queue.Reject([]queue.Offset{d.Offset})
			if rng.IntN(3) == 0 {
				w.s.Commit()
			}
			if rng.IntN(20) == 0 {
				if err := w.store.Sync(); err != nil {
					t.Fatal(err)
				}
			}
		}
		crashed := w.fs.Crash(rng, rng.IntN(101))
		w.store.Abandon()
		w = openOnDisk(t, crashed)
		found := map[string]bool{}
		for _, name := range []string{"q", "dead"} {
			for {
				var d queue.Delivery
				ok, _, err := w.s.Get(name, true, &d)
				if err != nil {
					t.Fatal(err)
				}
				if !ok {
					break
				}
				found[string(d.Body)] = true
			}
		}
		if len(found) != n {
			t.Errorf("seed %d: %d of %d messages are left", seed, len(found), n)
		}
	}
}
