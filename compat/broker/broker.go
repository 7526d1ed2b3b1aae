package broker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Options say how to start a broker. The zero value takes free ports and a temporary folder.
type Options struct {
	Dir      string   // folder of this instance; must be new or empty; "" makes one that Stop removes
	AMQP     int      // port on 127.0.0.1; 0 takes a free one
	HTTP     int      // the same for the management API
	Binary   string   // warren only: the program; "" looks for "warren" in the PATH
	Args     []string // warren only: more arguments to "warren serve"
	Env      []string // more environment, KEY=VALUE
	BusyWait bool     // RabbitMQ only: leave Erlang's schedulers spinning while idle, as they do by default
	Config   []string // RabbitMQ only: more lines of rabbitmq.conf
}

// Broker is one instance: a process, its folder and its addresses.
type Broker struct {
	Name    string // "warren", "rabbitmq-4"
	Version string // as the broker or its package tells it
	Dir     string
	AMQP    string // host:port
	HTTP    string // host:port

	command func() *exec.Cmd             // a fresh, not yet started command
	served  func(cmd *exec.Cmd) int      // the pid that does the work, below cmd's process; 0 while there is none
	ask     func(cmd *exec.Cmd) error    // asks for a clean end
	ctl     func(cmd *exec.Cmd) []string // argv of rabbitmqctl; nil if there is none
	ownDir  bool

	mu      sync.Mutex
	running *process // nil while stopped
}

// process is one run of the program.
type process struct {
	cmd  *exec.Cmd
	done chan struct{} // closed once err is set
	err  error
}

// startTimeout bounds how long a broker may take until it serves. RabbitMQ on two busy cores has been seen to
// take more than half a minute.
const startTimeout = 3 * time.Minute

// Start starts the broker called name and waits until it serves AMQP and HTTP.
func Start(ctx context.Context, name string, o Options) (*Broker, error) {
	b := &Broker{Name: name, Dir: o.Dir}
	if err := b.place(&o); err != nil {
		return nil, err
	}
	var err error
	switch release, isRabbit := strings.CutPrefix(name, "rabbitmq-"); {
	case name == "warren":
		err = b.prepareWarren(o)
	case isRabbit:
		err = b.prepareRabbitMQ(release, o)
	default:
		err = fmt.Errorf("no broker is called %q: want warren or rabbitmq-RELEASE", name)
	}
	if err == nil {
		err = b.Restart(ctx)
	}
	if err != nil {
		b.remove()
		return nil, err
	}
	return b, nil
}

// place settles folder and ports.
func (b *Broker) place(o *Options) error {
	if b.Dir == "" {
		dir, err := os.MkdirTemp("", "compat-"+b.Name+"-")
		if err != nil {
			return err
		}
		b.Dir, b.ownDir = dir, true
	}
	dir, err := filepath.Abs(b.Dir)
	if err != nil {
		return err
	}
	b.Dir = dir
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	ports, err := freePorts(2)
	if err != nil {
		return err
	}
	b.AMQP = loopback(cmp.Or(o.AMQP, ports[0]))
	b.HTTP = loopback(cmp.Or(o.HTTP, ports[1]))
	return nil
}

// Restart starts a broker that is not running, on the same folder and ports, and waits until it serves.
func (b *Broker) Restart(ctx context.Context) error {
	p, err := b.launch()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	if err := b.awaitServing(ctx, p); err != nil {
		b.Kill()
		return fmt.Errorf("%s does not serve: %w\n%s", b.Name, err, b.logTail())
	}
	return nil
}

