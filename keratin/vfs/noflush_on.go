//go:build noflush

package vfs

// A build with the tag noflush believes that bytes are on the disk once the kernel has them. It is the negative control
// of the tests that cut the power; they must find that it loses what it has confirmed.
const (
	noFlush    = true
	noDirFlush = true
)
