package broker

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Usage is what a process has used up to now. Differences of two of them tell about the time between.
type Usage struct {
	CPU     time.Duration // user and system
	RSS     int64         // bytes resident now
	PeakRSS int64         // bytes, since the start or the last ResetPeak
	Written int64         // bytes that went towards a disk
}

// userHZ is the unit of the kernel's processor accounting, 100 on every Linux that Go runs on.
const userHZ = 100

// Usage reads what the serving process has used.
func (b *Broker) Usage() (Usage, error) {
	pid := b.PID()
	if pid == 0 {
		return Usage{}, fmt.Errorf("%s does not run", b.Name)
	}
	return ReadUsage(pid)
}

// ReadUsage reads what the process pid has used.
func ReadUsage(pid int) (Usage, error) {
	dir := filepath.Join("/proc", strconv.Itoa(pid))
	var u Usage
	stat, err := os.ReadFile(filepath.Join(dir, "stat"))
	if err != nil {
		return u, err
	}
	// Behind the name, which may hold anything, come the fields from the third on; utime and stime are 14 and 15.
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	if len(fields) < 13 {
		return u, fmt.Errorf("%s/stat has only %d fields", dir, len(fields))
	}
	for _, f := range fields[11:13] {
		ticks, err := strconv.ParseInt(f, 10, 64)
		if err != nil {
			return u, err
		}
		u.CPU += time.Duration(ticks) * time.Second / userHZ
	}
	status, err1 := readKeys(filepath.Join(dir, "status"))
	io, err2 := readKeys(filepath.Join(dir, "io"))
	u.RSS, u.PeakRSS, u.Written = status["VmRSS"]<<10, status["VmHWM"]<<10, io["write_bytes"]
	return u, errors.Join(err1, err2)
}

// ResetPeak makes the peak of the serving process's resident size count from now.
func (b *Broker) ResetPeak() error {
	return os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", b.PID()), []byte("5"), 0)
}

// readKeys reads a file of lines "Key: number unit" and leaves out what is no number.
func readKeys(path string) (map[string]int64, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	keys := map[string]int64{}
	scan := bufio.NewScanner(f)
	for scan.Scan() {
		key, value, _ := strings.Cut(scan.Text(), ":")
		if words := strings.Fields(value); len(words) > 0 {
			if n, err := strconv.ParseInt(words[0], 10, 64); err == nil {
				keys[key] = n
			}
		}
	}
	return keys, scan.Err()
}

// descendant finds a process called name at or below pid, or 0.
func descendant(pid int, name string) int {
	dir := filepath.Join("/proc", strconv.Itoa(pid))
	comm, err := os.ReadFile(filepath.Join(dir, "comm"))
	if err != nil {
		return 0
	}
	if strings.TrimSpace(string(comm)) == name {
		return pid
	}
	tasks, _ := filepath.Glob(filepath.Join(dir, "task", "*", "children"))
	for _, t := range tasks {
		list, err := os.ReadFile(t)
		if err != nil {
			continue // the thread has ended meanwhile
		}
		for _, word := range strings.Fields(string(list)) {
			if child, err := strconv.Atoi(word); err == nil {
				if found := descendant(child, name); found != 0 {
					return found
				}
			}
		}
	}
	return 0
}
