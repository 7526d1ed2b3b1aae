package queue

import "sync/atomic"

// Counters count messages since the start, under the names of RabbitMQ's message_stats.
type Counters struct {
	Publish          uint64 // messages taken from publishers, routed or not
	Confirm          uint64 // messages whose confirm was reported
	ReturnUnroutable uint64
	DropUnroutable   uint64
	Deliver          uint64 // to consumers that acknowledge
	DeliverNoAck     uint64
	Get              uint64 // by basic.get, to be acknowledged
	GetNoAck         uint64
	GetEmpty         uint64
	Redeliver        uint64 // of the deliveries and gets
	Ack              uint64
}

// DeliverGet is the sum of all four ways out of a queue.
func (c *Counters) DeliverGet() uint64 { return c.Deliver + c.DeliverNoAck + c.Get + c.GetNoAck }

func (c *Counters) add(o *Counters) {
	c.Publish += o.Publish
	c.Confirm += o.Confirm
	c.ReturnUnroutable += o.ReturnUnroutable
	c.DropUnroutable += o.DropUnroutable
	c.Deliver += o.Deliver
	c.DeliverNoAck += o.DeliverNoAck
	c.Get += o.Get
	c.GetNoAck += o.GetNoAck
	c.GetEmpty += o.GetEmpty
	c.Redeliver += o.Redeliver
	c.Ack += o.Ack
}

// meter is Counters that many goroutines add to, a batch at a time.
type meter struct {
	publish, confirm, returnUnroutable, dropUnroutable  atomic.Uint64
	deliver, deliverNoAck, get, getNoAck, getEmpty, ack atomic.Uint64
	redeliver                                           atomic.Uint64
}

// add adds what is not zero.
func (m *meter) add(c *Counters) {
	for _, x := range [...]struct {
		to *atomic.Uint64
		n  uint64
	}{
		{&m.publish, c.Publish}, {&m.confirm, c.Confirm},
		{&m.returnUnroutable, c.ReturnUnroutable}, {&m.dropUnroutable, c.DropUnroutable},
		{&m.deliver, c.Deliver}, {&m.deliverNoAck, c.DeliverNoAck},
		{&m.get, c.Get}, {&m.getNoAck, c.GetNoAck}, {&m.getEmpty, c.GetEmpty},
		{&m.redeliver, c.Redeliver}, {&m.ack, c.Ack},
	} {
		if x.n != 0 {
			x.to.Add(x.n)
		}
	}
}

func (m *meter) read() Counters {
	return Counters{
		Publish: m.publish.Load(), Confirm: m.confirm.Load(),
		ReturnUnroutable: m.returnUnroutable.Load(), DropUnroutable: m.dropUnroutable.Load(),
		Deliver: m.deliver.Load(), DeliverNoAck: m.deliverNoAck.Load(),
		Get: m.get.Load(), GetNoAck: m.getNoAck.Load(), GetEmpty: m.getEmpty.Load(),
		Redeliver: m.redeliver.Load(), Ack: m.ack.Load(),
	}
}
