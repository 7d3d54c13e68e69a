//go:build unix

package daemon

import "syscall"

// detached puts a process into a session of its own, so that signals to the client's terminal and process group do not
// reach it.
func detached() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
