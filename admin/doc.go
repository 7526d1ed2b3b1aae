// Package admin is the HTTP side of a broker: the part of RabbitMQ's management API that is built, and /metrics.
//
// # A request
//
//	path ── route ── method ── credentials ── tag ── vhost ── handler ── JSON
//
// A path is matched in its encoded form, since "/" is the name of the default vhost: /api/queues/%2F/q. Trailing
// slashes count for nothing. Credentials come with every request (Basic); a failed login and a user without the
// tag that a route wants both get 401, never 403, as RabbitMQ's clients expect. A user sees the vhosts that it has
// permissions in, administrators and monitoring users see all; what is in other vhosts does not exist for it: 404.
//
// # Errors
//
// A handler returns an error; one wrapper turns it into status and body. *queue.Error and the failures of this
// package are the client's fault and are told with their text; any other error is ours: it is logged once and told
// as 500 without detail.
//
// # Lists
//
// Every list takes sort, sort_reverse and columns; with the parameter page it becomes an envelope of one page
// (page_size up to 500), filtered by name (part of it, or with use_regex=true an expression; case does not matter).
//
// # Rates
//
// The counters of package queue and of the connections are cumulative. A rate is a counter's change since a sample
// of five seconds to a minute ago; samples are taken by the requests that show rates, so that nothing runs while
// nobody looks. See rates.
package admin
