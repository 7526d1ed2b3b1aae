package server

import (
	"time"

	"go.uber.org/zap"

	"github.com/warrenmq/warren/queue"
)

// Options configures a Server. Broker is required; every other field has a default that suits RabbitMQ's clients.
type Options struct {
	Broker *queue.Broker
	Log    *zap.Logger // nil: silent

	// What connection.start says about the server. Clients choose their behaviour by product and version.
	Product     string            // "" = "RabbitMQ"
	Version     string            // dotted integers; "" = "4.2.0"
	ClusterName string            // "" = "warren"
	Properties  map[string]string // further entries, or other values for the standard ones

	Heartbeat  time.Duration // proposed in tune; 0 = 60 s, negative = off
	ChannelMax uint16        // 0 = 2047
	FrameMax   uint32        // octets; 0 = 131072

	MaxMessageSize   uint64        // octets of one body; 0 = 128 MiB
	MaxTransaction   uint64        // octets held by one channel until tx.commit; 0 = 256 MiB
	HandshakeTimeout time.Duration // from accept to connection.open; 0 = 10 s
	LoginDelay       time.Duration // before a failed login's socket is closed in silence; 0 = 3 s
	CloseTimeout     time.Duration // how long a peer may take to answer our connection.close; 0 = 10 s
	WriteTimeout     time.Duration // how long a write may make no progress; 0 = 30 s
}

const (
	defaultProduct        = "RabbitMQ"
	defaultVersion        = "4.2.0"
	defaultChannelMax     = 2047
	defaultFrameMax       = 131072
	defaultMaxMessageSize = 128 << 20
	defaultMaxTransaction = 256 << 20
)

func (o Options) withDefaults() Options {
	setDefault(&o.Log, zap.NewNop())
	setDefault(&o.Product, defaultProduct)
	setDefault(&o.Version, defaultVersion)
	setDefault(&o.ClusterName, "warren")
	setDefault(&o.Heartbeat, 60*time.Second)
	setDefault(&o.ChannelMax, defaultChannelMax)
	setDefault(&o.FrameMax, defaultFrameMax)
	setDefault(&o.MaxMessageSize, defaultMaxMessageSize)
	setDefault(&o.MaxTransaction, defaultMaxTransaction)
	setDefault(&o.HandshakeTimeout, 10*time.Second)
	setDefault(&o.LoginDelay, 3*time.Second)
	setDefault(&o.CloseTimeout, 10*time.Second)
	setDefault(&o.WriteTimeout, 30*time.Second)
	return o
}

func setDefault[T comparable](v *T, def T) {
	var zero T
	if *v == zero {
		*v = def
	}
}
