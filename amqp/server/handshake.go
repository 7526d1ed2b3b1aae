package server

import (
	"fmt"
	"maps"
	"time"

	"go.uber.org/zap"

	"github.com/warrenmq/warren/amqp"
	"github.com/warrenmq/warren/queue"
)

const (
	handshakeFrameMax = 8 << 10 // until tune-ok
	frameGrace        = 8       // by which ParseFrame lets a frame exceed frame-max, as RabbitMQ does
	serverMechanisms  = "PLAIN AMQPLAIN"
	serverLocales     = "en_US"
)

// serverCapabilities are announced in connection.start. Clients look each of them up by name. RabbitMQ has
// direct_reply_to besides.
var serverCapabilities = amqp.Table{
	"publisher_confirms":           true,
	"exchange_exchange_bindings":   true,
	"basic.nack":                   true,
	"consumer_cancel_notify":       true,
	"connection.blocked":           true,
	"consumer_priorities":          true,
	"authentication_failure_close": true,
	"per_consumer_qos":             true,
}

// startFrame is the connection.start that opens every conversation.
func startFrame(o *Options) []byte {
	properties := amqp.Table{
		"product":      o.Product,
		"version":      o.Version,
		"cluster_name": o.ClusterName,
		"platform":     "Go",
		"copyright":    "Warren contributors",
		"information":  "Warren, an AMQP 0-9-1 broker",
		"capabilities": maps.Clone(serverCapabilities),
	}
	for name, value := range o.Properties {
		properties[name] = value
	}
	return amqp.AppendMethod(nil, 0, &amqp.ConnectionStart{
		VersionMajor: 0, VersionMinor: 9,
		ServerProperties: amqp.AppendTable(nil, properties),
		Mechanisms:       serverMechanisms,
		Locales:          serverLocales,
	})
}

// protocolHeader answers the client's first eight octets once they are there. It reports whether frames follow.
func (c *conn) protocolHeader() bool {
	if !amqp.SpokenProtocol(c.in.peek()) {
		c.endReason("not an AMQP 0-9-1 client")
		c.out.last([]byte(amqp.ProtocolHeader))
		c.lost = true
		c.setState(stateClosed)
		return false
	}
	if c.in.take(len(amqp.ProtocolHeader)) == nil {
		return false
	}
	c.setState(stateStarting)
	c.in.limit = handshakeFrameMax + frameGrace
	c.out.frames(c.srv.start)
	return true
}

// connectionMethod carries out a method on channel 0.
func (c *conn) connectionMethod(m amqp.Method) error {
	state := c.currentState()
	switch m := m.(type) {
	case *amqp.ConnectionStartOk:
		if state == stateStarting {
			return c.startOk(m)
		}
	case *amqp.ConnectionTuneOk:
		if state == stateTuning {
			return c.tuneOk(m)
		}
	case *amqp.ConnectionOpen:
		if state == stateOpening {
			return c.open(m)
		}
	case *amqp.ConnectionUpdateSecret:
		if state == stateRunning {
			return c.updateSecret(m)
		}
	case *amqp.ConnectionClose:
		return c.closeByPeer()
	}
	return refuse(queue.ChannelError, "unexpected method in connection state %v", state)
}

// startOk logs the client in (connection.start-ok, then connection.tune).
func (c *conn) startOk(m *amqp.ConnectionStartOk) error {
	properties, err := amqp.ParseTable(m.ClientProperties)
	if err != nil {
		return err
	}
	c.announced(properties)
	user, password, err := credentials(m.Mechanism, m.Response)
	if err != nil {
		return err
	}
	c.user, err = c.srv.o.Broker.Authenticate(user, password, loopback(c.nc.RemoteAddr()))
	if err != nil {
		return c.loginRefused(m.Mechanism, user, err)
	}
	c.meta.Lock()
	c.meta.User, c.meta.AuthMechanism = c.user.Name, m.Mechanism
	c.meta.ClientProperties = properties
	c.meta.UserProvidedName, _ = properties["connection_name"].(string)
	c.meta.Unlock()
	c.setState(stateTuning)
	o := &c.srv.o
	c.out.method(0, &amqp.ConnectionTune{
		ChannelMax: o.ChannelMax, FrameMax: o.FrameMax, Heartbeat: uint16(max(o.Heartbeat, 0) / time.Second),
	})
	return nil
}

// announced keeps the client's capabilities that change what it is sent.
func (c *conn) announced(properties amqp.Table) {
	capable, _ := properties["capabilities"].(amqp.Table)
	c.caps.authFailureClose, _ = capable["authentication_failure_close"].(bool)
	c.caps.cancelNotify, _ = capable["consumer_cancel_notify"].(bool)
	c.caps.blocked, _ = capable["connection.blocked"].(bool)
}

