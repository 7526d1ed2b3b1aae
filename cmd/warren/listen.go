package main

import (
	"errors"
	"net"
	"net/http"
	"net/http/pprof"
	"syscall"
	"time"

	"go.uber.org/zap"

	"github.com/warrenmq/warren/admin"
)

// listen opens listeners on all addresses, or on none. With optionalV6, an address of IPv6 may be missing on a
// machine that has no IPv6, as long as another is there.
func listen(addresses []string, optionalV6 bool, log *zap.Logger) (all []net.Listener, err error) {
	for _, address := range addresses {
		l, err := net.Listen("tcp", address)
		if err == nil {
			all = append(all, l)
			continue
		}
		if optionalV6 && len(all) > 0 && (errors.Is(err, syscall.EADDRNOTAVAIL) || errors.Is(err, syscall.EAFNOSUPPORT)) {
			log.Info("no IPv6 on this machine", zap.String("address", address))
			continue
		}
		for _, l := range all {
			_ = l.Close()
		}
		return nil, err
	}
	return all, nil
}

// listens tells the HTTP API what is served.
func listens(protocol string, listeners []net.Listener) (list []admin.Listen) {
	for _, l := range listeners {
		addr := l.Addr().(*net.TCPAddr)
		list = append(list, admin.Listen{Protocol: protocol, Host: addr.IP.String(), Port: addr.Port})
	}
	return list
}

// admin returns the HTTP API of the node.
func (n *node) admin(configFile string) http.Handler {
	c := n.config
	return admin.New(admin.Options{
		Broker:  n.broker,
		Clients: clients{n.amqp},
		Storage: n.store,
		Alarms:  n.alarms,
		Log:     n.log.Named("http"),
		Identity: admin.Identity{
			ClaimedVersion: c.Broker.ClaimedVersion,
			Version:        ownVersion(),
			NodeName:       c.Broker.NodeName,
			ClusterName:    c.Broker.ClusterName,
		},
		DataDir:    c.DataDir,
		ConfigFile: configFile,
		Listeners:  append(listens("amqp", n.amqpListeners), listens("http", n.httpListeners)...),
	})
}

// httpServer returns a server that a slow or silent client cannot hold on to.
func (n *node) httpServer(handler http.Handler) *http.Server {
	return &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       time.Minute,
		WriteTimeout:      time.Minute,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          zap.NewStdLog(n.log.Named("http")),
	}
}

// profiles serves what package pprof has, without making it part of every server of the process.
func profiles() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	return mux
}
