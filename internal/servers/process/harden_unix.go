//go:build unix

package process

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// Harden keeps what this process holds in memory, such as tokens, and the files that it was given from others: it
// dumps no core, and its children inherit no file descriptors but 0, 1 and 2. What cannot be had is left: it is
// a second line of defence.
func Harden() {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_CORE, &limit) == nil {
		limit.Cur = 0
		_ = unix.Setrlimit(unix.RLIMIT_CORE, &limit)
	}
	forbidReading()
	keepDescriptors()
}

// keepEachDescriptor marks every descriptor beyond stderr as not to be inherited, by the list of them.
func keepEachDescriptor(list string) {
	entries, err := os.ReadDir(list)
	if err != nil {
		return
	}
	for _, entry := range entries {
		if fd, err := strconv.Atoi(entry.Name()); err == nil && fd > 2 {
			unix.CloseOnExec(fd)
		}
	}
}
