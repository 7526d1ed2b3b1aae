package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/warrenmq/warren/compat/broker"
)

// options are the command line.
type options struct {
	binary  string
	subject string
	against []string
	only    *regexp.Regexp
	out     string
	workers int
	control bool
	list    bool
	attach  map[string]*broker.Broker // running already
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "conformance:", err)
		os.Exit(1)
	}
}

func parseOptions(args []string) (options, error) {
	o := options{attach: map[string]*broker.Broker{}}
	f := flag.NewFlagSet("conformance", flag.ContinueOnError)
	f.StringVar(&o.binary, "binary", "warren", "the warren program")
	f.StringVar(&o.subject, "subject", "warren", "the broker to judge")
	against := f.String("against", "rabbitmq-3.10", "the brokers to compare with, separated by commas")
	only := f.String("only", "", `play only scenarios whose "chapter: name" matches this regular expression`)
	f.StringVar(&o.out, "out", "", "folder for conformance.txt and conformance.json")
	f.IntVar(&o.workers, "workers", 6, "scenarios played at a time")
	f.BoolVar(&o.control, "control", false, "put a proxy before the subject that changes one reply text; it must be noticed")
	f.BoolVar(&o.list, "list", false, "list the scenarios")
	f.Func("attach", "NAME=AMQP,HTTP: a broker that runs already, by its addresses", func(s string) error {
		name, addresses, ok := strings.Cut(s, "=")
		amqpAddr, httpAddr, both := strings.Cut(addresses, ",")
		if !ok || !both {
			return errors.New("want NAME=HOST:PORT,HOST:PORT")
		}
		o.attach[name] = &broker.Broker{Name: name, Version: "running", AMQP: amqpAddr, HTTP: httpAddr}
		return nil
	})
	if err := f.Parse(args); err != nil {
		return o, err
	}
	o.against = strings.Split(*against, ",")
	if o.workers < 1 {
		return o, fmt.Errorf("-workers %d", o.workers)
	}
	var err error
	o.only, err = regexp.Compile(*only)
	return o, err
}

// selected returns the scenarios to play.
func (o *options) selected() []part {
	var parts []part
	for _, c := range chapters {
		for _, s := range c.scenarios {
			if o.only.MatchString(c.name + ": " + s.name) {
				parts = append(parts, part{c.name, s})
			}
		}
	}
	return parts
}

func run(ctx context.Context, args []string) error {
	o, err := parseOptions(args)
	if err != nil {
		return err
	}
	parts := o.selected()
	if o.list {
		for _, p := range parts {
			fmt.Printf("%s: %s\n", p.chapter, p.name)
		}
		return nil
	}
	known, err := parseExcuses(intendedText)
	if err != nil {
		return err
	}
	brokers, err := o.start(ctx)
	defer stopAll(brokers)
	if err != nil {
		return err
	}
	subject := brokers[o.subject]
	if o.control {
		d, err := distort(subject.AMQP, undistorted, distorted)
		if err != nil {
			return err
		}
		defer d.close()
		subject = &broker.Broker{Name: subject.Name, Version: subject.Version + ", distorted", AMQP: d.addr(), HTTP: subject.HTTP}
	}
	var all []comparison
	for _, name := range o.against {
		var excused excuses
		if o.subject == "warren" {
			excused = known.against(name)
		}
		c, err := compareWith(ctx, brokers[name], subject, parts, excused, o.workers)
		if err != nil {
			return err
		}
		excused.judge(c.Results)
		all = append(all, c)
	}
	return o.conclude(all)
}

// conclude reports, and returns an error if the outcome is not the one to hope for.
func (o *options) conclude(all []comparison) error {
	good := true
	for i := range all {
		c := &all[i]
		if o.out == "" {
			c.details(os.Stdout)
			fmt.Println()
		}
		if err := c.table(os.Stdout); err != nil {
			return err
		}
		fmt.Println()
		good = good && c.good()
	}
	if o.out != "" {
		if err := save(o.out, all); err != nil {
			return err
		}
	}
	switch {
	case o.control:
		return noticed(all)
	case !good:
		return errors.New("there are differences to explain")
	}
	return nil
}

// What the proxy of -control makes of a piece of a reply text.
const (
	undistorted = "no queue '"
	distorted   = "no quEue '"
)

