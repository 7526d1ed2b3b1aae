package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	amqp091 "github.com/rabbitmq/amqp091-go"

	"github.com/warrenmq/warren/amqp"
)

// dial opens a connection of the client library and a channel on it.
func dial(t testing.TB, addr string) (*amqp091.Connection, *amqp091.Channel) {
	t.Helper()
	conn, err := amqp091.Dial("amqp://guest:guest@" + addr + "/")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() }) // a second close is no error worth a look
	ch, err := conn.Channel()
	if err != nil {
		t.Fatal(err)
	}
	return conn, ch
}

func declare(t testing.TB, ch *amqp091.Channel, name string) {
	t.Helper()
	if _, err := ch.QueueDeclare(name, true, false, false, false, nil); err != nil {
		t.Fatal(err)
	}
}

func publish(t testing.TB, ch *amqp091.Channel, key, body string) {
	t.Helper()
	err := ch.PublishWithContext(context.Background(), "", key, false, false,
		amqp091.Publishing{DeliveryMode: amqp091.Persistent, Body: []byte(body)})
	if err != nil {
		t.Fatal(err)
	}
}

func TestServerProperties(t *testing.T) {
	s := newServer(t, Options{Version: "3.13.1", Properties: map[string]string{"information": "x"}})
	conn, _ := dial(t, listen(t, s))
	p := conn.Properties
	if p["product"] != "RabbitMQ" || p["version"] != "3.13.1" || p["information"] != "x" {
		t.Errorf("properties %v", p)
	}
	capabilities := p["capabilities"].(amqp091.Table)
	for _, name := range []string{"publisher_confirms", "basic.nack", "consumer_cancel_notify", "per_consumer_qos"} {
		if capabilities[name] != true {
			t.Errorf("capability %s is %v", name, capabilities[name])
		}
	}
}

// TestManyConnectionsAtOnce publishes with confirms from several connections while others consume: every message arrives
// once, in its publisher's order.
func TestManyConnectionsAtOnce(t *testing.T) {
	const pairs, messages = 4, 2000
	s := newServer(t, Options{})
	addr := listen(t, s)
	var work sync.WaitGroup
	for i := range pairs {
		queue := fmt.Sprint("q", i)
		_, pub := dial(t, addr)
		declare(t, pub, queue)
		if err := pub.Confirm(false); err != nil {
			t.Fatal(err)
		}
		confirms := pub.NotifyPublish(make(chan amqp091.Confirmation, messages))
		_, sub := dial(t, addr)
		if err := sub.Qos(100, 0, false); err != nil {
			t.Fatal(err)
		}
		deliveries, err := sub.Consume(queue, "", false, false, false, false, nil)
		if err != nil {
			t.Fatal(err)
		}
		work.Go(func() {
			for n := range messages {
				publish(t, pub, queue, fmt.Sprint(n))
			}
			for n := range messages {
				if c := <-confirms; !c.Ack || c.DeliveryTag != uint64(n+1) {
					t.Errorf("confirm %v, want %d", c, n+1)
					return
				}
			}
		})
		work.Go(func() {
			for n := range messages {
				d := <-deliveries
				if string(d.Body) != fmt.Sprint(n) || d.Redelivered {
					t.Errorf("%s: got %q, want %d", queue, d.Body, n)
					return
				}
				if n%10 == 9 {
					d.Ack(true)
				}
			}
		})
	}
	work.Wait()
	if totals := s.Totals(); totals.Messages.Published != pairs*messages || totals.Messages.Confirmed != pairs*messages ||
		totals.Messages.Delivered != pairs*messages {
		t.Errorf("totals %+v", totals.Messages)
	}
	shutDown(t, s)
}

