package vfs

import (
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// OS returns the operating system's file system below root. Files are made with mode 0600, directories with 0700.
func OS(root string) FS { return osFS{root} }

type osFS struct{ root string }

func (o osFS) path(name string) string { return filepath.Join(o.root, filepath.FromSlash(name)) }

func (o osFS) open(name string, flags int) (File, error) {
	p := o.path(name)
	fd, err := retry(func() (int, error) { return unix.Open(p, flags|unix.O_RDWR|unix.O_CLOEXEC, 0o600) })
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: p, Err: err}
	}
	return &osFile{fd: fd, name: p}, nil
}

func (o osFS) Create(name string) (File, error) { return o.open(name, unix.O_CREAT|unix.O_TRUNC) }
func (o osFS) Open(name string) (File, error)   { return o.open(name, 0) }
func (o osFS) Rename(old, new string) error     { return os.Rename(o.path(old), o.path(new)) }
func (o osFS) Remove(name string) error         { return os.Remove(o.path(name)) }

func (o osFS) List(dir string) ([]string, error) {
	entries, err := os.ReadDir(o.path(dir))
	if err != nil {
		return nil, err
	}
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		if !e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// MkdirAll flushes every parent on the way: a directory whose entry is lost takes all of its files along.
func (o osFS) MkdirAll(dir string) error {
	if err := os.MkdirAll(o.path(dir), 0o700); err != nil {
		return err
	}
	for d := path.Clean(dir); ; d = path.Dir(d) {
		if err := o.SyncDir(d); err != nil {
			return err
		}
		if d == "." || d == "/" {
			return o.syncAbs(filepath.Dir(o.path(".")))
		}
	}
}

func (o osFS) SyncDir(dir string) error { return o.syncAbs(o.path(dir)) }

func (o osFS) syncAbs(p string) error {
	if noDirFlush {
		return nil
	}
	fd, err := retry(func() (int, error) { return unix.Open(p, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0) })
	if err != nil {
		return &fs.PathError{Op: "open", Path: p, Err: err}
	}
	_, err = retry(func() (int, error) { return 0, unix.Fsync(fd) })
	if cerr := unix.Close(fd); err == nil {
		err = cerr
	}
	if err != nil {
		return &fs.PathError{Op: "fsync", Path: p, Err: err}
	}
	return nil
}

func (o osFS) Lock(name string) (io.Closer, error) {
	p := o.path(name)
	f, err := os.OpenFile(p, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if _, err = retry(func() (int, error) { return 0, unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) }); err != nil {
		held := &LockedError{Name: p}
		text := make([]byte, 20)
		n, _ := f.ReadAt(text, 0) // the pid is a courtesy: without it the lock is held all the same
		held.Pid, _ = strconv.Atoi(strings.TrimSpace(string(text[:n])))
		f.Close()
		if err == unix.EWOULDBLOCK {
			return nil, held
		}
		return nil, &fs.PathError{Op: "flock", Path: p, Err: err}
	}
	if err := f.Truncate(0); err != nil {
		f.Close()
		return nil, err
	}
	if _, err := f.WriteString(strconv.Itoa(os.Getpid()) + "\n"); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// osFile is a bare descriptor: no finalizer that could close it under a flush, no poller.
type osFile struct {
	fd   int
	name string
}

// retry repeats a system call that a signal interrupted.
func retry(call func() (int, error)) (int, error) {
	for {
		n, err := call()
		if err != unix.EINTR {
			return n, err
		}
	}
}

func (f *osFile) fail(op string, err error) error {
	return &fs.PathError{Op: op, Path: f.name, Err: err}
}

func (f *osFile) ReadAt(p []byte, off int64) (int, error) {
	done := 0
	for done < len(p) {
		n, err := unix.Pread(f.fd, p[done:], off+int64(done))
		switch {
		case err == unix.EINTR:
		case err != nil:
			return done, f.fail("pread", err)
		case n == 0:
			return done, io.EOF
		default:
			done += n
		}
	}
	return done, nil
}

// WriteAt carries on after a short count: the call that follows either writes the rest or says what is wrong.
func (f *osFile) WriteAt(p []byte, off int64) (int, error) {
	done := 0
	for done < len(p) {
		n, err := unix.Pwrite(f.fd, p[done:], off+int64(done))
		switch {
		case err == unix.EINTR:
		case err != nil:
			return done, f.fail("pwrite", err)
		case n == 0:
			return done, f.fail("pwrite", io.ErrShortWrite)
		default:
			done += n
		}
	}
	return done, nil
}

// Sync is fdatasync: data, and of the metadata what is needed to read it back.
func (f *osFile) Sync() error {
	if noFlush {
		return nil
	}
	if _, err := retry(func() (int, error) { return 0, unix.Fdatasync(f.fd) }); err != nil {
		return f.fail("fdatasync", err)
	}
	return nil
}

func (f *osFile) Truncate(size int64) error {
	if _, err := retry(func() (int, error) { return 0, unix.Ftruncate(f.fd, size) }); err != nil {
		return f.fail("ftruncate", err)
	}
	return nil
}

func (f *osFile) Size() (int64, error) {
	var st unix.Stat_t
	if _, err := retry(func() (int, error) { return 0, unix.Fstat(f.fd, &st) }); err != nil {
		return 0, f.fail("fstat", err)
	}
	return st.Size, nil
}

// Close does not repeat close(2) after EINTR: on Linux the descriptor is gone in any case.
func (f *osFile) Close() error {
	if err := unix.Close(f.fd); err != nil && err != unix.EINTR {
		return f.fail("close", err)
	}
	return nil
}
