package main

import (
	"fmt"
	"time"

	"github.com/warrenmq/warren/admin"
	"github.com/warrenmq/warren/admin/api"
	"github.com/warrenmq/warren/amqp/server"
)

// clients shows the HTTP API the connections of the AMQP server.
type clients struct{ server *server.Server }

var _ admin.Clients = clients{}

func (c clients) CloseConnection(name, reason string) bool {
	return c.server.CloseConnection(name, reason)
}

func (c clients) Totals() admin.ClientTotals {
	t := c.server.Totals()
	return admin.ClientTotals{
		ConnectionsOpened: t.ConnectionsOpened, ConnectionsClosed: t.ConnectionsClosed,
		ChannelsOpened: t.ChannelsOpened, ChannelsClosed: t.ChannelsClosed,
		ReceivedOctets: t.ReceivedOctets, SentOctets: t.SentOctets,
	}
}

func (c clients) Connections() []api.Connection {
	infos := c.server.Connections()
	list := make([]api.Connection, len(infos))
	for i, info := range infos {
		list[i] = api.Connection{
			Name: info.Name, UserProvidedName: info.UserProvidedName,
			User: info.User, UserWhoPerformed: info.User, VHost: info.VHost,
			Protocol: "AMQP 0-9-1", Type: "network", State: info.State,
			Channels: info.Channels, ChannelMax: int(info.ChannelMax), FrameMax: int64(info.FrameMax),
			Timeout: int(info.Heartbeat / time.Second),
			Host:    info.Host, Port: info.Port, PeerHost: info.PeerHost, PeerPort: info.PeerPort,
			AuthMechanism:    info.AuthMechanism,
			ClientProperties: info.ClientProperties,
			ConnectedAt:      info.ConnectedAt.UnixMilli(),
			RecvOct:          info.Traffic.ReceivedOctets, RecvCnt: info.Traffic.ReceivedCount,
			SendOct: info.Traffic.SentOctets, SendCnt: info.Traffic.SentCount,
			SendPend: int64(info.Traffic.SendPending),
		}
	}
	return list
}

func (c clients) Channels() []api.Channel {
	infos := c.server.Channels()
	list := make([]api.Channel, len(infos))
	for i := range infos {
		info := &infos[i]
		list[i] = api.Channel{
			Name: channelName(info), Number: int(info.Number),
			User: info.User, UserWhoPerformed: info.User, VHost: info.VHost, State: info.State,
			Confirm: info.Confirm, Transactional: info.Transactional,
			ConsumerCount: len(info.Consumers),
			PrefetchCount: int(info.Prefetch), GlobalPrefetchCount: int(info.GlobalPrefetch),
			MessagesUnacknowledged: info.Unacknowledged, MessagesUnconfirmed: int(info.Unconfirmed),
			MessagesUncommitted: info.Uncommitted, AcksUncommitted: info.AcksHeld,
			ConnectionDetails: api.ConnectionDetails{Name: info.Connection, PeerHost: info.PeerHost, PeerPort: info.PeerPort},
		}
	}
	return list
}

func (c clients) Consumers() (list []api.Consumer) {
	infos := c.server.Channels()
	for i := range infos {
		info := &infos[i]
		for _, consumer := range info.Consumers {
			list = append(list, api.Consumer{
				ConsumerTag: consumer.Tag,
				Queue:       api.QueueName{Name: consumer.Queue, VHost: info.VHost},
				ChannelDetails: api.ChannelDetails{
					Name: channelName(info), Number: int(info.Number), User: info.User,
					ConnectionName: info.Connection, PeerHost: info.PeerHost, PeerPort: info.PeerPort,
				},
				AckRequired: consumer.AckRequired, PrefetchCount: int(consumer.Prefetch), Exclusive: consumer.Exclusive,
				Active: true, ActivityStatus: "up", Arguments: consumer.Args,
			})
		}
	}
	return list
}

func channelName(info *server.ChannelInfo) string {
	return fmt.Sprintf("%s (%d)", info.Connection, info.Number)
}
