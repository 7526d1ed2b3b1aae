package main

import (
	"fmt"
	"time"

	"github.com/warrenmq/warren/amqp"
)

// item is what a client sends in one piece: a method, a message, or octets that are neither.
type item struct {
	line   string // as the transcript shows it
	frames func(ch uint16, maxPayload uint32) []byte
	method amqp.Method // nil for octets
	answer []string    // the methods that answer it; nil: none does
}

// flags of all methods.
type flags uint32

const (
	durable flags = 1 << iota
	exclusive
	autoDelete
	passive
	internal
	noWait
	noAck
	noLocal
	ifUnused
	ifEmpty
	multiple
	requeue
	global
)

func (f flags) has(one flags) bool { return f&one != 0 }

// method makes an item of a method; answers are the names of the methods that answer it.
func method(m amqp.Method, answers ...string) item {
	return item{
		line:   describe(m),
		frames: func(ch uint16, _ uint32) []byte { return amqp.AppendMethod(nil, ch, m) },
		method: m,
		answer: answers,
	}
}

// silent takes an item's answer away if the no-wait flag is set.
func silent(it item, f flags) item {
	if f.has(noWait) {
		it.answer = nil
	}
	return it
}

// octets are sent as they are; line describes them.
func octets(line string, b []byte) item {
	return item{line: line, frames: func(uint16, uint32) []byte { return b }}
}

// frame is any frame, its end included.
func frame(typ uint8, payload string) item {
	return item{
		line: fmt.Sprintf("frame type=%d payload=%q", typ, payload),
		frames: func(ch uint16, _ uint32) []byte {
			b := amqp.AppendFrameHeader(nil, typ, ch, uint32(len(payload)))
			return append(append(b, payload...), amqp.FrameEnd)
		},
	}
}

// table makes the entries of a table from names and values in turn. An int becomes I, the usual type of clients.
func table(pairs ...any) []byte {
	if len(pairs) == 0 {
		return nil
	}
	return amqp.AppendTable(nil, tableOf(pairs...))
}

func tableOf(pairs ...any) amqp.Table {
	t := amqp.Table{}
	for i := 0; i < len(pairs); i += 2 {
		t[pairs[i].(string)] = wireValue(pairs[i+1])
	}
	return t
}

func wireValue(v any) any {
	switch v := v.(type) {
	case int:
		return int32(v)
	case []any:
		values := make([]any, len(v))
		for i, e := range v {
			values[i] = wireValue(e)
		}
		return values
	}
	return v
}

func declareQueue(name string, f flags, args ...any) item {
	return silent(method(&amqp.QueueDeclare{
		Queue: name, Passive: f.has(passive), Durable: f.has(durable), Exclusive: f.has(exclusive),
		AutoDelete: f.has(autoDelete), NoWait: f.has(noWait), Arguments: table(args...),
	}, "queue.declare-ok"), f)
}

func deleteQueue(name string, f flags) item {
	return silent(method(&amqp.QueueDelete{
		Queue: name, IfUnused: f.has(ifUnused), IfEmpty: f.has(ifEmpty), NoWait: f.has(noWait),
	}, "queue.delete-ok"), f)
}

func purgeQueue(name string, f flags) item {
	return silent(method(&amqp.QueuePurge{Queue: name, NoWait: f.has(noWait)}, "queue.purge-ok"), f)
}

func bindQueue(queue, exchange, key string, args ...any) item {
	return method(&amqp.QueueBind{Queue: queue, Exchange: exchange, RoutingKey: key, Arguments: table(args...)}, "queue.bind-ok")
}

func unbindQueue(queue, exchange, key string, args ...any) item {
	return method(&amqp.QueueUnbind{Queue: queue, Exchange: exchange, RoutingKey: key, Arguments: table(args...)}, "queue.unbind-ok")
}

func declareExchange(name, kind string, f flags, args ...any) item {
	return silent(method(&amqp.ExchangeDeclare{
		Exchange: name, Type: kind, Passive: f.has(passive), Durable: f.has(durable), AutoDelete: f.has(autoDelete),
		Internal: f.has(internal), NoWait: f.has(noWait), Arguments: table(args...),
	}, "exchange.declare-ok"), f)
}

func deleteExchange(name string, f flags) item {
	return silent(method(&amqp.ExchangeDelete{
		Exchange: name, IfUnused: f.has(ifUnused), NoWait: f.has(noWait),
	}, "exchange.delete-ok"), f)
}

func bindExchange(destination, source, key string, args ...any) item {
	return method(&amqp.ExchangeBind{
		Destination: destination, Source: source, RoutingKey: key, Arguments: table(args...),
	}, "exchange.bind-ok")
}

