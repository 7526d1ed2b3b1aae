// Package config reads the settings of a broker from four layers, each stronger than the one before:
//
//	defaults < file (--config, YAML) < environment (WARREN_AMQP_LISTEN, …) < flags that were given
//
// Loading is strict. A key that no setting has, a value of another type than the setting's, a value out of
// range, and a WARREN_ variable that names no setting are refused, and the error says where the value stood,
// which key it was, what was found and what is expected:
//
//	/etc/warren.yaml: amqp.frame_max: got 100, want a number of bytes from 8192 to 16777216
//
// In the file a value has its YAML type: 100 is no string and "100" no number. A duration always carries its
// unit ("5" could be seconds or nanoseconds), a size may ("64MiB"); a list is a YAML list. In the environment
// everything is text, and a list is separated by commas.
//
// Packages below cmd take plain Options; this is the only place that knows keys.
package config

import (
	"os"
	"strings"
	"time"
)

// Config is every setting of a broker. Default returns the values of a broker nobody has configured.
type Config struct {
	DataDir         string        // folder that holds the logs; created when missing
	ShutdownTimeout time.Duration // how long a clean stop waits for clients before their sockets are cut
	AMQP            AMQP
	HTTP            HTTP
	Broker          Broker
	Storage         Storage
	Alarms          Alarms
	Log             Log
	Debug           Debug

	given map[string]bool // keys that a layer above the defaults has set
}

// AMQP is the settings of the listeners for clients.
type AMQP struct {
	Listen           []string      // HOST:PORT each
	Heartbeat        time.Duration // proposed to the client; 0 proposes none
	FrameMax         int64         // bytes, proposed to the client
	ChannelMax       int64         // channels per connection, proposed to the client
	HandshakeTimeout time.Duration // from accept to connection.open-ok
	MaxMessageSize   int64         // bytes of one body
}

// HTTP is the settings of the listener for operators.
type HTTP struct {
	Listen []string // HOST:PORT each; empty serves no HTTP
}

// Broker is what the broker says it is and whom it lets in.
type Broker struct {
	ClaimedVersion string   // RabbitMQ version that clients are told; they choose their behaviour by it
	NodeName       string   // name of this node in the HTTP API and in metrics
	ClusterName    string   // name of the cluster there; also told to clients
	LoopbackUsers  []string // users that may only connect from this machine
}

// Storage is the settings of the storage engine.
type Storage struct {
	SyncInterval     time.Duration // longest time that written bytes nobody waits for stay unflushed
	JournalFileBytes int64         // size of one journal file
	TailBytes        int64         // recently written bytes that are kept in memory, over all logs
}

// Alarms is the settings of when publishers have to wait.
type Alarms struct {
	MemoryHighWatermark float64 // share of the machine's memory that the process may have
	DiskFreeLimit       int64   // bytes that have to be free for the data directory
}

// Log is the settings of the log lines on standard error.
type Log struct {
	Level  string // debug, info, warn, error
	Format string // json, console
}

// Debug is the settings of what helps to look into a running broker.
type Debug struct {
	Listen []string // HOST:PORT each, for profiles; they ask for no credentials
}

// Default returns the settings of a broker nobody has configured.
func Default() Config {
	return Config{
		DataDir:         "./data",
		ShutdownTimeout: 10 * time.Second,
		AMQP: AMQP{
			Listen:           []string{"127.0.0.1:5672", "[::1]:5672"},
			Heartbeat:        60 * time.Second,
			FrameMax:         131072,
			ChannelMax:       2047,
			HandshakeTimeout: 10 * time.Second,
			MaxMessageSize:   128 << 20,
		},
		HTTP: HTTP{Listen: []string{"127.0.0.1:15672"}},
		Broker: Broker{
			ClaimedVersion: "4.2.0",
			NodeName:       "warren@" + hostName(),
			ClusterName:    "warren",
			LoopbackUsers:  []string{"guest"},
		},
		Storage: Storage{
			SyncInterval:     100 * time.Millisecond,
			JournalFileBytes: 32 << 20,
			TailBytes:        16 << 20,
		},
		Alarms: Alarms{MemoryHighWatermark: 0.6, DiskFreeLimit: 50 << 20},
		Log:    Log{Level: "info", Format: "json"},
		Debug:  Debug{Listen: []string{}},
	}
}

// Given reports whether a file, the environment or a flag has set the key, as opposed to its default.
func (c *Config) Given(key string) bool { return c.given[key] }

// hostName returns the machine's name without its domain.
func hostName() string {
	name, err := os.Hostname()
	name, _, _ = strings.Cut(name, ".")
	if err != nil || !isName(name) {
		return "localhost"
	}
	return name
}
