package config

import (
	"fmt"
	"net"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A setting joins a key to the field it fills.
type setting struct {
	key   string               // as in the file, levels joined by dots
	usage string               // one line for people
	want  string               // what a value must be, completing "want …"
	fill  func(value any) bool // checks and stores a value of the file's type; false: not what is wanted
	text  func(s string) any   // turns text of the environment or of a flag into the file's type
	get   func() any           // the current value as the file would spell it
}

// env returns the name of the variable that sets the setting.
func (s *setting) env() string {
	return envPrefix + strings.ToUpper(strings.ReplaceAll(s.key, ".", "_"))
}

// settings returns the table of all settings, tied to the fields of c, in the order in which they are printed.
func (c *Config) settings() []setting {
	return []setting{
		line(&c.DataDir, "data_dir", "folder of the logs", "a path", notEmpty),
		duration(&c.ShutdownTimeout, "shutdown_timeout", "time that clients have to leave on a clean stop", 0, time.Hour),
		lines(&c.AMQP.Listen, "amqp.listen", "addresses that AMQP clients connect to", "a list of HOST:PORT, at least one", someAddresses),
		duration(&c.AMQP.Heartbeat, "amqp.heartbeat", "heartbeat proposed to clients, 0s for none", 0, 18*time.Hour),
		size(&c.AMQP.FrameMax, "amqp.frame_max", "largest frame proposed to clients", 8192, 16<<20),
		number(&c.AMQP.ChannelMax, "amqp.channel_max", "channels per connection", 1, 65535),
		duration(&c.AMQP.HandshakeTimeout, "amqp.handshake_timeout", "time from connecting to an open connection", 100*time.Millisecond, 10*time.Minute),
		size(&c.AMQP.MaxMessageSize, "amqp.max_message_size", "largest message body", 1, 512<<20),
		lines(&c.HTTP.Listen, "http.listen", "addresses of the HTTP API and metrics", "a list of HOST:PORT", allAddresses),
		line(&c.Broker.ClaimedVersion, "broker.claimed_version", "RabbitMQ version that clients are told", `three numbers with dots, as "4.2.0"`, isVersion),
		line(&c.Broker.NodeName, "broker.node_name", "name of this node", "a name without spaces or slashes", isName),
		line(&c.Broker.ClusterName, "broker.cluster_name", "name of the cluster", "a name without spaces or slashes", isName),
		lines(&c.Broker.LoopbackUsers, "broker.loopback_users", "users that may only connect from this machine", "a list of user names", allNotEmpty),
		duration(&c.Storage.SyncInterval, "storage.sync_interval", "longest time that buffered messages stay unflushed", time.Millisecond, time.Minute),
		size(&c.Storage.JournalFileBytes, "storage.journal_file_size", "size of one journal file", 1<<20, 1<<30),
		size(&c.Storage.TailBytes, "storage.tail_size", "memory for messages on their way to consumers", 1<<20, 64<<30),
		fraction(&c.Alarms.MemoryHighWatermark, "alarms.memory_high_watermark", "share of the memory above which publishers wait"),
		size(&c.Alarms.DiskFreeLimit, "alarms.disk_free_limit", "free disk space below which publishers wait", 0, 1<<50),
		line(&c.Log.Level, "log.level", "least level that is logged", "debug, info, warn or error", oneOf("debug", "info", "warn", "error")),
		line(&c.Log.Format, "log.format", "shape of log lines", "json or console", oneOf("json", "console")),
		lines(&c.Debug.Listen, "debug.listen", "addresses that serve profiles (/debug/pprof) to anybody who asks", "a list of HOST:PORT", allAddresses),
	}
}

// line is a setting of one piece of text.
func line(field *string, key, usage, want string, ok func(string) bool) setting {
	return setting{
		key: key, usage: usage, want: want,
		fill: func(v any) bool {
			s, is := v.(string)
			if is = is && ok(s); is {
				*field = s
			}
			return is
		},
		text: func(s string) any { return s },
		get:  func() any { return *field },
	}
}

// lines is a setting of a list of texts.
func lines(field *[]string, key, usage, want string, ok func([]string) bool) setting {
	return setting{
		key: key, usage: usage, want: want,
		fill: func(v any) bool {
			list, is := texts(v)
			if is = is && ok(list); is {
				*field = list
			}
			return is
		},
		text: func(s string) any {
			if s == "" {
				return []string{}
			}
			return strings.Split(s, ",")
		},
		get: func() any { return *field },
	}
}

// texts returns the list in v, if all of its elements are text.
func texts(v any) ([]string, bool) {
	switch v := v.(type) {
	case []string:
		return v, true
	case []any:
		list := make([]string, len(v))
		for i, e := range v {
			s, is := e.(string)
			if !is {
				return nil, false
			}
			list[i] = s
		}
		return list, true
	}
	return nil, false
}

// number is a setting of a whole number.
func number(field *int64, key, usage string, least, most int64) setting {
	return setting{
		key: key, usage: usage, want: fmt.Sprintf("a whole number from %d to %d", least, most),
		fill: func(v any) bool { return fillNumber(field, v, least, most) },
		text: func(s string) any {
			if n, err := strconv.ParseInt(s, 10, 64); err == nil {
				return n
			}
			return s
		},
		get: func() any { return *field },
	}
}

// fraction is a setting of a share of a whole.
func fraction(field *float64, key, usage string) setting {
	return setting{
		key: key, usage: usage, want: "a number from 0 to 1",
		fill: func(v any) bool {
			var f float64
			switch v := v.(type) {
			case int:
				f = float64(v)
			case float64:
				f = v
			default:
				return false
			}
			ok := f >= 0 && f <= 1 // not NaN
			if ok {
				*field = f
			}
			return ok
		},
		text: func(s string) any {
			if f, err := strconv.ParseFloat(s, 64); err == nil {
				return f
			}
			return s
		},
		get: func() any { return *field },
	}
}

// size is a setting of a number of bytes: a whole number, or text with a unit.
func size(field *int64, key, usage string, least, most int64) setting {
	return setting{
		key: key, usage: usage,
		want: fmt.Sprintf(`a number of bytes from %d to %d, or text with a unit as "64KiB", "16MiB", "1GiB"`, least, most),
		fill: func(v any) bool {
			if s, is := v.(string); is {
				n, ok := parseSize(s)
				return ok && fillNumber(field, n, least, most)
			}
			return fillNumber(field, v, least, most)
		},
		text: func(s string) any {
			if n, err := strconv.ParseInt(s, 10, 64); err == nil {
				return n
			}
			return s
		},
		get: func() any { return *field },
	}
}

func fillNumber(field *int64, v any, least, most int64) bool {
	var n int64
	switch v := v.(type) {
	case int:
		n = int64(v)
	case int64:
		n = v
	default:
		return false
	}
	if n < least || n > most {
		return false
	}
	*field = n
	return true
}

// parseSize reads a whole number with a binary unit.
func parseSize(s string) (int64, bool) {
	for unit, shift := range map[string]int{"KiB": 10, "MiB": 20, "GiB": 30} {
		if digits, ok := strings.CutSuffix(s, unit); ok {
			n, err := strconv.ParseUint(strings.TrimSpace(digits), 10, 32)
			return int64(n) << shift, err == nil
		}
	}
	return 0, false
}

// duration is a setting of a span of time: text with a unit.
func duration(field *time.Duration, key, usage string, least, most time.Duration) setting {
	return setting{
		key: key, usage: usage, want: fmt.Sprintf(`text with a unit from %q to %q, as "500ms" or "1m30s"`, least, most),
		fill: func(v any) bool {
			s, is := v.(string)
			d, err := time.ParseDuration(s)
			if !is || err != nil || d < least || d > most {
				return false
			}
			*field = d
			return true
		},
		text: func(s string) any { return s },
		get:  func() any { return field.String() },
	}
}

func notEmpty(s string) bool { return s != "" }

func allNotEmpty(list []string) bool { return !slices.Contains(list, "") }

func isName(s string) bool { return s != "" && !strings.ContainsAny(s, " \t\n/") }

var version = regexp.MustCompile(`^[0-9]+\.[0-9]+\.[0-9]+$`)

func isVersion(s string) bool { return version.MatchString(s) }

func oneOf(words ...string) func(string) bool {
	return func(s string) bool { return slices.Contains(words, s) }
}

func someAddresses(list []string) bool { return len(list) > 0 && allAddresses(list) }

func allAddresses(list []string) bool {
	return !slices.ContainsFunc(list, func(s string) bool {
		_, port, err := net.SplitHostPort(s)
		if err != nil {
			return true
		}
		_, err = strconv.ParseUint(port, 10, 16)
		return err != nil
	})
}
