package load

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/warrenmq/warren/amqp"
)

// leanLink is the link through this project's codec. What is sent gathers in a buffer until flush; what
// is received is handed over in batches, one for each read.
type leanLink struct {
	*wire
	out   *outgoing
	heads [][]byte // for each queue, the frames of a publish that come before the body

	closing atomic.Bool
	done    chan struct{} // closed when serve has returned
	arrival arrival       // owned by serve

	starting int // consumers whose consume-ok is expected, before serve

	writing struct { // held across writes, so that what gathered first is written first
		sync.Mutex
		spare []byte
	}
	gathered struct {
		sync.Mutex
		frames []byte
	}
}

func openLean(ctx context.Context, d *dialer, name string, o *outgoing) (link, error) {
	w, err := d.open(ctx, name)
	if err != nil {
		return nil, err
	}
	l := &leanLink{wire: w, out: o, done: make(chan struct{})}
	for _, queue := range o.queues {
		l.heads = append(l.heads, publishHead(queue, len(o.body), o.deliveryMode()))
	}
	return l, nil
}

// publishHead returns the method and header frames of a publish to a queue.
func publishHead(queue string, size int, mode uint8) []byte {
	head := amqp.AppendPublish(nil, 1, nil, []byte(queue))
	properties := amqp.AppendProperties(nil, &amqp.Properties{DeliveryMode: mode})
	return amqp.AppendHeader(head, 1, amqp.ClassBasic, uint64(size), properties)
}

func (l *leanLink) confirmSelect() error {
	_, err := call[*amqp.ConfirmSelectOk](l.wire, 1, &amqp.ConfirmSelect{})
	return err
}

func (l *leanLink) consume(queues []int, prefetch int, autoAck bool) error {
	if prefetch > 0 {
		l.gather(&amqp.BasicQos{PrefetchCount: uint16(prefetch)})
	}
	for _, queue := range queues {
		l.gather(&amqp.BasicConsume{
			Queue: l.out.queues[queue], ConsumerTag: consumerTag(queue), NoAck: autoAck,
		})
	}
	l.starting += len(queues)
	return l.flush()
}

func (l *leanLink) consuming() error {
	for l.starting > 0 {
		f, err := l.frame()
		if err != nil {
			return err
		}
		m, err := l.method(f)
		if err != nil {
			return err
		}
		switch m.(type) {
		case *amqp.BasicQosOk:
		case *amqp.BasicConsumeOk:
			l.starting--
		default:
			return fmt.Errorf("expected basic.consume-ok, got %s", m.Name())
		}
	}
	return nil
}

func (l *leanLink) gather(m amqp.Method) {
	l.gathered.Lock()
	l.gathered.frames = amqp.AppendMethod(l.gathered.frames, 1, m)
	l.gathered.Unlock()
}

func (l *leanLink) publish(queue int, s stamp) error {
	l.gathered.Lock()
	frames := append(l.gathered.frames, l.heads[queue]...)
	body := len(frames) + amqp.FrameOverhead - 1 // behind the frame's header
	frames = amqp.AppendBody(frames, 1, l.out.body, l.maxPayload)
	s.put(frames[body:])
	l.gathered.frames = frames
	l.gathered.Unlock()
	return nil
}

func (l *leanLink) ack(tag uint64, multiple bool) error {
	l.gathered.Lock()
	l.gathered.frames = amqp.AppendAck(l.gathered.frames, 1, tag, multiple)
	l.gathered.Unlock()
	return nil
}

// flush writes what has gathered, in one write.
func (l *leanLink) flush() error {
	l.writing.Lock()
	defer l.writing.Unlock()
	l.gathered.Lock()
	frames := l.gathered.frames
	l.gathered.frames = l.writing.spare[:0]
	l.gathered.Unlock()
	l.writing.spare = frames
	if len(frames) == 0 {
		return nil
	}
	_, err := l.conn.Write(frames)
	return err
}

func (l *leanLink) close() error {
	l.closing.Store(true)
	frame := amqp.AppendMethod(nil, 0, &amqp.ConnectionClose{ReplyCode: amqp.CodeSuccess, ReplyText: "OK"})
	l.writing.Lock()
	_, err := l.conn.Write(frame)
	l.writing.Unlock()
	if err == nil {
		select {
		case <-l.done:
		case <-time.After(closeTimeout):
			err = errors.New("the broker does not close the connection")
		}
	}
	l.abort()
	return err
}

func (l *leanLink) abort() { l.conn.Close() }
