package main

import (
	"bytes"
	"net"
	"sync"
)

// distorter is a proxy that changes one word of what a broker says, for another of the same length. It is the
// negative control: a comparison through it has to find differences.
type distorter struct {
	listener net.Listener
	target   string
	from, to []byte
	wg       sync.WaitGroup

	mu    sync.Mutex
	conns map[net.Conn]bool
	done  bool
}

// distort starts a proxy in front of target. from and to must have the same length.
func distort(target, from, to string) (*distorter, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	d := &distorter{listener: l, target: target, from: []byte(from), to: []byte(to), conns: map[net.Conn]bool{}}
	d.wg.Go(d.accept)
	return d, nil
}

func (d *distorter) addr() string { return d.listener.Addr().String() }

func (d *distorter) accept() {
	for {
		client, err := d.listener.Accept()
		if err != nil {
			return // close has been called
		}
		server, err := net.Dial("tcp", d.target)
		if err != nil || !d.enter(client, server) {
			_ = client.Close()
			continue
		}
		d.wg.Go(func() { d.pass(server, client, func(b []byte) []byte { return b }) })
		d.wg.Go(func() { d.pass(client, server, func(b []byte) []byte { return bytes.ReplaceAll(b, d.from, d.to) }) })
	}
}

func (d *distorter) enter(conns ...net.Conn) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, c := range conns {
		if d.done {
			_ = c.Close()
			continue
		}
		d.conns[c] = true
	}
	return !d.done
}

// pass copies one direction until it ends, and ends the other with it. A word that is cut by the end of a read is
// passed on unchanged: replies are small enough not to be.
func (d *distorter) pass(to, from net.Conn, change func([]byte) []byte) {
	defer to.Close()
	defer from.Close()
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		if n > 0 {
			if _, err := to.Write(change(buf[:n])); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// close ends all connections and waits for them.
func (d *distorter) close() {
	_ = d.listener.Close()
	d.mu.Lock()
	d.done = true
	for c := range d.conns {
		_ = c.Close()
	}
	d.mu.Unlock()
	d.wg.Wait()
}
