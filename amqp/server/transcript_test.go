package server

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/warrenmq/warren/amqp"
)

var update = flag.Bool("update", false, "write what the server says into testdata/*.txt")

// TestTranscripts plays the conversations in testdata. Lines that begin with a letter are the script:
//
//	as NAME            the next lines are NAME's connection; it is made and opened when new
//	raw NAME           likewise, without a handshake
//	C 1 queue.declare {"Queue": "q"}        a method, its fields as JSON ("Arguments" and the like as a table)
//	C 1 header 5 {"DeliveryMode": 2}        a content header: body size, properties
//	C 1 body hello
//	C hex 41 4d 51 50                       octets
//	C handshake 60                          all that opens a connection, with a heartbeat in seconds
//	sleep 30s
//
// After each block of script lines, what the server said stands in lines that begin with the connection's name and a colon.
func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var got string
			synctest.Test(t, func(t *testing.T) { got = play(t, string(text)) })
			if got == string(text) {
				return
			}
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			t.Errorf("the conversation went differently:\n%s", firstDifference(string(text), got))
		})
	}
}

func firstDifference(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range min(len(w), len(g)) {
		if w[i] != g[i] {
			return fmt.Sprintf("line %d\nwant %s\ngot  %s", i+1, w[i], g[i])
		}
	}
	return fmt.Sprintf("want %d lines, got %d", len(w), len(g))
}

// stage is where a transcript is played.
type stage struct {
	t     *testing.T
	s     *Server
	names []string
	peers map[string]*actor
	now   *actor
}

type actor struct {
	*peer
	tracer  amqp.Tracer
	printed bytes.Buffer
	ended   bool
}

func play(t *testing.T, text string) string {
	st := &stage{t: t, s: newServer(t, Options{}), peers: make(map[string]*actor)}
	var out strings.Builder
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i, line := range lines {
		switch {
		case st.isReply(line):
			continue
		case line == "" || line[0] == '#':
		default:
			st.act(line)
		}
		out.WriteString(line + "\n")
		if line != "" && line[0] != '#' && (i+1 == len(lines) || st.isReply(lines[i+1]) || lines[i+1] == "") {
			out.WriteString(st.replies())
		}
	}
	for _, name := range st.names {
		st.peers[name].close()
	}
	return out.String()
}

func (st *stage) isReply(line string) bool {
	name, _, ok := strings.Cut(line, ":")
	return ok && st.peers[name] != nil
}

func (st *stage) act(line string) {
	verb, rest, _ := strings.Cut(line, " ")
	switch verb {
	case "as":
		st.as(rest, handshake(0))
	case "raw":
		st.as(rest, nil)
	case "sleep":
		d, err := time.ParseDuration(rest)
		if err != nil {
			st.t.Fatal(line, err)
		}
		time.Sleep(d)
	case "C":
		st.now.send(st.octets(rest))
	default:
		st.t.Fatalf("not a script line: %s", line)
	}
}

func (st *stage) as(name string, opening []byte) {
	if st.peers[name] == nil {
		a := &actor{peer: connect(st.t, st.s)}
		a.tracer = amqp.Tracer{W: &a.printed, Prefix: name + ": "}
		st.peers[name] = a
		st.names = append(st.names, name)
		if opening != nil {
			a.send(opening)
			st.settle()
			a.take() // start, tune and open-ok
			a.tracer.Write([]byte(amqp.ProtocolHeader))
			a.printed.Reset()
		}
	}
	st.now = st.peers[name]
}

// settle waits until the server has done what there is to do, commits that wait for a flush included.
func (st *stage) settle() {
	time.Sleep(20 * time.Millisecond)
	synctest.Wait()
}

// invented stands for names that differ from run to run.
var invented = regexp.MustCompile(`amq\.(gen|ctag)-[-_A-Za-z0-9]{22}`)

// properties are the server's, which are long and always the same.
var properties = regexp.MustCompile(`\{capabilities=.*\}`)

func (st *stage) replies() string {
	st.settle()
	var all strings.Builder
	for _, name := range st.names {
		a := st.peers[name]
		heard, ended := a.take()
		a.tracer.Write(heard)
		said := invented.ReplaceAllString(a.printed.String(), "amq.$1-*")
		all.WriteString(properties.ReplaceAllString(said, "{...}"))
		a.printed.Reset()
		if ended && !a.ended {
			a.ended = true
			all.WriteString(name + ": closed\n")
		}
	}
	return all.String()
}

