//go:build unix

package uninstall

import (
	"errors"
	"syscall"
)

// isRunning reports whether a process exists.
func isRunning(pid int) bool { return !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }
