package main

import "fmt"

// Declaring and deleting exchanges.
var exchangeChapter = chapter{"exchange", join(
	each([]string{"direct", "fanout", "topic", "headers"},
		func(kind string) string { return "declare one of type " + kind },
		func(s *stage, kind string) {
			a := s.channel()
			a.do(declareExchange("x", kind, 0), declareExchange("x", kind, 0), declareExchange("x", "whatever", passive))
		}),
	each([]string{"", "amq.direct", "amq.fanout", "amq.topic", "amq.headers", "amq.match", "amq.rabbitmq.trace", "amq.rabbitmq.log"},
		func(name string) string { return fmt.Sprintf("passive declare of the predeclared %q", name) },
		func(s *stage, name string) { s.channel().do(declareExchange(name, "", passive)) }),
	[]scenario{
		{"passive declare of a missing one", func(s *stage) { s.channel().do(declareExchange("x", "direct", passive)) }},
		{"declare with no-wait", func(s *stage) {
			a := s.channel()
			a.do(declareExchange("x", "direct", noWait))
			a.do(declareExchange("x", "direct", passive))
		}},
		{"an unknown type", func(s *stage) { s.channel().do(declareExchange("x", "carousel", 0)) }},
		{"an empty type", func(s *stage) { s.channel().do(declareExchange("x", "", 0)) }},
		{"the default exchange declared", func(s *stage) { s.channel().do(declareExchange("", "direct", durable)) }},
		{"the default exchange deleted", func(s *stage) { s.channel().do(deleteExchange("", 0)) }},
		{"a predeclared one declared again", func(s *stage) { s.channel().do(declareExchange("amq.direct", "direct", durable)) }},
		{"a predeclared one declared as something else", func(s *stage) { s.channel().do(declareExchange("amq.direct", "topic", durable)) }},
		{"a predeclared one deleted", func(s *stage) { s.channel().do(deleteExchange("amq.topic", 0)) }},
		{"a reserved name", func(s *stage) { s.channel().do(declareExchange("amq.mine", "direct", 0)) }},
		{"a reserved name, passive", func(s *stage) { s.channel().do(declareExchange("amq.mine", "direct", passive)) }},
		{"a reserved name deleted", func(s *stage) { s.channel().do(deleteExchange("amq.mine", 0)) }},
		{"line breaks in a name", func(s *stage) {
			a := s.channel()
			a.do(declareExchange("x\r\ny", "direct", 0))
			a.do(declareExchange("xy", "direct", passive))
			a.do(deleteExchange("xy", 0))
		}},
		{"a name of 255 octets", func(s *stage) {
			a := s.channel()
			a.do(declareExchange(longName, "fanout", 0))
			a.do(declareExchange(longName, "direct", 0))
		}},
		{"delete", func(s *stage) {
			a := s.channel()
			a.do(declareExchange("x", "direct", 0), deleteExchange("x", 0), declareExchange("x", "direct", passive))
		}},
		{"delete of a missing one", func(s *stage) { s.channel().do(deleteExchange("x", 0), deleteExchange("x", ifUnused)) }},
		{"delete with no-wait", func(s *stage) {
			a := s.channel()
			a.do(declareExchange("x", "direct", 0), deleteExchange("x", noWait))
			a.do(declareExchange("x", "direct", passive))
		}},
		{"delete if unused", func(s *stage) {
			a := s.channel()
			a.do(declareExchange("x", "direct", 0), deleteExchange("x", ifUnused))
		}},
		{"delete if unused, bound to a queue", func(s *stage) {
			a := s.channel()
			a.do(declareExchange("x", "direct", 0), declareQueue("q", 0), bindQueue("q", "x", "k"))
			a.do(deleteExchange("x", ifUnused))
		}},
		{"delete if unused, bound to an exchange", func(s *stage) {
			a := s.channel()
			a.do(declareExchange("x", "direct", 0), declareExchange("y", "direct", 0), bindExchange("y", "x", "k"))
			a.do(deleteExchange("y", ifUnused))
			a.do(deleteExchange("x", ifUnused))
		}},
		{"delete takes the bindings along", func(s *stage) {
			a := s.channel()
			a.do(declareExchange("x", "fanout", 0), declareQueue("q", 0), bindQueue("q", "x", ""))
			a.do(deleteExchange("x", 0), declareExchange("x", "fanout", 0), publish("x", "", "m"), get("q", 0))
		}},
		{"an internal exchange", func(s *stage) {
			a := s.channel()
			a.do(declareExchange("x", "fanout", internal), declareExchange("x", "fanout", internal))
			a.do(publish("x", "", "m"))
		}},
		{"an internal exchange takes from others", func(s *stage) {
			a := s.channel()
			a.do(declareExchange("in", "fanout", internal), declareExchange("x", "fanout", 0), declareQueue("q", 0))
			a.do(bindExchange("in", "x", ""), bindQueue("q", "in", ""))
			a.do(publish("x", "", "m"), get("q", 0))
		}},
		{"unknown arguments are kept out of the comparison", func(s *stage) {
			a := s.channel()
			a.do(declareExchange("x", "fanout", 0, "x-whatever", 1), declareExchange("x", "fanout", 0, "x-whatever", 2), declareExchange("x", "fanout", 0))
		}},
		{"passive ignores everything but the name", func(s *stage) {
			a := s.channel()
			a.do(declareExchange("x", "fanout", 0))
			a.do(declareExchange("x", "nonsense", passive|durable|autoDelete|internal, "alternate-exchange", "y"))
		}},
	},
)}

// longName has as many octets as a name may have.
var longName = func() string {
	b := make([]byte, 255)
	for i := range b {
		b[i] = 'n'
	}
	return string(b)
}()
