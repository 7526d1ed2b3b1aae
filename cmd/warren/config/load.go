package config

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"github.com/spf13/viper"
	"go.yaml.in/yaml/v3"
)

const envPrefix = "WARREN_"

// EnvFile is the variable that names the configuration file when no flag does.
const EnvFile = envPrefix + "CONFIG"

// Source is where settings may come from, besides the defaults.
type Source struct {
	File    string                 // path of a YAML file; empty for none
	Environ []string               // "NAME=value" as os.Environ gives
	Flags   map[string]*pflag.Flag // by key; a flag that was not given counts for nothing
}

// Error is a setting that was refused.
type Error struct {
	Where string // file, variable or flag
	Key   string // empty when the file as a whole is refused
	Value any    // what was found; unused when Key is unknown
	Want  string // what is expected
	known bool   // whether Key is a setting
}

func (e *Error) Error() string {
	switch {
	case e.Key == "":
		return fmt.Sprintf("%s: want %s", e.Where, e.Want)
	case !e.known:
		return fmt.Sprintf("%s: %s: no such setting, want %s", e.Where, e.Key, e.Want)
	}
	return fmt.Sprintf("%s: %s: got %s, want %s", e.Where, e.Key, spell(e.Value), e.Want)
}

// spell writes a value as the file would hold it, on one line, so that text and numbers look different.
func spell(v any) string {
	switch v := v.(type) {
	case string:
		return fmt.Sprintf("%q", v)
	case nil:
		return "nothing"
	case []string:
		return "[" + strings.Join(v, ", ") + "]"
	}
	return fmt.Sprint(v)
}

// Load returns the effective settings. All that is wrong is reported at once, as *Error values joined.
func Load(src Source) (Config, error) {
	scratch := Default()
	l := loader{layers: viper.New(), settings: scratch.settings(), given: map[string]bool{}}
	for _, s := range l.settings {
		l.layers.SetDefault(s.key, s.get())
	}
	if src.File != "" {
		l.file(src.File)
	}
	l.environ(src.Environ)
	for key, flag := range src.Flags {
		if flag.Changed {
			l.text("flag --"+flag.Name, key, flagText(flag))
		}
	}
	if len(l.errs) > 0 {
		return Config{}, errors.Join(l.errs...)
	}
	return l.merged(), nil
}

// flagText returns a flag's value as the environment would hold it.
func flagText(flag *pflag.Flag) string {
	if list, ok := flag.Value.(pflag.SliceValue); ok {
		return strings.Join(list.GetSlice(), ",")
	}
	return flag.Value.String()
}

// loader lays the layers over each other in viper. Each value is checked before that, on a configuration that
// is thrown away, so that an error names the place the value stands in, and a bad value is found even where a
// stronger layer hides it.
type loader struct {
	layers   *viper.Viper
	settings []setting // of the configuration that is thrown away
	given    map[string]bool
	errs     []error
}

func (l *loader) find(key string) (setting, bool) {
	i := slices.IndexFunc(l.settings, func(s setting) bool { return s.key == key })
	if i < 0 {
		return setting{}, false
	}
	return l.settings[i], true
}

// check reports whether the setting takes the value, and remembers what is wrong otherwise.
func (l *loader) check(where string, s setting, value any) bool {
	if !s.fill(value) {
		l.errs = append(l.errs, &Error{Where: where, Key: s.key, Value: value, Want: s.want, known: true})
		return false
	}
	l.given[s.key] = true
	return true
}

// text sets a value that came as text, over those of the file.
func (l *loader) text(where, key, value string) {
	s, ok := l.find(key)
	if !ok {
		panic("config: no setting " + key + " for " + where)
	}
	if v := s.text(value); l.check(where, s, v) {
		l.layers.Set(key, v)
	}
}

// merged returns the configuration that the layers add up to. Every value has passed its check.
func (l *loader) merged() Config {
	c := Config{given: l.given}
	for _, s := range c.settings() {
		if value := l.layers.Get(s.key); !s.fill(value) {
			panic(fmt.Sprintf("config: %s: layers give %v", s.key, value))
		}
	}
	return c
}

// file reads a YAML file. viper's own reader is not used: it folds the case of keys, so that two spellings of
// one key would merge without a word.
func (l *loader) file(name string) {
	text, err := os.ReadFile(name)
	if err != nil {
		l.errs = append(l.errs, err)
		return
	}
	var tree map[string]any
	decoder := yaml.NewDecoder(strings.NewReader(string(text)))
	if err := decoder.Decode(&tree); err != nil && !errors.Is(err, io.EOF) {
		l.errs = append(l.errs, fmt.Errorf("%s: %w", name, err))
		return
	}
	if err := decoder.Decode(new(any)); !errors.Is(err, io.EOF) {
		l.errs = append(l.errs, &Error{Where: name, Want: "one YAML document"})
		return
	}
	l.tree(name, "", tree)
	if err := l.layers.MergeConfigMap(tree); err != nil {
		l.errs = append(l.errs, fmt.Errorf("%s: %w", name, err))
	}
}

// tree checks the leaves below prefix.
func (l *loader) tree(where, prefix string, tree map[string]any) {
	for _, name := range slices.Sorted(maps.Keys(tree)) {
		key, value := prefix+name, tree[name]
		if s, ok := l.find(key); ok && !strings.Contains(name, ".") {
			l.check(where, s, value)
			continue
		}
		if !l.isGroup(key) {
			l.errs = append(l.errs, &Error{Where: where, Key: key, Want: "one of " + strings.Join(l.below(prefix), ", ")})
			continue
		}
		sub, ok := value.(map[string]any)
		if !ok && value != nil {
			l.errs = append(l.errs, &Error{Where: where, Key: key, Value: value, known: true,
				Want: "settings below it: " + strings.Join(l.below(key+"."), ", ")})
			continue
		}
		l.tree(where, key+".", sub)
	}
}

// isGroup reports whether settings stand below the key.
func (l *loader) isGroup(key string) bool {
	return slices.ContainsFunc(l.settings, func(s setting) bool { return strings.HasPrefix(s.key, key+".") })
}

// below returns the names that may follow the prefix.
func (l *loader) below(prefix string) (names []string) {
	for _, s := range l.settings {
		if rest, ok := strings.CutPrefix(s.key, prefix); ok {
			name, _, _ := strings.Cut(rest, ".")
			names = append(names, name)
		}
	}
	return slices.Compact(names)
}

// environ sets what the WARREN_ variables say. A misspelt name would otherwise be a setting that has no effect.
func (l *loader) environ(environ []string) {
	byEnv := map[string]setting{}
	for _, s := range l.settings {
		byEnv[s.env()] = s
	}
	for _, entry := range slices.Sorted(slices.Values(environ)) {
		name, value, _ := strings.Cut(entry, "=")
		if !strings.HasPrefix(name, envPrefix) || name == EnvFile {
			continue
		}
		s, ok := byEnv[name]
		if !ok {
			l.errs = append(l.errs, &Error{Where: "environment", Key: name,
				Want: "one of " + strings.Join(slices.Sorted(maps.Keys(byEnv)), ", ") + ", " + EnvFile})
			continue
		}
		l.text("environment "+name, s.key, value)
	}
}
