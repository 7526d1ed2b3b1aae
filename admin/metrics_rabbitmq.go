package admin

import "github.com/prometheus/client_golang/prometheus"

// rabbitmqFamilies are the metrics of the node, under RabbitMQ's names.
func (c *collector) rabbitmqFamilies() {
	c.gauge("rabbitmq_connections", "Connections currently open", func(s *snapshot) float64 {
		return float64(s.counts[cOpened] - s.counts[cClosed])
	})
	c.gauge("rabbitmq_channels", "Channels currently open", func(s *snapshot) float64 {
		return float64(s.counts[cChannelsOpened] - s.counts[cChannelsClosed])
	})
	c.gauge("rabbitmq_consumers", "Consumers currently connected", func(s *snapshot) float64 { return float64(s.broker.Consumers) })
	c.gauge("rabbitmq_queues", "Queues available", func(s *snapshot) float64 { return float64(s.broker.Queues) })
	for _, f := range []struct {
		name, help string
		of         counter
	}{
		{"rabbitmq_connections_opened_total", "Connections opened", cOpened},
		{"rabbitmq_connections_closed_total", "Connections closed or terminated", cClosed},
		{"rabbitmq_channels_opened_total", "Channels opened", cChannelsOpened},
		{"rabbitmq_channels_closed_total", "Channels closed", cChannelsClosed},
		{"rabbitmq_queues_declared_total", "Queues declared", cDeclared},
		{"rabbitmq_queues_created_total", "Queues created", cCreated},
		{"rabbitmq_queues_deleted_total", "Queues deleted", cDeleted},
	} {
		c.counter(f.name, f.help, func(s *snapshot) float64 { return float64(s.counts[f.of]) })
	}
	c.gauge("rabbitmq_queue_messages", "Sum of ready and unacknowledged messages", func(s *snapshot) float64 { return float64(s.broker.Ready + s.broker.Unacked) })
	c.gauge("rabbitmq_queue_messages_ready", "Messages ready to be delivered to consumers", func(s *snapshot) float64 { return float64(s.broker.Ready) })
	c.gauge("rabbitmq_queue_messages_unacked", "Messages delivered to consumers but not yet acknowledged", func(s *snapshot) float64 { return float64(s.broker.Unacked) })
	c.gauge("rabbitmq_queue_consumers", "Consumers on queues", func(s *snapshot) float64 { return float64(s.broker.Consumers) })

	c.counter("rabbitmq_connection_incoming_bytes_total", "Bytes received from clients", func(s *snapshot) float64 { return float64(s.counts[cReceived]) })
	c.counter("rabbitmq_connection_outgoing_bytes_total", "Bytes sent to clients", func(s *snapshot) float64 { return float64(s.counts[cSent]) })

	c.gauge("rabbitmq_process_resident_memory_bytes", "Memory used in bytes", func(s *snapshot) float64 { return float64(s.memory.Now) })
	c.gauge("rabbitmq_resident_memory_limit_bytes", "Memory above which publishers are blocked in bytes", func(s *snapshot) float64 { return float64(s.memory.Limit) })
	c.gauge("rabbitmq_process_open_fds", "Open file descriptors", func(s *snapshot) float64 { return float64(s.usage.openFiles) })
	c.gauge("rabbitmq_process_max_fds", "Open file descriptors limit", func(s *snapshot) float64 { return float64(s.usage.maxFiles) })
	c.gauge("rabbitmq_disk_space_available_bytes", "Disk space available to the data directory in bytes", func(s *snapshot) float64 { return float64(s.disk.Now) })
	c.gauge("rabbitmq_disk_space_available_limit_bytes", "Free disk space below which publishers are blocked in bytes", func(s *snapshot) float64 { return float64(s.disk.Limit) })
	c.gauge("rabbitmq_erlang_uptime_seconds", "Uptime of the node", func(s *snapshot) float64 { return s.uptime })
	c.gauge("rabbitmq_alarms_memory_used_watermark", "is 1 if the memory alarm is in effect", func(s *snapshot) float64 { return bit(s.memory.Raised) })
	c.gauge("rabbitmq_alarms_free_disk_space_watermark", "is 1 if the free disk space alarm is in effect", func(s *snapshot) float64 { return bit(s.disk.Raised) })
}

// globalFamilies are the message counters of dashboards, which join on the labels. Every queue counts under the
// type that a declare without x-queue-type makes, since all types share one implementation.
func (c *collector) globalFamilies() {
	protocol := prometheus.Labels{"protocol": "amqp091"}
	queueType := prometheus.Labels{"protocol": "amqp091", "queue_type": "rabbit_classic_queue"}
	for _, f := range []struct {
		name, help string
		labels     prometheus.Labels
		value      func(*snapshot) uint64
	}{
		{"received", "Messages received from publishers", protocol, func(s *snapshot) uint64 { return s.broker.Publish }},
		{"confirmed", "Messages confirmed to publishers", protocol, func(s *snapshot) uint64 { return s.broker.Confirm }},
		{"routed", "Messages routed to queues", protocol, func(s *snapshot) uint64 {
			return s.broker.Publish - s.broker.ReturnUnroutable - s.broker.DropUnroutable
		}},
		{"unroutable_dropped", "Messages published as non-mandatory that no queue took", protocol, func(s *snapshot) uint64 { return s.broker.DropUnroutable }},
		{"unroutable_returned", "Messages published as mandatory that no queue took", protocol, func(s *snapshot) uint64 { return s.broker.ReturnUnroutable }},
		{"delivered", "Messages delivered to consumers and by basic.get", queueType, func(s *snapshot) uint64 { return s.broker.DeliverGet() }},
		{"delivered_consume_auto_ack", "Messages delivered to consumers in automatic acknowledgement mode", queueType, func(s *snapshot) uint64 { return s.broker.DeliverNoAck }},
		{"delivered_consume_manual_ack", "Messages delivered to consumers in manual acknowledgement mode", queueType, func(s *snapshot) uint64 { return s.broker.Deliver }},
		{"delivered_get_auto_ack", "Messages delivered by basic.get in automatic acknowledgement mode", queueType, func(s *snapshot) uint64 { return s.broker.GetNoAck }},
		{"delivered_get_manual_ack", "Messages delivered by basic.get in manual acknowledgement mode", queueType, func(s *snapshot) uint64 { return s.broker.Get }},
		{"get_empty", "basic.get that found no message", queueType, func(s *snapshot) uint64 { return s.broker.GetEmpty }},
		{"redelivered", "Messages redelivered to consumers", queueType, func(s *snapshot) uint64 { return s.broker.Redeliver }},
		{"acknowledged", "Messages acknowledged by consumers", queueType, func(s *snapshot) uint64 { return s.broker.Ack }},
	} {
		desc := prometheus.NewDesc("rabbitmq_global_messages_"+f.name+"_total", f.help, nil, f.labels)
		c.families = append(c.families, family{desc, prometheus.CounterValue, func(s *snapshot) float64 { return float64(f.value(s)) }})
	}
	consumers := prometheus.NewDesc("rabbitmq_global_consumers", "Consumers currently connected", nil, protocol)
	c.families = append(c.families, family{consumers, prometheus.GaugeValue, func(s *snapshot) float64 { return float64(s.broker.Consumers) }})
}
