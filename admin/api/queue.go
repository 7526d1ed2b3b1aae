package api

// Queue is a queue and what is in it.
type Queue struct {
	Name       string         `json:"name"`
	VHost      string         `json:"vhost"`
	Type       string         `json:"type"`
	Durable    bool           `json:"durable"`
	AutoDelete bool           `json:"auto_delete"`
	Exclusive  bool           `json:"exclusive"`
	Arguments  map[string]any `json:"arguments"`
	Node       string         `json:"node"`
	State      string         `json:"state"` // running, idle, crashed
	IdleSince  string         `json:"idle_since,omitempty"`

	Policy                    *string        `json:"policy"`
	OperatorPolicy            *string        `json:"operator_policy"`
	EffectivePolicyDefinition map[string]any `json:"effective_policy_definition"` // {} when none

	Messages               int64 `json:"messages"`
	MessagesDetails        Rate  `json:"messages_details"`
	MessagesReady          int64 `json:"messages_ready"`
	MessagesReadyDetails   Rate  `json:"messages_ready_details"`
	MessagesUnacked        int64 `json:"messages_unacknowledged"`
	MessagesUnackedDetails Rate  `json:"messages_unacknowledged_details"`
	MessageBytes           int64 `json:"message_bytes"`
	MessageBytesReady      int64 `json:"message_bytes_ready"`
	MessageBytesUnacked    int64 `json:"message_bytes_unacknowledged"`

	Consumers           int           `json:"consumers"`
	ConsumerDetails     *[]Consumer   `json:"consumer_details,omitempty"`
	ConsumerUtilisation float64       `json:"consumer_utilisation"`
	ConsumerCapacity    float64       `json:"consumer_capacity"`
	ExclusiveConsumer   *string       `json:"exclusive_consumer_tag"`
	SingleActive        *string       `json:"single_active_consumer_tag"`
	MessageStats        *MessageStats `json:"message_stats,omitempty"`
	Durability          string        `json:"durability"`                  // durable, buffered, none
	Owner               *Owner        `json:"owner_pid_details,omitempty"` // of an exclusive queue
}

// Owner is the connection that an exclusive queue belongs to.
type Owner struct {
	Name string `json:"name"`
}

// Consumer is a subscription.
type Consumer struct {
	ConsumerTag    string         `json:"consumer_tag"`
	Queue          QueueName      `json:"queue"`
	ChannelDetails ChannelDetails `json:"channel_details"`
	AckRequired    bool           `json:"ack_required"`
	PrefetchCount  int            `json:"prefetch_count"`
	Exclusive      bool           `json:"exclusive"`
	Active         bool           `json:"active"`
	ActivityStatus string         `json:"activity_status"`
	Arguments      map[string]any `json:"arguments"`
}

// QueueName names a queue.
type QueueName struct {
	Name  string `json:"name"`
	VHost string `json:"vhost"`
}

// ChannelDetails names a channel.
type ChannelDetails struct {
	Name           string `json:"name"`
	Number         int    `json:"number"`
	User           string `json:"user"`
	Node           string `json:"node"`
	ConnectionName string `json:"connection_name"`
	PeerHost       string `json:"peer_host"`
	PeerPort       int    `json:"peer_port"`
}

// MessageStats counts what has happened to messages since the broker started, each counter with its rate. It
// is absent as a whole until something has happened; a counter is absent while it is zero.
type MessageStats struct {
	Publish             *int64 `json:"publish,omitempty"`
	PublishDetails      *Rate  `json:"publish_details,omitempty"`
	Confirm             *int64 `json:"confirm,omitempty"`
	ConfirmDetails      *Rate  `json:"confirm_details,omitempty"`
	Return              *int64 `json:"return_unroutable,omitempty"`
	ReturnDetails       *Rate  `json:"return_unroutable_details,omitempty"`
	Drop                *int64 `json:"drop_unroutable,omitempty"`
	DropDetails         *Rate  `json:"drop_unroutable_details,omitempty"`
	Get                 *int64 `json:"get,omitempty"`
	GetDetails          *Rate  `json:"get_details,omitempty"`
	GetNoAck            *int64 `json:"get_no_ack,omitempty"`
	GetNoAckDetails     *Rate  `json:"get_no_ack_details,omitempty"`
	GetEmpty            *int64 `json:"get_empty,omitempty"`
	GetEmptyDetails     *Rate  `json:"get_empty_details,omitempty"`
	Deliver             *int64 `json:"deliver,omitempty"`
	DeliverDetails      *Rate  `json:"deliver_details,omitempty"`
	DeliverNoAck        *int64 `json:"deliver_no_ack,omitempty"`
	DeliverNoAckDetails *Rate  `json:"deliver_no_ack_details,omitempty"`
	DeliverGet          *int64 `json:"deliver_get,omitempty"`
	DeliverGetDetails   *Rate  `json:"deliver_get_details,omitempty"`
	Redeliver           *int64 `json:"redeliver,omitempty"`
	RedeliverDetails    *Rate  `json:"redeliver_details,omitempty"`
	Ack                 *int64 `json:"ack,omitempty"`
	AckDetails          *Rate  `json:"ack_details,omitempty"`
}
