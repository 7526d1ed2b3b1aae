package broker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// Releases maps a RabbitMQ release to the Debian suite whose package it is. "4" follows Debian's unstable suite,
// so its version moves; reports name the version they measured.
var Releases = map[string]string{"3.10": "bookworm", "4.0": "trixie", "4": "sid"}

// CacheDir is the folder for what is too big to keep in a repository and can be had again: $COMPAT_CACHE,
// else warren-compat below $XDG_CACHE_HOME, else /var/cache/warren-compat.
func CacheDir() string {
	if dir := os.Getenv("COMPAT_CACHE"); dir != "" {
		return dir
	}
	if dir := os.Getenv("XDG_CACHE_HOME"); dir != "" {
		return filepath.Join(dir, "warren-compat")
	}
	return "/var/cache/warren-compat"
}

// Tree is the Debian tree that holds the given RabbitMQ release, which Install has made.
func Tree(release string) (string, error) {
	if _, ok := Releases[release]; !ok {
		return "", fmt.Errorf("no RabbitMQ release %q: have %v", release, slices.Sorted(maps.Keys(Releases)))
	}
	tree := filepath.Join(CacheDir(), "rabbitmq-"+release)
	if _, err := os.Stat(tree); err != nil {
		return "", fmt.Errorf("RabbitMQ %s is not installed (go run ./compat/rabbitmq install %s): %w", release, release, err)
	}
	return tree, nil
}

// Install makes the tree of a RabbitMQ release unless it is there, which takes a minute or two and 400 MB. It
// needs root and Debian's package archive; debootstrap itself is installed if missing. Progress goes to log.
func Install(ctx context.Context, release string, log io.Writer) error {
	suite, ok := Releases[release]
	if !ok {
		return fmt.Errorf("no RabbitMQ release %q: have %v", release, slices.Sorted(maps.Keys(Releases)))
	}
	if err := os.MkdirAll(CacheDir(), 0o755); err != nil {
		return err
	}
	unlock, err := lockDir(CacheDir())
	if err != nil {
		return err
	}
	defer unlock()
	if _, err := Tree(release); err == nil {
		return nil
	}
	if _, err := exec.LookPath("debootstrap"); err != nil {
		if err := AptInstall(ctx, log, "debootstrap"); err != nil {
			return err
		}
	}
	tree := filepath.Join(CacheDir(), "rabbitmq-"+release)
	part := tree + ".part" // a tree exists under its own name only when it is whole
	if err := os.RemoveAll(part); err != nil {
		return err
	}
	if err := run(ctx, log, "debootstrap", "--variant=minbase", "--include=rabbitmq-server", suite, part); err != nil {
		return err
	}
	hosts := []byte("127.0.0.1 localhost\n::1 localhost\n")
	if err := os.WriteFile(filepath.Join(part, "etc/hosts"), hosts, 0o644); err != nil {
		return err
	}
	return os.Rename(part, tree)
}

// AptInstall installs Debian packages on this machine.
func AptInstall(ctx context.Context, log io.Writer, packages ...string) error {
	if err := run(ctx, log, "apt-get", "update", "-q"); err != nil {
		return err
	}
	return run(ctx, log, "apt-get", append([]string{"install", "-q", "-y", "--no-install-recommends"}, packages...)...)
}

func run(ctx context.Context, log io.Writer, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s %s: %w", name, strings.Join(args, " "), err)
	}
	return nil
}

// treeVersion reads the version off the folder that Debian's package installs the server in.
func treeVersion(tree string) (string, error) {
	const prefix = "rabbitmq_server-"
	found, err := filepath.Glob(filepath.Join(tree, "usr/lib/rabbitmq/lib", prefix+"*"))
	if err != nil || len(found) != 1 {
		return "", errors.Join(err, fmt.Errorf("%s holds %d RabbitMQ servers", tree, len(found)))
	}
	return strings.TrimPrefix(filepath.Base(found[0]), prefix), nil
}

// lockDir makes other programs that install into dir wait.
func lockDir(dir string) (unlock func(), err error) {
	f, err := os.OpenFile(filepath.Join(dir, ".lock"), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return func() { _ = f.Close() }, nil // closing releases the lock
}
