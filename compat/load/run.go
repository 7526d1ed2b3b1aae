package load

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"math"
	"sync"
	"syscall"
	"time"
)

// run is one run: see the package comment for its course.
type run struct {
	workload   Workload
	out        *outgoing
	dialer     *dialer
	control    *control
	processes  *processes
	publishers []*publisher
	consumers  []*consumer
	stop       time.Duration

	// Goroutines end when their links do; cancel aborts those, with the reason why the run fails.
	ctx    context.Context
	cancel context.CancelCauseFunc
	wg     sync.WaitGroup
}

// Run carries a workload out. The report is there whenever the run began, also if err says that it
// failed: with [ErrLost] if messages got lost or came from nowhere.
func Run(ctx context.Context, w Workload) (*Report, error) {
	w = w.withDefaults()
	if err := w.validate(); err != nil {
		return nil, err
	}
	d, err := newDialer(&w)
	if err != nil {
		return nil, err
	}
	r := &run{workload: w, dialer: d, processes: &processes{root: "/proc", pids: w.Processes, descendants: w.Descendants}}
	r.ctx, r.cancel = context.WithCancelCause(ctx)
	defer r.cancel(nil)

	r.control, err = openControl(r.ctx, d, "load control")
	if err != nil {
		return nil, err
	}
	defer r.control.close()
	r.out = r.newOutgoing()
	if err := r.control.declare(r.ctx, r.out.queues, !w.QueueNotDurable, w.arguments()); err != nil {
		return nil, errors.Join(err, r.deleteQueues())
	}
	report, err := r.drive()
	err = errors.Join(err, r.deleteQueues())
	if report != nil && err != nil {
		report.Error = err.Error()
	}
	return report, err
}

func (r *run) newOutgoing() *outgoing {
	o := &outgoing{clock: clock{time.Now()}, body: newBody(r.workload.Size), transient: r.workload.Transient}
	prefix := r.workload.QueuePrefix
	if prefix == "" {
		prefix = "load." + rand.Text()[:8]
	}
	for q := range r.workload.Queues {
		o.queues = append(o.queues, fmt.Sprintf("%s.%d", prefix, q))
	}
	return o
}

// deleteQueues is called once the links are closed, whatever happened before.
func (r *run) deleteQueues() error {
	if r.workload.KeepQueues {
		return nil
	}
	return r.control.delete(context.WithoutCancel(r.ctx), r.out.queues)
}

// drive runs the workers from their first connection to their last.
func (r *run) drive() (*Report, error) {
	defer r.wg.Wait()
	defer r.abort()
	if err := r.open(); err != nil {
		return nil, err
	}
	stopWatching := context.AfterFunc(r.ctx, r.abort)
	defer stopWatching()

	report := &Report{Workload: r.workload}
	report.Product, report.Version = r.control.product()
	err := r.measure(report)
	if err == nil {
		err = r.close()
	}
	if err != nil {
		r.cancel(err)
	}
	r.abort()
	r.wg.Wait()
	// What made the run fail came first; what it led to is of no interest.
	err = context.Cause(r.ctx)
	return report, errors.Join(err, r.judge(report, err == nil))
}

// open opens the links, and starts the consumers unless there is to be a backlog first.
func (r *run) open() error {
	w := &r.workload
	for i := range w.Publishers {
		l, err := openLink(r.ctx, w.Client, r.dialer, fmt.Sprintf("load publisher %d", i), r.out)
		if err != nil {
			return err
		}
		p := &publisher{
			link: l, clock: r.out.clock, ledger: new(ledger), id: i, queues: share(i, w.Publishers, w.Queues),
			quota: quota(i, w.Publishers, w.Messages), window: w.Window, burst: max(1, burstOctets/w.Size),
			done: make(chan struct{}),
		}
		p.mu.confirms, p.mu.lateness, p.mu.nacked = newLatency(), newLatency(), map[uint64]bool{}
		r.publishers = append(r.publishers, p)
		if w.Window > 0 {
			p.mu.flights = newFlights()
			if err := l.confirmSelect(); err != nil {
				return err
			}
		}
	}
	for i := range w.Consumers {
		l, err := openLink(r.ctx, w.Client, r.dialer, fmt.Sprintf("load consumer %d", i), r.out)
		if err != nil {
			return err
		}
		c := &consumer{link: l, id: i, queues: share(i, w.Consumers, w.Queues), publishers: r.publishers, deliveries: newLatency()}
		if !w.AutoAck {
			c.ackEvery = w.AckEvery
		}
		if !w.SkipBodies {
			c.body = r.out.body
		}
		r.consumers = append(r.consumers, c)
		if !w.Backlog {
			if err := l.consume(c.queues, w.Prefetch, w.AutoAck); err != nil {
				return err
			}
			if err := l.consuming(); err != nil {
				return err
			}
		}
	}
	return nil
}

