//go:build !unix

package safefile

// NoWait is a flag for opening a file that may have become a named pipe. Here, opening one never waits.
const NoWait = 0
