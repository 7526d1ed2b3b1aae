package admin

import (
	"net/http"
	"runtime"
	"strconv"

	"github.com/warrenmq/warren/admin/api"
	"github.com/warrenmq/warren/queue"
)

// exchangeTypes are the types that exchange.declare takes.
var exchangeTypes = []api.ExchangeType{
	{Name: "direct", Description: "AMQP direct exchange, as per the AMQP specification", Enabled: true},
	{Name: "fanout", Description: "AMQP fanout exchange, as per the AMQP specification", Enabled: true},
	{Name: "headers", Description: "AMQP headers exchange, as per the AMQP specification", Enabled: true},
	{Name: "topic", Description: "AMQP topic exchange, as per the AMQP specification", Enabled: true},
}

// brokerCounts adds up everything that the broker has counted.
func (a *API) brokerCounts() counts {
	stats := a.o.Broker.Stats()
	return broadCounts(&stats, a.o.Clients.Totals())
}

// broadCounts are the counters of the broker as a whole.
func broadCounts(stats *queue.BrokerStats, clients ClientTotals) counts {
	n := summaryCounts(&stats.Summary)
	n[cOpened], n[cClosed] = int64(clients.ConnectionsOpened), int64(clients.ConnectionsClosed)
	n[cChannelsOpened], n[cChannelsClosed] = int64(clients.ChannelsOpened), int64(clients.ChannelsClosed)
	n[cReceived], n[cSent] = int64(clients.ReceivedOctets), int64(clients.SentOctets)
	n[cDeclared], n[cCreated], n[cDeleted] = int64(stats.QueuesDeclared), int64(stats.QueuesCreated), int64(stats.QueuesDeleted)
	return n
}

func (a *API) overview(w http.ResponseWriter, r *request) error {
	s, err := a.scope(r)
	if err != nil {
		return err
	}
	a.sample()
	n := a.brokerCounts()
	speed := a.rates.of(objectKey{kind: 'b'}, &n)
	object := api.Overview{
		ManagementVersion: a.o.ClaimedVersion, RabbitMQVersion: a.o.ClaimedVersion, ProductVersion: a.o.ClaimedVersion,
		ProductName: "RabbitMQ", WarrenVersion: a.o.Version,
		ErlangVersion: runtime.Version(), ErlangFullVersion: runtime.Version(),
		RatesMode: "basic", ExchangeTypes: exchangeTypes,
		ClusterName: a.o.ClusterName, ClusterTags: map[string]any{}, Node: a.o.NodeName, NodeTags: map[string]any{},
		EnableQueueTotals: true, DefaultQueueType: "classic",
		SampleRetention: map[string][]int{"global": {60}, "basic": {60}, "detailed": {60}},
		ChurnRates: api.ChurnRates{
			ConnectionCreated: uint64(n[cOpened]), ConnectionCreatedDetails: api.Rate{Rate: speed[cOpened]},
			ConnectionClosed: uint64(n[cClosed]), ConnectionClosedDetails: api.Rate{Rate: speed[cClosed]},
			ChannelCreated: uint64(n[cChannelsOpened]), ChannelCreatedDetails: api.Rate{Rate: speed[cChannelsOpened]},
			ChannelClosed: uint64(n[cChannelsClosed]), ChannelClosedDetails: api.Rate{Rate: speed[cChannelsClosed]},
			QueueDeclared: uint64(n[cDeclared]), QueueDeclaredDetails: api.Rate{Rate: speed[cDeclared]},
			QueueCreated: uint64(n[cCreated]), QueueCreatedDetails: api.Rate{Rate: speed[cCreated]},
			QueueDeleted: uint64(n[cDeleted]), QueueDeletedDetails: api.Rate{Rate: speed[cDeleted]},
		},
		Listeners: a.listeners(), Contexts: a.contexts(),
	}
	if s.wide {
		object.MessageStats.MessageStats = messageStats(&n, &speed)
	}
	a.addTotals(&object, s)
	return writeObject(w, r, &object)
}

// addTotals adds up the objects that the user sees.
func (a *API) addTotals(object *api.Overview, s *scope) {
	totals, messages := &object.ObjectTotals, &object.QueueTotals
	for _, q := range a.visibleQueues(s) {
		totals.Queues++
		totals.Consumers += q.Consumers
		messages.Messages += q.Messages
		messages.MessagesReady += q.MessagesReady
		messages.MessagesUnacked += q.MessagesUnacked
		messages.MessagesDetails.Rate += q.MessagesDetails.Rate
		messages.MessagesReadyDetails.Rate += q.MessagesReadyDetails.Rate
		messages.MessagesUnackedDetails.Rate += q.MessagesUnackedDetails.Rate
	}
	for _, x := range a.o.Broker.Exchanges("") {
		if s.covers(x.VHost) {
			totals.Exchanges++
		}
	}
	totals.Connections = len(a.visibleConnections(s))
	totals.Channels = len(a.visibleChannels(s))
}

func (a *API) listeners() []api.Listener {
	list := []api.Listener{}
	for _, l := range a.o.Listeners {
		list = append(list, api.Listener{Node: a.o.NodeName, Protocol: l.Protocol, IPAddress: l.Host, Port: l.Port, SocketOpts: map[string]any{}})
	}
	return list
}

func (a *API) contexts() []api.Context {
	list := []api.Context{}
	for _, l := range a.o.Listeners {
		if l.Protocol == "http" {
			list = append(list, api.Context{Node: a.o.NodeName, Description: "HTTP API", Path: "/", IP: l.Host, Port: strconv.Itoa(l.Port)})
		}
	}
	return list
}

func (a *API) clusterName(w http.ResponseWriter, r *request) error {
	return writeObject(w, r, struct {
		Name string `json:"name"`
	}{a.o.ClusterName})
}
