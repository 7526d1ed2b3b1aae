package admin

import "github.com/warrenmq/warren/admin/api"

// messageStats returns the counters of messages with their rates, or nil when all are zero.
func messageStats(c *counts, s *speed) *api.MessageStats {
	m := &api.MessageStats{}
	some := false
	put := func(n **int64, rate **api.Rate, of ...counter) {
		var sum int64
		var perSecond float64
		for _, i := range of {
			sum += c[i]
			perSecond += s[i]
		}
		if sum == 0 {
			return
		}
		some = true
		*n, *rate = &sum, &api.Rate{Rate: perSecond}
	}
	put(&m.Publish, &m.PublishDetails, cPublish)
	put(&m.Confirm, &m.ConfirmDetails, cConfirm)
	put(&m.Return, &m.ReturnDetails, cReturn)
	put(&m.Drop, &m.DropDetails, cDrop)
	put(&m.Deliver, &m.DeliverDetails, cDeliver)
	put(&m.DeliverNoAck, &m.DeliverNoAckDetails, cDeliverNoAck)
	put(&m.Get, &m.GetDetails, cGet)
	put(&m.GetNoAck, &m.GetNoAckDetails, cGetNoAck)
	put(&m.GetEmpty, &m.GetEmptyDetails, cGetEmpty)
	put(&m.DeliverGet, &m.DeliverGetDetails, cDeliver, cDeliverNoAck, cGet, cGetNoAck)
	put(&m.Redeliver, &m.RedeliverDetails, cRedeliver)
	put(&m.Ack, &m.AckDetails, cAck)
	if !some {
		return nil
	}
	return m
}
