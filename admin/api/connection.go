package api

// Connection is a client's connection.
type Connection struct {
	Name             string         `json:"name"` // "peer:port -> host:port"
	UserProvidedName string         `json:"user_provided_name,omitempty"`
	Node             string         `json:"node"`
	User             string         `json:"user"`
	UserWhoPerformed string         `json:"user_who_performed_action"`
	VHost            string         `json:"vhost"`
	Protocol         string         `json:"protocol"` // "AMQP 0-9-1"
	Type             string         `json:"type"`     // "network"
	State            string         `json:"state"`    // running, blocked, closing, …
	Channels         int            `json:"channels"`
	ChannelMax       int            `json:"channel_max"`
	FrameMax         int64          `json:"frame_max"`
	Timeout          int            `json:"timeout"` // heartbeat, seconds
	Host             string         `json:"host"`
	Port             int            `json:"port"`
	PeerHost         string         `json:"peer_host"`
	PeerPort         int            `json:"peer_port"`
	SSL              bool           `json:"ssl"`
	AuthMechanism    string         `json:"auth_mechanism"`
	ClientProperties map[string]any `json:"client_properties"`
	ConnectedAt      int64          `json:"connected_at"` // Unix milliseconds
	RecvOct          uint64         `json:"recv_oct"`
	RecvOctDetails   Rate           `json:"recv_oct_details"`
	RecvCnt          uint64         `json:"recv_cnt"`
	SendOct          uint64         `json:"send_oct"`
	SendOctDetails   Rate           `json:"send_oct_details"`
	SendCnt          uint64         `json:"send_cnt"`
	SendPend         int64          `json:"send_pend"` // bytes that wait for the socket
}

// Channel is a channel of a connection.
type Channel struct {
	Name                   string            `json:"name"` // "<connection name> (<number>)"
	Number                 int               `json:"number"`
	Node                   string            `json:"node"`
	User                   string            `json:"user"`
	UserWhoPerformed       string            `json:"user_who_performed_action"`
	VHost                  string            `json:"vhost"`
	State                  string            `json:"state"` // running, flow
	Confirm                bool              `json:"confirm"`
	Transactional          bool              `json:"transactional"`
	ConsumerCount          int               `json:"consumer_count"`
	PrefetchCount          int               `json:"prefetch_count"`
	GlobalPrefetchCount    int               `json:"global_prefetch_count"`
	MessagesUnacknowledged int               `json:"messages_unacknowledged"`
	MessagesUnconfirmed    int               `json:"messages_unconfirmed"`
	MessagesUncommitted    int               `json:"messages_uncommitted"`
	AcksUncommitted        int               `json:"acks_uncommitted"`
	ConnectionDetails      ConnectionDetails `json:"connection_details"`
}

// ConnectionDetails names a connection.
type ConnectionDetails struct {
	Name     string `json:"name"`
	PeerHost string `json:"peer_host"`
	PeerPort int    `json:"peer_port"`
}
