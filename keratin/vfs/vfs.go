// Package vfs is the file system as the storage engine sees it: eight verbs on names and six on open files,
// small enough that a disk which fails, fills up or loses power can be played in memory.
//
// Three implementations share one contract (contract_test.go runs it against each):
//
//	OS      the operating system's files
//	Mem     memory, which can be cloned as if the power had failed at that moment
//	Fault   a wrapper that counts operations and makes chosen ones fail, run out of space or wait
//
// # What survives
//
// A process crash loses nothing that WriteAt, Rename, Remove or Create has returned from. A loss of power keeps
//
//   - of a file's bytes: what a completed Sync of that file covered. Every later write may be there, be missing,
//     or be there in part, independently of the writes before and after it;
//   - of a directory: the entries a completed SyncDir covered. A later create, rename or remove may or may not
//     have happened. Sync of a file does not make its name durable.
//
// Names use forward slashes and are relative to the directory the file system was opened on.
package vfs

import (
	"errors"
	"io"
)

// FS is a directory tree that one process owns. Its methods may be called concurrently.
type FS interface {
	// Create opens name for reading and writing and makes it empty; it need not exist.
	Create(name string) (File, error)
	// Open opens an existing file for reading and writing. The error matches fs.ErrNotExist if there is none.
	Open(name string) (File, error)
	// Rename moves old over new, atomically for everybody who looks, durably only after SyncDir.
	Rename(old, new string) error
	// Remove unlinks a file. Open handles keep working.
	Remove(name string) error
	// List returns the names of the files in dir, sorted, without their directory.
	List(dir string) ([]string, error)
	// MkdirAll creates dir and its parents and makes their entries durable.
	MkdirAll(dir string) error
	// SyncDir makes the entries of dir durable.
	SyncDir(dir string) error
	// Lock takes the advisory lock called name or fails with a *LockedError. Closing the result releases it, and
	// so does the end of the process.
	Lock(name string) (io.Closer, error)
}

// File is an open file. ReadAt and WriteAt may run concurrently with each other and with Sync, but not with Close.
// Disjoint WriteAts may run concurrently.
type File interface {
	// ReadAt reads len(p) bytes, or fewer with io.EOF at the end of the file.
	ReadAt(p []byte, off int64) (int, error)
	// WriteAt writes all of p. With an error any part of p, in any order, may have been written.
	WriteAt(p []byte, off int64) (int, error)
	// Sync makes everything durable that a WriteAt which has returned wrote, with the size needed to read it. A
	// Sync that failed says nothing about any later one: the caller must give the file up.
	Sync() error
	Truncate(size int64) error
	Size() (int64, error)
	Close() error
}

// LockedError says who holds a lock.
type LockedError struct {
	Name string
	Pid  int // 0 if the holder did not say
}

func (e *LockedError) Error() string { return "vfs: " + e.Name + " is locked" }

// ErrFault is what injected failures match.
var ErrFault = errors.New("vfs: injected fault")
