//go:build unix

package processtable

import (
	"os"
	"syscall"
)

// Alive reports whether a process with that id runs. Where there is no /proc, a process that
// nobody waited for counts as running.
func Alive(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		return true
	}
	now, ok := read(pid)
	return ok && !now.isZombie()
}
