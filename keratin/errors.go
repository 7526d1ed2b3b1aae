package keratin

import (
	"errors"
	"fmt"
)

var (
	// ErrLocked is matched by the error of Open when another process holds the directory.
	ErrLocked = errors.New("keratin: data directory is in use")
	// ErrClosed is returned by a store that has been closed, and by a log that has been removed.
	ErrClosed = errors.New("keratin: closed")
	// ErrTrimmed is returned for a record below the head of its log.
	ErrTrimmed = errors.New("keratin: record was trimmed")
	// ErrTooLarge is returned by Stage for a batch of more than a gibibyte.
	ErrTooLarge = errors.New("keratin: batch too large")
)

// LockError tells who holds the directory. It matches ErrLocked.
type LockError struct {
	Dir string
	Pid int // 0 if unknown
}

func (e *LockError) Error() string {
	return fmt.Sprintf("keratin: data directory %s is in use by process %d", e.Dir, e.Pid)
}

func (e *LockError) Is(target error) bool { return target == ErrLocked }

// CorruptError is damage to bytes that had been flushed, or that cannot be a torn write. It concerns the log it is
// returned for; from Open it concerns the store. Nothing has been removed or changed.
type CorruptError struct {
	File   string // relative to the data directory
	Offset int64  // position in the file
	Why    string
}

func (e *CorruptError) Error() string {
	return fmt.Sprintf("keratin: %s is corrupt at %d: %s", e.File, e.Offset, e.Why)
}

// VersionError is a file that a newer Warren wrote. Nothing has been changed.
type VersionError struct {
	File    string
	Version uint32
}

func (e *VersionError) Error() string {
	return fmt.Sprintf("keratin: %s has format version %d, newer than this program knows", e.File, e.Version)
}

// FailedError is what every caller gets after a write or a flush has failed: the marks stand still and only opening
// anew, which reads what is really there, goes on.
type FailedError struct{ Err error }

func (e *FailedError) Error() string { return "keratin: failed: " + e.Err.Error() }
func (e *FailedError) Unwrap() error { return e.Err }
