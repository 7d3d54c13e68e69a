//go:build unix

package safefile

import "syscall"

// NonBlocking is a flag for opening a file that may have become a named pipe: the open does not wait for a writer.
const NonBlocking = syscall.O_NONBLOCK
