package api

// Overview is the state of the cluster at a glance.
type Overview struct {
	ManagementVersion string         `json:"management_version"`
	RatesMode         string         `json:"rates_mode"`
	ExchangeTypes     []ExchangeType `json:"exchange_types"`
	ProductName       string         `json:"product_name"`
	ProductVersion    string         `json:"product_version"`
	RabbitMQVersion   string         `json:"rabbitmq_version"`
	WarrenVersion     string         `json:"warren_version"`
	ErlangVersion     string         `json:"erlang_version"` // clients print it; it names the Go release
	ErlangFullVersion string         `json:"erlang_full_version"`
	ClusterName       string         `json:"cluster_name"`
	ClusterTags       map[string]any `json:"cluster_tags"`
	NodeTags          map[string]any `json:"node_tags"`
	Node              string         `json:"node"`
	DisableStats      bool           `json:"disable_stats"`
	EnableQueueTotals bool           `json:"enable_queue_totals"`
	DefaultQueueType  string         `json:"default_queue_type"`

	OperatorPolicyUpdating bool               `json:"is_op_policy_updating_enabled"`
	SampleRetention        map[string][]int   `json:"sample_retention_policies"`
	StatisticsEventQueue   int                `json:"statistics_db_event_queue"`
	MessageStats           MessageStatsOrNone `json:"message_stats"`
	ChurnRates             ChurnRates         `json:"churn_rates"`
	QueueTotals            QueueTotals        `json:"queue_totals"`
	ObjectTotals           ObjectTotals       `json:"object_totals"`
	Listeners              []Listener         `json:"listeners"`
	Contexts               []Context          `json:"contexts"`
}

// MessageStatsOrNone is {} until there is traffic: the overview always has the key.
type MessageStatsOrNone struct{ *MessageStats }

// ExchangeType is a type that exchange.declare takes.
type ExchangeType struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Enabled     bool   `json:"enabled"`
}

// ChurnRates counts what comes and goes.
type ChurnRates struct {
	ConnectionCreated        uint64 `json:"connection_created"`
	ConnectionCreatedDetails Rate   `json:"connection_created_details"`
	ConnectionClosed         uint64 `json:"connection_closed"`
	ConnectionClosedDetails  Rate   `json:"connection_closed_details"`
	ChannelCreated           uint64 `json:"channel_created"`
	ChannelCreatedDetails    Rate   `json:"channel_created_details"`
	ChannelClosed            uint64 `json:"channel_closed"`
	ChannelClosedDetails     Rate   `json:"channel_closed_details"`
	QueueDeclared            uint64 `json:"queue_declared"`
	QueueDeclaredDetails     Rate   `json:"queue_declared_details"`
	QueueCreated             uint64 `json:"queue_created"`
	QueueCreatedDetails      Rate   `json:"queue_created_details"`
	QueueDeleted             uint64 `json:"queue_deleted"`
	QueueDeletedDetails      Rate   `json:"queue_deleted_details"`
}

// QueueTotals adds up all queues that the user sees.
type QueueTotals struct {
	Messages               int64 `json:"messages"`
	MessagesDetails        Rate  `json:"messages_details"`
	MessagesReady          int64 `json:"messages_ready"`
	MessagesReadyDetails   Rate  `json:"messages_ready_details"`
	MessagesUnacked        int64 `json:"messages_unacknowledged"`
	MessagesUnackedDetails Rate  `json:"messages_unacknowledged_details"`
}

// ObjectTotals counts the objects that the user sees.
type ObjectTotals struct {
	Connections int `json:"connections"`
	Channels    int `json:"channels"`
	Exchanges   int `json:"exchanges"`
	Queues      int `json:"queues"`
	Consumers   int `json:"consumers"`
}

// Listener is an address that the broker serves.
type Listener struct {
	Node       string         `json:"node"`
	Protocol   string         `json:"protocol"` // amqp, http
	IPAddress  string         `json:"ip_address"`
	Port       int            `json:"port"`
	TLS        bool           `json:"tls"`
	SocketOpts map[string]any `json:"socket_opts"`
}

// Context is an HTTP listener in RabbitMQ's other spelling.
type Context struct {
	Node        string `json:"node"`
	Description string `json:"description"`
	Path        string `json:"path"`
	IP          string `json:"ip"`
	Port        string `json:"port"`
}

// Node is one broker process and what it uses.
type Node struct {
	Name            string         `json:"name"`
	Type            string         `json:"type"` // disc
	Running         bool           `json:"running"`
	Uptime          int64          `json:"uptime"` // milliseconds
	RunQueue        int            `json:"run_queue"`
	Processors      int            `json:"processors"`
	OSPid           string         `json:"os_pid"`
	FDUsed          int64          `json:"fd_used"`
	FDTotal         int64          `json:"fd_total"`
	SocketsUsed     int64          `json:"sockets_used"`
	SocketsTotal    int64          `json:"sockets_total"`
	ProcUsed        int64          `json:"proc_used"` // goroutines
	ProcTotal       int64          `json:"proc_total"`
	MemUsed         int64          `json:"mem_used"` // resident bytes
	MemLimit        int64          `json:"mem_limit"`
	MemAlarm        bool           `json:"mem_alarm"`
	MemStrategy     string         `json:"mem_calculation_strategy"`
	DiskFree        int64          `json:"disk_free"`
	DiskFreeLimit   int64          `json:"disk_free_limit"`
	DiskFreeAlarm   bool           `json:"disk_free_alarm"`
	Partitions      []string       `json:"partitions"`
	RatesMode       string         `json:"rates_mode"`
	NetTicktime     int            `json:"net_ticktime"`
	EnabledPlugins  []string       `json:"enabled_plugins"`
	DBDir           string         `json:"db_dir"`
	LogFiles        []string       `json:"log_files"`
	ConfigFiles     []string       `json:"config_files"`
	AuthMechanisms  []Named        `json:"auth_mechanisms"`
	ExchangeTypes   []ExchangeType `json:"exchange_types"`
	Applications    []Named        `json:"applications"`
	Contexts        []Context      `json:"contexts"`
	BeingDrained    bool           `json:"being_drained"`
	RabbitMQVersion string         `json:"rabbitmq_version"`
	ErlangVersion   string         `json:"erlang_version"`
	GCNum           uint64         `json:"gc_num"`
	GCBytes         uint64         `json:"gc_bytes_reclaimed"`
	ContextSwitches uint64         `json:"context_switches"`
	ClusterLinks    []string       `json:"cluster_links"`
}

// Named is an entry of a list of things with a name and a description.
type Named struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Version     string `json:"version,omitempty"`
	Enabled     bool   `json:"enabled,omitempty"`
}
