package admin

import (
	"bufio"
	"net/http"
	"strings"
	"testing"

	"github.com/warrenmq/warren/queue"
)

// scrape returns the samples of /metrics by name and labels.
func (f *fixture) scrape() map[string]string {
	f.t.Helper()
	status, text := f.as("", "", "GET", "/metrics", "")
	if status != http.StatusOK {
		f.t.Fatalf("%d %s", status, text)
	}
	samples := map[string]string{}
	for lines := bufio.NewScanner(strings.NewReader(text)); lines.Scan(); {
		if name, value, ok := strings.Cut(lines.Text(), " "); ok && name != "#" {
			samples[name] = value
		}
	}
	return samples
}

// TestMetricsCountExactly does a known number of things and finds each of them counted.
func TestMetricsCountExactly(t *testing.T) {
	f := newFixture(t)
	f.clients.totals = ClientTotals{ConnectionsOpened: 7, ConnectionsClosed: 2, ChannelsOpened: 20, ChannelsClosed: 9, ReceivedOctets: 123}
	s := f.session("/")
	f.declare(s, queue.QueueDeclare{Name: "q", Durable: true})
	f.declare(s, queue.QueueDeclare{Name: "q", Durable: true})
	f.declare(s, queue.QueueDeclare{Name: "gone"})
	f.publish(s, "q", 40)
	f.publish(s, "gone", 5)
	f.publish(s, "nowhere", 3)
	var d queue.Delivery
	var offsets []queue.Offset
	for range 10 {
		if ok, _, err := s.Get("q", false, &d); !ok || err != nil {
			t.Fatal(ok, err)
		}
		offsets = append(offsets, d.Offset)
	}
	d.Queue.Settle(offsets[:6])
	d.Queue.Requeue(offsets[6:7])
	s.Commit()
	if ok, _, err := s.Get("gone", true, &d); !ok || err != nil {
		t.Fatal(ok, err)
	}
	if _, err := s.DeleteQueue("gone", false, false); err != nil {
		t.Fatal(err)
	}
	const classic = `{protocol="amqp091",queue_type="rabbit_classic_queue"}`
	samples := f.scrape()
	for name, want := range map[string]string{
		"rabbitmq_connections":                                                  "5",
		"rabbitmq_connections_opened_total":                                     "7",
		"rabbitmq_channels":                                                     "11",
		"rabbitmq_channels_closed_total":                                        "9",
		"rabbitmq_connection_incoming_bytes_total":                              "123",
		"rabbitmq_queues":                                                       "1",
		"rabbitmq_queues_created_total":                                         "2",
		"rabbitmq_queues_declared_total":                                        "3",
		"rabbitmq_queues_deleted_total":                                         "1",
		"rabbitmq_queue_messages":                                               "34",
		"rabbitmq_queue_messages_ready":                                         "31",
		"rabbitmq_queue_messages_unacked":                                       "3",
		"rabbitmq_alarms_memory_used_watermark":                                 "0",
		"warren_storage_failed":                                                 "0",
		"warren_storage_failed_logs_total":                                      "0",
		`warren_build_info{version="0.1.0"}`:                                    "1",
		`rabbitmq_global_messages_received_total{protocol="amqp091"}`:           "48",
		`rabbitmq_global_messages_routed_total{protocol="amqp091"}`:             "45",
		`rabbitmq_global_messages_unroutable_dropped_total{protocol="amqp091"}`: "3",
		"rabbitmq_global_messages_delivered_get_manual_ack_total" + classic:     "10",
		"rabbitmq_global_messages_delivered_get_auto_ack_total" + classic:       "1",
		"rabbitmq_global_messages_delivered_total" + classic:                    "11",
		"rabbitmq_global_messages_acknowledged_total" + classic:                 "6",
	} {
		if got := samples[name]; got != want {
			t.Errorf("%s is %q, want %s", name, got, want)
		}
	}
	if samples["warren_storage_records_total"] == "0" || samples["rabbitmq_process_resident_memory_bytes"] != "5" {
		t.Error("storage or process metrics are empty")
	}
}
