package vfs

import (
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"path"
	"slices"
	"sync"
)

// Mem is a file system in memory that knows what has been flushed. Of every file it keeps the bytes of the last Sync
// and the writes since; of every directory the entries of the last SyncDir and those of now.
type Mem struct {
	mu    sync.Mutex
	dirs  map[string]*memDir // guarded by mu, as is everything below it
	locks map[string]bool
}

type memDir struct {
	now     map[string]*inode
	durable map[string]*inode
}

// inode is a file's content. Names, and handles, point to it.
type inode struct {
	now     []byte
	durable []byte
	pending []memWrite // since the last Sync, in order
}

// memWrite is one change since the last Sync: bytes at a place, or (data nil) a new size.
type memWrite struct {
	off  int64
	data []byte
}

// NewMem returns an empty file system.
func NewMem() *Mem {
	return &Mem{dirs: map[string]*memDir{".": newMemDir()}, locks: map[string]bool{}}
}

func newMemDir() *memDir {
	return &memDir{now: map[string]*inode{}, durable: map[string]*inode{}}
}

// Crash returns the file system as a loss of power at this moment might leave it: everything flushed, and of the rest
// what rng picks. Each write since the last Sync survives whole, torn at any byte, or not at all; each directory
// entry made, replaced or removed since the last SyncDir is the old or the new one. keep is the chance in percent
// of an unflushed change to survive: 0 keeps only what was flushed, 100 loses nothing (as the death of the process
// does). m itself is not changed; locks are not inherited.
func (m *Mem) Crash(rng *rand.Rand, keep int) *Mem {
	m.mu.Lock()
	defer m.mu.Unlock()
	copies := map[*inode]*inode{}
	surviving := func(i *inode) *inode {
		if c, ok := copies[i]; ok {
			return c
		}
		data := i.crash(rng, keep)
		c := &inode{now: data, durable: slices.Clone(data)}
		copies[i] = c
		return c
	}
	out := &Mem{dirs: map[string]*memDir{}, locks: map[string]bool{}}
	for _, name := range slices.Sorted(maps.Keys(m.dirs)) {
		d, kept := m.dirs[name], newMemDir()
		both := maps.Clone(d.durable)
		maps.Copy(both, d.now)
		for _, file := range slices.Sorted(maps.Keys(both)) {
			i := d.durable[file]
			if now := d.now[file]; now != i && rng.IntN(100) < keep {
				i = now
			}
			if i != nil {
				c := surviving(i)
				kept.now[file], kept.durable[file] = c, c
			}
		}
		out.dirs[name] = kept
	}
	return out
}

func (i *inode) crash(rng *rand.Rand, keep int) []byte {
	data := slices.Clone(i.durable)
	for _, w := range i.pending {
		if rng.IntN(100) >= keep {
			continue
		}
		part := w.data
		from := 0
		if len(part) > 1 && keep < 100 && rng.IntN(4) == 0 { // torn: a prefix, or (sectors in another order) a suffix
			cut := rng.IntN(len(part))
			if rng.IntN(2) == 0 {
				part = part[:cut]
			} else {
				from, part = cut, part[cut:]
			}
		}
		data = applyWrite(data, memWrite{w.off + int64(from), part})
	}
	return data
}

func applyWrite(data []byte, w memWrite) []byte {
	if w.data == nil {
		if w.off <= int64(len(data)) {
			return data[:w.off]
		}
		return append(data, make([]byte, w.off-int64(len(data)))...)
	}
	if end := w.off + int64(len(w.data)); end > int64(len(data)) {
		data = append(data, make([]byte, end-int64(len(data)))...)
	}
	copy(data[w.off:], w.data)
	return data
}

