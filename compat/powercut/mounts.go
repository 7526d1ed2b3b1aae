package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// inOwnMounts marks a process that ownMounts has started again.
const inOwnMounts = "POWERCUT_OWN_MOUNTS"

// ownMounts runs this program again in a mount namespace of its own, and ends with its exit code. There nobody else can
// hold on to a mount, and the kernel unmounts everything with the last process. Called by the program that was started
// so, it returns.
func ownMounts() error {
	if os.Getenv(inOwnMounts) != "" {
		if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
			return permission("make mounts private", err)
		}
		return nil
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.Command(self, os.Args[1:]...)
	cmd.Env = append(os.Environ(), inOwnMounts+"=1")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNS, Pdeathsig: syscall.SIGTERM}
	runtime.LockOSThread()      // for good: the parent-death signal follows the thread, not the process
	signal.Ignore(os.Interrupt) // the terminal sends it to both; the one inside decides
	if err := cmd.Start(); err != nil {
		return permission("mount namespace", err)
	}
	terminate := make(chan os.Signal, 1)
	signal.Notify(terminate, syscall.SIGTERM)
	go func() {
		for s := range terminate { // for as long as this process lives
			_ = cmd.Process.Signal(s) // gone already: its exit code follows
		}
	}()
	if err := cmd.Wait(); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			return err
		}
	}
	os.Exit(cmd.ProcessState.ExitCode())
	return nil
}

// permission tells a machine that does not permit something from one where it went wrong.
func permission(what string, err error) error {
	for _, no := range []error{unix.EPERM, unix.EACCES, unix.ENOENT, unix.ENODEV, unix.ENXIO, unix.ENOSYS} {
		if errors.Is(err, no) {
			return fmt.Errorf("%w: %s: %v", errNotPermitted, what, err)
		}
	}
	return fmt.Errorf("%s: %w", what, err)
}
