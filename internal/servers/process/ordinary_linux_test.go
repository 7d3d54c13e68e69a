//go:build amd64 || arm64

package process

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// ordinary does what servers do, in the folder that it may write to.
func ordinary(args []string) error {
	folder := args[1]
	file, moved := filepath.Join(folder, "file"), filepath.Join(folder, "sub", "moved")
	pair, pairErr := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	_, addressesErr := net.Interfaces()
	temp, tempErr := os.CreateTemp("", "")
	child := roleCommand("plain", os.DevNull)
	null, nullErr := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	child.Stdin, child.Stdout = null, null
	problems := []error{
		pairErr, addressesErr, tempErr, nullErr,
		os.WriteFile(file, []byte("x"), 0o600), os.Chmod(file, 0o755), os.Chown(file, -1, os.Getgid()),
		os.Chtimes(file, time.Unix(100, 0), time.Unix(200, 0)), os.Mkdir(filepath.Join(folder, "sub"), 0o700), os.Rename(file, moved),
		os.Symlink(moved, filepath.Join(folder, "to")), os.Lchown(filepath.Join(folder, "to"), -1, -1), os.Link(moved, filepath.Join(folder, "again")),
		fromOpen(moved, func(f *os.File) error { return errors.Join(f.Chmod(0o711), f.Sync()) }),
		fromOpen(folder, func(f *os.File) error { return unix.Fchmodat(int(f.Fd()), "again", 0o750, 0) }),
		fromOpen(moved, func(f *os.File) error { return os.Chmod(fmt.Sprintf("/proc/self/fd/%d", f.Fd()), 0o700) }),
		readFile("/etc/passwd"), readFile("/proc/self/environ"), child.Run(),
	}
	info, err := os.Stat(moved)
	if problems = append(problems, err); err == nil && (info.Mode() != 0o700 || !info.ModTime().Equal(time.Unix(200, 0))) {
		problems = append(problems, fmt.Errorf("mode %v, time %v", info.Mode(), info.ModTime()))
	}
	if tempErr == nil {
		problems = append(problems, temp.Chmod(0o640))
	}
	if len(pair) == 2 {
		_, err := syscall.Write(pair[0], []byte("x"))
		problems = append(problems, err)
	}
	if err := errors.Join(problems...); err != nil {
		return errors.New(strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	return nil
}
