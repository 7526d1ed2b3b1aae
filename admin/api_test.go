package admin

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/warrenmq/warren/admin/api"
	"github.com/warrenmq/warren/keratin"
	"github.com/warrenmq/warren/keratin/vfs"
	"github.com/warrenmq/warren/queue"
)

// fakeClients is a list of connections without sockets.
type fakeClients struct {
	connections []api.Connection
	channels    []api.Channel
	consumers   []api.Consumer
	totals      ClientTotals
	reasons     map[string]string // of those that were closed
}

func (f *fakeClients) Connections() []api.Connection { return slices.Clone(f.connections) }
func (f *fakeClients) Channels() []api.Channel       { return slices.Clone(f.channels) }
func (f *fakeClients) Consumers() []api.Consumer     { return slices.Clone(f.consumers) }
func (f *fakeClients) Totals() ClientTotals          { return f.totals }
func (f *fakeClients) CloseConnection(name, reason string) bool {
	before := len(f.connections)
	f.connections = slices.DeleteFunc(f.connections, func(c api.Connection) bool { return c.Name == name })
	f.reasons[name] = reason
	return len(f.connections) < before
}

// breakable is a storage engine that can be told to say that it has failed.
type breakable struct {
	*keratin.Store
	failed error
}

func (b *breakable) Failed() error { return b.failed }

// fakeAlarms is memory and disk as a test wants them.
type fakeAlarms struct {
	memory, disk Level
	watermark    float64
}

func (f *fakeAlarms) Memory() Level                    { return f.memory }
func (f *fakeAlarms) Disk() Level                      { return f.disk }
func (f *fakeAlarms) SetMemoryWatermark(share float64) { f.watermark = share }

// fixture is an API over a broker that keeps everything in memory.
type fixture struct {
	t       *testing.T
	broker  *queue.Broker
	clients *fakeClients
	storage *breakable
	alarms  *fakeAlarms
	clock   *stopwatch
	api     *API
	logged  *observer.ObservedLogs
}

