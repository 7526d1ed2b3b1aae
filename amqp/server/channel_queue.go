package server

import (
	"strings"

	"github.com/warrenmq/warren/amqp"
	"github.com/warrenmq/warren/queue"
)

// queueName resolves the empty name, which stands for the queue that the channel declared last.
func (ch *channel) queueName(name string) (string, error) {
	if name != "" {
		return name, nil
	}
	if ch.lastQueue == "" {
		return "", refuse(queue.NotFound, "no previously declared queue")
	}
	return ch.lastQueue, nil
}

// stripLines removes line ends from a name to be declared, as RabbitMQ does.
var stripLines = strings.NewReplacer("\r", "", "\n", "")

func (ch *channel) queueDeclare(m *amqp.QueueDeclare) error {
	args, err := amqp.ParseTable(m.Arguments)
	if err != nil {
		return err
	}
	name := stripLines.Replace(m.Queue)
	if m.Passive && name == "" { // not the last one declared, as elsewhere
		return refuse(queue.NotFound, "no queue '' in vhost '%s'", ch.c.session.VHost())
	}
	info, err := ch.c.session.DeclareQueue(queue.QueueDeclare{
		Name: name, Passive: m.Passive, Durable: m.Durable,
		Exclusive: m.Exclusive, AutoDelete: m.AutoDelete, Args: args,
	})
	if err != nil {
		return err
	}
	ch.lastQueue = info.Name
	ch.reply(m.NoWait, &amqp.QueueDeclareOk{
		Queue: info.Name, MessageCount: uint32(info.Messages), ConsumerCount: uint32(info.Consumers),
	})
	return nil
}

// bindingKey resolves the shortcut of a binding without queue name: an empty routing key is then the queue's name.
func (ch *channel) bindingKey(queueName, key string) string {
	if queueName == "" && key == "" {
		return ch.lastQueue
	}
	return key
}

func (ch *channel) queueBind(m *amqp.QueueBind) error {
	name, err := ch.queueName(m.Queue)
	if err != nil {
		return err
	}
	args, err := amqp.ParseTable(m.Arguments)
	if err != nil {
		return err
	}
	if err := ch.c.session.BindQueue(name, m.Exchange, ch.bindingKey(m.Queue, m.RoutingKey), args); err != nil {
		return err
	}
	ch.reply(m.NoWait, &amqp.QueueBindOk{})
	return nil
}

func (ch *channel) queueUnbind(m *amqp.QueueUnbind) error {
	name, err := ch.queueName(m.Queue)
	if err != nil {
		return err
	}
	args, err := amqp.ParseTable(m.Arguments)
	if err != nil {
		return err
	}
	if err := ch.c.session.UnbindQueue(name, m.Exchange, ch.bindingKey(m.Queue, m.RoutingKey), args); err != nil {
		return err
	}
	ch.reply(false, &amqp.QueueUnbindOk{})
	return nil
}

func (ch *channel) queuePurge(m *amqp.QueuePurge) error {
	name, err := ch.queueName(m.Queue)
	if err != nil {
		return err
	}
	purged, err := ch.c.session.PurgeQueue(name)
	if err != nil {
		return err
	}
	ch.reply(m.NoWait, &amqp.QueuePurgeOk{MessageCount: uint32(purged)})
	return nil
}

func (ch *channel) queueDelete(m *amqp.QueueDelete) error {
	name, err := ch.queueName(m.Queue)
	if err != nil {
		return err
	}
	deleted, err := ch.c.session.DeleteQueue(name, m.IfUnused, m.IfEmpty)
	if err != nil {
		return err
	}
	ch.reply(m.NoWait, &amqp.QueueDeleteOk{MessageCount: uint32(deleted)})
	return nil
}
