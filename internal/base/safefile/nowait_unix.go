//go:build unix

package safefile

import "syscall"

// NoWait is a flag for opening a file that may have become a named pipe: the open does not wait for a writer.
const NoWait = syscall.O_NONBLOCK
