package process

import (
	"os"

	"golang.org/x/sys/unix"
)

// unread returns how many bytes of what was written to the pipe nobody has read yet, also
// when its readers are gone. It is asked at our end: Linux tells both.
func unread(pipe *os.File) (n int, known bool) {
	raw, err := pipe.SyscallConn()
	if err != nil {
		return 0, false
	}
	err = raw.Control(func(fd uintptr) {
		var asked error
		n, asked = unix.IoctlGetInt(int(fd), unix.TIOCINQ) // also named FIONREAD
		known = asked == nil
	})
	return n, known && err == nil
}
