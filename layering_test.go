// Package warren_test holds the rules of the source tree that the compiler cannot check.
package warren_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const modulePath = "github.com/warrenmq/warren"

// layers says which of our packages a layer may import, its own subfolders aside. A layer is a folder; a
// package belongs to the longest layer that is a prefix of its folder. An entry ending in "/..." opens the
// subfolders of a layer too; without it only the package of that very name.
var layers = map[string][]string{
	"amqp":        {},
	"cache":       {},
	"keratin":     {"cache"},
	"replication": {"keratin/..."},
	"queue":       {"keratin/...", "cache"},
	"amqp/server": {"amqp", "queue"},
	"admin":       {"queue", "replication", "keratin"},
	"cmd":         {"amqp", "amqp/server/...", "cache", "keratin/...", "replication/...", "queue/...", "admin/..."},
	"compat":      {"amqp"},
}

// pure lists the packages that are values without threads: what they do depends on their arguments alone.
var pure = []string{"queue/state", "queue/route"}

// impure lists what a pure package must not import, subfolders included.
var impure = []string{"time", "net", "os", "sync"}

// narrow lists, for a layer that may see only a part of another, the identifiers it may use.
var narrow = map[string]map[string][]string{
	"admin": {"keratin": {"Stats", "Marks", "LogStats"}},
}

// drawers are package names that say nothing about what is inside.
var drawers = []string{"util", "utils", "common", "helper", "helpers", "types", "interfaces"}

func TestLayering(t *testing.T) {
	found, files, err := checkTree(os.DirFS("."))
	if err != nil {
		t.Fatal(err)
	}
	if files < 10 {
		t.Fatalf("only %d source files seen: the check looks at the wrong folder", files)
	}
	for _, v := range found {
		t.Error(v)
	}
}

// TestLayeringFindsViolations is the negative control: a tree that breaks every rule once.
func TestLayeringFindsViolations(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{
		"amqp/frame.go":            "package amqp\nimport _ \"fmt\"",
		"amqp/upward.go":           "package amqp\nimport _ \"" + modulePath + "/queue\"",
		"amqp/server/conn.go":      "package server\nimport _ \"" + modulePath + "/keratin\"",
		"amqp/server/conn_test.go": "package server\nimport _ \"" + modulePath + "/keratin/vfs\"",
		"compat/load/load.go":      "package load\nimport _ \"" + modulePath + "/amqp/server\"",
		"queue/state/state.go":     "package state\nimport _ \"sync/atomic\"",
		"queue/state/ok_test.go":   "package state\nimport _ \"time\"",
		"queue/route/route.go":     "package route\nimport \"time\"\nvar _ = time.Now",
		"admin/stats.go":           "package admin\nimport \"" + modulePath + "/keratin\"\nvar _ keratin.Stats\nvar _ keratin.Batch",
		"admin/disk.go":            "package admin\nimport _ \"" + modulePath + "/keratin/segment\"",
		"gossip/gossip.go":         "package gossip",
		"keratin/util/util.go":     "package util",
		"queue/up_test.go":         "package queue\nimport _ \"" + modulePath + "/admin\"",
	} {
		file := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	found, _, err := checkTree(os.DirFS(root))
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(found)
	want := []string{
		"admin/disk.go: admin must not import keratin/segment",
		"admin/stats.go: admin may not use keratin.Batch",
		"amqp/server/conn.go: amqp/server must not import keratin",
		"amqp/upward.go: amqp must not import queue",
		"compat/load/load.go: compat must not import amqp/server",
		"gossip/gossip.go: gossip is in no layer",
		"keratin/util/util.go: package util names nothing",
		"queue/route/route.go: queue/route is pure and must not import time",
		"queue/state/state.go: queue/state is pure and must not import sync/atomic",
		"queue/up_test.go: queue must not import admin",
	}
	if !slices.Equal(found, want) {
		t.Errorf("found\n\t%s\nwant\n\t%s", strings.Join(found, "\n\t"), strings.Join(want, "\n\t"))
	}
}

// checkTree reads every Go file below the root and returns one line per violation, and the number of files.
func checkTree(root fs.FS) (violations []string, files int, err error) {
	err = fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || d.Name() == "data"):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, ".go") || path.Dir(name) == ".":
			return nil
		}
		files++
		text, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, v := range checkFile(name, file) {
			violations = append(violations, name+": "+v)
		}
		return nil
	})
	return violations, files, err
}

// checkFile returns what is wrong with one file. Tests may import what their layer reaches through others: a
// test of connections opens a store below the broker it talks to.
func checkFile(name string, file *ast.File) (violations []string) {
	folder := path.Dir(name)
	layer, ok := layerOf(folder)
	if !ok {
		return []string{folder + " is in no layer"}
	}
	if slices.Contains(drawers, file.Name.Name) {
		violations = append(violations, "package "+file.Name.Name+" names nothing")
	}
	test := strings.HasSuffix(name, "_test.go")
	for _, spec := range file.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return append(violations, err.Error())
		}
		if !test && slices.Contains(pure, folder) && slices.ContainsFunc(impure, func(p string) bool { return within(imported, p) }) {
			violations = append(violations, folder+" is pure and must not import "+imported)
		}
		ours, isOurs := strings.CutPrefix(imported, modulePath+"/")
		if !isOurs {
			continue
		}
		if !allowed(layer, ours, test) {
			violations = append(violations, layer+" must not import "+ours)
			continue
		}
		if names, limited := narrow[layer][ours]; limited && !test {
			violations = append(violations, usesBeyond(file, spec, ours, names, layer)...)
		}
	}
	return violations
}

// usesBeyond reports the identifiers of an imported package that the layer has no business with.
func usesBeyond(file *ast.File, spec *ast.ImportSpec, ours string, names []string, layer string) (violations []string) {
	local := path.Base(ours)
	if spec.Name != nil {
		local = spec.Name.Name
	}
	ast.Inspect(file, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if x, ok := sel.X.(*ast.Ident); ok && x.Name == local && !slices.Contains(names, sel.Sel.Name) {
			violations = append(violations, fmt.Sprintf("%s may not use %s.%s", layer, ours, sel.Sel.Name))
		}
		return true
	})
	return violations
}

// layerOf returns the longest layer that holds the folder.
func layerOf(folder string) (string, bool) {
	for f := folder; f != "."; f = path.Dir(f) {
		if _, ok := layers[f]; ok {
			return f, true
		}
	}
	return "", false
}

// allowed reports whether the layer may import our package; through is set for tests, which may also import
// what the allowed packages may import themselves.
func allowed(layer, imported string, through bool) bool {
	target, ok := layerOf(imported)
	if !ok {
		return false
	}
	if target == layer {
		return true
	}
	for _, entry := range layers[layer] {
		open, subfolders := strings.CutSuffix(entry, "/...")
		if imported == open || (subfolders || through) && target == open {
			return true
		}
		if through && allowed(open, imported, true) {
			return true
		}
	}
	return false
}

// within reports whether p is the package root or below it.
func within(p, root string) bool { return p == root || strings.HasPrefix(p, root+"/") }
