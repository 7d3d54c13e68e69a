package process

import (
	"os"

	"golang.org/x/sys/unix"
)

// unread returns how many bytes in the pipe have not been read, even if the readers are gone. Linux also answers this
// at the writing end.
func unread(pipe *os.File) (n int, known bool) {
	raw, err := pipe.SyscallConn()
	if err != nil {
		return 0, false
	}
	err = raw.Control(func(fd uintptr) {
		var asked error
		n, asked = unix.IoctlGetInt(int(fd), unix.TIOCINQ) // also called FIONREAD
		known = asked == nil
	})
	return n, known && err == nil
}