func newFixture(t *testing.T) *fixture {
	f := &fixture{t: t, clients: &fakeClients{reasons: map[string]string{}}, clock: &stopwatch{time.Unix(1e9, 0)}}
	store, err := keratin.Open("", keratin.Options{FS: vfs.NewMem(), JournalFileBytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	f.storage = &breakable{Store: store}
	if f.broker, err = queue.Open(queue.Options{Store: queue.OnKeratin(store), Now: f.clock.now}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(f.broker.Close(), store.Close()); err != nil {
			t.Error(err)
		}
	})
	f.alarms = &fakeAlarms{memory: Level{Now: 5, Limit: 10}, disk: Level{Now: 9, Limit: 1}}
	core, logged := observer.New(zap.DebugLevel)
	f.logged = logged
	f.api = New(Options{
		Broker: f.broker, Clients: f.clients, Storage: f.storage, Alarms: f.alarms, Log: zap.New(core), Now: f.clock.now,
		Identity:  Identity{ClaimedVersion: "4.2.0", Version: "0.1.0", NodeName: "warren@test", ClusterName: "test"},
		DataDir:   t.TempDir(),
		Listeners: []Listen{{"amqp", "127.0.0.1", 5672}, {"http", "127.0.0.1", 15672}},
	})
	return f
}

// as makes a request of a user and returns status and body.
func (f *fixture) as(user, password, method, path, body string, header ...string) (int, string) {
	f.t.Helper()
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.RemoteAddr = "127.0.0.1:50000"
	if user != "" {
		r.SetBasicAuth(user, password)
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	f.api.ServeHTTP(w, r)
	text, err := io.ReadAll(w.Result().Body)
	if err != nil {
		f.t.Fatal(err)
	}
	return w.Code, string(text)
}

func (f *fixture) guest(method, path, body string) (int, string) {
	f.t.Helper()
	return f.as("guest", "guest", method, path, body)
}

// expect makes a request as guest and checks the status.
func (f *fixture) expect(status int, method, path, body string) string {
	f.t.Helper()
	got, text := f.guest(method, path, body)
	if got != status {
		f.t.Errorf("%s %s: got %d %s, want %d", method, path, got, text, status)
	}
	return text
}

// object gets a path as guest and decodes the answer.
func (f *fixture) object(path string) map[string]any {
	f.t.Helper()
	var m map[string]any
	if text := f.expect(http.StatusOK, "GET", path, ""); json.Unmarshal([]byte(text), &m) != nil {
		f.t.Fatalf("%s: %s", path, text)
	}
	return m
}

// session connects to a vhost as guest.
func (f *fixture) session(vhost string) *queue.Session {
	f.t.Helper()
	user, err := f.broker.Authenticate("guest", "guest", true)
	if err != nil {
		f.t.Fatal(err)
	}
	s, err := f.broker.Connect(user, vhost, "127.0.0.1:1 -> 127.0.0.1:5672")
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(s.Close)
	return s
}

func (f *fixture) declare(s *queue.Session, d queue.QueueDeclare) {
	f.t.Helper()
	if _, err := s.DeclareQueue(d); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fixture) publish(s *queue.Session, name string, n int) {
	f.t.Helper()
	p := s.NewPublisher()
	for range n {
		m := queue.Message{RoutingKey: []byte(name), Properties: []byte{0, 0}, Body: []byte("body")}
		if _, err := p.Publish(&m, nil, 0); err != nil {
			f.t.Fatal(err)
		}
	}
	p.Flush()
}

func TestAccess(t *testing.T) {
	f := newFixture(t)
	f.expect(http.StatusCreated, "PUT", "/api/users/look", `{"password":"p","tags":"management"}`)
	f.expect(http.StatusCreated, "PUT", "/api/users/app", `{"password":"p","tags":[]}`)
	for _, tc := range []struct {
		user, password, path string
		status               int
		body                 string
	}{
		{"", "", "/api/overview", 401, `{"error":"not_authorized","reason":"Not_Authorized"}`},
		{"guest", "wrong", "/api/overview", 401, `{"error":"not_authorized","reason":"Not_Authorized"}`},
		{"nobody", "p", "/api/overview", 401, `{"error":"not_authorized","reason":"Not_Authorized"}`},
		{"app", "p", "/api/whoami", 401, `{"error":"not_authorised","reason":"Not management user"}`},
		{"look", "p", "/api/users", 401, `{"error":"not_authorized","reason":"Access refused."}`},
		{"look", "p", "/api/nodes", 401, `{"error":"not_authorized","reason":"Access refused."}`},
		{"look", "p", "/api/whoami", 200, `{"name":"look","tags":["management"]}`},
		{"look", "p", "/api/vhosts", 200, `[]`},
		{"look", "p", "/api/vhosts/%2F", 404, `{"error":"Object Not Found","reason":"Not Found"}`},
		{"look", "p", "/api/queues/%2F", 404, `{"error":"Object Not Found","reason":"Not Found"}`},
		{"look", "p", "/api/exchanges", 200, `[]`},
		{"", "", "/api/health/checks/ready-to-serve-clients", 200, `{"status":"ok"}`},
		{"", "", "/api/health/checks/alarms", 401, `{"error":"not_authorized","reason":"Not_Authorized"}`},
	} {
		status, body := f.as(tc.user, tc.password, "GET", tc.path, "")
		if status != tc.status || body != tc.body {
			t.Errorf("%s %s: got %d %s, want %d %s", tc.user, tc.path, status, body, tc.status, tc.body)
		}
	}
	r := httptest.NewRequest("GET", "/api/overview", nil)
	w := httptest.NewRecorder()
	f.api.ServeHTTP(w, r)
	if got := w.Header().Get("WWW-Authenticate"); got != `Basic realm="RabbitMQ Management"` {
		t.Errorf("challenge is %q", got)
	}
	r = httptest.NewRequest("GET", "/api/overview", nil)
	r.RemoteAddr = "192.0.2.1:1000"
	r.SetBasicAuth("guest", "guest")
	w = httptest.NewRecorder()
	if f.api.ServeHTTP(w, r); w.Code != http.StatusUnauthorized {
		t.Errorf("guest from another machine gets %d", w.Code)
	}
}

func TestPaths(t *testing.T) {
	f := newFixture(t)
	s := f.session("/")
	for _, name := range []string{"plain", "a/b", "100%", "a b%2Fc", "..", "häse"} {
		f.declare(s, queue.QueueDeclare{Name: name, Durable: true})
	}
	for path, want := range map[string]string{
		"/api/queues/%2F/plain":        "plain",
		"/api/queues/%2F/plain/":       "plain",
		"/api/queues/%2f/plain":        "plain",
		"/api/queues/%2F/a%2Fb":        "a/b",
		"/api/queues/%2F/100%25":       "100%",
		"/api/queues/%2F/a%20b%252Fc":  "a b%2Fc",
		"/api/queues/%2F/%2E%2E":       "..",
		"/api/queues/%2F/h%C3%A4se///": "häse",
	} {
		if got := f.object(path)["name"]; got != want {
			t.Errorf("%s is %v, want %q", path, got, want)
		}
	}
	f.expect(http.StatusOK, "GET", "/api/queues/", "")
	f.expect(http.StatusOK, "HEAD", "/api/queues/%2F", "")
	f.expect(http.StatusNotFound, "GET", "/api/queues/%2F/none", "")
	f.expect(http.StatusNotFound, "GET", "/api/queues/none", "")
	f.expect(http.StatusNotFound, "GET", "/api/no-such-thing", "")
	f.expect(http.StatusNotFound, "GET", "/", "")
	f.expect(http.StatusMethodNotAllowed, "POST", "/api/overview", "")
	if x := f.object("/api/exchanges/%2F/amq.default"); x["name"] != "" || x["type"] != "direct" {
		t.Errorf("the default exchange is %v", x)
	}
}

// TestResetVHost is how client suites clean up: everything in "/" goes, connections too, and it comes back empty.
func TestResetVHost(t *testing.T) {
	f := newFixture(t)
	f.declare(f.session("/"), queue.QueueDeclare{Name: "left", Durable: true})
	f.clients.connections = []api.Connection{{Name: "one", VHost: "/", User: "guest"}, {Name: "two", VHost: "other", User: "guest"}}
	f.expect(http.StatusNoContent, "DELETE", "/api/vhosts/%2F", "")
	if f.clients.reasons["one"] != "vhost '/' is deleted" || f.clients.reasons["two"] != "" {
		t.Errorf("closed: %v", f.clients.reasons)
	}
	f.expect(http.StatusNotFound, "DELETE", "/api/vhosts/%2F", "")
	f.expect(http.StatusNotFound, "GET", "/api/queues/%2F", "")
	f.expect(http.StatusCreated, "PUT", "/api/vhosts/%2F", "{}")
	f.expect(http.StatusNoContent, "PUT", "/api/vhosts/%2F", "")
	f.expect(http.StatusCreated, "PUT", "/api/permissions/%2F/guest", `{"configure":".*","write":".*","read":".*"}`)
	f.expect(http.StatusNoContent, "PUT", "/api/permissions/%2F/guest", `{"configure":"","write":".*","read":".*"}`)
	if text := f.expect(http.StatusOK, "GET", "/api/queues/%2F", ""); text != "[]" {
		t.Errorf("queues are left: %s", text)
	}
	f.session("/")
}

func TestVHosts(t *testing.T) {
	f := newFixture(t)
	f.expect(http.StatusCreated, "PUT", "/api/vhosts/v1", `{"description":"first","tags":"a, b","protected_from_deletion":"true"}`)
	f.expect(http.StatusNoContent, "PUT", "/api/vhosts/v1", `{"default_queue_type":"quorum"}`)
	v := f.object("/api/vhosts/v1")
	for key, want := range map[string]any{"name": "v1", "description": "first", "default_queue_type": "quorum", "protected_from_deletion": true, "messages": 0.0, "tracing": false} {
		if v[key] != want {
			t.Errorf("%s is %v, want %v", key, v[key], want)
		}
	}
	if _, has := v["message_stats"]; has {
		t.Error("message_stats without traffic")
	}
	if status, text := f.guest("DELETE", "/api/vhosts/v1", ""); status/100 != 4 {
		t.Errorf("a protected vhost is deleted: %d %s", status, text)
	}
	f.expect(http.StatusNoContent, "PUT", "/api/vhosts/v1", `{"protected_from_deletion":false}`)
	f.expect(http.StatusNoContent, "DELETE", "/api/vhosts/v1", "")
	f.expect(http.StatusBadRequest, "PUT", "/api/vhosts/v2", `{"tags":`)
	f.expect(http.StatusBadRequest, "PUT", "/api/vhosts/v2", `{"tracing":"maybe"}`)
	f.expect(http.StatusBadRequest, "PUT", "/api/vhosts/v2", `{"description":"`+strings.Repeat("x", maxBody)+`"}`)
}

func TestUsersAndPermissions(t *testing.T) {
	f := newFixture(t)
	f.expect(http.StatusCreated, "PUT", "/api/users/u", `{"password":"p","tags":["monitoring"]}`)
	f.expect(http.StatusNoContent, "PUT", "/api/users/u", `{"password":"q","tags":"administrator,x"}`)
	f.expect(http.StatusBadRequest, "PUT", "/api/users/u", `{"password":"q"}`)
	f.expect(http.StatusBadRequest, "PUT", "/api/users/u", `{"password":"q","password_hash":"x","tags":""}`)
	f.expect(http.StatusBadRequest, "PUT", "/api/users/u", `{"password":"","tags":""}`)
	if status, _ := f.as("u", "p", "GET", "/api/whoami", ""); status != http.StatusUnauthorized {
		t.Errorf("the old password still works: %d", status)
	}
	if status, body := f.as("u", "q", "GET", "/api/whoami", ""); status != http.StatusOK || body != `{"name":"u","tags":["administrator","x"]}` {
		t.Errorf("got %d %s", status, body)
	}
	hash, _ := f.object("/api/users/u")["password_hash"].(string)
	f.expect(http.StatusCreated, "PUT", "/api/users/copy", `{"password_hash":"`+hash+`","tags":"management"}`)
	if status, _ := f.as("copy", "q", "GET", "/api/whoami", ""); status != http.StatusOK {
		t.Errorf("a user made with a hash cannot log in: %d", status)
	}
	f.expect(http.StatusCreated, "PUT", "/api/permissions/%2F/copy", `{"configure":"","write":"x","read":".*"}`)
	if text := f.expect(http.StatusOK, "GET", "/api/permissions/%2F/copy", ""); text != `{"user":"copy","vhost":"/","configure":"","write":"x","read":".*"}` {
		t.Errorf("got %s", text)
	}
	if status, body := f.as("copy", "q", "GET", "/api/exchanges/%2F", ""); status != http.StatusOK || body == "[]" {
		t.Errorf("with permissions the vhost is not seen: %d %s", status, body)
	}
	f.expect(http.StatusBadRequest, "PUT", "/api/permissions/%2F/copy", `{"configure":"","write":"x"}`)
	f.expect(http.StatusNotFound, "PUT", "/api/permissions/%2F/nobody", `{"configure":"","write":"","read":""}`)
	f.expect(http.StatusNotFound, "PUT", "/api/permissions/none/copy", `{"configure":"","write":"","read":""}`)
	f.expect(http.StatusBadRequest, "PUT", "/api/permissions/%2F/copy", `{"configure":"(","write":"x","read":""}`)
	f.expect(http.StatusNoContent, "DELETE", "/api/permissions/%2F/copy", "")
	f.expect(http.StatusNotFound, "GET", "/api/permissions/%2F/copy", "")
	f.clients.connections = []api.Connection{{Name: "c", User: "copy", VHost: "/"}}
	f.expect(http.StatusNoContent, "DELETE", "/api/users/copy", "")
	f.expect(http.StatusNotFound, "DELETE", "/api/users/copy", "")
	if f.clients.reasons["c"] != "user 'copy' is deleted" {
		t.Errorf("closed: %v", f.clients.reasons)
	}
}

func TestConnections(t *testing.T) {
	f := newFixture(t)
	f.expect(http.StatusCreated, "PUT", "/api/users/app", `{"password":"p","tags":"management"}`)
	f.clients.connections = []api.Connection{
		{Name: "10.0.0.1:5001 -> 10.0.0.2:5672", User: "guest", VHost: "/", ClientProperties: map[string]any{"x": []byte("y")}},
		{Name: "10.0.0.1:5002 -> 10.0.0.2:5672", User: "app", VHost: "/"},
	}
	f.clients.channels = []api.Channel{{Name: "10.0.0.1:5002 -> 10.0.0.2:5672 (1)", User: "app", VHost: "/",
		ConnectionDetails: api.ConnectionDetails{Name: "10.0.0.1:5002 -> 10.0.0.2:5672"}}}
	const first, second = "/api/connections/10.0.0.1%3A5001%20-%3E%2010.0.0.2%3A5672", "/api/connections/10.0.0.1:5002%20->%2010.0.0.2:5672"
	c := f.object(first)
	if c["node"] != "warren@test" || c["client_properties"].(map[string]any)["x"] != "y" {
		t.Errorf("got %v", c)
	}
	if text := f.expect(http.StatusOK, "GET", second+"/channels?columns=name", ""); text != `[{"name":"10.0.0.1:5002 -\u003e 10.0.0.2:5672 (1)"}]` {
		t.Errorf("channels: %s", text)
	}
	if _, body := f.as("app", "p", "GET", "/api/connections?columns=user", ""); body != `[{"user":"app"}]` {
		t.Errorf("app sees %s", body)
	}
	if status, _ := f.as("app", "p", "DELETE", first, ""); status != http.StatusNotFound {
		t.Errorf("app closes somebody else's connection: %d", status)
	}
	if status, _ := f.as("app", "p", "DELETE", second, "", "X-Reason", "enough"); status != http.StatusNoContent {
		t.Errorf("app cannot close its own connection: %d", status)
	}
	f.expect(http.StatusNoContent, "DELETE", first, "")
	f.expect(http.StatusNotFound, "DELETE", first, "")
	if f.clients.reasons["10.0.0.1:5001 -> 10.0.0.2:5672"] != defaultCloseReason || f.clients.reasons["10.0.0.1:5002 -> 10.0.0.2:5672"] != "enough" {
		t.Errorf("reasons: %q", f.clients.reasons)
	}
}

func TestQueuesAndOverview(t *testing.T) {
	f := newFixture(t)
	s := f.session("/")
	f.declare(s, queue.QueueDeclare{Name: "q", Durable: true, Args: map[string]any{"x-durability": "buffered", "x-max-length": int64(7000)}})
	f.declare(s, queue.QueueDeclare{Name: "mine", Exclusive: true})
	f.object("/api/overview") // the first sample
	f.publish(s, "q", 30)
	var d queue.Delivery
	if ok, _, err := s.Get("q", false, &d); !ok || err != nil {
		t.Fatal(ok, err)
	}
	f.clock.advance(3 * time.Second)
	q := f.object("/api/queues/%2F/q")
	for key, want := range map[string]any{
		"messages": 30.0, "messages_ready": 29.0, "messages_unacknowledged": 1.0, "message_bytes": 120.0, "type": "classic", "durable": true,
		"auto_delete": false, "exclusive": false, "consumers": 0.0, "node": "warren@test", "durability": "buffered", "state": "running", "policy": nil,
	} {
		if got, has := q[key]; got != want || !has {
			t.Errorf("%s is %v, want %v", key, got, want)
		}
	}
	stats := q["message_stats"].(map[string]any)
	if stats["publish"] != 30.0 || stats["publish_details"].(map[string]any)["rate"] != 10.0 || stats["get"] != 1.0 || stats["ack"] != nil {
		t.Errorf("message_stats are %v", stats)
	}
	if args := q["arguments"].(map[string]any); args["x-max-length"] != 7000.0 {
		t.Errorf("arguments are %v", args)
	}
	if def, ok := q["effective_policy_definition"].(map[string]any); !ok || len(def) != 0 {
		t.Errorf("effective_policy_definition is %v, want {}", q["effective_policy_definition"])
	}
	mine := f.object("/api/queues/%2F/mine")
	if mine["exclusive"] != true || mine["durability"] != "none" || mine["owner_pid_details"].(map[string]any)["name"] != "127.0.0.1:1 -> 127.0.0.1:5672" {
		t.Errorf("the exclusive queue is %v", mine)
	}
	if _, has := mine["message_stats"]; has {
		t.Error("message_stats without traffic")
	}
	o := f.object("/api/overview")
	if o["rabbitmq_version"] != "4.2.0" || o["product_name"] != "RabbitMQ" || o["warren_version"] != "0.1.0" {
		t.Errorf("versions are %v %v %v", o["rabbitmq_version"], o["product_name"], o["warren_version"])
	}
	totals := o["object_totals"].(map[string]any)
	if totals["queues"] != 2.0 || totals["exchanges"].(float64) < 6 {
		t.Errorf("object_totals are %v", totals)
	}
	if o["queue_totals"].(map[string]any)["messages_ready"] != 29.0 {
		t.Errorf("queue_totals are %v", o["queue_totals"])
	}
	if o["message_stats"].(map[string]any)["publish_details"].(map[string]any)["rate"] != 10.0 {
		t.Errorf("message_stats are %v", o["message_stats"])
	}
	if n := f.object("/api/nodes/warren@test"); n["running"] != true || n["mem_used"] != 5.0 || n["mem_limit"] != 10.0 || n["disk_free"] != 9.0 || n["disk_free_limit"] != 1.0 {
		t.Errorf("node is %v", n)
	}
}

func TestHealth(t *testing.T) {
	f := newFixture(t)
	const ok = `{"status":"ok"}`
	for _, path := range []string{
		"/api/health/checks/alarms", "/api/health/checks/local-alarms", "/api/health/checks/virtual-hosts", "/api/aliveness-test/%2F",
		"/api/health/checks/port-listener/5672", "/api/health/checks/protocol-listener/amqp091", "/api/health/checks/protocol-listener/http",
		"/api/health/checks/certificate-expiration/1/months", "/api/health/checks/node-is-quorum-critical", "/api/healthchecks/node",
	} {
		if text := f.expect(http.StatusOK, "GET", path, ""); text != ok {
			t.Errorf("%s: %s", path, text)
		}
	}
	f.expect(http.StatusServiceUnavailable, "GET", "/api/health/checks/port-listener/1", "")
	f.expect(http.StatusBadRequest, "GET", "/api/health/checks/port-listener/amqp", "")
	f.expect(http.StatusServiceUnavailable, "GET", "/api/health/checks/protocol-listener/mqtt", "")
	f.expect(http.StatusNotFound, "GET", "/api/aliveness-test/none", "")
	f.alarms.disk.Raised = true
	f.expect(http.StatusServiceUnavailable, "GET", "/api/health/checks/local-alarms", "")
	f.expect(http.StatusOK, "GET", "/api/health/checks/is-in-service", "")
	f.alarms.disk.Raised = false
	f.storage.failed = errors.New("no flush")
	text := f.expect(http.StatusServiceUnavailable, "GET", "/api/health/checks/alarms", "")
	if !strings.Contains(text, `"status":"failed"`) || !strings.Contains(text, "no flush") {
		t.Errorf("got %s", text)
	}
}

func TestWatermark(t *testing.T) {
	f := newFixture(t)
	f.expect(http.StatusNoContent, "PUT", "/api/nodes/warren@test/memory-high-watermark", `{"value":0.25}`)
	if f.alarms.watermark != 0.25 {
		t.Errorf("watermark is %v", f.alarms.watermark)
	}
	f.expect(http.StatusBadRequest, "PUT", "/api/nodes/warren@test/memory-high-watermark", `{"value":2}`)
	f.expect(http.StatusBadRequest, "PUT", "/api/nodes/warren@test/memory-high-watermark", `{}`)
	f.expect(http.StatusNotFound, "PUT", "/api/nodes/other/memory-high-watermark", `{"value":0.5}`)
}

// TestOwnFault checks that an error of ours is logged once and told without detail.
func TestOwnFault(t *testing.T) {
	f := newFixture(t)
	w := httptest.NewRecorder()
	f.api.wrap(anybody, func(http.ResponseWriter, *request) error { return errors.New("secret detail") }).
		ServeHTTP(w, httptest.NewRequest("GET", "/api/x", nil))
	if w.Code != http.StatusInternalServerError || strings.Contains(w.Body.String(), "secret") {
		t.Errorf("got %d %s", w.Code, w.Body)
	}
	if n := f.logged.FilterMessage("http request failed").Len(); n != 1 {
		t.Errorf("logged %d times, want once", n)
	}
}
