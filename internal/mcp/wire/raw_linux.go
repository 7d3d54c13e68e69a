//go:build linux && !race

package wire

import (
	"syscall"
	"unsafe"
)

// Read and write of files that never block do not tell the scheduler that they are in the
// kernel. Otherwise each message would wake the thread of the Go runtime that watches for
// calls that block, which took as long as all else that is done with a small message.
//
// Until they return, their thread cannot be stopped for the garbage collector, so that they
// are only for what is copied in a moment.
const rawLimit = 64 << 10

// lastGiven is the last of the files that a program is started with.
const lastGiven = 2

func readNow(fd uintptr, data []byte) (int, error) {
	if len(data) > rawLimit || mayBlock(fd) {
		return syscall.Read(int(fd), data)
	}
	return raw(syscall.SYS_READ, fd, data)
}

func writeNow(fd uintptr, data []byte) (int, error) {
	if len(data) > rawLimit || mayBlock(fd) {
		return syscall.Write(int(fd), data)
	}
	return raw(syscall.SYS_WRITE, fd, data)
}

// mayBlock reports that somebody else who has the same file, which is the program that started
// us, made it block again: a call that blocks without the scheduler's knowledge would stop
// everything. It is asked each time, but only of the files that we were given: those that we
// opened ourselves are nobody else's.
func mayBlock(fd uintptr) bool {
	if fd > lastGiven {
		return false
	}
	flags, _, errno := syscall.RawSyscall(syscall.SYS_FCNTL, fd, syscall.F_GETFL, 0)
	return errno != 0 || flags&syscall.O_NONBLOCK == 0
}

func raw(trap, fd uintptr, data []byte) (int, error) {
	n, _, errno := syscall.RawSyscall(trap, fd, uintptr(unsafe.Pointer(unsafe.SliceData(data))), uintptr(len(data)))
	if errno != 0 {
		return 0, errno
	}
	return int(n), nil
}
