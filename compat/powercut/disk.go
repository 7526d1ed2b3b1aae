package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

const (
	imageBytes = 384 << 20 // xfs wants 300 MiB; sparse

	// FS_IOC_SHUTDOWN of ext4 and xfs, and its flag for "do not even flush the journal".
	ioctlShutdown = 0x8004587d
	noLogFlush    = 2
)

// disk is a file system in a file, mounted through a loop device that goes with it.
type disk struct {
	fs     string
	image  string
	mount  string
	loop   *os.File // while it is open the device stays, whether mounted or not
	device string
}

// makers is how an empty file system is made. What ext4 would zero later, in the background, is left alone.
var makers = map[string][]string{
	"ext4": {"mkfs.ext4", "-q", "-F", "-E", "lazy_itable_init=1"},
	"xfs":  {"mkfs.xfs", "-q", "-f"},
}

var mountOptions = map[string]string{"ext4": "commit=600,noinit_itable"}

// newDisk makes and mounts an empty file system; its files are in dir.
func newDisk(fs, dir string) (*disk, error) {
	d := &disk{fs: fs, image: filepath.Join(dir, "image"), mount: filepath.Join(dir, "mount")}
	if err := os.MkdirAll(d.mount, 0o755); err != nil {
		return nil, err
	}
	image, err := os.OpenFile(d.image, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, err
	}
	defer image.Close() // the loop device holds it
	if err := image.Truncate(imageBytes); err != nil {
		return nil, err
	}
	if err := d.attach(image); err != nil {
		return nil, err
	}
	if err := d.format(); err != nil {
		return nil, errors.Join(err, d.loop.Close())
	}
	return d, nil
}

// attach binds a free loop device to the image. Somebody else may take the free one first.
func (d *disk) attach(image *os.File) error {
	control, err := os.OpenFile("/dev/loop-control", os.O_RDWR, 0)
	if err != nil {
		return permission("loop devices", err)
	}
	defer control.Close()
	for range 10 {
		n, err := unix.IoctlRetInt(int(control.Fd()), unix.LOOP_CTL_GET_FREE)
		if err != nil {
			return permission("a free loop device", err)
		}
		d.device = fmt.Sprint("/dev/loop", n)
		if d.loop, err = os.OpenFile(d.device, os.O_RDWR, 0); err != nil {
			return permission("loop device", err)
		}
		config := unix.LoopConfig{Fd: uint32(image.Fd()), Info: unix.LoopInfo64{Flags: unix.LO_FLAGS_AUTOCLEAR}}
		err = unix.IoctlLoopConfigure(int(d.loop.Fd()), &config)
		if err == nil {
			return nil
		}
		d.loop.Close()
		if err != unix.EBUSY {
			return permission("bind a loop device", err)
		}
	}
	return errors.New("every free loop device is taken by somebody else")
}

// format makes the file system and mounts it.
func (d *disk) format() error {
	argv := append(makers[d.fs][:len(makers[d.fs]):len(makers[d.fs])], d.device)
	if out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", argv[0], err, out)
	}
	return d.attachMount()
}

func (d *disk) attachMount() error {
	if err := unix.Mount(d.device, d.mount, d.fs, unix.MS_NOATIME, mountOptions[d.fs]); err != nil {
		return permission("mount "+d.fs, err)
	}
	return nil
}

// cut takes the power away.
func (d *disk) cut() error {
	dir, err := os.Open(d.mount)
	if err != nil {
		return err
	}
	defer dir.Close()
	if err := unix.IoctlSetPointerInt(int(dir.Fd()), ioctlShutdown, noLogFlush); err != nil {
		return permission("shut "+d.fs+" down", err)
	}
	return nil
}

// remount brings the power back. Whoever used the file system must be gone.
func (d *disk) remount() error {
	if err := d.unmount(); err != nil {
		return err
	}
	return d.attachMount()
}

// renew replaces the file system by an empty one.
func (d *disk) renew() error {
	if err := d.unmount(); err != nil {
		return err
	}
	return d.format()
}

// unmount waits for the kernel to let go of what a killed process had open.
func (d *disk) unmount() error {
	var err error
	for range 500 {
		if err = unix.Unmount(d.mount, 0); err != unix.EBUSY {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if err != nil {
		return fmt.Errorf("unmount: %w", err)
	}
	return nil
}

// close unmounts and gives the loop device back.
func (d *disk) close() error { return errors.Join(d.unmount(), d.loop.Close()) }
