// Package api is the JSON of the HTTP API: the objects with RabbitMQ's names and types.
//
// A field that RabbitMQ leaves out until there is something to tell is a pointer or marked omitempty, because
// clients take "absent" for zero and null for an error. A field without omitempty is always there: strict
// clients refuse an object without it.
package api

// Error is the body of every answer that is not a success.
type Error struct {
	Error  string `json:"error"`
	Reason string `json:"reason"`
}

// Status is the body of a health check, and of the aliveness test.
type Status struct {
	Status string `json:"status"` // ok, failed
	Reason string `json:"reason,omitempty"`
}

// Page is a list of which one page was asked for. All seven fields are always there.
type Page struct {
	FilteredCount int   `json:"filtered_count"` // objects that the name filter leaves
	ItemCount     int   `json:"item_count"`     // objects on this page
	Items         []any `json:"items"`
	Page          int   `json:"page"` // from 1
	PageCount     int   `json:"page_count"`
	PageSize      int   `json:"page_size"`
	TotalCount    int   `json:"total_count"` // objects before the filter
}

// Rate is the change of a counter.
type Rate struct {
	Rate float64 `json:"rate"` // per second
}

// WhoAmI is the user that the request was made as.
type WhoAmI struct {
	Name string   `json:"name"`
	Tags []string `json:"tags"`
}

// VHost is a virtual host.
type VHost struct {
	Name                   string            `json:"name"`
	Description            string            `json:"description"`
	Tags                   []string          `json:"tags"`
	DefaultQueueType       string            `json:"default_queue_type"`
	Tracing                bool              `json:"tracing"`
	ClusterState           map[string]string `json:"cluster_state"` // by node: running
	Metadata               VHostMetadata     `json:"metadata"`
	ProtectedFromDeletion  bool              `json:"protected_from_deletion"`
	Messages               int64             `json:"messages"`
	MessagesReady          int64             `json:"messages_ready"`
	MessagesUnacked        int64             `json:"messages_unacknowledged"`
	MessagesDetails        Rate              `json:"messages_details"`
	MessagesReadyDetails   Rate              `json:"messages_ready_details"`
	MessagesUnackedDetails Rate              `json:"messages_unacknowledged_details"`
	MessageStats           *MessageStats     `json:"message_stats,omitempty"`
}

// VHostMetadata repeats what a vhost was created with.
type VHostMetadata struct {
	Description      string   `json:"description"`
	Tags             []string `json:"tags"`
	DefaultQueueType string   `json:"default_queue_type"`
}

// User is a user as administrators see it.
type User struct {
	Name             string           `json:"name"`
	PasswordHash     string           `json:"password_hash"` // base64(salt[4] || SHA-256(salt || password))
	HashingAlgorithm string           `json:"hashing_algorithm"`
	Tags             []string         `json:"tags"`
	Limits           map[string]int64 `json:"limits"`
}

// Permission is what a user may do in a vhost, each a regular expression over names.
type Permission struct {
	User      string `json:"user"`
	VHost     string `json:"vhost"`
	Configure string `json:"configure"`
	Write     string `json:"write"`
	Read      string `json:"read"`
}

// Exchange is an exchange.
type Exchange struct {
	Name       string         `json:"name"`
	VHost      string         `json:"vhost"`
	Type       string         `json:"type"`
	Durable    bool           `json:"durable"`
	AutoDelete bool           `json:"auto_delete"`
	Internal   bool           `json:"internal"`
	Arguments  map[string]any `json:"arguments"`
	Creator    string         `json:"user_who_performed_action"`
}

// Binding is a binding, those of the default exchange included.
type Binding struct {
	Source          string         `json:"source"`
	VHost           string         `json:"vhost"`
	Destination     string         `json:"destination"`
	DestinationType string         `json:"destination_type"` // queue, exchange
	RoutingKey      string         `json:"routing_key"`
	Arguments       map[string]any `json:"arguments"`
	PropertiesKey   string         `json:"properties_key"`
}
