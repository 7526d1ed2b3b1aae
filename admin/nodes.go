package admin

import (
	"net/http"
	"os"
	"runtime"
	"strconv"

	"github.com/warrenmq/warren/admin/api"
)

func (a *API) apiNode() api.Node {
	u, memory, disk := measure(), a.o.Alarms.Memory(), a.o.Alarms.Disk()
	connections := int64(len(a.o.Clients.Connections()))
	object := api.Node{
		Name: a.o.NodeName, Type: "disc", Running: true,
		Uptime: a.o.Now().Sub(a.started).Milliseconds(), Processors: u.processors, OSPid: strconv.Itoa(os.Getpid()),
		FDUsed: u.openFiles, FDTotal: u.maxFiles, SocketsUsed: connections, SocketsTotal: u.maxFiles,
		ProcUsed: u.goroutines, ProcTotal: 1 << 20,
		MemUsed: memory.Now, MemLimit: memory.Limit, MemAlarm: memory.Raised, MemStrategy: "rss",
		DiskFree: disk.Now, DiskFreeLimit: disk.Limit, DiskFreeAlarm: disk.Raised,
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

// setWatermark changes the memory alarm's watermark until the next start.
func (a *API) setWatermark(w http.ResponseWriter, r *request) error {
	if r.param("node") != a.o.NodeName {
		return errNotFound
	}
	var body struct{ Value *float64 }
	if err := readBody(r, &body); err != nil {
		return err
	}
	if body.Value == nil || *body.Value < 0 || *body.Value > 1 {
		return badRequest("value: want a number from 0 to 1")
	}
	a.o.Alarms.SetMemoryWatermark(*body.Value)
	w.WriteHeader(http.StatusNoContent)
	return nil
}
