package admin

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/go-chi/chi/v5"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/warrenmq/warren/queue"
)

// maxBody bounds the body of a request.
const maxBody = 1 << 20

// request is a request whose sender is known.
type request struct {
	*http.Request
	user queue.User
}

// param returns a segment of the path. The router has matched the encoded path if there is one, and then the
// segment is still encoded; decoding in the other case too would spoil names with a percent sign.
func (r *request) param(name string) string {
	value := chi.URLParam(r.Request, name)
	if r.URL.RawPath == "" {
		return value
	}
	if decoded, err := url.PathUnescape(value); err == nil {
		return decoded
	}
	return value
}

// router returns the table of all paths.
func (a *API) router(registry *prometheus.Registry) http.Handler {
	mux := chi.NewRouter()
	mux.NotFound(func(w http.ResponseWriter, r *http.Request) { a.writeError(w, r, errNotFound) })
	mux.MethodNotAllowed(func(w http.ResponseWriter, r *http.Request) { a.writeError(w, r, errMethod) })
	handle := func(method, path string, who access, h handler) {
		mux.Method(method, path, a.wrap(who, h))
		if method == http.MethodGet {
			mux.Method(http.MethodHead, path, a.wrap(who, h))
		}
	}
	get := func(path string, who access, h handler) { handle(http.MethodGet, path, who, h) }
	put := func(path string, who access, h handler) { handle(http.MethodPut, path, who, h) }
	del := func(path string, who access, h handler) { handle(http.MethodDelete, path, who, h) }

	get("/api/overview", anyTag, a.overview)
	get("/api/cluster-name", anyTag, a.clusterName)
	get("/api/whoami", anyTag, a.whoAmI)
	get("/api/nodes", monitoring, a.nodes)
	get("/api/nodes/{node}", monitoring, a.node)
	put("/api/nodes/{node}/memory-high-watermark", administrator, a.setWatermark)

	get("/api/connections", anyTag, a.connections)
	get("/api/connections/{connection}", anyTag, a.connection)
	del("/api/connections/{connection}", anyTag, a.closeConnection)
	get("/api/connections/{connection}/channels", anyTag, a.channelsOfConnection)
	get("/api/channels", anyTag, a.channels)
	get("/api/channels/{channel}", anyTag, a.channel)
	get("/api/consumers", anyTag, a.consumers)
	get("/api/consumers/{vhost}", anyTag, a.consumers)

	get("/api/queues", anyTag, a.queues)
	get("/api/queues/{vhost}", anyTag, a.queues)
	get("/api/queues/{vhost}/{queue}", anyTag, a.queue)
	get("/api/exchanges", anyTag, a.exchanges)
	get("/api/exchanges/{vhost}", anyTag, a.exchanges)
	get("/api/exchanges/{vhost}/{exchange}", anyTag, a.exchange)
	get("/api/bindings", anyTag, a.bindings)
	get("/api/bindings/{vhost}", anyTag, a.bindings)

	get("/api/vhosts", anyTag, a.vhosts)
	get("/api/vhosts/{vhost}", anyTag, a.vhost)
	put("/api/vhosts/{vhost}", administrator, a.putVHost)
	del("/api/vhosts/{vhost}", administrator, a.deleteVHost)
	get("/api/vhosts/{vhost}/permissions", administrator, a.permissionsOfVHost)
	get("/api/users", administrator, a.users)
	get("/api/users/{user}", administrator, a.user)
	put("/api/users/{user}", administrator, a.putUser)
	del("/api/users/{user}", administrator, a.deleteUser)
	get("/api/users/{user}/permissions", administrator, a.permissionsOfUser)
	get("/api/permissions", administrator, a.permissions)
	get("/api/permissions/{vhost}/{user}", administrator, a.permission)
	put("/api/permissions/{vhost}/{user}", administrator, a.putPermission)
	del("/api/permissions/{vhost}/{user}", administrator, a.deletePermission)

	a.healthRoutes(get)
	mux.Method(http.MethodGet, "/metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{MaxRequestsInFlight: 4}))
	return withoutTrailingSlash(mux)
}

// wrap makes a handler of one that returns errors and wants to know who asks.
func (a *API) wrap(who access, h handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		user, err := a.authenticate(r, who)
		if err == nil {
			err = h(w, &request{Request: r, user: user})
		}
		if err != nil {
			a.writeError(w, r, err)
		}
	})
}

// withoutTrailingSlash makes a path with slashes at its end mean the path without.
func withoutTrailingSlash(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if path := r.URL.EscapedPath(); len(path) > 1 && strings.HasSuffix(path, "/") {
			u := *r.URL
			u.Path = strings.TrimRight(u.Path, "/")
			if u.RawPath != "" {
				u.RawPath = strings.TrimRight(u.RawPath, "/")
				// The decoded path may have lost the slash of an encoded name at its end as well.
				if decoded, err := url.PathUnescape(u.RawPath); err == nil {
					u.Path = decoded
				}
			}
			r2 := new(http.Request)
			*r2 = *r
			r2.URL = &u
			r = r2
		}
		next.ServeHTTP(w, r)
	})
}
