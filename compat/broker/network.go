package broker

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

// ownNetwork marks a process that OwnNetwork has started again.
const ownNetwork = "COMPAT_OWN_NETWORK"

// OwnNetwork runs the calling program again, with its arguments, in a network namespace that has only a loopback
// interface, and ends with its exit code. There the well-known ports are free, whatever the machine serves on
// them, and nothing outside can be reached. Called by the program that was started so, it returns: call it once,
// after whatever needs the outside. Needs root.
func OwnNetwork() error {
	if os.Getenv(ownNetwork) != "" {
		return raiseLoopback()
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.Command(self, os.Args[1:]...)
	cmd.Env = append(os.Environ(), ownNetwork+"=1")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNET, Pdeathsig: syscall.SIGKILL}
	runtime.LockOSThread()      // for good: the parent-death signal follows the thread, not the process
	signal.Ignore(os.Interrupt) // the terminal sends it to both; the one inside decides
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("network namespace: %w", err)
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

// InOwnNetwork tells whether this process runs in a namespace that OwnNetwork made.
func InOwnNetwork() bool { return os.Getenv(ownNetwork) != "" }

func raiseLoopback() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	lo, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	lo.SetUint16(unix.IFF_UP)
	if err := unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, lo); err != nil {
		return fmt.Errorf("raise the loopback interface: %w", err)
	}
	return nil
}
