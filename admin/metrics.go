package admin

import (
	"runtime"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/warrenmq/warren/keratin"
	"github.com/warrenmq/warren/queue"
)

// snapshot is what one scrape reads, once, from counters that are kept anyway.
type snapshot struct {
	broker  queue.BrokerStats
	counts  counts
	storage keratin.Stats
	failed  bool
	usage   usage
	memory  Level
	disk    Level
	uptime  float64 // seconds
}

func (a *API) snapshot() *snapshot {
	s := &snapshot{
		broker:  a.o.Broker.Stats(),
		storage: a.o.Storage.Stats(),
		failed:  a.o.Storage.Failed() != nil,
		usage:   measure(),
		memory:  a.o.Alarms.Memory(),
		disk:    a.o.Alarms.Disk(),
		uptime:  a.o.Now().Sub(a.started).Seconds(),
	}
	s.counts = broadCounts(&s.broker, a.o.Clients.Totals())
	return s
}

// family is one number of a scrape.
type family struct {
	desc  *prometheus.Desc
	kind  prometheus.ValueType
	value func(*snapshot) float64
}

// collector shows the broker's counters to a registry. There is no state in it, so nothing can leak or go stale:
// a deleted queue is simply no longer counted.
type collector struct {
	api      *API
	families []family
	info     []prometheus.Metric
}

func newCollector(a *API) *collector {
	c := &collector{api: a}
	c.info = []prometheus.Metric{
		constant("rabbitmq_build_info", "Version that clients are told.", prometheus.Labels{
			"rabbitmq_version": a.o.ClaimedVersion, "product_name": "RabbitMQ", "product_version": a.o.ClaimedVersion,
			"erlang_version": runtime.Version(), "prometheus_plugin_version": a.o.ClaimedVersion, "prometheus_client_version": a.o.ClaimedVersion,
		}),
		constant("rabbitmq_identity_info", "Name of the node and its cluster.", prometheus.Labels{
			"rabbitmq_node": a.o.NodeName, "rabbitmq_cluster": a.o.ClusterName,
			"rabbitmq_cluster_permanent_id": a.o.ClusterName, "rabbitmq_endpoint": "aggregated",
		}),
		constant("warren_build_info", "Version of Warren.", prometheus.Labels{"version": a.o.Version}),
	}
	c.rabbitmqFamilies()
	c.globalFamilies()
	c.storageFamilies()
	return c
}

// constant is a metric whose value is 1 and whose labels are the news.
func constant(name, help string, labels prometheus.Labels) prometheus.Metric {
	return prometheus.MustNewConstMetric(prometheus.NewDesc(name, help, nil, labels), prometheus.UntypedValue, 1)
}

func (c *collector) gauge(name, help string, value func(*snapshot) float64) {
	c.families = append(c.families, family{prometheus.NewDesc(name, help, nil, nil), prometheus.GaugeValue, value})
}

func (c *collector) counter(name, help string, value func(*snapshot) float64) {
	c.families = append(c.families, family{prometheus.NewDesc(name, help, nil, nil), prometheus.CounterValue, value})
}

// Describe sends nothing: what is collected is fixed by the tables of this package, and one per process.
func (c *collector) Describe(chan<- *prometheus.Desc) {}

func (c *collector) Collect(out chan<- prometheus.Metric) {
	s := c.api.snapshot()
	for _, m := range c.info {
		out <- m
	}
	for _, f := range c.families {
		out <- prometheus.MustNewConstMetric(f.desc, f.kind, f.value(s))
	}
}

// bit turns a condition into a gauge.
func bit(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