// TestBodiesOfAllSizes sends bodies around the limits of frames and buffers there and back.
func TestBodiesOfAllSizes(t *testing.T) {
	s := newServer(t, Options{FrameMax: 4096})
	_, ch := dial(t, listen(t, s))
	declare(t, ch, "q")
	deliveries, err := ch.Consume("q", "", true, false, false, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, size := range []int{0, 1, 4087, 4088, 4089, bodyByReference - 1, bodyByReference, inputBusy, 3 << 20} {
		body := bytes.Repeat([]byte("0123456789"), size/10+1)[:size]
		publish(t, ch, "q", string(body))
		if d := <-deliveries; !bytes.Equal(d.Body, body) {
			t.Errorf("%d octets came back as %d", size, len(d.Body))
		}
	}
}

// TestSlowConsumerDoesNotHoldUpOthers lets one consumer stop reading with megabytes to come, and uses another connection.
func TestSlowConsumerDoesNotHoldUpOthers(t *testing.T) {
	s := newServer(t, Options{})
	addr := listen(t, s)
	conn, pub := dial(t, addr)
	declare(t, pub, "slow")
	declare(t, pub, "fast")
	slow := dialRaw(t, addr)
	slow.write(amqp.AppendMethod(nil, 1, &amqp.BasicConsume{Queue: "slow", NoAck: true}))
	body := string(make([]byte, 64<<10))
	for range 400 { // 25 MiB, more than sockets hold
		publish(t, pub, "slow", body)
	}
	fast, err := conn.Channel()
	if err != nil {
		t.Fatal(err)
	}
	deliveries, err := fast.Consume("fast", "", true, false, false, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	publish(t, pub, "fast", "here")
	if d := <-deliveries; string(d.Body) != "here" {
		t.Errorf("got %q", d.Body)
	}
	for _, c := range s.Connections() {
		if c.Traffic.SendPending > outputHigh+1<<20 {
			t.Errorf("%s holds %d octets", c.Name, c.Traffic.SendPending)
		}
	}
	// The slow one reads at last, and gets everything.
	got := 0
	for got < 400 {
		if f := slow.frame(); f.Type == amqp.FrameHeader {
			got++
		}
	}
}

func TestClosedByTheOperator(t *testing.T) {
	s := newServer(t, Options{})
	conn, _ := dial(t, listen(t, s))
	closed := conn.NotifyClose(make(chan *amqp091.Error, 1))
	infos := s.Connections()
	if len(infos) != 1 || infos[0].Name != conn.LocalAddr().String()+" -> "+conn.RemoteAddr().String() ||
		infos[0].User != "guest" || infos[0].VHost != "/" || infos[0].State != "running" || infos[0].Channels != 1 {
		t.Fatalf("connections %+v", infos)
	}
	if !s.CloseConnection(infos[0].Name, "Closed via management plugin") {
		t.Fatal("not found")
	}
	err := <-closed
	if err == nil || err.Code != 320 || err.Reason != "CONNECTION_FORCED - Closed via management plugin" {
		t.Fatalf("closed with %v", err)
	}
}

func TestChannelInfos(t *testing.T) {
	s := newServer(t, Options{})
	_, ch := dial(t, listen(t, s))
	declare(t, ch, "q")
	if err := errors.Join(ch.Qos(7, 0, false), ch.Confirm(false)); err != nil {
		t.Fatal(err)
	}
	deliveries, err := ch.Consume("q", "tag", false, false, false, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	publish(t, ch, "q", "x")
	<-deliveries
	infos := s.Channels()
	if len(infos) != 1 {
		t.Fatalf("channels %+v", infos)
	}
	i := infos[0]
	if i.Number != 1 || !i.Confirm || i.Transactional || i.Prefetch != 7 || i.Unacknowledged != 1 || i.Messages.Delivered != 1 {
		t.Errorf("channel %+v", i)
	}
	if len(i.Consumers) != 1 || i.Consumers[0].Tag != "tag" || i.Consumers[0].Queue != "q" || i.Consumers[0].Prefetch != 7 {
		t.Errorf("consumers %+v", i.Consumers)
	}
}

// TestChannelsComeAndGo opens and closes channels from several goroutines: nothing of a closed one is kept.
func TestChannelsComeAndGo(t *testing.T) {
	s := newServer(t, Options{})
	conn, _ := dial(t, listen(t, s))
	var work sync.WaitGroup
	for range 8 {
		work.Go(func() {
			for range 500 {
				ch, err := conn.Channel()
				if err != nil {
					t.Error(err)
					return
				}
				if err := ch.Close(); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	work.Wait()
	if n := len(s.Channels()); n != 1 {
		t.Errorf("%d channels left", n)
	}
}

func TestCopiesBySender(t *testing.T) {
	s := newServer(t, Options{})
	_, ch := dial(t, listen(t, s))
	for _, name := range []string{"a", "b", "c"} {
		declare(t, ch, name)
	}
	send := func(headers amqp091.Table) {
		t.Helper()
		err := ch.PublishWithContext(context.Background(), "", "a", false, false, amqp091.Publishing{Headers: headers})
		if err != nil {
			t.Fatal(err)
		}
	}
	send(amqp091.Table{"CC": []any{"b"}, "BCC": []any{"c"}, "n": int32(1)})
	for _, name := range []string{"a", "b", "c"} {
		d, ok, err := ch.Get(name, true)
		if err != nil || !ok {
			t.Fatal(name, ok, err)
		}
		if _, there := d.Headers["BCC"]; there || d.Headers["n"] != int32(1) || len(d.Headers["CC"].([]any)) != 1 {
			t.Errorf("%s: headers %v", name, d.Headers)
		}
	}
	closed := ch.NotifyClose(make(chan *amqp091.Error, 1))
	send(amqp091.Table{"CC": int32(1)})
	if err := <-closed; err == nil ||
		err.Reason != `PRECONDITION_FAILED - invalid message: {unacceptable_type_in_header,"CC",signedint}` {
		t.Errorf("closed with %v", err)
	}
}

// TestShutdownIsBounded has a client that does not answer.
func TestShutdownIsBounded(t *testing.T) {
	s := newServer(t, Options{})
	dialRaw(t, listen(t, s))
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if err := s.Shutdown(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatal(err)
	}
	if n := len(s.connections()); n != 0 {
		t.Fatalf("%d connections left", n)
	}
}
