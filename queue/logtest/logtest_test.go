package logtest

import (
	"testing"

	"github.com/warrenmq/warren/keratin"
	"github.com/warrenmq/warren/keratin/vfs"
	"github.com/warrenmq/warren/queue"
	"github.com/warrenmq/warren/queue/memlog"
)

type mem struct{ *memlog.Store }

func (m mem) OpenLog(id keratin.LogID, o keratin.LogOptions, owner keratin.Owner) (queue.Log, keratin.Recovered, error) {
	return m.Store.OpenLog(id, o, owner)
}

func TestMemlog(t *testing.T) {
	Run(t, Implementation{
		Open: func(*testing.T) Store { return mem{memlog.New(memlog.Options{})} },
		Stop: func(_ *testing.T, s Store, clean bool) Store {
			if clean {
				return mem{s.(mem).Reopen(memlog.Nothing)}
			}
			return mem{s.(mem).Reopen(memlog.Staged)}
		},
	})
}

// disk is a keratin.Store and what it is on.
type disk struct {
	queue.LogStore
	*keratin.Store
	fs vfs.FS
}

func (d disk) OpenLog(id keratin.LogID, o keratin.LogOptions, owner keratin.Owner) (queue.Log, keratin.Recovered, error) {
	return d.LogStore.OpenLog(id, o, owner)
}
func (d disk) RemoveLog(id keratin.LogID) error { return d.Store.RemoveLog(id) }
func (d disk) Logs() []keratin.LogID            { return d.Store.Logs() }
func (d disk) Commit()                          { d.Store.Commit() }
func (d disk) Write()                           { d.Store.Write() }

func openDisk(t *testing.T, fs vfs.FS) Store {
	s, err := keratin.Open("", keratin.Options{FS: fs, JournalFileBytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Abandon)
	return disk{queue.OnKeratin(s), s, fs}
}

func TestKeratin(t *testing.T) {
	Run(t, Implementation{
		Open: func(t *testing.T) Store { return openDisk(t, vfs.NewMem()) },
		Stop: func(t *testing.T, s Store, clean bool) Store {
			d := s.(disk)
			if !clean {
				d.Abandon()
			} else if err := d.Close(); err != nil {
				t.Fatal(err)
			}
			return openDisk(t, d.fs)
		},
	})
}
