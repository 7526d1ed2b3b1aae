package broker

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"
)

// management is the client of the brokers' HTTP APIs. One-shot connections: a broker that is killed leaves none behind.
var management = &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}

// maxReply bounds how much of an HTTP reply is read.
const maxReply = 64 << 20

// Call does one request of the management API as guest. path starts with "/api/", its parts escaped; body and
// reply are JSON, nil for none. A status of 400 and above is an error.
func (b *Broker) Call(method, path string, body, reply any) error {
	var buf bytes.Buffer
	if body != nil {
		if err := json.NewEncoder(&buf).Encode(body); err != nil {
			return err
		}
	}
	req, err := http.NewRequest(method, "http://"+b.HTTP+path, &buf)
	if err != nil {
		return err
	}
	req.SetBasicAuth("guest", "guest")
	req.Header.Set("Content-Type", "application/json")
	res, err := management.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, maxReply))
	if err != nil {
		return err
	}
	if res.StatusCode >= 400 {
		return fmt.Errorf("%s %s: %s: %.200s", method, path, res.Status, text)
	}
	if reply == nil || len(text) == 0 {
		return nil
	}
	return json.Unmarshal(text, reply)
}

// probeHTTP tells whether the management API answers.
func (b *Broker) probeHTTP() error { return b.Call(http.MethodGet, "/api/overview", nil, nil) }

// ResetVHost deletes the vhost "/" with everything in it and makes it anew for guest.
func (b *Broker) ResetVHost() error {
	vhost := url.PathEscape("/")
	if err := b.Call(http.MethodDelete, "/api/vhosts/"+vhost, nil, nil); err != nil {
		return err
	}
	if err := b.Call(http.MethodPut, "/api/vhosts/"+vhost, struct{}{}, nil); err != nil {
		return err
	}
	all := map[string]string{"configure": ".*", "write": ".*", "read": ".*"}
	return b.Call(http.MethodPut, "/api/permissions/"+vhost+"/guest", all, nil)
}