func (m *Mem) dir(name string) (*memDir, string, error) {
	dir, file := path.Split(path.Clean(name))
	d := m.dirs[path.Clean(dir)]
	if dir == "" {
		d = m.dirs["."]
	}
	if d == nil {
		return nil, "", &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return d, file, nil
}

func (m *Mem) Create(name string) (File, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	d, file, err := m.dir(name)
	if err != nil {
		return nil, err
	}
	i := d.now[file]
	if i == nil {
		i = &inode{}
		d.now[file] = i
	} else if len(i.now) > 0 {
		i.now = nil
		i.pending = append(i.pending, memWrite{})
	}
	return &memFile{m: m, i: i, name: name}, nil
}

func (m *Mem) Open(name string) (File, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	d, file, err := m.dir(name)
	if err != nil {
		return nil, err
	}
	i := d.now[file]
	if i == nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return &memFile{m: m, i: i, name: name}, nil
}

func (m *Mem) Rename(old, new string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	from, a, err := m.dir(old)
	if err != nil {
		return err
	}
	to, b, err := m.dir(new)
	if err != nil {
		return err
	}
	if from.now[a] == nil {
		return &fs.PathError{Op: "rename", Path: old, Err: fs.ErrNotExist}
	}
	i := from.now[a]
	delete(from.now, a)
	to.now[b] = i
	return nil
}

func (m *Mem) Remove(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	d, file, err := m.dir(name)
	if err != nil {
		return err
	}
	if d.now[file] == nil {
		return &fs.PathError{Op: "remove", Path: name, Err: fs.ErrNotExist}
	}
	delete(d.now, file)
	return nil
}

func (m *Mem) List(dir string) ([]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	d := m.dirs[path.Clean(dir)]
	if d == nil {
		return nil, &fs.PathError{Op: "list", Path: dir, Err: fs.ErrNotExist}
	}
	return slices.Sorted(maps.Keys(d.now)), nil
}

func (m *Mem) MkdirAll(dir string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for d := path.Clean(dir); m.dirs[d] == nil; d = path.Dir(d) {
		m.dirs[d] = newMemDir()
	}
	return nil
}

func (m *Mem) SyncDir(dir string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	d := m.dirs[path.Clean(dir)]
	if d == nil {
		return &fs.PathError{Op: "fsync", Path: dir, Err: fs.ErrNotExist}
	}
	d.durable = maps.Clone(d.now)
	return nil
}

func (m *Mem) Lock(name string) (io.Closer, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.locks[name] {
		return nil, &LockedError{Name: name}
	}
	m.locks[name] = true
	return &memLock{m: m, name: name}, nil
}

type memLock struct {
	m    *Mem
	name string
	once sync.Once
}

func (l *memLock) Close() error {
	l.once.Do(func() {
		l.m.mu.Lock()
		defer l.m.mu.Unlock()
		delete(l.m.locks, l.name)
	})
	return nil
}

type memFile struct {
	m    *Mem
	i    *inode
	name string
}

func (f *memFile) ReadAt(p []byte, off int64) (int, error) {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	if off < 0 {
		return 0, fmt.Errorf("vfs: read %s: negative position", f.name)
	}
	if off >= int64(len(f.i.now)) {
		if len(p) == 0 {
			return 0, nil
		}
		return 0, io.EOF
	}
	n := copy(p, f.i.now[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (f *memFile) change(w memWrite) {
	f.i.now = applyWrite(f.i.now, w)
	f.i.pending = append(f.i.pending, w)
}

func (f *memFile) WriteAt(p []byte, off int64) (int, error) {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	if off < 0 {
		return 0, fmt.Errorf("vfs: write %s: negative position", f.name)
	}
	if len(p) > 0 {
		f.change(memWrite{off, slices.Clone(p)})
	}
	return len(p), nil
}

func (f *memFile) Sync() error {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	for _, w := range f.i.pending {
		f.i.durable = applyWrite(f.i.durable, w)
	}
	f.i.pending = nil
	return nil
}

func (f *memFile) Truncate(size int64) error {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	if size < 0 {
		return fmt.Errorf("vfs: truncate %s: negative size", f.name)
	}
	f.change(memWrite{off: size})
	return nil
}

func (f *memFile) Size() (int64, error) {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	return int64(len(f.i.now)), nil
}

func (f *memFile) Close() error { return nil }
