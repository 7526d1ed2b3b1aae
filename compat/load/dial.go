package load

import (
	"context"
	"fmt"
	"io"
	"net"
	"strconv"
	"time"

	"github.com/rabbitmq/amqp091-go"

	"github.com/warrenmq/warren/amqp"
)

const (
	handshakeTimeout = 30 * time.Second
	// frameMax is RabbitMQ's default.
	frameMax = 131072
	// readSize is what one read may take. It holds a frame of the largest size, and more.
	readSize = 256 << 10
)

// wire is a connection to the broker in which requests wait for their answers: the first part of a
// lean link's life, and all of the control connection's. It has one channel, number 1.
type wire struct {
	conn       net.Conn
	decoder    amqp.Decoder
	maxPayload uint32 // of a frame, negotiated

	// buf[start:end] has been read from the socket and not yet taken.
	buf        []byte
	start, end int

	serverProperties amqp.Table
}

// dialer opens connections to one broker.
type dialer struct {
	url  amqp091.URI
	dial func(ctx context.Context, network, address string) (net.Conn, error)
}

func newDialer(w *Workload) (*dialer, error) {
	url, err := amqp091.ParseURI(w.URL)
	if err != nil {
		return nil, fmt.Errorf("url: %w", err)
	}
	if url.Scheme != "amqp" {
		return nil, fmt.Errorf("url: scheme %q: expected amqp", url.Scheme)
	}
	d := &dialer{url: url, dial: w.Dial}
	if d.dial == nil {
		d.dial = (&net.Dialer{Timeout: handshakeTimeout}).DialContext
	}
	return d, nil
}

func (d *dialer) connect(ctx context.Context) (net.Conn, error) {
	return d.dial(ctx, "tcp", net.JoinHostPort(d.url.Host, strconv.Itoa(d.url.Port)))
}

// open connects, logs in and opens the channel.
func (d *dialer) open(ctx context.Context, name string) (*wire, error) {
	conn, err := d.connect(ctx)
	if err != nil {
		return nil, err
	}
	w := &wire{conn: conn, buf: make([]byte, readSize), maxPayload: amqp.MinFrameMax - amqp.FrameOverhead}
	if err := w.handshake(d.url, name); err != nil {
		conn.Close()
		return nil, fmt.Errorf("handshake with %s: %w", d.url.Host, err)
	}
	return w, nil
}

func (w *wire) handshake(url amqp091.URI, name string) error {
	if err := w.conn.SetDeadline(time.Now().Add(handshakeTimeout)); err != nil {
		return err
	}
	if _, err := io.WriteString(w.conn, amqp.ProtocolHeader); err != nil {
		return err
	}
	start, err := expect[*amqp.ConnectionStart](w, 0)
	if err != nil {
		return err
	}
	if w.serverProperties, err = amqp.ParseTable(start.ServerProperties); err != nil {
		return err
	}
	tune, err := call[*amqp.ConnectionTune](w, 0, &amqp.ConnectionStartOk{
		ClientProperties: amqp.AppendTable(nil, amqp.Table{
			"connection_name": name,
			"capabilities":    amqp.Table{"authentication_failure_close": true},
		}),
		Mechanism: "PLAIN",
		Response:  []byte("\x00" + url.Username + "\x00" + url.Password),
		Locale:    "en_US",
	})
	if err != nil {
		return err
	}
	ok := &amqp.ConnectionTuneOk{ChannelMax: tune.ChannelMax, FrameMax: frameMax}
	if tune.FrameMax > 0 {
		ok.FrameMax = min(frameMax, tune.FrameMax)
	}
	if err := w.send(0, ok); err != nil {
		return err
	}
	w.maxPayload = ok.FrameMax - amqp.FrameOverhead
	if _, err := call[*amqp.ConnectionOpenOk](w, 0, &amqp.ConnectionOpen{VirtualHost: url.Vhost}); err != nil {
		return err
	}
	if _, err := call[*amqp.ChannelOpenOk](w, 1, &amqp.ChannelOpen{}); err != nil {
		return err
	}
	return w.conn.SetDeadline(time.Time{})
}

func (w *wire) send(ch uint16, m amqp.Method) error {
	_, err := w.conn.Write(amqp.AppendMethod(nil, ch, m))
	return err
}

// call sends a request and waits for its answer.
func call[M amqp.Method](w *wire, ch uint16, request amqp.Method) (answer M, err error) {
	if err := w.send(ch, request); err != nil {
		return answer, err
	}
	return expect[M](w, ch)
}

// expect waits for a method of one type. Anything else is an error.
func expect[M amqp.Method](w *wire, ch uint16) (M, error) {
	var none M
	for {
		f, err := w.frame()
		if err != nil {
			return none, err
		}
		if f.Type == amqp.FrameHeartbeat {
			continue
		}
		m, err := w.method(f)
		if err != nil {
			return none, err
		}
		if answer, ok := m.(M); ok && f.Channel == ch {
			return answer, nil
		}
		return none, fmt.Errorf("expected %s, got %s", none.Name(), m.Name())
	}
}

// method decodes a method frame. That the broker closes the channel or the connection is an error.
func (w *wire) method(f amqp.Frame) (amqp.Method, error) {
	if f.Type != amqp.FrameMethod {
		return nil, fmt.Errorf("expected a method, got a frame of type %d", f.Type)
	}
	m, err := w.decoder.Decode(f.Payload)
	if err != nil {
		return nil, err
	}
	switch m := m.(type) {
	case *amqp.ConnectionClose:
		return nil, fmt.Errorf("the broker closed the connection: %d %s", m.ReplyCode, m.ReplyText)
	case *amqp.ChannelClose:
		return nil, fmt.Errorf("the broker closed the channel: %d %s", m.ReplyCode, m.ReplyText)
	}
	return m, nil
}

// frame returns the next frame, valid until the next call of frame or read.
func (w *wire) frame() (amqp.Frame, error) {
	for {
		f, ok, err := w.buffered()
		if ok || err != nil {
			return f, err
		}
		if err := w.read(); err != nil {
			return amqp.Frame{}, err
		}
	}
}

// buffered takes a frame that has been read already, if there is a whole one.
func (w *wire) buffered() (f amqp.Frame, ok bool, err error) {
	f, n, err := amqp.ParseFrame(w.buf[w.start:w.end], w.maxPayload)
	if err != nil {
		return f, false, err
	}
	w.start += n
	return f, n > 0, nil
}

// read reads once, as much as there is, behind what is left of a frame.
func (w *wire) read() error {
	w.end = copy(w.buf, w.buf[w.start:w.end])
	w.start = 0
	n, err := w.conn.Read(w.buf[w.end:])
	w.end += n
	if n > 0 {
		return nil // an error comes again
	}
	return err
}
