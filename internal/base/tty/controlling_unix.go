//go:build unix

package tty

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// openControlling refuses a terminal in which this program runs in the background: reading would stop the program.
func openControlling() (in, out *os.File, err error) {
	in, err = os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return nil, nil, err
	}
	front, err := unix.IoctlGetInt(int(in.Fd()), unix.TIOCGPGRP)
	if err == nil && front != unix.Getpgrp() {
		err = errors.New("the program runs in the background")
	}
	if err == nil {
		out, err = os.OpenFile("/dev/tty", os.O_WRONLY, 0)
	}
	if err != nil {
		_ = in.Close() // nothing was read
		return nil, nil, err
	}
	return in, out, nil
}
