package admin

import (
	"bytes"
	"os"
	"runtime"
	"runtime/metrics"
	"strconv"

	"golang.org/x/sys/unix"
)

// usage is what the process takes of the machine. What the system does not tell is zero.
type usage struct {
	residentBytes   int64
	openFiles       int64
	maxFiles        int64
	goroutines      int64
	processors      int
	diskFreeBytes   int64 // for the data directory, as an ordinary user
	memoryBytes     int64 // of the machine
	gcCycles        uint64
	gcFreedBytes    uint64
	contextSwitches uint64
}

// measure reads what the process uses now. Directory is one of the file system that is meant.
func measure(directory string) usage {
	u := usage{
		residentBytes: residentBytes(),
		openFiles:     openFiles(),
		goroutines:    int64(runtime.NumGoroutine()),
		processors:    runtime.GOMAXPROCS(0),
	}
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) == nil {
		u.maxFiles = int64(min(limit.Cur, 1<<40))
	}
	var disk unix.Statfs_t
	if unix.Statfs(directory, &disk) == nil {
		u.diskFreeBytes = int64(disk.Bavail) * disk.Bsize
	}
	var system unix.Sysinfo_t
	if unix.Sysinfo(&system) == nil {
		u.memoryBytes = int64(system.Totalram) * int64(system.Unit)
	}
	var self unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &self) == nil {
		u.contextSwitches = uint64(self.Nvcsw + self.Nivcsw)
	}
	samples := []metrics.Sample{{Name: "/gc/cycles/total:gc-cycles"}, {Name: "/gc/heap/frees:bytes"}}
	metrics.Read(samples)
	u.gcCycles, u.gcFreedBytes = samples[0].Value.Uint64(), samples[1].Value.Uint64()
	return u
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

func openFiles() int64 {
	dir, err := os.Open("/proc/self/fd")
	if err != nil {
		return 0
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return 0
	}
	return int64(len(names)) - 1 // without the one that is reading
}
