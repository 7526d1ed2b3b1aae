package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/warrenmq/warren/amqp/server"
	"github.com/warrenmq/warren/cmd/warren/config"
	"github.com/warrenmq/warren/keratin"
	"github.com/warrenmq/warren/queue"
)

// node is a running broker: the packages put together.
//
//	startNode: store (lock, recovery) → broker (catalog, queues) → listeners → serving
//	stop:      HTTP and AMQP listeners closed, clients told → broker → store (flush, checkpoint, unlock)
type node struct {
	config config.Config
	log    *zap.Logger
	store  *keratin.Store
	broker *queue.Broker
	amqp   *server.Server
	http   *http.Server
	debug  *http.Server
	alarms *alarms

	amqpListeners, httpListeners, debugListeners []net.Listener

	serving sync.WaitGroup // one per listener, and one for the alarms
	calm    func()         // ends the watch of the alarms
	failed  chan error     // a listener that ended by itself; room for each
}

// startNode brings a broker up. On an error nothing is left running or locked.
func startNode(c config.Config, configFile string, log *zap.Logger) (_ *node, err error) {
	n := &node{config: c, log: log}
	defer func() {
		if err != nil {
			n.abandon()
		}
	}()
	n.store, err = keratin.Open(c.DataDir, keratin.Options{
		SyncInterval:     c.Storage.SyncInterval,
		JournalFileBytes: c.Storage.JournalFileBytes,
		TailBytes:        c.Storage.TailBytes,
	})
	if err != nil {
		return nil, fmt.Errorf("data directory %s: %w", c.DataDir, err)
	}
	for _, damage := range n.store.Damage() {
		log.Error("damage in the data directory that no queue could be found for", zap.Error(damage))
	}
	n.broker, err = queue.Open(queue.Options{
		Store:         queue.OnKeratin(n.store),
		Log:           log.Named("queue"),
		LoopbackUsers: append([]string{}, c.Broker.LoopbackUsers...), // not nil: an empty list means nobody
	})
	if err != nil {
		return nil, fmt.Errorf("data directory %s: %w", c.DataDir, err)
	}
	if n.amqpListeners, err = listen(c.AMQP.Listen, !c.Given("amqp.listen"), log); err != nil {
		return nil, err
	}
	if n.httpListeners, err = listen(c.HTTP.Listen, false, log); err != nil {
		return nil, err
	}
	if n.debugListeners, err = listen(c.Debug.Listen, false, log); err != nil {
		return nil, err
	}
	n.serve(configFile)
	return n, nil
}

// serve starts to accept connections on the listeners.
func (n *node) serve(configFile string) {
	c := n.config
	n.failed = make(chan error, len(n.allListeners()))
	n.amqp = server.New(server.Options{
		Broker:           n.broker,
		Log:              n.log.Named("amqp"),
		Version:          c.Broker.ClaimedVersion,
		ClusterName:      c.Broker.ClusterName,
		Heartbeat:        heartbeat(c.AMQP.Heartbeat),
		ChannelMax:       uint16(c.AMQP.ChannelMax),
		FrameMax:         uint32(c.AMQP.FrameMax),
		MaxMessageSize:   uint64(c.AMQP.MaxMessageSize),
		HandshakeTimeout: c.AMQP.HandshakeTimeout,
	})
	n.alarms = &alarms{
		machine: thisMachine(c.DataDir), log: n.log, block: n.amqp.Block, unblock: n.amqp.Unblock,
		watermark: c.Alarms.MemoryHighWatermark, diskLimit: c.Alarms.DiskFreeLimit,
	}
	n.alarms.check() // before the first client
	var watch context.Context
	watch, n.calm = context.WithCancel(context.Background())
	n.serving.Go(func() { n.alarms.watch(watch) })
	n.http = n.httpServer(n.admin(configFile))
	n.debug = n.httpServer(profiles())
	n.debug.WriteTimeout = 0 // a profile takes as long as it was asked to
	for _, l := range n.amqpListeners {
		n.serveListener("amqp", l, n.amqp.Serve, server.ErrStopped)
	}
	for _, l := range n.httpListeners {
		n.serveListener("http", l, n.http.Serve, http.ErrServerClosed)
	}
	for _, l := range n.debugListeners {
		n.serveListener("debug", l, n.debug.Serve, http.ErrServerClosed)
	}
}

// serveListener serves one listener until it ends with stopped, or reports what ended it instead.
func (n *node) serveListener(protocol string, l net.Listener, serve func(net.Listener) error, stopped error) {
	n.log.Info("listening", zap.String("protocol", protocol), zap.Stringer("address", l.Addr()))
	n.serving.Go(func() {
		if err := serve(l); !errors.Is(err, stopped) {
			n.failed <- fmt.Errorf("%s listener %s: %w", protocol, l.Addr(), err)
		}
	})
}

// stop ends a node cleanly: clients are told and get until ctx is done, then everything is flushed.
func (n *node) stop(ctx context.Context) error {
	var errs []error
	n.calm()
	if err := n.amqp.Shutdown(ctx); err != nil {
		n.log.Warn("clients did not leave in time", zap.Error(err))
	}
	if err := n.http.Shutdown(ctx); err != nil {
		errs = append(errs, n.http.Close())
	}
	errs = append(errs, n.debug.Close())
	n.serving.Wait()
	if err := n.broker.Close(); err != nil {
		errs = append(errs, fmt.Errorf("stopping the queues: %w", err))
	}
	if err := n.store.Close(); err != nil {
		errs = append(errs, fmt.Errorf("data directory %s: %w", n.config.DataDir, err))
	}
	return errors.Join(errs...)
}

// abandon takes down what startNode has brought up before it failed. The reason to stop is the error that is
// reported; what else goes wrong on the way out would only hide it.
func (n *node) abandon() {
	for _, l := range n.allListeners() {
		_ = l.Close()
	}
	if n.broker != nil {
		_ = n.broker.Close()
	}
	if n.store != nil {
		_ = n.store.Close()
	}
}

// allListeners returns every listener that is open.
func (n *node) allListeners() []net.Listener {
	return slices.Concat(n.amqpListeners, n.httpListeners, n.debugListeners)
}

// heartbeat turns the setting into the server's option, where 0 is the default.
func heartbeat(d time.Duration) time.Duration {
	if d == 0 {
		return -1
	}
	return d
}
