package amqp

// newChannelMethod returns a zero method of class channel.
func newChannelMethod(method uint16) Method {
	switch method {
	case 10:
		return new(ChannelOpen)
	case 11:
		return new(ChannelOpenOk)
	case 20:
		return new(ChannelFlow)
	case 21:
		return new(ChannelFlowOk)
	case 40:
		return new(ChannelClose)
	case 41:
		return new(ChannelCloseOk)
	}
	return nil
}

// ChannelOpen opens the channel it is sent on.
type ChannelOpen struct{}

func (*ChannelOpen) ClassMethod() (class, method uint16) { return ClassChannel, 10 }
func (*ChannelOpen) Name() string                        { return "channel.open" }

func (*ChannelOpen) decode(r *reader)         { r.shortBytes() } // out of band
func (*ChannelOpen) appendTo(b []byte) []byte { return append(b, 0) }

// ChannelOpenOk says that the channel is open.
type ChannelOpenOk struct{}

func (*ChannelOpenOk) ClassMethod() (class, method uint16) { return ClassChannel, 11 }
func (*ChannelOpenOk) Name() string                        { return "channel.open-ok" }

func (*ChannelOpenOk) decode(r *reader)         { r.longBytes() } // channel id
func (*ChannelOpenOk) appendTo(b []byte) []byte { return appendLong(b, 0) }

// ChannelFlow asks the peer to stop or to go on sending content.
type ChannelFlow struct {
	Active bool
}

func (*ChannelFlow) ClassMethod() (class, method uint16) { return ClassChannel, 20 }
func (*ChannelFlow) Name() string                        { return "channel.flow" }

func (m *ChannelFlow) decode(r *reader)         { r.bits(&m.Active) }
func (m *ChannelFlow) appendTo(b []byte) []byte { return appendBits(b, m.Active) }

// ChannelFlowOk repeats what was asked.
type ChannelFlowOk struct {
	Active bool
}

func (*ChannelFlowOk) ClassMethod() (class, method uint16) { return ClassChannel, 21 }
func (*ChannelFlowOk) Name() string                        { return "channel.flow-ok" }

func (m *ChannelFlowOk) decode(r *reader)         { r.bits(&m.Active) }
func (m *ChannelFlowOk) appendTo(b []byte) []byte { return appendBits(b, m.Active) }

// ChannelClose ends a channel, from either side; the fields are those of [ConnectionClose].
type ChannelClose struct {
	ReplyCode         ReplyCode
	ReplyText         string
	ClassID, MethodID uint16
}

func (*ChannelClose) ClassMethod() (class, method uint16) { return ClassChannel, 40 }
func (*ChannelClose) Name() string                        { return "channel.close" }

func (m *ChannelClose) decode(r *reader)         { (*ConnectionClose)(m).decode(r) }
func (m *ChannelClose) appendTo(b []byte) []byte { return (*ConnectionClose)(m).appendTo(b) }

// ChannelCloseOk frees the channel's number.
type ChannelCloseOk struct{ noArguments }

func (*ChannelCloseOk) ClassMethod() (class, method uint16) { return ClassChannel, 41 }
func (*ChannelCloseOk) Name() string                        { return "channel.close-ok" }