// noticed returns an error unless every comparison tells the distorted reply text for a difference.
func noticed(all []comparison) error {
	for _, c := range all {
		if !slices.ContainsFunc(c.Results, func(r result) bool {
			return r.Verdict == different && strings.Contains(departure(r.Reference, r.Subject), distorted)
		}) {
			return fmt.Errorf("%s: the distorted reply text was not noticed", c.Reference)
		}
	}
	return nil
}

// start starts the brokers that do not run yet, side by side, installing those that are missing.
func (o *options) start(ctx context.Context) (map[string]*broker.Broker, error) {
	var (
		brokers = maps.Clone(o.attach)
		mu      sync.Mutex // guards brokers and errs
		errs    []error
		wg      sync.WaitGroup
	)
	names := append([]string{o.subject}, o.against...)
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		if o.attach[name] != nil {
			continue
		}
		wg.Go(func() {
			b, err := startOne(ctx, name, o.binary)
			mu.Lock()
			defer mu.Unlock()
			brokers[name] = b
			errs = append(errs, err)
		})
	}
	wg.Wait()
	return brokers, errors.Join(errs...)
}

func startOne(ctx context.Context, name, binary string) (*broker.Broker, error) {
	o := broker.Options{Binary: binary}
	if release, ok := strings.CutPrefix(name, "rabbitmq-"); ok {
		if err := broker.Install(ctx, release, os.Stderr); err != nil {
			return nil, err
		}
		if release == "4" {
			o.Config = permitted
		}
	}
	return broker.Start(ctx, name, o)
}

// permitted lets release 4.3 do what clients still ask for and 4.2 did: Warren goes on doing it.
var permitted = []string{
	"deprecated_features.permit.global_qos = true",
	"deprecated_features.permit.queue_master_locator = true",
}

// stopAll ends the brokers that were started here.
func stopAll(brokers map[string]*broker.Broker) {
	for _, b := range brokers {
		if b == nil || b.Dir == "" {
			continue
		}
		if err := b.Stop(); err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", b.Name, err)
		}
	}
}

// compareWith plays the parts on both brokers.
func compareWith(ctx context.Context, reference, subject *broker.Broker, parts []part, known excuses, workers int) (comparison, error) {
	began := time.Now()
	c := comparison{Reference: reference.Name + " " + reference.Version, Subject: subject.Name + " " + subject.Version}
	pairs := make([]pair, workers)
	for i := range pairs {
		vhost := fmt.Sprint(vhostPrefix, i+1)
		r, err := prepare(reference, vhost+"a") // the two may be the same broker
		if err != nil {
			return c, err
		}
		defer r.control.leave()
		s, err := prepare(subject, vhost+"b")
		if err != nil {
			return c, err
		}
		defer s.control.leave()
		pairs[i] = pair{r, s, func(r *result) bool { return known.of(r) != nil }}
	}
	var err error
	c.Results, err = playAll(ctx, pairs, parts)
	c.Seconds = time.Since(began).Seconds()
	return c, err
}

// Users of the scenarios besides guest.
const (
	limitedUser  = "limited"  // may do with names that begin with "own" what it likes, and nothing else
	strangerUser = "stranger" // may log in, and enter no vhost
)

// prepare makes a new vhost and its users, and connects the client that asks and clears up.
func prepare(b *broker.Broker, vhost string) (*side, error) {
	sd := &side{name: b.Name, addr: b.AMQP, vhost: vhost}
	path := "/api/vhosts/" + url.PathEscape(vhost)
	_ = b.Call(http.MethodDelete, path, nil, nil) // of a run before; usually there is none
	for _, call := range []struct {
		path string
		body any
	}{
		{path, struct{}{}},
		{"/api/permissions/" + url.PathEscape(vhost) + "/guest", permissions(".*")},
		{"/api/users/" + limitedUser, map[string]string{"password": limitedUser, "tags": ""}},
		{"/api/users/" + strangerUser, map[string]string{"password": strangerUser, "tags": ""}},
		{"/api/permissions/" + url.PathEscape(vhost) + "/" + limitedUser, permissions("^own")},
	} {
		if err := b.Call(http.MethodPut, call.path, call.body, nil); err != nil {
			return nil, fmt.Errorf("%s: %w", b.Name, err)
		}
	}
	return sd, sd.openControl()
}

func permissions(pattern string) map[string]string {
	return map[string]string{"configure": pattern, "write": pattern, "read": pattern}
}
