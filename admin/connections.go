package admin

import (
	"fmt"
	"net/http"
	"slices"

	"github.com/warrenmq/warren/admin/api"
)

// defaultCloseReason is what a peer is told when its connection is closed without an X-Reason.
const defaultCloseReason = "Closed via management plugin"

// visibleConnections returns the connections that the request may see, with their rates. One that has just been
// opened is among them.
func (a *API) visibleConnections(s *scope) []api.Connection {
	list := slices.DeleteFunc(a.o.Clients.Connections(), func(c api.Connection) bool { return !s.owns(c.User) })
	a.sample()
	for i := range list {
		c := &list[i]
		c.Node = a.o.NodeName
		c.ClientProperties = plainTable(c.ClientProperties)
		n := connectionCounts(c)
		speed := a.rates.of(objectKey{kind: 'c', name: c.Name}, &n)
		c.RecvOctDetails.Rate, c.SendOctDetails.Rate = speed[cReceived], speed[cSent]
	}
	return list
}

func connectionCounts(c *api.Connection) (n counts) {
	n[cReceived], n[cSent] = int64(c.RecvOct), int64(c.SendOct)
	return n
}

func (a *API) connections(w http.ResponseWriter, r *request) error {
	s, err := a.scope(r)
	if err != nil {
		return err
	}
	list := a.visibleConnections(s)
	list = slices.DeleteFunc(list, func(c api.Connection) bool { return s.vhost != "" && c.VHost != s.vhost })
	return writeList(w, r, list, func(c *api.Connection) string { return c.Name })
}

// namedConnection returns the connection that the path names.
func (a *API) namedConnection(r *request) (*api.Connection, error) {
	s, err := a.scope(r)
	if err != nil {
		return nil, err
	}
	name := r.param("connection")
	return find(a.visibleConnections(s), func(c *api.Connection) bool { return c.Name == name })
}

func (a *API) connection(w http.ResponseWriter, r *request) error {
	c, err := a.namedConnection(r)
	if err != nil {
		return err
	}
	return writeObject(w, r, c)
}

func (a *API) closeConnection(w http.ResponseWriter, r *request) error {
	c, err := a.namedConnection(r)
	if err != nil {
		return err
	}
	reason := r.Header.Get("X-Reason")
	if reason == "" {
		reason = defaultCloseReason
	}
	if !a.o.Clients.CloseConnection(c.Name, reason) {
		return errNotFound
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// closeConnections closes every connection that has lost what it stands on.
func (a *API) closeConnections(reason string, lost func(*api.Connection) bool) {
	for _, c := range a.o.Clients.Connections() {
		if lost(&c) {
			a.o.Clients.CloseConnection(c.Name, reason)
		}
	}
}

// visibleChannels returns the channels that the request may see.
func (a *API) visibleChannels(s *scope) []api.Channel {
	list := slices.DeleteFunc(a.o.Clients.Channels(), func(c api.Channel) bool {
		return !s.owns(c.User) || s.vhost != "" && c.VHost != s.vhost
	})
	for i := range list {
		list[i].Node = a.o.NodeName
	}
	return list
}

func nameOfChannel(c *api.Channel) string { return c.Name }

func (a *API) channels(w http.ResponseWriter, r *request) error {
	s, err := a.scope(r)
	if err != nil {
		return err
	}
	return writeList(w, r, a.visibleChannels(s), nameOfChannel)
}

func (a *API) channel(w http.ResponseWriter, r *request) error {
	s, err := a.scope(r)
	if err != nil {
		return err
	}
	name := r.param("channel")
	c, err := find(a.visibleChannels(s), func(c *api.Channel) bool { return c.Name == name })
	if err != nil {
		return err
	}
	return writeObject(w, r, c)
}

func (a *API) channelsOfConnection(w http.ResponseWriter, r *request) error {
	conn, err := a.namedConnection(r)
	if err != nil {
		return err
	}
	s, err := a.scope(r)
	if err != nil {
		return err
	}
	list := slices.DeleteFunc(a.visibleChannels(s), func(c api.Channel) bool { return c.ConnectionDetails.Name != conn.Name })
	return writeList(w, r, list, nameOfChannel)
}

// visibleConsumers returns the consumers of the queues that the request may see.
func (a *API) visibleConsumers(s *scope) []api.Consumer {
	list := slices.DeleteFunc(a.o.Clients.Consumers(), func(c api.Consumer) bool { return !s.covers(c.Queue.VHost) })
	for i := range list {
		list[i].ChannelDetails.Node = a.o.NodeName
		list[i].Arguments = plainTable(list[i].Arguments)
	}
	return list
}

func (a *API) consumers(w http.ResponseWriter, r *request) error {
	s, err := a.scope(r)
	if err != nil {
		return err
	}
	return writeList(w, r, a.visibleConsumers(s), func(c *api.Consumer) string { return c.ConsumerTag })
}

// vhostDeleted and userDeleted are what a peer is told that has lost its vhost or its user.
func vhostDeleted(name string) string { return fmt.Sprintf("vhost '%s' is deleted", name) }
func userDeleted(name string) string  { return fmt.Sprintf("user '%s' is deleted", name) }
