package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/warrenmq/warren/amqp"
)

// side is one of the two brokers, as a worker sees it.
type side struct {
	name    string
	addr    string // host:port
	vhost   string
	control *client // for questions and for clearing up; lives on from scenario to scenario
}

// stage is one play of one scenario on one broker.
type stage struct {
	side     *side
	patience time.Duration // extra pause while settling

	clients    []*client
	queues     map[string]*client // declared: by whom, nil if it is not exclusive
	leased     map[string]bool    // with x-expires: not to be asked
	exchanges  map[string]bool
	transcript []string

	kept        bool // waiting: an answer has not come
	holdCloseOk bool // leaves channel.close and connection.close of the broker unanswered
}

func newStage(sd *side, patience time.Duration) *stage {
	return &stage{side: sd, patience: patience, queues: map[string]*client{}, leased: map[string]bool{}, exchanges: map[string]bool{}}
}

// fault ends a play that cannot go on, such as when the broker is gone.
type fault struct{ err error }

// perform plays a scenario and clears up behind it.
func perform(sd *side, sc scenario, patience time.Duration) (transcript []string, err error) {
	s := newStage(sd, patience)
	if err := sd.openControl(); err != nil {
		return nil, err
	}
	defer func() {
		if p := recover(); p != nil {
			f, ours := p.(fault)
			if !ours {
				panic(p)
			}
			err = fmt.Errorf("%s: %w", sd.name, f.err)
		}
		for _, c := range s.clients {
			c.hangUp()
		}
	}()
	sc.play(s)
	s.settle()
	transcript = normalize(s.transcript)
	if err := s.clear(); err != nil {
		return nil, fmt.Errorf("%s: clearing up: %w", sd.name, err)
	}
	return transcript, nil
}

func (s *stage) answerTime() time.Duration {
	if s.kept {
		return impatience
	}
	return answerTime
}

// say writes a line of the transcript.
func (s *stage) say(line string) { s.transcript = append(s.transcript, line) }

// flush ends a step: what arrived goes into the transcript, by connection and channel.
func (s *stage) flush() {
	for _, c := range s.clients {
		for _, ch := range c.ordered() {
			lines := ch.flush()
			if ch.hidden {
				continue
			}
			for _, line := range lines {
				s.say(ch.label() + " < " + line)
			}
		}
	}
}

// raw is a socket on which nothing has been said.
func (s *stage) raw() *client {
	c, err := dialClient(s, string(rune('a'+len(s.clients))))
	if err != nil {
		panic(fault{err})
	}
	s.clients = append(s.clients, c)
	return c
}

// hello is how a client introduces itself; the zero value is a client that knows everything.
type hello struct {
	user, password string // "": guest
	properties     amqp.Table
	tuneOk         *amqp.ConnectionTuneOk
	vhost          string
}

// capabilities of a modern client.
func capabilities() amqp.Table {
	return amqp.Table{"capabilities": amqp.Table{
		"authentication_failure_close": true, "consumer_cancel_notify": true, "connection.blocked": true,
		"publisher_confirms": true, "basic.nack": true, "exchange_exchange_bindings": true,
	}}
}

// connect opens a connection. The transcript is silent about it if it succeeds.
func (s *stage) connect(h hello) *client {
	c := s.raw()
	mark := len(s.transcript)
	c.send(header(amqp.ProtocolHeader))
	c.await("connection.start")
	c.do(h.startOk())
	tuneOk := h.tuneOk
	if tuneOk == nil {
		tuneOk = &amqp.ConnectionTuneOk{ChannelMax: 2047, FrameMax: 131072}
	}
	c.send(method(tuneOk))
	c.do(s.open(h.vhost))
	if c.running {
		s.transcript = s.transcript[:mark]
	}
	return c
}

func header(text string) item { return octets(fmt.Sprintf("protocol header %q", text), []byte(text)) }

func (h hello) startOk() item {
	user, password := "guest", "guest"
	if h.user != "" {
		user, password = h.user, h.password
	}
	p := h.properties
	if p == nil {
		p = capabilities()
	}
	return startOk("PLAIN", "\x00"+user+"\x00"+password, p)
}

func startOk(mechanism, response string, p amqp.Table) item {
	return method(&amqp.ConnectionStartOk{
		ClientProperties: amqp.AppendTable(nil, p), Mechanism: mechanism, Response: []byte(response), Locale: "en_US",
	}, "connection.tune", "connection.secure")
}

func (s *stage) open(vhost string) item {
	if vhost == "" {
		vhost = s.side.vhost
	}
	return method(&amqp.ConnectionOpen{VirtualHost: vhost}, "connection.open-ok")
}

// channel is channel 1 of a new connection.
func (s *stage) channel() *channel { return s.connect(hello{}).channel(1) }

// wait lets time pass, as a step.
func (s *stage) wait(d time.Duration) {
	s.say(fmt.Sprintf("   - %v pass", d))
	time.Sleep(d)
	s.settle()
}

