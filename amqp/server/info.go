package server

import "time"

// ConnectionInfo is one connection as the HTTP API shows it.
type ConnectionInfo struct {
	Name             string // "10.0.0.1:5001 -> 10.0.0.2:5672"
	UserProvidedName string // the client property connection_name
	User, VHost      string
	State            string // starting, tuning, opening, running, blocked, closing
	AuthMechanism    string
	ClientProperties map[string]any
	ConnectedAt      time.Time

	PeerHost, Host string
	PeerPort, Port int

	ChannelMax uint16
	FrameMax   uint32
	Heartbeat  time.Duration // agreed; 0 = off
	Channels   int

	Traffic Traffic
}

// Traffic counts what went through a socket.
type Traffic struct {
	ReceivedOctets, ReceivedCount uint64 // Count: reads
	SentOctets, SentCount         uint64 // Count: writes
	SendPending                   uint64 // octets waiting to be written
}

// ChannelInfo is one channel as the HTTP API shows it.
type ChannelInfo struct {
	Connection     string // the connection's name
	Number         uint16
	PeerHost       string
	PeerPort       int
	User, VHost    string
	State          string // running or closing
	Confirm        bool
	Transactional  bool
	Prefetch       uint16 // of consumers to come; 0 = unlimited
	GlobalPrefetch uint16 // of the whole channel; 0 = unlimited
	Unacknowledged int
	Unconfirmed    uint64
	Uncommitted    int // publishes held by the transaction
	AcksHeld       int // acknowledgements held by the transaction
	Consumers      []ConsumerInfo
	Messages       MessageCounts
}

// ConsumerInfo is one consumer as the HTTP API shows it.
type ConsumerInfo struct {
	Tag, Queue  string
	AckRequired bool
	Exclusive   bool
	Prefetch    uint16
	Args        map[string]any
}

// MessageCounts counts messages since the channel was opened.
type MessageCounts struct {
	Published, Confirmed, Returned uint64
	Delivered, DeliveredNoAck      uint64
	Got, GotNoAck, GetEmpty        uint64
	Redelivered, Acknowledged      uint64 // Redelivered is part of Delivered and Got
}

func (m *MessageCounts) add(n *MessageCounts) {
	m.Published += n.Published
	m.Confirmed += n.Confirmed
	m.Returned += n.Returned
	m.Delivered += n.Delivered
	m.DeliveredNoAck += n.DeliveredNoAck
	m.Got += n.Got
	m.GotNoAck += n.GotNoAck
	m.GetEmpty += n.GetEmpty
	m.Redelivered += n.Redelivered
	m.Acknowledged += n.Acknowledged
}

// Totals counts over the server's whole life, closed connections and channels included.
type Totals struct {
	ConnectionsOpened, ConnectionsClosed uint64
	ChannelsOpened, ChannelsClosed       uint64
	Messages                             MessageCounts
	ReceivedOctets, SentOctets           uint64
}
