package main

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"
	"go.uber.org/zap"
)

func (p *program) serveCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run a broker",
		Long: `Serve runs a broker until it gets SIGTERM or SIGINT. It then closes its listeners, tells the clients, flushes
what they have published and exits with 0. A second signal ends it at once, as kill -9 would.

One JSON line per event goes to standard error. Settings come from flags, WARREN_ variables and a file, in this
order of strength; "warren config check" lists them all.`,
		RunE: func(cmd *cobra.Command, _ []string) error { return p.serve(cmd.Context(), cmd) },
	}
	addConfigFlags(cmd)
	return cmd
}

// serve runs a broker until ctx is done or a listener fails.
func (p *program) serve(ctx context.Context, cmd *cobra.Command) error {
	c, file, err := p.loadConfig(cmd)
	if err != nil {
		return err
	}
	log := newLogger(c.Log, p.err)
	started := time.Now()
	n, err := startNode(c, file, log)
	if err != nil {
		return err
	}
	log.Info("ready", zap.String("version", ownVersion()), zap.String("claimed_version", c.Broker.ClaimedVersion),
		zap.String("data_dir", c.DataDir), zap.Duration("took", time.Since(started)))
	if p.ready != nil {
		p.ready(n)
	}
	var failure error
	select {
	case <-ctx.Done():
	case failure = <-n.failed:
	}
	log.Info("stopping")
	drain, cancel := context.WithTimeout(context.Background(), c.ShutdownTimeout)
	defer cancel()
	if err := errors.Join(failure, n.stop(drain)); err != nil {
		return err
	}
	log.Info("stopped")
	return nil
}
