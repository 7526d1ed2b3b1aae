package load

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// clockTick is the unit of CPU times in /proc, 1/100 s on every Linux architecture.
const clockTick = 10 * time.Millisecond

// processes reads what the kernel knows of a broker's processes, from /proc.
type processes struct {
	root        string // "/proc"
	pids        []int
	descendants bool
}

// usage is what processes have used since they started, summed.
type usage struct {
	cpu     time.Duration
	written int64 // octets sent to storage
	peakRSS int64 // octets; the sum of the peaks, since the last reset
}

// resetPeak makes peakRSS count from now on.
func (p *processes) resetPeak() error {
	pids, err := p.all()
	if err != nil {
		return err
	}
	for _, pid := range pids {
		err := os.WriteFile(p.file(pid, "clear_refs"), []byte("5"), 0)
		if err = p.tolerate(pid, err); err != nil {
			return err
		}
	}
	return nil
}

// usage adds up all processes. A descendant that has ended meanwhile counts no more.
func (p *processes) usage() (usage, error) {
	var sum usage
	pids, err := p.all()
	if err != nil {
		return sum, err
	}
	for _, pid := range pids {
		one, err := p.usageOf(pid)
		if err = p.tolerate(pid, err); err != nil {
			return sum, err
		}
		sum.cpu += one.cpu
		sum.written += one.written
		sum.peakRSS += one.peakRSS
	}
	return sum, nil
}

// tolerate drops an error that only says that a descendant has gone.
func (p *processes) tolerate(pid int, err error) error {
	gone := errors.Is(err, fs.ErrNotExist) || err != nil && strings.Contains(err.Error(), "no such process")
	if gone && !slices.Contains(p.pids, pid) {
		return nil
	}
	return err
}

func (p *processes) usageOf(pid int) (usage, error) {
	var u usage
	stat, err := p.stat(pid)
	if err != nil {
		return u, err
	}
	u.cpu = time.Duration(stat.userTicks+stat.systemTicks) * clockTick
	if u.written, err = p.field(pid, "io", "write_bytes:"); err != nil {
		return u, err
	}
	peak, err := p.field(pid, "status", "VmHWM:")
	u.peakRSS = peak * 1024
	return u, err
}

// all lists the processes, each once.
func (p *processes) all() ([]int, error) {
	if !p.descendants {
		return p.pids, nil
	}
	entries, err := os.ReadDir(p.root)
	if err != nil {
		return nil, err
	}
	children := map[int][]int{}
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue // not a process
		}
		stat, err := p.stat(pid)
		if err != nil {
			continue // ended meanwhile
		}
		children[stat.parent] = append(children[stat.parent], pid)
	}
	var found []int
	for todo := slices.Clone(p.pids); len(todo) > 0; {
		pid := todo[0]
		todo = todo[1:]
		if !slices.Contains(found, pid) {
			found = append(found, pid)
			todo = append(todo, children[pid]...)
		}
	}
	return found, nil
}

func (p *processes) file(pid int, name string) string {
	return filepath.Join(p.root, strconv.Itoa(pid), name)
}

// processStat is a part of /proc/PID/stat.
type processStat struct {
	parent                 int
	userTicks, systemTicks int64
}

func (p *processes) stat(pid int) (processStat, error) {
	var s processStat
	text, err := os.ReadFile(p.file(pid, "stat"))
	if err != nil {
		return s, err
	}
	// The second field is the program's name in parentheses, and may contain both.
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	if len(fields) < 13 {
		return s, fmt.Errorf("%s: %d fields", p.file(pid, "stat"), len(fields))
	}
	// Counted from the third field, the state: parent 1, utime 11, stime 12.
	s.parent, err = strconv.Atoi(fields[1])
	if err == nil {
		s.userTicks, err = strconv.ParseInt(fields[11], 10, 64)
	}
	if err == nil {
		s.systemTicks, err = strconv.ParseInt(fields[12], 10, 64)
	}
	return s, err
}

// field reads the number behind a name in a file of lines.
func (p *processes) field(pid int, file, name string) (int64, error) {
	text, err := os.ReadFile(p.file(pid, file))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, name); ok {
			if fields := strings.Fields(rest); len(fields) > 0 {
				return strconv.ParseInt(fields[0], 10, 64)
			}
		}
	}
	return 0, fmt.Errorf("%s: no %s", p.file(pid, file), name)
}
