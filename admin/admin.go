package admin

import (
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"

	"github.com/warrenmq/warren/admin/api"
	"github.com/warrenmq/warren/keratin"
	"github.com/warrenmq/warren/queue"
)

// Options configures an API. Broker, Clients, Storage and Alarms are required.
type Options struct {
	Broker  *queue.Broker
	Clients Clients
	Storage Storage
	Alarms  Alarms
	Log     *zap.Logger      // nil: silent
	Now     func() time.Time // nil: time.Now

	Identity
	DataDir    string
	ConfigFile string   // "" when there is none
	Listeners  []Listen // what is served
}

// Identity is what the broker says it is.
type Identity struct {
	ClaimedVersion string // RabbitMQ version that clients act on
	Version        string // Warren's own
	NodeName       string
	ClusterName    string
}

// Listen is an address that the broker serves.
type Listen struct {
	Protocol string // "amqp", "http"
	Host     string
	Port     int
}

// Clients is what the HTTP side needs of the AMQP connections. All methods may be called at any time, at once.
type Clients interface {
	// Connections lists the connections that have begun to speak AMQP. Node is filled in by the caller.
	Connections() []api.Connection
	// Channels lists the open channels of all connections. Node is filled in by the caller.
	Channels() []api.Channel
	// Consumers lists the consumers of all channels. Node is filled in by the caller.
	Consumers() []api.Consumer
	// CloseConnection tells the peer that its connection was closed for the reason, and ends it. It does not wait
	// for the end, and reports whether there was such a connection.
	CloseConnection(name, reason string) bool
	// Totals sums up the connections that there are and have been.
	Totals() ClientTotals
}

// ClientTotals counts since the broker started. Everything here only grows.
type ClientTotals struct {
	ConnectionsOpened, ConnectionsClosed uint64
	ChannelsOpened, ChannelsClosed       uint64
	ReceivedOctets, SentOctets           uint64
}

// Storage is what the HTTP side needs of the storage engine.
type Storage interface {
	Stats() keratin.Stats
	Failed() error // not nil when nothing can be made durable any more
}

// Alarms is what the HTTP side needs of the watch over memory and disk, which makes publishers wait.
type Alarms interface {
	Memory() Level // what the process has, and may have
	Disk() Level   // what is free for the data directory, and has to be
	SetMemoryWatermark(share float64)
}

// Level is how much there is of something, in bytes, and when there is too much or too little of it.
type Level struct {
	Now, Limit int64
	Raised     bool // publishers wait
}

// API is the HTTP side of a broker, an http.Handler.
type API struct {
	o       Options
	log     *zap.Logger
	started time.Time
	rates   *rates
	routes  http.Handler
}

// New returns the HTTP side of a broker.
func New(o Options) *API {
	if o.Log == nil {
		o.Log = zap.NewNop()
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	a := &API{o: o, log: o.Log, started: o.Now(), rates: newRates(o.Now)}
	registry := prometheus.NewRegistry()
	registry.MustRegister(newCollector(a))
	a.routes = a.router(registry)
	return a
}

func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) { a.routes.ServeHTTP(w, r) }
