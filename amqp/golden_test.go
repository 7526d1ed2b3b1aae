package amqp

import (
	"bytes"
	"encoding/hex"
	"flag"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files' right-hand sides anew")

// golden is one frame of a golden file: its octets and the line that a Tracer prints for it.
type golden struct{ octets, line string }

// readGolden reads a file of pairs of lines, octets in hexadecimal and what they say, with
// comments that begin with #.
func readGolden(t *testing.T, name string) (comments string, frames []golden) {
	t.Helper()
	text, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		trimmed := strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "#"):
			comments += line
		case trimmed == "":
		case strings.HasPrefix(line, " "):
			frames[len(frames)-1].line = trimmed
		default:
			octets, err := hex.DecodeString(trimmed)
			if err != nil {
				t.Fatal(err)
			}
			frames = append(frames, golden{octets: string(octets)})
		}
	}
	return comments, frames
}

// TestGolden decodes frames that other programs wrote, and checks that methods encode to the
// same octets again.
func TestGolden(t *testing.T) {
	for _, name := range []string{"client.golden", "server.golden"} {
		t.Run(name, func(t *testing.T) {
			comments, frames := readGolden(t, name)
			var printed bytes.Buffer
			tracer := Tracer{W: &printed}
			text := comments
			for _, g := range frames {
				printed.Reset()
				if _, err := tracer.Write([]byte(g.octets)); err != nil {
					t.Fatal(err)
				}
				line := strings.TrimSpace(printed.String())
				if line != g.line && !*update {
					t.Errorf("%x\n got %s\nwant %s", g.octets, line, g.line)
				}
				text += hex.EncodeToString([]byte(g.octets)) + "\n    " + line + "\n"
				checkEncodesBack(t, g.octets)
			}
			if *update {
				if err := os.WriteFile("testdata/"+name, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

func checkEncodesBack(t *testing.T, octets string) {
	t.Helper()
	if octets == ProtocolHeader {
		return
	}
	f, _, err := ParseFrame([]byte(octets), 0)
	if err != nil {
		t.Fatal(err)
	}
	if f.Type != FrameMethod {
		return
	}
	var d Decoder
	m, err := d.Decode(f.Payload)
	if err != nil {
		t.Fatal(err)
	}
	if again := AppendMethod(nil, f.Channel, m); string(again) != octets {
		t.Errorf("%s encodes to\n%x, want\n%x", m.Name(), again, octets)
	}
}
