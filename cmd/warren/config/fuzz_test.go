package config

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// FuzzLoad reads any text as a file. What is taken must come back unchanged when it is printed and read again.
func FuzzLoad(f *testing.F) {
	for _, text := range []string{
		"", "data_dir: x\n", "amqp:\n  listen: [\"127.0.0.1:1\"]\n  frame_max: 64KiB\n", "http: {listen: []}\nstorage:\n",
		"amqp: {heartbeat: 90s}\nbroker: {loopback_users: [a, b]}\n", "amqp.listen: [x]\n", "? [a]\n: b\n", "a: &a [*a]\n", "log: {level: !!binary aW5mbw==}\n",
	} {
		f.Add(text, "WARREN_AMQP_CHANNEL_MAX=7")
	}
	f.Fuzz(func(t *testing.T, text, variable string) {
		name := filepath.Join(t.TempDir(), "f.yaml")
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := Load(Source{File: name, Environ: []string{variable}})
		if err != nil {
			return
		}
		var first, second bytes.Buffer
		if err := c.Print(&first); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, first.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		again, err := Load(Source{File: name})
		if err != nil {
			t.Fatalf("%v\n%s", err, first.String())
		}
		if err := again.Print(&second); err != nil || first.String() != second.String() {
			t.Fatalf("%v:\n%s\nbecame\n%s", err, first.String(), second.String())
		}
	})
}