func unbindExchange(destination, source, key string, args ...any) item {
	return method(&amqp.ExchangeUnbind{
		Destination: destination, Source: source, RoutingKey: key, Arguments: table(args...),
	}, "exchange.unbind-ok")
}

func consume(queue, tag string, f flags, args ...any) item {
	return silent(method(&amqp.BasicConsume{
		Queue: queue, ConsumerTag: tag, NoLocal: f.has(noLocal), NoAck: f.has(noAck), Exclusive: f.has(exclusive),
		NoWait: f.has(noWait), Arguments: table(args...),
	}, "basic.consume-ok"), f)
}

func cancel(tag string, f flags) item {
	return silent(method(&amqp.BasicCancel{ConsumerTag: tag, NoWait: f.has(noWait)}, "basic.cancel-ok"), f)
}

func get(queue string, f flags) item {
	return method(&amqp.BasicGet{Queue: queue, NoAck: f.has(noAck)}, "basic.get-ok", "basic.get-empty")
}

func ack(tag uint64) item    { return method(&amqp.BasicAck{DeliveryTag: tag}) }
func ackAll(tag uint64) item { return method(&amqp.BasicAck{DeliveryTag: tag, Multiple: true}) }

func nack(tag uint64, f flags) item {
	return method(&amqp.BasicNack{DeliveryTag: tag, Multiple: f.has(multiple), Requeue: f.has(requeue)})
}

func reject(tag uint64, f flags) item {
	return method(&amqp.BasicReject{DeliveryTag: tag, Requeue: f.has(requeue)})
}

func qos(count uint16, f flags) item {
	return method(&amqp.BasicQos{PrefetchCount: count, Global: f.has(global)}, "basic.qos-ok")
}

func recoverAll(f flags) item {
	return method(&amqp.BasicRecover{Requeue: f.has(requeue)}, "basic.recover-ok")
}

func openChannel() item { return method(&amqp.ChannelOpen{}, "channel.open-ok") }

func closeChannel() item {
	return method(&amqp.ChannelClose{ReplyCode: amqp.CodeSuccess, ReplyText: "OK"}, "channel.close-ok")
}

func closeConnection() item {
	return method(&amqp.ConnectionClose{ReplyCode: amqp.CodeSuccess, ReplyText: "OK"}, "connection.close-ok")
}

func flow(active bool) item { return method(&amqp.ChannelFlow{Active: active}, "channel.flow-ok") }
func confirmSelect() item   { return method(&amqp.ConfirmSelect{}, "confirm.select-ok") }
func txSelect() item        { return method(&amqp.TxSelect{}, "tx.select-ok") }
func txCommit() item        { return method(&amqp.TxCommit{}, "tx.commit-ok") }
func txRollback() item      { return method(&amqp.TxRollback{}, "tx.rollback-ok") }
func times(n int, it item) []item {
	all := make([]item, n)
	for i := range all {
		all[i] = it
	}
	return all
}

// message is what publish sends, before it is sent.
type message struct {
	mandatory, immediate bool
	properties           amqp.Properties
}

type messageOption func(*message)

func mandatory(m *message)  { m.mandatory = true }
func immediate(m *message)  { m.immediate = true }
func persistent(m *message) { m.properties.DeliveryMode = amqp.Persistent }

func headers(pairs ...any) messageOption {
	return func(m *message) { m.properties.Headers = tableOf(pairs...) }
}

func expiration(ms string) messageOption {
	return func(m *message) { m.properties.Expiration = ms }
}

func properties(p amqp.Properties) messageOption {
	return func(m *message) { m.properties = p }
}

// publish is a message with its method, header and body frames.
func publish(exchange, key, body string, options ...messageOption) item {
	var m message
	for _, option := range options {
		option(&m)
	}
	raw := amqp.AppendProperties(nil, &m.properties)
	return publishRaw(exchange, key, body, raw, m.mandatory, m.immediate)
}

// publishRaw is publish with property flags and properties as they are to be on the wire.
func publishRaw(exchange, key, body string, raw []byte, mandatory, immediate bool) item {
	m := &amqp.BasicPublish{Exchange: []byte(exchange), RoutingKey: []byte(key), Mandatory: mandatory, Immediate: immediate}
	c := content{method: describe(m), raw: raw, size: uint64(len(body)), body: []byte(body)}
	return item{
		line: c.describe(),
		frames: func(ch uint16, maxPayload uint32) []byte {
			b := amqp.AppendMethod(nil, ch, m)
			b = amqp.AppendHeader(b, ch, amqp.ClassBasic, uint64(len(body)), raw)
			return amqp.AppendBody(b, ch, []byte(body), maxPayload)
		},
		method: m,
	}
}

// unixTime is a timestamp that is not now.
func unixTime(seconds int64) time.Time { return time.Unix(seconds, 0).UTC() }
