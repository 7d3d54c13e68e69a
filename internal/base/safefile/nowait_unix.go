//go:build unix

package safefile

import "syscall"

// NoWait is a flag for opening a file that may have become a named pipe: it does not wait for who writes to it.
const NoWait = syscall.O_NONBLOCK
