package main

import (
	"bytes"
	"context"
	"os"
	"strconv"
	"sync"
	"time"

	"go.uber.org/zap"
	"golang.org/x/sys/unix"

	"github.com/warrenmq/warren/admin"
)

// checkAlarms is how often the machine is looked at. Publishers that get in before are bounded by what their
// sockets carry in this time, which the default limits leave room for.
const checkAlarms = time.Second

// machine is where alarms look. What cannot be read is zero and raises nothing.
type machine struct {
	memory   int64        // bytes the process may have at most
	resident func() int64 // bytes the process has
	diskFree func() int64 // bytes left for the data directory
}

// alarms blocks those who publish while memory or disk run short. Running out of disk would put the storage engine
// out of service until a restart; stopping publishers before that costs them only time.
type alarms struct {
	machine machine
	log     *zap.Logger
	block   func(reason string)
	unblock func()

	mu        sync.Mutex
	watermark float64 // share of the memory
	diskLimit int64   // bytes
	memory    admin.Level
	disk      admin.Level
}

// watch checks every second until ctx is done.
func (a *alarms) watch(ctx context.Context) {
	ticker := time.NewTicker(checkAlarms)
	defer ticker.Stop()
	for {
		a.check()
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// check looks once, and tells the clients and the log of what has changed.
func (a *alarms) check() {
	a.mu.Lock()
	defer a.mu.Unlock()
	memory := admin.Level{Now: a.machine.resident(), Limit: int64(a.watermark * float64(a.machine.memory))}
	memory.Raised = memory.Now > memory.Limit && a.machine.memory > 0
	disk := admin.Level{Now: a.machine.diskFree(), Limit: a.diskLimit}
	disk.Raised = disk.Now < disk.Limit && disk.Now > 0
	a.tell("memory", &a.memory, memory)
	a.tell("disk", &a.disk, disk)
	switch {
	case memory.Raised && disk.Raised:
		a.block("low on memory & disk")
	case memory.Raised:
		a.block("low on memory")
	case disk.Raised:
		a.block("low on disk")
	default:
		a.unblock()
	}
}

// tell keeps a level and logs when its alarm comes or goes.
func (a *alarms) tell(resource string, was *admin.Level, is admin.Level) {
	if is.Raised != was.Raised {
		text := "alarm cleared, publishers go on"
		if is.Raised {
			text = "alarm set, publishers are blocked"
		}
		a.log.Warn(text, zap.String("resource", resource), zap.Int64("bytes", is.Now), zap.Int64("limit", is.Limit))
	}
	*was = is
}

func (a *alarms) Memory() admin.Level {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.memory
}

func (a *alarms) Disk() admin.Level {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.disk
}

// SetMemoryWatermark changes the share of memory above which publishers wait, and acts on it.
func (a *alarms) SetMemoryWatermark(share float64) {
	a.mu.Lock()
	a.watermark = share
	a.mu.Unlock()
	a.check()
}

// thisMachine is where this process runs, with the data in a directory.
func thisMachine(directory string) machine {
	return machine{
		memory:   memoryBytes(),
		resident: residentBytes,
		diskFree: func() int64 {
			var disk unix.Statfs_t
			if unix.Statfs(directory, &disk) != nil {
				return 0
			}
			return int64(disk.Bavail) * disk.Bsize
		},
	}
}

// memoryBytes returns the memory of the machine, or of the control group if that is less.
func memoryBytes() int64 {
	var total int64
	var system unix.Sysinfo_t
	if unix.Sysinfo(&system) == nil {
		total = int64(system.Totalram) * int64(system.Unit)
	}
	text, err := os.ReadFile("/sys/fs/cgroup/memory.max")
	if err != nil {
		return total
	}
	limit, err := strconv.ParseInt(string(bytes.TrimSpace(text)), 10, 64)
	if err != nil { // "max"
		return total
	}
	return min(total, limit)
}

// residentBytes reads the second field of statm, which is in pages.
func residentBytes() int64 {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	fields := bytes.Fields(text)
	if len(fields) < 2 {
		return 0
	}
	pages, err := strconv.ParseInt(string(fields[1]), 10, 64)
	if err != nil {
		return 0
	}
	return pages * int64(os.Getpagesize())
}
