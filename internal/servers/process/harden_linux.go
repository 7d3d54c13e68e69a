package process

import (
	"math"

	"golang.org/x/sys/unix"
)

// forbidReading keeps other processes of the same user from reading the memory of this one or attaching to it. exec
// resets it.
func forbidReading() { _ = unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0) }

// setCloseOnExec keeps children from inheriting file descriptors that this process inherited.
func setCloseOnExec() {
	if unix.CloseRange(3, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC) != nil { // before Linux 5.11
		setEachCloseOnExec("/proc/self/fd")
	}
}
