package main

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"
)

func TestAlarms(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		core, logged := observer.New(zap.InfoLevel)
		var resident, free atomic.Int64
		resident.Store(10)
		free.Store(1000)
		told := []string{}
		tell := func(s string) {
			if len(told) == 0 || told[len(told)-1] != s {
				told = append(told, s)
			}
		}
		a := &alarms{
			machine: machine{memory: 100, resident: resident.Load, diskFree: free.Load},
			log:     zap.New(core), block: tell, unblock: func() { tell("none") },
			watermark: 0.6, diskLimit: 50,
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			a.watch(ctx)
		}()
		for _, step := range []struct{ resident, free int64 }{{60, 50}, {61, 50}, {61, 49}, {10, 49}, {10, 50}} {
			synctest.Wait()
			resident.Store(step.resident)
			free.Store(step.free)
			time.Sleep(checkAlarms)
		}
		synctest.Wait()
		want := []string{"none", "low on memory", "low on memory & disk", "low on disk", "none"}
		if !slices.Equal(told, want) {
			t.Errorf("told %q, want %q", told, want)
		}
		a.SetMemoryWatermark(0)
		if m := a.Memory(); !m.Raised || m.Now != 10 || m.Limit != 0 || a.Disk().Raised {
			t.Errorf("at watermark 0: %+v, %+v", m, a.Disk())
		}
		if n := logged.Len(); n != 5 {
			t.Errorf("%d lines logged, want one for each change of each alarm", n)
		}
		cancel()
		<-done
	})
}

// TestAlarmsCannotTell checks that a machine that does not say anything about itself raises no alarm.
func TestAlarmsCannotTell(t *testing.T) {
	zero := func() int64 { return 0 }
	a := &alarms{
		machine: machine{resident: zero, diskFree: zero}, log: zap.NewNop(), watermark: 0.6, diskLimit: 50,
		block: func(reason string) { t.Errorf("blocked: %s", reason) }, unblock: func() {},
	}
	a.check()
}

func TestThisMachine(t *testing.T) {
	m := thisMachine(t.TempDir())
	if m.memory < 1<<20 || m.resident() < 1<<20 || m.resident() > m.memory || m.diskFree() == 0 {
		t.Errorf("memory %d, resident %d, free disk %d", m.memory, m.resident(), m.diskFree())
	}
}
