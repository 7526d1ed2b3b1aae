package main

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"sync"
	"time"
)

// liar is a proxy that turns an honest broker into one that confirms before it writes. It answers every publish in
// confirm mode with a basic.ack at once, passes the message on only some milliseconds later, and swallows the
// broker's own basic.acks. A kill in between loses messages that their publisher believes to be safe.
//
//	publisher  -- basic.publish -->  liar  ..delay..  -- basic.publish -->  broker
//	           <-- basic.ack ------        x <--------- basic.ack --------
type liar struct {
	listener net.Listener
	target   string
	accepted chan struct{} // closed when the accepting goroutine has ended

	mu    sync.Mutex
	links map[*link]struct{}
	done  bool
}

// lieDelay is how long a message is held back after its confirm.
const lieDelay = 20 * time.Millisecond

func newLiar(target string) (*liar, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &liar{listener: l, target: target, accepted: make(chan struct{}), links: map[*link]struct{}{}}
	go p.accept()
	return p, nil
}

func (p *liar) addr() string { return p.listener.Addr().String() }

// accept serves connections until the listener is closed, and waits for them to end.
func (p *liar) accept() {
	defer close(p.accepted)
	var links sync.WaitGroup
	defer links.Wait()
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		links.Go(func() { p.serve(client) })
	}
}

func (p *liar) serve(client net.Conn) {
	defer client.Close()
	server, err := net.Dial("tcp", p.target)
	if err != nil {
		return // the broker is down, and so are we
	}
	defer server.Close()
	l := &link{client: client, server: server, held: make(chan batch, 1<<16)}
	if !p.enter(l) {
		return
	}
	defer p.leave(l)
	var pumps sync.WaitGroup
	pumps.Go(l.fromClient)
	pumps.Go(l.toServer)
	pumps.Go(l.fromServer)
	pumps.Wait()
}

func (p *liar) enter(l *link) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.done {
		return false
	}
	p.links[l] = struct{}{}
	return true
}

func (p *liar) leave(l *link) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.links, l)
}

// cut ends all connections, with what they hold: the broker that they stand for has been killed.
func (p *liar) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for l := range p.links {
		l.end()
	}
}

func (p *liar) close() {
	_ = p.listener.Close()
	p.mu.Lock()
	p.done = true
	p.mu.Unlock()
	p.cut()
	<-p.accepted
}

// link is one connection through the proxy.
type link struct {
	client, server net.Conn
	held           chan batch // from the client, on its way to the server

	mu      sync.Mutex
	tags    map[uint16]uint64 // publishes seen, of each channel in confirm mode; under mu
	writing sync.Mutex        // whole frames to the client
}

// batch is bytes for the server, not to be sent before due.
type batch struct {
	bytes []byte
	due   time.Time
}

func (l *link) end() {
	_ = l.client.Close()
	_ = l.server.Close()
}

// Frames and methods that the proxy knows.
const (
	frameMethod   = 1
	frameHead     = 7
	maxFrame      = 1 << 20
	basicPublish  = 60<<16 | 40
	basicAck      = 60<<16 | 80
	confirmSelect = 85<<16 | 10
)

// readFrame reads a whole frame and tells its channel, and its method, 0 if it carries none.
func readFrame(r io.Reader) (frame []byte, channel uint16, method uint32, err error) {
	var head [frameHead]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, 0, 0, err
	}
	size := binary.BigEndian.Uint32(head[3:])
	if size > maxFrame {
		return nil, 0, 0, fmt.Errorf("frame of %d bytes", size)
	}
	frame = make([]byte, frameHead+int(size)+1)
	copy(frame, head[:])
	if _, err := io.ReadFull(r, frame[frameHead:]); err != nil {
		return nil, 0, 0, err
	}
	channel = binary.BigEndian.Uint16(head[1:])
	if head[0] == frameMethod && size >= 4 {
		method = binary.BigEndian.Uint32(frame[frameHead:])
	}
	return frame, channel, method, nil
}

// fromClient reads what the client says, confirms what it publishes and hands everything to toServer.
func (l *link) fromClient() {
	defer l.end()
	defer close(l.held)
	var greeting [8]byte
	if _, err := io.ReadFull(l.client, greeting[:]); err != nil {
		return
	}
	l.held <- batch{bytes: greeting[:]}
	for {
		frame, channel, method, err := readFrame(l.client)
		if err != nil {
			return
		}
		b := batch{bytes: frame}
		if tag := l.count(channel, method); tag > 0 {
			b.due = time.Now().Add(lieDelay)
		}
		select {
		case l.held <- b:
		default:
			return // more than any window: something is wrong, and a control may just end
		}
		if !b.due.IsZero() {
			if err := l.confirm(channel); err != nil {
				return
			}
		}
	}
}

// count notes a publish in confirm mode and returns its delivery tag, or 0.
func (l *link) count(channel uint16, method uint32) uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch method {
	case confirmSelect:
		if l.tags == nil {
			l.tags = map[uint16]uint64{}
		}
		l.tags[channel] = 0
	case basicPublish:
		if tag, ok := l.tags[channel]; ok {
			l.tags[channel] = tag + 1
			return tag + 1
		}
	}
	return 0
}

// confirm tells the client that everything it has published on channel is safe.
func (l *link) confirm(channel uint16) error {
	l.mu.Lock()
	tag := l.tags[channel]
	l.mu.Unlock()
	frame := []byte{frameMethod}
	frame = binary.BigEndian.AppendUint16(frame, channel)
	frame = binary.BigEndian.AppendUint32(frame, 4+8+1)
	frame = binary.BigEndian.AppendUint32(frame, basicAck)
	frame = binary.BigEndian.AppendUint64(frame, tag)
	return l.toClient(append(frame, 1, 0xCE)) // multiple
}

func (l *link) toClient(frame []byte) error {
	l.writing.Lock()
	defer l.writing.Unlock()
	_, err := l.client.Write(frame)
	return err
}

// toServer passes on what is held, when it is due.
func (l *link) toServer() {
	defer l.end()
	for b := range l.held {
		if wait := time.Until(b.due); wait > 0 {
			time.Sleep(wait) // the delay is the lie
		}
		if _, err := l.server.Write(b.bytes); err != nil {
			break
		}
	}
	for range l.held { // until fromClient, whose connection end closes, has ended
	}
}

// fromServer passes on what the broker says, apart from its confirms.
func (l *link) fromServer() {
	defer l.end()
	for {
		frame, _, method, err := readFrame(l.server)
		if err != nil {
			return
		}
		if method == basicAck {
			continue
		}
		if err := l.toClient(frame); err != nil {
			return
		}
	}
}
