//go:build nodirflush && !noflush

package vfs

// A build with the tag nodirflush flushes files and forgets their names, as a program does that does not know that a
// directory has to be flushed too. It is the other negative control of the tests that cut the power.
const (
	noFlush    = false
	noDirFlush = true
)
