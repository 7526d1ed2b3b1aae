package server

import (
	"cmp"
	"net"
	"slices"
)

func (s *Server) addListener(ln net.Listener) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.stopping {
		return false
	}
	s.mu.listeners[ln] = struct{}{}
	return true
}

func (s *Server) dropListener(ln net.Listener) {
	ln.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.mu.listeners, ln)
}

func (s *Server) isStopping() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.mu.stopping
}

// addConn counts c as being served, unless the server is stopping.
func (s *Server) addConn(c *conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.stopping {
		return false
	}
	s.serving.Add(1)
	s.mu.conns[c] = struct{}{}
	s.mu.byName[c.name] = c
	s.mu.totals.ConnectionsOpened++
	return true
}

func (s *Server) dropConn(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.mu.conns, c)
	if s.mu.byName[c.name] == c {
		delete(s.mu.byName, c.name)
	}
	t := c.traffic()
	s.mu.totals.ConnectionsClosed++
	s.mu.totals.ReceivedOctets += t.ReceivedOctets
	s.mu.totals.SentOctets += t.SentOctets
}

// channelOpened and channelClosed keep the totals; a closed channel leaves its counts behind.
func (s *Server) channelOpened() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.totals.ChannelsOpened++
}

func (s *Server) channelClosed(m *MessageCounts) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.totals.ChannelsClosed++
	s.mu.totals.Messages.add(m)
}

func (s *Server) connections() []*conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]*conn, 0, len(s.mu.conns))
	for c := range s.mu.conns {
		all = append(all, c)
	}
	return all
}

// Connections lists the connections that have begun to speak AMQP, by name.
func (s *Server) Connections() []ConnectionInfo {
	var infos []ConnectionInfo
	for _, c := range s.connections() {
		if info, ok := c.info(); ok {
			infos = append(infos, info)
		}
	}
	slices.SortFunc(infos, func(a, b ConnectionInfo) int { return cmp.Compare(a.Name, b.Name) })
	return infos
}

// Channels lists the open channels of all connections, by connection name and number.
func (s *Server) Channels() []ChannelInfo {
	var infos []ChannelInfo
	for _, c := range s.connections() {
		infos = c.appendChannelInfos(infos)
	}
	slices.SortFunc(infos, func(a, b ChannelInfo) int {
		return cmp.Or(cmp.Compare(a.Connection, b.Connection), cmp.Compare(a.Number, b.Number))
	})
	return infos
}

// CloseConnection tells a connection's peer that it was closed (320, with reason as the text) and ends it. It reports
// whether there is such a connection, and does not wait for the end.
func (s *Server) CloseConnection(name, reason string) bool {
	s.mu.Lock()
	c := s.mu.byName[name]
	s.mu.Unlock()
	if c == nil {
		return false
	}
	c.force(reason)
	return true
}

// Totals sums up all connections and channels there are and have been.
func (s *Server) Totals() Totals {
	s.mu.Lock()
	t := s.mu.totals
	s.mu.Unlock()
	for _, c := range s.connections() {
		traffic := c.traffic()
		t.ReceivedOctets += traffic.ReceivedOctets
		t.SentOctets += traffic.SentOctets
	}
	for _, ch := range s.Channels() {
		t.Messages.add(&ch.Messages)
	}
	return t
}
