//go:build !unix

package safefile

// NonBlocking is a flag for opening a file that may have become a named pipe. Here, opening one never waits.
const NonBlocking = 0
