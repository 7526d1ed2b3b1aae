package main

import (
	"bytes"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// machine is where the figures are from.
type machine struct {
	When       time.Time `json:"when"`
	CPU        string    `json:"cpu"`
	Cores      int       `json:"cores"`
	MemoryGiB  float64   `json:"memory_gib"`
	Kernel     string    `json:"kernel"`
	Filesystem string    `json:"filesystem"` // of the brokers' folders
	Go         string    `json:"go"`
	Revision   string    `json:"revision"` // of this program, "+" if the tree was changed
	Load       string    `json:"load"`     // load averages as the run began
}

// thisMachine describes the machine that the program runs on, leaving out what cannot be told.
func thisMachine(dir string) machine {
	m := machine{When: time.Now().UTC().Truncate(time.Second), Cores: runtime.NumCPU(), Go: runtime.Version()}
	m.CPU = valueOf("/proc/cpuinfo", "model name")
	var info unix.Sysinfo_t
	if unix.Sysinfo(&info) == nil {
		m.MemoryGiB = float64(info.Totalram*uint64(info.Unit)) / (1 << 30)
	}
	var name unix.Utsname
	if unix.Uname(&name) == nil {
		m.Kernel = string(name.Release[:bytes.IndexByte(name.Release[:], 0)])
	}
	m.Filesystem = filesystemOf(dir)
	if averages, err := os.ReadFile("/proc/loadavg"); err == nil {
		m.Load = strings.Join(strings.Fields(string(averages))[:3], " ")
	}
	if build, ok := debug.ReadBuildInfo(); ok {
		for _, s := range build.Settings {
			switch {
			case s.Key == "vcs.revision":
				m.Revision = s.Value + m.Revision
			case s.Key == "vcs.modified" && s.Value == "true":
				m.Revision += "+"
			}
		}
	}
	return m
}

// valueOf finds the first line "key : value" of a file.
func valueOf(path, key string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(text)) {
		if k, v, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(k) == key {
			return strings.TrimSpace(v)
		}
	}
	return ""
}

// filesystemOf finds the type of the mount that dir is on: the longest mount point that dir is below.
func filesystemOf(dir string) string {
	text, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		return ""
	}
	best, kind := -1, ""
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		if len(f) < 3 {
			continue
		}
		point := strings.TrimSuffix(f[1], "/") + "/"
		if strings.HasPrefix(dir+"/", point) && len(point) >= best {
			best, kind = len(point), f[2]
		}
	}
	return kind
}
