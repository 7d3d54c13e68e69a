//go:build unix

package browser

import (
	"os/exec"
	"syscall"
)

// detach gives a program a session of its own, so that Ctrl-C here does not end the browser.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
