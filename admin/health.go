package admin

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"github.com/warrenmq/warren/admin/api"
)

// healthRoutes are the checks that probes and monitors poll. Those that the load balancers of a cluster ask need
// no credentials, as in RabbitMQ.
func (a *API) healthRoutes(get func(path string, who access, h handler)) {
	const checks = "/api/health/checks/"
	get(checks+"alarms", anyTag, a.checkAlarms)
	get(checks+"local-alarms", anyTag, a.checkAlarms)
	get(checks+"virtual-hosts", anyTag, a.checkVHosts)
	get(checks+"port-listener/{port}", anyTag, a.checkPort)
	get(checks+"protocol-listener/{protocol}", anyTag, a.checkProtocol)
	get(checks+"certificate-expiration/{within}/{unit}", anyTag, a.healthy)
	get(checks+"node-is-quorum-critical", anyTag, a.healthy)
	get(checks+"node-is-mirror-sync-critical", anyTag, a.healthy)
	for _, open := range []string{"is-in-service", "ready-to-serve-clients", "below-node-connection-limit", "reached-target-cluster-size"} {
		get(checks+open, anybody, a.checkStorage)
	}
	get("/api/aliveness-test/{vhost}", anyTag, a.aliveness)
	get("/api/healthchecks/node", anyTag, a.checkAlarms)
	get("/api/healthchecks/node/{node}", anyTag, a.checkAlarms)
}

// healthy answers the checks whose subject a single node without TLS does not have.
func (a *API) healthy(w http.ResponseWriter, _ *request) error {
	writeJSON(w, http.StatusOK, api.Status{Status: "ok"})
	return nil
}

func (a *API) unhealthy(w http.ResponseWriter, reason string) error {
	writeJSON(w, http.StatusServiceUnavailable, api.Status{Status: "failed", Reason: reason})
	return nil
}

// checkAlarms fails when publishers have to wait, or when nothing can be made durable any more.
func (a *API) checkAlarms(w http.ResponseWriter, r *request) error {
	switch {
	case a.o.Alarms.Memory().Raised:
		return a.unhealthy(w, "There are alarms in effect in the cluster: memory")
	case a.o.Alarms.Disk().Raised:
		return a.unhealthy(w, "There are alarms in effect in the cluster: disk")
	}
	return a.checkStorage(w, r)
}

// checkStorage fails when nothing can be made durable any more.
func (a *API) checkStorage(w http.ResponseWriter, r *request) error {
	if err := a.o.Storage.Failed(); err != nil {
		return a.unhealthy(w, fmt.Sprintf("storage has failed, restart needed: %v", err))
	}
	return a.healthy(w, r)
}

// checkVHosts fails when a vhost has queues that cannot work.
func (a *API) checkVHosts(w http.ResponseWriter, r *request) error {
	for _, q := range a.o.Broker.Queues("") {
		if q.Failed != nil {
			return a.unhealthy(w, fmt.Sprintf("queue '%s' in vhost '%s' is down", q.Name, q.VHost))
		}
	}
	return a.healthy(w, r)
}

func (a *API) checkPort(w http.ResponseWriter, r *request) error {
	port, err := strconv.Atoi(r.param("port"))
	if err != nil {
		return badRequest("Invalid port")
	}
	return a.checkListener(w, r, func(l Listen) bool { return l.Port == port })
}

func (a *API) checkProtocol(w http.ResponseWriter, r *request) error {
	protocol := r.param("protocol")
	switch protocol {
	case "amqp091", "amqp0.9.1", "amqp":
		protocol = "amqp"
	}
	return a.checkListener(w, r, func(l Listen) bool { return l.Protocol == protocol })
}

func (a *API) checkListener(w http.ResponseWriter, r *request, wanted func(Listen) bool) error {
	if !slices.ContainsFunc(a.o.Listeners, wanted) {
		return a.unhealthy(w, "No active listener")
	}
	return a.healthy(w, r)
}

// aliveness answers with exactly {"status":"ok"}, which is compared as text.
func (a *API) aliveness(w http.ResponseWriter, r *request) error {
	if _, err := a.scope(r); err != nil {
		return err
	}
	return a.checkStorage(w, r)
}
