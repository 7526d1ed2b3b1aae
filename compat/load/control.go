package load

import (
	"context"
	"fmt"
	"time"

	"github.com/warrenmq/warren/amqp"
)

// control declares and deletes the queues, on a connection of its own.
type control struct{ *wire }

// controlTimeout bounds one request: a broker may take its time for a replicated queue.
const controlTimeout = 30 * time.Second

func openControl(ctx context.Context, d *dialer, name string) (*control, error) {
	w, err := d.open(ctx, name)
	if err != nil {
		return nil, err
	}
	return &control{w}, nil
}

// product returns the broker's name and version.
func (c *control) product() (name, version string) {
	name, _ = c.serverProperties["product"].(string)
	version, _ = c.serverProperties["version"].(string)
	return name, version
}

func (c *control) declare(ctx context.Context, queues []string, durable bool, arguments amqp.Table) error {
	request := &amqp.QueueDeclare{Durable: durable, Arguments: amqp.AppendTable(nil, arguments)}
	for _, request.Queue = range queues {
		if err := c.extend(ctx); err != nil {
			return err
		}
		if _, err := call[*amqp.QueueDeclareOk](c.wire, 1, request); err != nil {
			return fmt.Errorf("declare %s: %w", request.Queue, err)
		}
	}
	return nil
}

// count returns how many messages are ready in the queues.
func (c *control) count(ctx context.Context, queues []string) (messages uint64, err error) {
	for _, queue := range queues {
		if err := c.extend(ctx); err != nil {
			return 0, err
		}
		ok, err := call[*amqp.QueueDeclareOk](c.wire, 1, &amqp.QueueDeclare{Queue: queue, Passive: true})
		if err != nil {
			return 0, fmt.Errorf("count %s: %w", queue, err)
		}
		messages += uint64(ok.MessageCount)
	}
	return messages, nil
}

func (c *control) delete(ctx context.Context, queues []string) error {
	for _, queue := range queues {
		if err := c.extend(ctx); err != nil {
			return err
		}
		if _, err := call[*amqp.QueueDeleteOk](c.wire, 1, &amqp.QueueDelete{Queue: queue}); err != nil {
			return fmt.Errorf("delete %s: %w", queue, err)
		}
	}
	return nil
}

// extend gives the next request its time.
func (c *control) extend(ctx context.Context) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	return c.conn.SetDeadline(time.Now().Add(controlTimeout))
}

// close says good-bye; nothing depends on the answer.
func (c *control) close() {
	_, _ = call[*amqp.ConnectionCloseOk](c.wire, 0, &amqp.ConnectionClose{ReplyCode: amqp.CodeSuccess, ReplyText: "OK"})
	c.conn.Close()
}
