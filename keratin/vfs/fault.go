package vfs

import (
	"io"
	"sync"
)

// Op names an operation of FS or File for a fault rule.
type Op string

const (
	OpCreate   Op = "create"
	OpOpen     Op = "open"
	OpRename   Op = "rename"
	OpRemove   Op = "remove"
	OpList     Op = "list"
	OpMkdir    Op = "mkdir"
	OpSyncDir  Op = "syncdir"
	OpLock     Op = "lock"
	OpRead     Op = "read"
	OpWrite    Op = "write"
	OpSync     Op = "sync"
	OpTruncate Op = "truncate"
	OpSize     Op = "size"
	OpClose    Op = "close"
)

// Rule decides what becomes of an operation before it is carried out: nil lets it pass, an error stands in for it.
// It may wait, to play a slow disk. It may be called concurrently.
type Rule func(op Op, name string) error

// Fault wraps a file system so that a rule sees every operation. A write that is made to fail leaves half of its
// bytes behind, as a full disk does.
type Fault struct {
	fs   FS
	mu   sync.RWMutex
	rule Rule // guarded by mu
}

// NewFault wraps fs. Until SetRule everything passes.
func NewFault(fs FS) *Fault { return &Fault{fs: fs} }

// SetRule replaces the rule; nil lets everything pass.
func (x *Fault) SetRule(r Rule) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.rule = r
}

func (x *Fault) check(op Op, name string) error {
	x.mu.RLock()
	r := x.rule
	x.mu.RUnlock()
	if r == nil {
		return nil
	}
	return r(op, name)
}

func (x *Fault) file(op Op, name string, open func(string) (File, error)) (File, error) {
	if err := x.check(op, name); err != nil {
		return nil, err
	}
	f, err := open(name)
	if err != nil {
		return nil, err
	}
	return &faultFile{x: x, f: f, name: name}, nil
}

func (x *Fault) Create(name string) (File, error) { return x.file(OpCreate, name, x.fs.Create) }
func (x *Fault) Open(name string) (File, error)   { return x.file(OpOpen, name, x.fs.Open) }

func (x *Fault) Rename(old, new string) error {
	if err := x.check(OpRename, old); err != nil {
		return err
	}
	return x.fs.Rename(old, new)
}

func (x *Fault) Remove(name string) error {
	if err := x.check(OpRemove, name); err != nil {
		return err
	}
	return x.fs.Remove(name)
}

func (x *Fault) List(dir string) ([]string, error) {
	if err := x.check(OpList, dir); err != nil {
		return nil, err
	}
	return x.fs.List(dir)
}

func (x *Fault) MkdirAll(dir string) error {
	if err := x.check(OpMkdir, dir); err != nil {
		return err
	}
	return x.fs.MkdirAll(dir)
}

func (x *Fault) SyncDir(dir string) error {
	if err := x.check(OpSyncDir, dir); err != nil {
		return err
	}
	return x.fs.SyncDir(dir)
}

func (x *Fault) Lock(name string) (io.Closer, error) {
	if err := x.check(OpLock, name); err != nil {
		return nil, err
	}
	return x.fs.Lock(name)
}

type faultFile struct {
	x    *Fault
	f    File
	name string
}

func (f *faultFile) ReadAt(p []byte, off int64) (int, error) {
	if err := f.x.check(OpRead, f.name); err != nil {
		return 0, err
	}
	return f.f.ReadAt(p, off)
}

func (f *faultFile) WriteAt(p []byte, off int64) (int, error) {
	if err := f.x.check(OpWrite, f.name); err != nil {
		n, werr := f.f.WriteAt(p[:len(p)/2], off)
		if werr != nil {
			err = werr
		}
		return n, err
	}
	return f.f.WriteAt(p, off)
}

func (f *faultFile) Sync() error {
	if err := f.x.check(OpSync, f.name); err != nil {
		return err
	}
	return f.f.Sync()
}

func (f *faultFile) Truncate(size int64) error {
	if err := f.x.check(OpTruncate, f.name); err != nil {
		return err
	}
	return f.f.Truncate(size)
}

func (f *faultFile) Size() (int64, error) {
	if err := f.x.check(OpSize, f.name); err != nil {
		return 0, err
	}
	return f.f.Size()
}

func (f *faultFile) Close() error {
	err := f.x.check(OpClose, f.name)
	if cerr := f.f.Close(); err == nil {
		err = cerr
	}
	return err
}