// quota is a publisher's part of the messages; the first ones get those that cannot be divided.
func quota(publisher, publishers, messages int) uint64 {
	if messages == 0 {
		return math.MaxUint64
	}
	n := messages / publishers
	if publisher < messages%publishers {
		n++
	}
	return uint64(n)
}

// spawn runs f, whose error ends the run.
func (r *run) spawn(f func() error) {
	r.wg.Go(func() {
		if err := f(); err != nil {
			r.cancel(err)
		}
	})
}

// spawnSender runs f, which only sends: if that fails, whoever receives may know why.
func (r *run) spawnSender(f func() error) {
	r.spawn(func() error {
		err := f()
		if err != nil {
			select {
			case <-r.ctx.Done():
			case <-time.After(reasonTimeout):
			}
		}
		return err
	})
}

// begin sets the schedule and lets the workers go.
func (r *run) begin() {
	w := &r.workload
	s := schedule{begin: r.out.clock.now(), stop: math.MaxInt64}
	s.warm = s.begin + w.WarmUp
	if w.Duration > 0 {
		s.stop = s.warm + w.Duration
	}
	r.stop = s.stop
	var step time.Duration
	if w.Rate > 0 {
		step = max(1, time.Duration(float64(time.Second)/w.Rate))
	}
	for i, p := range r.publishers {
		p.schedule = s
		p.schedule.interval = step * time.Duration(w.Publishers)
		p.schedule.offset = step * time.Duration(i)
	}
	for _, c := range r.consumers {
		c.warm = s.warm
		if !w.Backlog {
			r.spawn(func() error { return c.link.serve(c) })
		}
	}
	for _, p := range r.publishers {
		r.spawn(func() error { return p.link.serve(p) })
		if w.Window == 0 && w.Rate == 0 {
			r.spawnSender(p.fill)
		}
	}
	if w.Rate > 0 {
		p := &pacer{r.out.clock, r.publishers, s.begin, s.stop, step, w.Messages}
		r.spawnSender(func() error { return p.run(r.ctx) })
	}
}

// measure begins, waits, and fills in what was measured.
func (r *run) measure(report *Report) error {
	if err := r.processes.resetPeak(); err != nil {
		return err
	}
	from, err := r.snapshot()
	if err != nil {
		return err
	}
	r.begin()
	if r.workload.WarmUp > 0 {
		if err := r.sleepUntil(r.publishers[0].schedule.warm); err != nil {
			return err
		}
		if from, err = r.snapshot(); err != nil {
			return err
		}
	}
	if err := r.progress(func() bool { return r.out.clock.now() >= r.stop || r.allDone() }); err != nil {
		return err
	}
	stopped, err := r.snapshot()
	if err != nil {
		return err
	}
	timed := stopped.at >= r.stop
	if err := r.drain(); err != nil {
		return err
	}
	end, err := r.snapshot()
	if err != nil {
		return err
	}
	switch {
	case r.workload.Backlog:
		report.measured(span{from, stopped}, span{stopped, end}, span{from, end})
	case timed:
		report.measured(span{from, stopped}, span{from, stopped}, span{from, stopped})
	default:
		report.measured(span{from, end}, span{from, end}, span{from, end})
	}
	if report.Broker != nil {
		report.Broker.PeakRSS = end.broker.peakRSS
	}
	if r.workload.Messages > 0 && from.published == end.published {
		return errors.New("all messages were published within the warm-up")
	}
	return nil
}

func (r *run) sleepUntil(at time.Duration) error {
	timer := time.NewTimer(at - r.out.clock.now())
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-r.ctx.Done():
		return context.Cause(r.ctx)
	}
}

func (r *run) snapshot() (snapshot, error) {
	s := snapshot{at: r.out.clock.now()}
	for _, p := range r.publishers {
		p.mu.Lock()
		s.published += p.mu.sent
		s.confirmed += p.mu.confirmed
		p.mu.Unlock()
	}
	for _, c := range r.consumers {
		s.delivered += c.received.Load()
	}
	var self syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &self); err != nil {
		return s, err
	}
	s.generator = time.Duration(self.Utime.Nano() + self.Stime.Nano())
	var err error
	s.broker, err = r.processes.usage()
	return s, err
}

// abort closes all sockets.
func (r *run) abort() {
	for _, p := range r.publishers {
		p.link.abort()
	}
	for _, c := range r.consumers {
		c.link.abort()
	}
}

// close ends all links in good order, so that the broker has taken everything that was sent on them.
func (r *run) close() error {
	for _, p := range r.publishers {
		if err := p.link.close(); err != nil {
			return err
		}
	}
	for _, c := range r.consumers {
		if err := c.settleRest(); err != nil {
			return err
		}
		if err := c.link.close(); err != nil {
			return err
		}
	}
	return nil
}
