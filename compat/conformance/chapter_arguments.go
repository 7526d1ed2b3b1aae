package main

// Arguments of queues and consumers: which values are refused, and in which words.
var argumentsChapter = chapter{"arguments", join(
	each([][]any{
		ttl(0), ttl(-1), ttl("1000"), ttl(1000.0), ttl(true), ttl(nil), ttl(int64(315360000000)), ttl(int64(315360000001)), ttl(int8(100)),
		args("x-expires", 60000), args("x-expires", 0), args("x-expires", -1), args("x-expires", "60000"), args("x-expires", int64(315360000001)),
		args("x-max-length", 0), args("x-max-length", -1), args("x-max-length", "5"), args("x-max-length", float32(5)),
		args("x-max-length-bytes", 0), args("x-max-length-bytes", -5), args("x-max-length-bytes", "5"),
		args("x-max-priority", 0), args("x-max-priority", 10), args("x-max-priority", 255), args("x-max-priority", 256), args("x-max-priority", -1), args("x-max-priority", "3"),
		args("x-overflow", "drop-head"), args("x-overflow", "reject-publish"), args("x-overflow", "reject-publish-dlx"), args("x-overflow", "drop-tail"), args("x-overflow", 1),
		args("x-dead-letter-exchange", "not.there"), args("x-dead-letter-exchange", ""), args("x-dead-letter-exchange", 5),
		args("x-dead-letter-routing-key", "k"), args("x-dead-letter-exchange", "x", "x-dead-letter-routing-key", "k"),
		args("x-dead-letter-exchange", "x", "x-dead-letter-routing-key", 5),
		args("x-queue-mode", "lazy"), args("x-queue-mode", "default"), args("x-queue-mode", "eager"), args("x-queue-mode", 1),
		args("x-single-active-consumer", true), args("x-single-active-consumer", "true"), args("x-single-active-consumer", 1),
		args("x-queue-type", "classic"), args("x-queue-type", "nonsense"), args("x-queue-type", 5),
		args("x-queue-version", 1), args("x-queue-version", 2), args("x-queue-version", 3), args("x-queue-version", "2"),
		args("x-queue-master-locator", "min-masters"), args("x-queue-leader-locator", "balanced"), args("x-queue-leader-locator", "client-local"), args("x-queue-leader-locator", "nonsense"),
		args("x-ha-policy", "all"), args("x-whatever", tableOf("a", 1)), args("whatever", 5),
		args("x-delivery-limit", 5), args("x-dead-letter-strategy", "at-least-once"), args("x-consumer-timeout", 60000), args("x-quorum-initial-group-size", 3),
		args("x-message-ttl", -1, "x-max-length", -1),
	}, func(a []any) string { return "queue " + describeDeclare(0, a) },
		func(s *stage, a []any) {
			ch := s.channel()
			ch.do(declareQueue("q", 0, a...))
		}),
	each([][]any{
		args("x-queue-type", "quorum"), args("x-queue-type", "quorum", "x-delivery-limit", 5), args("x-queue-type", "quorum", "x-max-length", 5, "x-overflow", "reject-publish"),
		args("x-queue-type", "quorum", "x-dead-letter-exchange", "x", "x-dead-letter-strategy", "at-least-once", "x-overflow", "reject-publish"),
		args("x-queue-type", "quorum", "x-dead-letter-strategy", "twice"), args("x-queue-type", "quorum", "x-delivery-limit", "5"),
		args("x-queue-type", "quorum", "x-max-priority", 5), args("x-queue-type", "quorum", "x-queue-mode", "lazy"),
		args("x-queue-type", "quorum", "x-overflow", "reject-publish-dlx"), args("x-queue-type", "quorum", "x-message-ttl", 60000),
		args("x-queue-type", "quorum", "x-quorum-initial-group-size", 3), args("x-queue-type", "quorum", "x-single-active-consumer", true),
	}, func(a []any) string { return "queue " + describeDeclare(durable, a) },
		func(s *stage, a []any) { s.channel().do(declareQueue("q", durable, a...)) }),
	each([]flags{0, durable | exclusive, durable | autoDelete},
		func(f flags) string { return "queue " + describeDeclare(f, args("x-queue-type", "quorum")) },
		func(s *stage, f flags) { s.channel().do(declareQueue("q", f, "x-queue-type", "quorum")) }),
	[]scenario{
		{"a quorum queue without a name", func(s *stage) { s.channel().do(declareQueue("", durable, "x-queue-type", "quorum")) }},
	},
	each([][]any{
		args("x-priority", 5), args("x-priority", -5), args("x-priority", int64(5)), args("x-priority", "5"), args("x-priority", 5.0),
		args("x-whatever", 5), args("x-cancel-on-ha-failover", true),
	}, func(a []any) string { return "consumer " + describeDeclare(0, a) },
		func(s *stage, a []any) {
			ch := s.channel()
			ch.do(declareQueue("q", 0))
			ch.do(consume("q", "c", 0, a...))
		}),
	each([][]any{
		args("alternate-exchange", "y"), args("alternate-exchange", 5), args("alternate-exchange", ""), args("x-whatever", 5),
	}, func(a []any) string { return "exchange " + describeDeclare(0, a) },
		func(s *stage, a []any) { s.channel().do(declareExchange("x", "fanout", 0, a...)) }),
)}
