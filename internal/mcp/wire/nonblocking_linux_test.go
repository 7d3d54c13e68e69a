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
	// It takes the place of our standard input, since only what we were given is anybody else's.
	before, err := syscall.Dup(0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := errors.Join(syscall.Dup3(before, 0, 0), syscall.Close(before)); err != nil {
			t.Error(err)
		}
	}()
	conn, err := in.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	err = conn.Control(func(own uintptr) {
		if err := syscall.Dup3(int(own), 0, 0); err != nil {
			t.Fatal(err)
		}
		if mayBlock(0) {
			t.Error("a pipe that does not block may block")
		}
		if _, err := readNow(0, make([]byte, 1)); !errors.Is(err, syscall.EAGAIN) {
			t.Errorf("reading nothing: %v", err)
		}
		if err := syscall.SetNonblock(0, false); err != nil {
			t.Error(err)
		}
		if !mayBlock(0) {
			t.Error("that the pipe blocks was not seen")
		}
		if mayBlock(own) {
			t.Error("what we opened ourselves was asked for")
		}
		if _, err := out.Write([]byte("x")); err != nil {
			t.Error(err)
		}
		if n, err := readNow(0, make([]byte, 1)); n != 1 || err != nil {
			t.Errorf("read %d, %v", n, err)
		}
	})
	if err != nil {
		t.Error(err)
	}
}
