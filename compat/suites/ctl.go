package main

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"strconv"

	"github.com/warrenmq/warren/compat/broker"
)

// writeCtl writes the file that suites run as rabbitmqctl: RabbitMQ's own, or for Warren this program, which does
// over the HTTP API the few things that suites ask of it.
func writeCtl(b *broker.Broker, path string) error {
	if b.Ctl() != nil {
		return b.WriteCtl(path)
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	script := fmt.Sprintf("#!/bin/sh\nexec '%s' ctl %s \"$@\"\n", self, b.HTTP)
	return os.WriteFile(path, []byte(script), 0o755)
}

// ctl does what rabbitmqctl would: ctl HOST:PORT SUBCOMMAND ARGUMENT...
func ctl(args []string) error {
	if len(args) < 2 {
		return errors.New("usage: ctl HOST:PORT SUBCOMMAND [ARGUMENT]")
	}
	b := &broker.Broker{Name: "warren", HTTP: args[0]}
	switch command, rest := args[1], args[2:]; {
	case command == "set_vm_memory_high_watermark" && len(rest) == 1:
		return setMemoryWatermark(b, rest[0])
	default:
		return fmt.Errorf("no rabbitmqctl subcommand %q with %d arguments here", command, len(rest))
	}
}

// setMemoryWatermark makes the broker raise its memory alarm above the given fraction of the machine's memory.
func setMemoryWatermark(b *broker.Broker, fraction string) error {
	value, err := strconv.ParseFloat(fraction, 64)
	if err != nil {
		return err
	}
	var nodes []struct{ Name string }
	if err := b.Call(http.MethodGet, "/api/nodes", nil, &nodes); err != nil {
		return err
	}
	if len(nodes) != 1 {
		return fmt.Errorf("%d nodes, want one", len(nodes))
	}
	body := map[string]float64{"value": value}
	return b.Call(http.MethodPut, "/api/nodes/"+nodes[0].Name+"/memory-high-watermark", body, nil)
}
