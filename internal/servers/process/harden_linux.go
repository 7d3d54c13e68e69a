package process

import (
	"math"

	"golang.org/x/sys/unix"
)

// forbidReading keeps other processes of the same user from reading our memory or attaching to us. It ends with exec.
func forbidReading() { _ = unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0) }

// keepDescriptors keeps files that we inherited from being inherited further.
func keepDescriptors() {
	if unix.CloseRange(3, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC) != nil { // before Linux 5.11
		keepEachDescriptor("/proc/self/fd")
	}
}
