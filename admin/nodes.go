package admin

import (
	"net/http"
	"os"
	"runtime"
	"strconv"

	"github.com/warrenmq/warren/admin/api"
)

func (a *API) apiNode() api.Node {
	u := measure(a.o.DataDir)
	connections := int64(len(a.o.Clients.Connections()))
	object := api.Node{
		Name: a.o.NodeName, Type: "disc", Running: true,
		Uptime: a.o.Now().Sub(a.started).Milliseconds(), Processors: u.processors, OSPid: strconv.Itoa(os.Getpid()),
		FDUsed: u.openFiles, FDTotal: u.maxFiles, SocketsUsed: connections, SocketsTotal: u.maxFiles,
		ProcUsed: u.goroutines, ProcTotal: 1 << 20,
		MemUsed: u.residentBytes, MemLimit: u.memoryBytes, MemStrategy: "rss",
		DiskFree:   u.diskFreeBytes,
		Partitions: []string{}, RatesMode: "basic", NetTicktime: 60, EnabledPlugins: []string{},
		DBDir: a.o.DataDir, LogFiles: []string{"<stderr>"}, ConfigFiles: []string{},
		AuthMechanisms: []api.Named{
			{Name: "PLAIN", Description: "SASL PLAIN authentication mechanism", Enabled: true},
			{Name: "AMQPLAIN", Description: "QPid AMQPLAIN mechanism", Enabled: true},
		},
		ExchangeTypes:   exchangeTypes,
		Applications:    []api.Named{{Name: "warren", Description: "Warren", Version: a.o.Version}},
		Contexts:        a.contexts(),
		RabbitMQVersion: a.o.ClaimedVersion, ErlangVersion: runtime.Version(),
		GCNum: u.gcCycles, GCBytes: u.gcFreedBytes, ContextSwitches: u.contextSwitches,
		ClusterLinks: []string{},
	}
	if a.o.ConfigFile != "" {
		object.ConfigFiles = append(object.ConfigFiles, a.o.ConfigFile)
	}
	return object
}

func (a *API) nodes(w http.ResponseWriter, r *request) error {
	return writeList(w, r, []api.Node{a.apiNode()}, func(n *api.Node) string { return n.Name })
}

func (a *API) node(w http.ResponseWriter, r *request) error {
	if r.param("node") != a.o.NodeName {
		return errNotFound
	}
	return writeObject(w, r, a.apiNode())
}
