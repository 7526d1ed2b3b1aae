//go:build !noflush && !nodirflush

package vfs

// Both are false in every build that is used. See noflush_on.go and nodirflush_on.go.
const (
	noFlush    = false // Sync does nothing
	noDirFlush = false // SyncDir does nothing
)