func (b *Broker) launch() (*process, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.running != nil {
		return nil, fmt.Errorf("%s already runs", b.Name)
	}
	log, err := os.OpenFile(b.LogFile(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	cmd := b.command()
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	p := &process{cmd: cmd, done: make(chan struct{})}
	started := make(chan error)
	go p.run(log, started) // Kill and Shutdown wait for it
	if err := <-started; err != nil {
		return nil, err
	}
	b.running = p
	return p, nil
}

// run starts the process, tells so, and waits for it to end. The kernel kills a process with the *thread* that has
// started it, so this goroutine keeps its thread for itself until there is nothing left to kill.
func (p *process) run(log *os.File, started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := p.cmd.Start(); err != nil {
		started <- errors.Join(err, log.Close())
		return
	}
	started <- nil
	p.err = errors.Join(p.cmd.Wait(), log.Close())
	close(p.done)
}

// awaitServing returns once both listeners answer and the serving process can be told.
func (b *Broker) awaitServing(ctx context.Context, p *process) error {
	for {
		err := errors.Join(greet(b.AMQP), b.probeHTTP())
		if err == nil && b.served(p.cmd) != 0 {
			return nil
		}
		select {
		case <-p.done:
			return fmt.Errorf("ended while starting: %w", p.err)
		case <-ctx.Done():
			return errors.Join(ctx.Err(), err)
		case <-time.After(2 * time.Millisecond):
		}
	}
}

// greet opens an AMQP connection as far as connection.start, which a broker sends only once it serves.
func greet(addr string) error {
	c, err := net.DialTimeout("tcp", addr, time.Second)
	if err != nil {
		return err
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(5 * time.Second)); err != nil {
		return err
	}
	if _, err := c.Write([]byte("AMQP\x00\x00\x09\x01")); err != nil {
		return err
	}
	var frame [11]byte // type, channel, size, class 10, method 10
	if _, err := io.ReadFull(c, frame[:]); err != nil {
		return err
	}
	if frame[0] != 1 || frame[8] != 10 || frame[10] != 10 {
		return fmt.Errorf("%s answers % x, not connection.start", addr, frame)
	}
	return nil
}

// PID is the process that does the work (the Erlang machine of a RabbitMQ), or 0 while the broker is down.
func (b *Broker) PID() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.running == nil {
		return 0
	}
	return b.served(b.running.cmd)
}

// Alive tells whether the broker runs. It turns false by itself when the process ends unasked.
func (b *Broker) Alive() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.running == nil {
		return false
	}
	select {
	case <-b.running.done:
		return false
	default:
		return true
	}
}

// Kill ends the broker at once with SIGKILL and waits until it is gone.
func (b *Broker) Kill() {
	b.mu.Lock()
	p := b.running
	b.running = nil
	b.mu.Unlock()
	if p == nil {
		return
	}
	if pid := b.served(p.cmd); pid != 0 && pid != p.cmd.Process.Pid {
		_ = syscall.Kill(pid, syscall.SIGKILL) // already gone is as good
	}
	_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL)
	<-p.done
}

// Shutdown asks the broker to end cleanly and kills it if it has not by the end of ctx. The folder stays, so that
// Restart can follow. It returns how the process ended.
func (b *Broker) Shutdown(ctx context.Context) error {
	b.mu.Lock()
	p := b.running
	b.mu.Unlock()
	if p == nil {
		return nil
	}
	if err := b.ask(p.cmd); err != nil {
		b.Kill()
		return err
	}
	select {
	case <-p.done:
	case <-ctx.Done():
		b.Kill()
		return fmt.Errorf("%s did not end when asked: %w", b.Name, ctx.Err())
	}
	b.mu.Lock()
	b.running = nil
	b.mu.Unlock()
	return p.err
}

// Stop ends the broker, cleanly if it does within 30 s, and removes its folder if Start made it.
func (b *Broker) Stop() error {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	return errors.Join(b.Shutdown(ctx), b.remove())
}

func (b *Broker) remove() error {
	if !b.ownDir {
		return nil
	}
	return os.RemoveAll(b.Dir)
}

// URL is the address for AMQP clients, user guest, vhost "/".
func (b *Broker) URL() string { return "amqp://guest:guest@" + b.AMQP + "/" }

// LogFile is where the broker's standard output and error go.
func (b *Broker) LogFile() string { return filepath.Join(b.Dir, "broker.log") }

// DataDir is the folder that the broker's bytes are in.
func (b *Broker) DataDir() string { return filepath.Join(b.Dir, "state") }

func (b *Broker) logTail() string {
	text, err := os.ReadFile(b.LogFile())
	if err != nil {
		return err.Error()
	}
	return string(text[max(0, len(text)-2000):])
}

// freePorts finds n ports of 127.0.0.1 that nothing listens on at this moment.
func freePorts(n int) ([]int, error) {
	var ports []int
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer l.Close() // held until all are known, so that they differ
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
	}
	return ports, nil
}

func loopback(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

func portOf(addr string) string {
	_, port, _ := net.SplitHostPort(addr) // ours, made by loopback
	return port
}
