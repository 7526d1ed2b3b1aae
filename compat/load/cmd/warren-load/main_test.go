package main

import (
	"context"
	"net"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/warrenmq/warren/amqp"
	"github.com/warrenmq/warren/compat/load"
)

func TestParse(t *testing.T) {
	args := strings.Fields("-client amqp091-go -url amqp://u:p@h:1/v -publishers 2 -consumers 3 -queues 4 -size 16 -transient" +
		" -window 5 -rate 6.5 -prefetch 7 -ack-every 1 -auto-ack -backlog -skip-bodies -queue-prefix q -queue-not-durable" +
		" -queue-type quorum -durability buffered -queue-argument x-max-length=9 -queue-argument x-overflow=reject-publish" +
		" -keep-queues -messages 10 -duration 11s -warm-up 12s -drain 13s -broker-pid 1,2 -broker-pid 3 -broker-children")
	got, err := parse(args, t.Output())
	want := load.Workload{
		Client: load.AMQP091, URL: "amqp://u:p@h:1/v",
		Shape: load.Shape{
			Publishers: 2, Consumers: 3, Queues: 4, Size: 16, Transient: true, Window: 5, Rate: 6.5,
			Prefetch: 7, AckEvery: 1, AutoAck: true, Backlog: true, SkipBodies: true,
		},
		Queueing: load.Queueing{
			QueuePrefix: "q", QueueNotDurable: true, QueueType: "quorum", Durability: "buffered", KeepQueues: true,
			QueueArguments: amqp.Table{"x-max-length": int64(9), "x-overflow": "reject-publish"},
		},
		Bounds:    load.Bounds{Messages: 10, Duration: 11 * time.Second, WarmUp: 12 * time.Second, Drain: 13 * time.Second},
		Processes: []int{1, 2, 3}, Descendants: true,
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v\nwant %+v", got, err, want)
	}
}

func TestExitCodes(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := "amqp://" + listener.Addr().String()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		args   string
		code   int
		stderr string
	}{
		{"-help", 0, "-broker-pid"},
		{"-nonsense", 2, "-nonsense"},
		{"extra", 2, `unexpected argument "extra"`},
		{"-broker-pid 1,x", 2, `"x" is not a process`},
		{"-queue-argument x", 2, "expected name=value"},
		{"", 1, "a run needs a bound"},
		{"-messages 1 -url " + nobody, 1, "connection refused"},
	} {
		var stdout, stderr strings.Builder
		code := run(context.Background(), strings.Fields(test.args), &stdout, &stderr)
		if code != test.code || !strings.Contains(stderr.String(), test.stderr) || stdout.Len() > 0 {
			t.Errorf("%q: exit code %d, %q, %q", test.args, code, stdout.String(), stderr.String())
		}
	}
}
