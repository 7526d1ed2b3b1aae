package server

import (
	"cmp"
	"slices"
)

// info describes the channel for the HTTP API.
func (ch *channel) info(conn *ConnectionInfo) ChannelInfo {
	ch.mu.Lock()
	defer ch.mu.Unlock()
	info := ChannelInfo{
		Connection: conn.Name, Number: ch.number,
		PeerHost: conn.PeerHost, PeerPort: conn.PeerPort, User: conn.User, VHost: conn.VHost,
		State:   stateRunning.String(),
		Confirm: ch.mu.shown.confirm, Transactional: ch.mu.shown.transactional,
		Prefetch: ch.mu.prefetch, GlobalPrefetch: ch.mu.limit,
		Unacknowledged: ch.mu.unacked.live, Unconfirmed: ch.seq.Load() - ch.mu.confirmed,
		Uncommitted: ch.mu.shown.uncommitted, AcksHeld: ch.mu.shown.acksHeld,
		Messages: ch.messageCountsLocked(),
	}
	if ch.mu.closed {
		info.State = stateClosing.String()
	}
	for _, k := range ch.mu.consumers {
		info.Consumers = append(info.Consumers, k.info())
	}
	slices.SortFunc(info.Consumers, func(a, b ConsumerInfo) int { return cmp.Compare(a.Tag, b.Tag) })
	return info
}
