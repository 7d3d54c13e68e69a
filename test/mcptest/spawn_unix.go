//go:build unix

package mcptest

import (
	"os/exec"
	"syscall"
)

// spawn starts a process that ignores SIGTERM and sleeps. Signals that the shell ignores
// stay ignored in what it becomes.
func spawn(where string) (pid int, err error) {
	cmd := exec.Command("sh", "-c", "trap '' TERM HUP INT; exec sleep 600")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: where == "session"}
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	go func() { _ = cmd.Wait() }() // so that its end is seen, however it comes
	return cmd.Process.Pid, nil
}
