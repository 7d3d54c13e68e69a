//go:build linux && !race

package wire

import (
	"errors"
	"os"
	"syscall"
	"testing"
)

// A file that somebody made block again is not read in a way that would stop everything.
func TestFilesThatMayBlock(t *testing.T) {
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	defer out.Close()
	conn, err := in.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	err = conn.Control(func(fd uintptr) {
		if mayBlock(fd) {
			t.Error("a pipe of ours may block")
		}
		if _, err := readNow(fd, make([]byte, 1)); !errors.Is(err, syscall.EAGAIN) {
			t.Errorf("reading nothing: %v", err)
		}
		if err := syscall.SetNonblock(int(fd), false); err != nil {
			t.Error(err)
		}
		if !mayBlock(fd) {
			t.Error("that the pipe blocks was not seen")
		}
		if _, err := out.Write([]byte("x")); err != nil {
			t.Error(err)
		}
		if n, err := readNow(fd, make([]byte, 1)); n != 1 || err != nil {
			t.Errorf("read %d, %v", n, err)
		}
	})
	if err != nil {
		t.Error(err)
	}
}