// octets encodes the rest of a line that begins with C.
func (st *stage) octets(line string) []byte {
	first, rest, _ := strings.Cut(line, " ")
	switch first {
	case "hex":
		b, err := hex.DecodeString(strings.ReplaceAll(rest, " ", ""))
		if err != nil {
			st.t.Fatal(line, err)
		}
		return b
	case "handshake":
		n, _ := strconv.Atoi(rest)
		return handshake(uint16(n))
	case "heartbeat":
		return amqp.AppendHeartbeat(nil)
	}
	number, err := strconv.ParseUint(first, 10, 16)
	if err != nil {
		st.t.Fatal(line, err)
	}
	ch := uint16(number)
	what, args, _ := strings.Cut(rest, " ")
	switch what {
	case "header":
		size, fields, _ := strings.Cut(args, " ")
		n, err := strconv.ParseUint(size, 10, 64)
		if err != nil {
			st.t.Fatal(line, err)
		}
		return amqp.AppendHeader(nil, ch, amqp.ClassBasic, n, st.properties(fields))
	case "body":
		return amqp.AppendBody(nil, ch, []byte(args), 1<<17)
	}
	return amqp.AppendMethod(nil, ch, st.method(what, args))
}

func (st *stage) properties(fields string) []byte {
	var p amqp.Properties
	if fields == "" {
		return nil
	}
	if err := json.Unmarshal([]byte(fields), &p); err != nil {
		st.t.Fatal(fields, err)
	}
	return amqp.AppendProperties(nil, &p)
}

// methods are those that clients send, by name.
var methods = func() map[string]reflect.Type {
	by := make(map[string]reflect.Type)
	for _, m := range []amqp.Method{
		&amqp.ConnectionStartOk{}, &amqp.ConnectionTuneOk{}, &amqp.ConnectionOpen{}, &amqp.ConnectionClose{},
		&amqp.ConnectionCloseOk{}, &amqp.ConnectionUpdateSecret{}, &amqp.ChannelOpen{}, &amqp.ChannelClose{},
		&amqp.ChannelCloseOk{}, &amqp.ChannelFlow{}, &amqp.AccessRequest{}, &amqp.ExchangeDeclare{}, &amqp.ExchangeDelete{},
		&amqp.ExchangeBind{}, &amqp.ExchangeUnbind{}, &amqp.QueueDeclare{}, &amqp.QueueBind{}, &amqp.QueueUnbind{}, &amqp.QueuePurge{},
		&amqp.QueueDelete{}, &amqp.BasicQos{}, &amqp.BasicConsume{}, &amqp.BasicCancel{}, &amqp.BasicCancelOk{}, &amqp.BasicPublish{},
		&amqp.BasicGet{}, &amqp.BasicAck{}, &amqp.BasicNack{}, &amqp.BasicReject{}, &amqp.BasicRecover{}, &amqp.BasicRecoverAsync{},
		&amqp.BasicDeliver{}, &amqp.ConfirmSelect{}, &amqp.TxSelect{}, &amqp.TxCommit{}, &amqp.TxRollback{},
	} {
		by[m.Name()] = reflect.TypeOf(m).Elem()
	}
	return by
}()

// method makes a method of its name and its fields. Fields of octets are given as texts, or as tables.
func (st *stage) method(name, fields string) amqp.Method {
	typ := methods[name]
	if typ == nil {
		st.t.Fatalf("no method %q", name)
	}
	v := reflect.New(typ)
	values := map[string]any{}
	if fields != "" {
		if err := json.Unmarshal([]byte(fields), &values); err != nil {
			st.t.Fatal(fields, err)
		}
	}
	for field, value := range values {
		f := v.Elem().FieldByName(field)
		switch value := value.(type) {
		case string:
			f.Set(reflect.ValueOf(value).Convert(f.Type()))
		case float64:
			f.SetUint(uint64(value))
		case bool:
			f.SetBool(value)
		case map[string]any:
			f.SetBytes(amqp.AppendTable(nil, tableOf(value)))
		}
	}
	return v.Interface().(amqp.Method)
}

// tableOf gives JSON's numbers a wire type.
func tableOf(m map[string]any) amqp.Table {
	for name, value := range m {
		switch value := value.(type) {
		case float64:
			m[name] = int32(value)
		case map[string]any:
			m[name] = tableOf(value)
		}
	}
	return m
}
