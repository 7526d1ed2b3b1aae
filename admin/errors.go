package admin

import (
	"encoding/json"
	"errors"
	"net/http"

	"go.uber.org/zap"

	"github.com/warrenmq/warren/admin/api"
	"github.com/warrenmq/warren/queue"
)

// failure is an answer that is not a success, and the client's to mend.
type failure struct {
	status       int
	code, reason string
	challenge    bool // ask for credentials
}

func (f *failure) Error() string { return f.code + ": " + f.reason }

var (
	errNoCredentials  = &failure{http.StatusUnauthorized, "not_authorized", "Not_Authorized", true}
	errBadCredentials = &failure{http.StatusUnauthorized, "not_authorized", "Not_Authorized", true}
	errNoTag          = &failure{http.StatusUnauthorized, "not_authorised", "Not management user", false}
	errRefused        = &failure{http.StatusUnauthorized, "not_authorized", "Access refused.", false}
	errNotFound       = &failure{http.StatusNotFound, "Object Not Found", "Not Found", false}
	errMethod         = &failure{http.StatusMethodNotAllowed, "Method Not Allowed", "Method Not Allowed", false}
)

// badRequest is a request that cannot be carried out as it stands.
func badRequest(reason string) *failure {
	return &failure{http.StatusBadRequest, "bad_request", reason, false}
}

// failureOf is the table from the broker's errors to HTTP. ok is false when the error is not the client's fault.
func failureOf(err error) (f *failure, ok bool) {
	if f, ok := errors.AsType[*failure](err); ok {
		return f, true
	}
	refused, ok := errors.AsType[*queue.Error](err)
	if !ok {
		return nil, false
	}
	switch refused.Kind {
	case queue.NotFound:
		return errNotFound, true
	case queue.AccessRefused:
		return errRefused, true
	case queue.Internal:
		return nil, false
	case queue.NotImplemented:
		return &failure{http.StatusNotImplemented, "not_implemented", refused.Text, false}, true
	}
	return badRequest(refused.Text), true
}

// handler answers one request, or says why not. It writes nothing when it returns an error.
type handler func(w http.ResponseWriter, r *request) error

// writeError is where errors become answers.
func (a *API) writeError(w http.ResponseWriter, r *http.Request, err error) {
	f, ok := failureOf(err)
	if !ok {
		a.log.Error("http request failed", zap.String("method", r.Method), zap.String("path", r.URL.EscapedPath()), zap.Error(err))
		f = &failure{http.StatusInternalServerError, "internal_server_error", "Internal Server Error", false}
	}
	if f.challenge {
		w.Header().Set("WWW-Authenticate", `Basic realm="RabbitMQ Management"`)
	}
	writeJSON(w, f.status, api.Error{Error: f.code, Reason: f.reason})
}

// writeJSON writes an answer. An error of the socket is the client's loss and nobody else's.
func writeJSON(w http.ResponseWriter, status int, body any) {
	text, err := json.Marshal(body)
	if err != nil {
		// The objects of package api marshal, with values that plain has made fit. Left is a fault of this package.
		status, text = http.StatusInternalServerError, []byte(`{"error":"internal_server_error","reason":"Internal Server Error"}`)
	}
	header := w.Header()
	header.Set("Content-Type", "application/json")
	header.Set("Cache-Control", "no-cache")
	header.Set("Vary", "accept, accept-encoding, origin")
	w.WriteHeader(status)
	_, _ = w.Write(text)
}
