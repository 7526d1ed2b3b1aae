package server

import (
	"bytes"
	"slices"
	"strconv"

	"github.com/warrenmq/warren/amqp"
	"github.com/warrenmq/warren/queue"
)

// publish hands a complete message to the publisher (basic.publish), or to the transaction.
func (ch *channel) publish(a *assembly) error {
	c := ch.c
	info, err := amqp.PropertiesInfo(a.properties)
	if err != nil {
		return err
	}
	if err := c.checkProperties(&info); err != nil {
		return err
	}
	m := &c.message
	*m = queue.Message{
		Exchange: a.publish.Exchange, RoutingKey: a.publish.RoutingKey,
		Properties: a.properties, Body: a.body,
		Persistent: info.DeliveryMode == 2, Mandatory: a.publish.Mandatory,
	}
	if info.HasHeaders {
		c.messageHeaders = info.Headers
		m.Headers = c.headers
		if bytes.Contains(info.Headers, copyHeader) {
			if err := addCopies(m); err != nil {
				return err
			}
		}
	}
	if ch.tx != nil {
		return ch.tx.publish(m)
	}
	seq := ch.seq.Load()
	if ch.confirms != nil {
		seq++
	}
	routed, err := c.pub.Publish(m, ch.confirms, seq)
	if err != nil {
		return err
	}
	c.published = true
	ch.seq.Store(seq)
	ch.published.Add(1)
	if !routed && m.Mandatory {
		ch.giveBack(m)
	}
	return nil
}

// parseHeaders is what queue.Message.Headers calls, for the exchanges that route by headers.
func (b *batch) parseHeaders() map[string]any {
	t, err := amqp.ParseTable(b.messageHeaders)
	if err != nil {
		return nil // cannot be: PropertiesInfo has checked the table
	}
	return t
}

// giveBack returns an unroutable message (basic.return). The bytes are copied: they are not ours.
func (ch *channel) giveBack(m *queue.Message) {
	ch.returned.Add(1)
	c := &content{properties: m.Properties, body: m.Body}
	if len(c.body) >= bodyByReference {
		c.body = slices.Clone(c.body)
	}
	ch.c.out.message(ch.number, &amqp.BasicReturn{
		ReplyCode: amqp.CodeNoRoute, ReplyText: amqp.CodeNoRoute.Name(),
		Exchange: m.Exchange, RoutingKey: m.RoutingKey,
	}, c)
}

// checkProperties checks the properties that the broker gives a meaning to.
func (c *conn) checkProperties(info *amqp.Info) error {
	if info.UserID != nil && string(info.UserID) != c.user.Name && !slices.Contains(c.user.Tags, "impersonator") {
		return refuse(queue.PreconditionFailed, "user_id property set to '%s' but authenticated user was '%s'",
			info.UserID, c.user.Name)
	}
	if info.Expiration != nil {
		return checkExpiration(info.Expiration)
	}
	return nil
}

// maxExpiration is ten years, in milliseconds.
const maxExpiration = 10 * 365 * 24 * 3600 * 1000

// checkExpiration checks a message's time to live: a decimal number of milliseconds. The texts are RabbitMQ's.
func checkExpiration(text []byte) error {
	digits := bytes.TrimLeft(text, "+-")
	end := 0
	for end < len(digits) && digits[end] >= '0' && digits[end] <= '9' {
		end++
	}
	number := text[:len(text)-len(digits)+end]
	reason := ""
	switch n, err := strconv.ParseInt(string(number), 10, 64); {
	case end == 0:
		reason = "no_integer"
	case end < len(digits):
		reason = `{leftover_string,"` + string(digits[end:]) + `"}`
	case err != nil && number[0] != '-', err == nil && n > maxExpiration:
		reason = "{value_too_large," + string(number) + "}"
	case err != nil, n < 0:
		reason = "{value_negative," + string(number) + "}"
	default:
		return nil
	}
	return refuse(queue.PreconditionFailed, "invalid expiration '%s': %s", text, reason)
}
