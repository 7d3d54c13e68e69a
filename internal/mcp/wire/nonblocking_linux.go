package wire

import (
	"sync/atomic"
	"syscall"
	"unsafe"
)

// rawLimit is the most that is read or written without telling the scheduler. Until such a call returns, its thread
// cannot be stopped for the garbage collector, so that it is only for what is copied in a moment.
const rawLimit = 64 << 10

// lastInherited is the last of the descriptors that a program is started with.
const lastInherited = 2

// transferred counts writes and is loaded by reads. It orders a read after the write whose bytes it got, which the race
// detector cannot see in a raw system call.
var transferred atomic.Uint64

// readNow reads from a descriptor that does not block.
func readNow(fd uintptr, data []byte) (int, error) {
	if len(data) > rawLimit || mayBlock(fd) {
		return syscall.Read(int(fd), data)
	}
	n, err := rawCall(syscall.SYS_READ, fd, data)
	transferred.Load()
	return n, err
}

// writeNow writes to a descriptor that does not block.
func writeNow(fd uintptr, data []byte) (int, error) {
	if len(data) > rawLimit || mayBlock(fd) {
		return syscall.Write(int(fd), data)
	}
	transferred.Add(1)
	return rawCall(syscall.SYS_WRITE, fd, data)
}

// mayBlock reports whether an inherited descriptor blocks: the program that started us shares it, and can change that
// at any time. A blocking call that the scheduler does not know of would stop the whole program. Descriptors that we
// opened ourselves never block.
func mayBlock(fd uintptr) bool {
	if fd > lastInherited {
		return false
	}
	flags, _, errno := syscall.RawSyscall(syscall.SYS_FCNTL, fd, syscall.F_GETFL, 0)
	return errno != 0 || flags&syscall.O_NONBLOCK == 0
}

// rawCall makes a system call without telling the scheduler. Otherwise each message would wake the thread of the Go
// runtime that watches for blocking calls, which costs a fifth of the CPU time of a small call.
func rawCall(trap, fd uintptr, data []byte) (int, error) {
	n, _, errno := syscall.RawSyscall(trap, fd, uintptr(unsafe.Pointer(unsafe.SliceData(data))), uintptr(len(data)))
	if errno != 0 {
		return 0, errno
	}
	return int(n), nil
}
