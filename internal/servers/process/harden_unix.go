//go:build unix

package process

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// Harden protects the memory of this process, such as tokens, and the files that it was given: it disables core dumps,
// and children inherit no file descriptors but 0, 1 and 2. It is a second line of defence, so that errors are ignored.
func Harden() {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_CORE, &limit) == nil {
		limit.Cur = 0
		_ = unix.Setrlimit(unix.RLIMIT_CORE, &limit)
	}
	forbidReading()
	setCloseOnExec()
}

// setEachCloseOnExec sets close-on-exec for every descriptor above stderr that the folder lists.
func setEachCloseOnExec(list string) {
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