// loginRefused tells a client that asked for it that its login failed. Others have their socket closed, after a
// delay that makes guessing slow.
func (c *conn) loginRefused(mechanism, user string, err error) error {
	f, ours := faultOf(err)
	if ours {
		return err
	}
	c.log.Warn("login refused", zap.String("user", user), zap.String("mechanism", mechanism), zap.String("error", f.text))
	if c.caps.authFailureClose {
		c.current = current{} // it is the user that is wrong, not the method
		return refuse(queue.AccessRefused,
			"Login was refused using authentication mechanism %s. For details see the broker logfile.", mechanism)
	}
	c.endReason(f.text)
	c.out.flush()
	delay := time.NewTimer(c.srv.o.LoginDelay)
	defer delay.Stop()
	select {
	case <-delay.C:
	case <-c.life.done:
	}
	c.setState(stateClosed)
	return nil
}

// tuneOk settles the limits (connection.tune-ok).
func (c *conn) tuneOk(m *amqp.ConnectionTuneOk) error {
	o := &c.srv.o
	if err := checkTuned("frame_max", uint64(m.FrameMax), amqp.MinFrameMax, uint64(o.FrameMax)); err != nil {
		return err
	}
	if err := checkTuned("channel_max", uint64(m.ChannelMax), 1, uint64(o.ChannelMax)); err != nil {
		return err
	}
	c.maxPayload = m.FrameMax - amqp.FrameOverhead
	c.out.maxPayload = c.maxPayload
	c.in.limit = int(m.FrameMax) + frameGrace
	c.channelMax = int(m.ChannelMax)
	heartbeat := time.Duration(m.Heartbeat) * time.Second
	c.mon.heartbeat.Store(int64(heartbeat))
	c.mon.reset()
	c.meta.Lock()
	c.meta.FrameMax, c.meta.ChannelMax, c.meta.Heartbeat = m.FrameMax, m.ChannelMax, heartbeat
	c.meta.Unlock()
	c.setState(stateOpening)
	return nil
}

// checkTuned checks a limit that the client chose, where 0 asks for none, with RabbitMQ's texts.
func checkTuned(field string, value, lowest, highest uint64) error {
	switch {
	case value != 0 && value < lowest:
		return refuse(queue.NotAllowed, "negotiated %s = %d is lower than the minimum allowed value (%d)", field, value, lowest)
	case value == 0 || value > highest:
		shown := fmt.Sprint(value)
		if value == 0 {
			shown = "0 (no limit)"
		}
		return refuse(queue.NotAllowed, "negotiated %s = %s is higher than the maximum allowed value (%d)", field, shown, highest)
	}
	return nil
}

// open enters a vhost (connection.open).
func (c *conn) open(m *amqp.ConnectionOpen) error {
	session, err := c.srv.o.Broker.Connect(c.user, m.VirtualHost, c.name)
	if err != nil {
		return err
	}
	c.session = session
	c.pub = session.NewPublisher()
	c.meta.Lock()
	c.meta.VHost = m.VirtualHost
	c.meta.Unlock()
	c.nc.SetReadDeadline(time.Time{})
	// A close that was forced meanwhile stays in force.
	c.state.CompareAndSwap(int32(stateOpening), int32(stateRunning))
	c.out.method(0, &amqp.ConnectionOpenOk{})
	session.OnEnd(func(why *queue.Error) {
		f, _ := faultOf(why)
		c.close(f, 0, 0)
	})
	c.log.Debug("connection opened", zap.String("user", c.user.Name), zap.String("vhost", m.VirtualHost))
	return nil
}

// updateSecret takes a new password (connection.update-secret). Passwords do not expire here, so that it is not
// looked at; but the user may have lost the right to the vhost.
func (c *conn) updateSecret(*amqp.ConnectionUpdateSecret) error {
	if err := c.srv.o.Broker.Refresh(c.user, c.session.VHost()); err != nil {
		return err
	}
	c.out.method(0, &amqp.ConnectionUpdateSecretOk{})
	return nil
}

// closeByPeer ends the connection in order: what it held is given back before the peer is told close-ok. Closing the
// socket is left to the peer for a while, as in RabbitMQ: it may have sent more, even another close, which is answered.
func (c *conn) closeByPeer() error {
	c.leave()
	c.endReason("closed by the client")
	c.setState(stateClosing)
	c.out.last(amqp.AppendMethod(nil, 0, &amqp.ConnectionCloseOk{}))
	c.mon.closeBy.Store(time.Now().Add(lingerTime).UnixNano())
	c.mon.reset()
	return nil
}