// declares notes a queue that is about to be declared.
func (s *stage) declares(c *client, m *amqp.QueueDeclare) {
	args, err := amqp.ParseTable(m.Arguments)
	if err != nil || !utf8.ValidString(m.Queue) {
		return // the broker will say so
	}
	if _, ok := args["x-expires"]; ok {
		s.leased[m.Queue] = true
	}
	var owner *client
	if m.Exclusive {
		owner = c
	}
	if _, known := s.queues[m.Queue]; !known {
		s.queues[m.Queue] = owner
	}
}

// declared notes the name that the broker gave to a queue declared without one.
func (s *stage) declared(c *client, name string, hidden bool) {
	owner, chosen := s.queues[""]
	if _, known := s.queues[name]; known || hidden || !chosen {
		return
	}
	s.queues[name] = owner
}

// settle waits until everything that has been sent has had its effect; see the package comment.
func (s *stage) settle() {
	s.askChannels()
	time.Sleep(s.patience)
	for range 2 {
		for _, name := range slices.Sorted(maps.Keys(s.queues)) {
			if !s.leased[name] && name != "" {
				s.askQueue(name)
			}
		}
	}
	s.askChannels()
	s.flush()
}

// askChannels waits until all channels have done what they were told before.
func (s *stage) askChannels() {
	var asked []*channel
	for _, c := range s.clients {
		if !c.running || c.closing {
			continue
		}
		for _, ch := range append(c.ordered(), c.hiddenChannel()) {
			if ch == nil || !ch.open || ch.broken || ch.number == 0 || len(ch.awaited) > 0 {
				continue
			}
			ch.ask(&amqp.ChannelFlow{Active: true}, "channel.flow-ok")
			asked = append(asked, ch)
		}
	}
	for _, ch := range asked {
		ch.waitAnswers()
	}
}

// ask sends a request that is none of the scenario's.
func (ch *channel) ask(m amqp.Method, answer string) {
	ch.awaited = append(ch.awaited, awaited{names: []string{answer}, asked: true})
	ch.client.write(amqp.AppendMethod(nil, ch.number, m))
}

// hiddenChannel opens the channel that the scenario does not know, if there may be one; nil if not, or if it is
// among the channels already.
func (c *client) hiddenChannel() *channel {
	if c.channelMax < hiddenChannel {
		return nil
	}
	_, known := c.channels[hiddenChannel]
	ch := c.at(hiddenChannel)
	if !ch.open {
		ch.ask(&amqp.ChannelOpen{}, "channel.open-ok")
		ch.waitAnswers()
	}
	if known {
		return nil
	}
	return ch
}

// askQueue waits until a queue has done what it was told before.
func (s *stage) askQueue(name string) {
	c := s.queues[name]
	if c == nil {
		c = s.side.control
	}
	if !c.running || c.closing {
		return
	}
	c.hiddenChannel()
	ch := c.at(hiddenChannel)
	if ch.open {
		ch.ask(&amqp.QueueDeclare{Queue: name, Passive: true}, "queue.declare-ok")
		ch.waitAnswers() // a refusal has closed the channel: the queue is gone, or not ours
		ch.arrived = nil
	}
}

// clear removes what the scenario has left behind.
func (s *stage) clear() error {
	for _, c := range s.clients {
		c.leave()
	}
	for name := range s.queues {
		if name == "" {
			continue
		}
		if err := s.side.remove(&amqp.QueueDelete{Queue: name}, "queue.delete-ok"); err != nil {
			return fmt.Errorf("queue %q: %w", name, err)
		}
	}
	for name := range s.exchanges {
		if name == "" || strings.HasPrefix(name, "amq.") {
			continue
		}
		if err := s.side.remove(&amqp.ExchangeDelete{Exchange: name}, "exchange.delete-ok"); err != nil {
			return fmt.Errorf("exchange %q: %w", name, err)
		}
	}
	return nil
}

// remove deletes something, again while it is locked by a connection that is going.
func (sd *side) remove(m amqp.Method, answer string) error {
	for range 30 {
		if err := sd.openControl(); err != nil {
			return err
		}
		sd.control.hiddenChannel()
		ch := sd.control.at(hiddenChannel)
		ch.ask(m, answer)
		ch.waitAnswers()
		said := ch.arrived
		ch.arrived = nil
		switch {
		case ch.open && len(said) == 0:
			return nil
		case ch.open:
			return fmt.Errorf("%s: %v", answer, said)
		}
		time.Sleep(100 * time.Millisecond)
	}
	return errors.New("it stays")
}

// openControl connects the client that a side keeps, if it is not.
func (sd *side) openControl() (err error) {
	if sd.control != nil && sd.control.running && !sd.control.closing {
		return nil
	}
	defer func() {
		if p := recover(); p != nil {
			f, ours := p.(fault)
			if !ours {
				panic(p)
			}
			err = f.err
		}
	}()
	s := newStage(sd, 0)
	sd.control = s.connect(hello{})
	if !sd.control.running {
		return fmt.Errorf("%s: no control connection:\n%s", sd.name, strings.Join(s.transcript, "\n"))
	}
	return nil
}
