package server

import (
	"github.com/warrenmq/warren/amqp"
	"github.com/warrenmq/warren/queue"
)

func (ch *channel) exchangeDeclare(m *amqp.ExchangeDeclare) error {
	args, err := amqp.ParseTable(m.Arguments)
	if err != nil {
		return err
	}
	err = ch.c.session.DeclareExchange(queue.ExchangeDeclare{
		Name: stripLines.Replace(m.Exchange), Type: m.Type, Passive: m.Passive, Durable: m.Durable,
		AutoDelete: m.AutoDelete, Internal: m.Internal, Args: args,
	})
	if err != nil {
		return err
	}
	ch.reply(m.NoWait, &amqp.ExchangeDeclareOk{})
	return nil
}

func (ch *channel) exchangeDelete(m *amqp.ExchangeDelete) error {
	if err := ch.c.session.DeleteExchange(m.Exchange, m.IfUnused); err != nil {
		return err
	}
	ch.reply(m.NoWait, &amqp.ExchangeDeleteOk{})
	return nil
}

func (ch *channel) exchangeBind(m *amqp.ExchangeBind) error {
	args, err := amqp.ParseTable(m.Arguments)
	if err != nil {
		return err
	}
	if err := ch.c.session.BindExchange(m.Destination, m.Source, m.RoutingKey, args); err != nil {
		return err
	}
	ch.reply(m.NoWait, &amqp.ExchangeBindOk{})
	return nil
}

func (ch *channel) exchangeUnbind(m *amqp.ExchangeUnbind) error {
	args, err := amqp.ParseTable(m.Arguments)
	if err != nil {
		return err
	}
	if err := ch.c.session.UnbindExchange(m.Destination, m.Source, m.RoutingKey, args); err != nil {
		return err
	}
	ch.reply(m.NoWait, &amqp.ExchangeUnbindOk{})
	return nil
}
