package processtable

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Memory is the resident memory of a process in bytes; 0 if the process is gone.
func Memory(pid int) int { return status(pid, "VmRSS") << 10 }

// PeakMemory is the most memory that was ever resident, in bytes; 0 if the process is gone.
func PeakMemory(pid int) int { return status(pid, "VmHWM") << 10 }

// Threads is the number of threads of a process; 0 if the process is gone.
func Threads(pid int) int { return status(pid, "Threads") }

// status returns a number of /proc/PID/status.
func status(pid int, field string) int {
	raw, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid)) // gone: none
	for line := range strings.Lines(string(raw)) {
		if value, ok := strings.CutPrefix(line, field+":"); ok {
			n, _ := strconv.Atoi(strings.Fields(value)[0]) // the kernel wrote it
			return n
		}
	}
	return 0
}
