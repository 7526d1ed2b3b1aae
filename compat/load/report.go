package load

import "time"

// Report is what a run found. Rates, CPU and writes are of the measured time, counts of the whole run.
type Report struct {
	Product string `json:"product"` // as the broker names itself
	Version string `json:"version"`

	Workload Workload `json:"workload"`
	Seconds  float64  `json:"seconds"` // measured
	Counts   Counts   `json:"counts"`

	PublishedPerSecond float64 `json:"published_per_s"`
	ConfirmedPerSecond float64 `json:"confirmed_per_s"`
	DeliveredPerSecond float64 `json:"delivered_per_s"`

	Confirm  *Latency `json:"confirm,omitempty"`  // from intended send to confirm
	Delivery *Latency `json:"delivery,omitempty"` // from intended send to delivery
	Lateness *Latency `json:"lateness,omitempty"` // from intended to real send: the generator's own, and the window's

	Generator Usage  `json:"generator"`
	Broker    *Usage `json:"broker,omitempty"`

	// Error says why the run failed, empty if it did not.
	Error string `json:"error,omitempty"`
}

// Counts are of messages, unless they say something else.
type Counts struct {
	Published   uint64 `json:"published"`
	Confirmed   uint64 `json:"confirmed"`
	Nacked      uint64 `json:"nacked"`
	Unconfirmed uint64 `json:"unconfirmed"` // neither, to the end
	Unsent      uint64 `json:"unsent"`      // due by the rate, and not sent when publishing ended

	Delivered   uint64 `json:"delivered"`   // each once
	Deliveries  uint64 `json:"deliveries"`  // all
	Redelivered uint64 `json:"redelivered"` // deliveries flagged so

	Missing uint64 `json:"missing"` // had to come out, and did not
	Unknown uint64 `json:"unknown"` // deliveries of what was not sent
	Left    uint64 `json:"left"`    // ready in the queues at the end
}

// Usage is what one side of the wire took.
type Usage struct {
	CPUSeconds    float64 `json:"cpu_s"`
	CPUPerMessage float64 `json:"cpu_us_per_message"`

	// Of the broker only.
	PeakRSS           int64   `json:"peak_rss_bytes,omitempty"` // from the run's beginning
	Written           int64   `json:"write_bytes,omitempty"`
	WrittenPerMessage float64 `json:"write_bytes_per_message,omitempty"`
}

// snapshot is the state of a run's counters at one moment.
type snapshot struct {
	at                              time.Duration
	published, confirmed, delivered uint64
	generator                       time.Duration // CPU
	broker                          usage
}

// span is the time between two moments of a run.
type span struct{ from, to snapshot }

// measured fills in what was measured while publishing, while consuming, and in both.
func (r *Report) measured(publishing, consuming, both span) {
	r.Seconds = both.seconds()
	r.PublishedPerSecond = float64(publishing.to.published-publishing.from.published) / publishing.seconds()
	r.ConfirmedPerSecond = float64(publishing.to.confirmed-publishing.from.confirmed) / publishing.seconds()
	r.DeliveredPerSecond = float64(consuming.to.delivered-consuming.from.delivered) / consuming.seconds()

	messages := both.to.delivered - both.from.delivered
	if r.Workload.Consumers == 0 {
		messages = both.to.published - both.from.published
	}
	r.Generator = newUsage(both.to.generator-both.from.generator, messages)
	if len(r.Workload.Processes) > 0 {
		u := newUsage(both.to.broker.cpu-both.from.broker.cpu, messages)
		u.Written = both.to.broker.written - both.from.broker.written
		if messages > 0 {
			u.WrittenPerMessage = float64(u.Written) / float64(messages)
		}
		r.Broker = &u
	}
}

// seconds is never 0, so that rates are numbers.
func (s span) seconds() float64 { return max(s.to.at-s.from.at, 1).Seconds() }

func newUsage(cpu time.Duration, messages uint64) Usage {
	u := Usage{CPUSeconds: cpu.Seconds()}
	if messages > 0 {
		u.CPUPerMessage = cpu.Seconds() * 1e6 / float64(messages)
	}
	return u
}
