package admin

import (
	"net/http"

	"github.com/warrenmq/warren/admin/api"
	"github.com/warrenmq/warren/queue"
)

// defaultExchange is what the default exchange, whose name is empty, is called in a path.
const defaultExchange = "amq.default"

func apiExchange(x *queue.Exchange) api.Exchange {
	return api.Exchange{
		Name: x.Name, VHost: x.VHost, Type: x.Type,
		Durable: x.Durable, AutoDelete: x.AutoDelete, Internal: x.Internal,
		Arguments: plainTable(x.Args), Creator: "rmq-internal",
	}
}

func (a *API) exchanges(w http.ResponseWriter, r *request) error {
	s, err := a.scope(r)
	if err != nil {
		return err
	}
	list := []api.Exchange{}
	for _, x := range a.o.Broker.Exchanges(s.vhost) {
		if s.covers(x.VHost) {
			list = append(list, apiExchange(x))
		}
	}
	return writeList(w, r, list, func(x *api.Exchange) string { return x.Name })
}

func (a *API) exchange(w http.ResponseWriter, r *request) error {
	s, err := a.scope(r)
	if err != nil {
		return err
	}
	name := r.param("exchange")
	if name == defaultExchange {
		name = ""
	}
	x := a.o.Broker.Exchange(s.vhost, name)
	if x == nil {
		return errNotFound
	}
	object := apiExchange(x)
	return writeObject(w, r, &object)
}

func (a *API) bindings(w http.ResponseWriter, r *request) error {
	s, err := a.scope(r)
	if err != nil {
		return err
	}
	list := []api.Binding{}
	for _, b := range a.o.Broker.Bindings(s.vhost) {
		if s.covers(b.VHost) {
			list = append(list, apiBinding(b))
		}
	}
	return writeList(w, r, list, func(b *api.Binding) string { return b.Source })
}

func apiBinding(b *queue.Binding) api.Binding {
	return api.Binding{
		Source: b.Source, VHost: b.VHost, Destination: b.Destination, DestinationType: b.Kind.String(),
		RoutingKey: b.Key, Arguments: plainTable(b.Args), PropertiesKey: b.PropertiesKey(),
	}
}
