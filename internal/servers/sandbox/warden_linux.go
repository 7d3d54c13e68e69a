//go:build linux && (amd64 || arm64)

package sandbox

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Warden decides on the system calls that change modes, owners and times of files. Landlock does not check them, and a filter
// cannot see which file they are about. So the kernel suspends such a call and asks the workbench, which makes the change
// itself if the file is in a folder that the program may write to. The program cannot swap the file in between: the workbench
// opens it, checks what it has opened, and changes that.
type Warden struct {
	notifier *os.File
	write    []string
	done     chan struct{} // closed by run

	closing sync.Once
}

func newWarden(fd int, plan *Plan) *Warden {
	_ = unix.SetNonblock(fd, true) // for the poller; the calls below never wait
	w := &Warden{notifier: os.NewFile(uintptr(fd), "seccomp"), write: plan.Write, done: make(chan struct{})}
	go w.run() // ends with the last process of the sandbox, or with Close
	return w
}

// Close ends the warden. The calls that it decides on fail from then on.
func (w *Warden) Close() {
	if w == nil {
		return
	}
	w.closing.Do(func() { _ = w.notifier.Close() })
	patience := time.NewTimer(wardenTime)
	defer patience.Stop()
	select {
	case <-w.done:
	case <-patience.C:
	}
}

// wardenTime is how long the end of a sandbox waits for a file that is being opened, as on a network that does not answer. Then it is left to
// itself.
const wardenTime = time.Second

func (w *Warden) run() {
	defer close(w.done)
	raw, err := w.notifier.SyscallConn()
	if err != nil {
		return
	}
	for {
		call, ended := callOfProgram{}, false
		err := raw.Read(func(fd uintptr) bool {
			ready := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
			for {
				n, err := unix.Poll(ready, 0)
				switch {
				case errors.Is(err, unix.EINTR):
				case err != nil, n > 0 && ready[0].Revents&unix.POLLIN == 0: // POLLHUP: no process is left
					ended = true
					return true
				case n == 0:
					return false
				default:
					// What was there may be gone, as with a process that was killed.
					if err := control(fd, unix.SECCOMP_IOCTL_NOTIF_RECV, unsafe.Pointer(&call)); err == nil {
						return true
					}
					call = callOfProgram{}
				}
			}
		})
		if err != nil || ended {
			return
		}
		w.answer(raw, &call)
	}
}

// callOfProgram is struct seccomp_notif.
type callOfProgram struct {
	id     uint64
	pid    uint32
	flags  uint32
	number int32
	arch   uint32
	at     uint64
	args   [6]uint64
}

// answerToProgram is struct seccomp_notif_resp.
type answerToProgram struct {
	id    uint64
	value int64
	errno int32
	flags uint32
}

func control(fd, request uintptr, argument unsafe.Pointer) error {
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, fd, request, uintptr(argument)); errno != 0 {
		return errno
	}
	return nil
}

func (w *Warden) answer(raw interface{ Control(func(uintptr)) error }, call *callOfProgram) {
	stillAsks := func() bool {
		id, err := call.id, error(unix.ENOENT)
		_ = raw.Control(func(fd uintptr) { err = control(fd, unix.SECCOMP_IOCTL_NOTIF_ID_VALID, unsafe.Pointer(&id)) })
		return err == nil
	}
	reply := answerToProgram{id: call.id}
	if err := w.decide(call, stillAsks); err != nil {
		errno, ok := errors.AsType[unix.Errno](err)
		if !ok {
			errno = unix.EPERM
		}
		reply.errno = -int32(errno)
	}
	// It fails if the process is gone.
	_ = raw.Control(func(fd uintptr) { _ = control(fd, unix.SECCOMP_IOCTL_NOTIF_SEND, unsafe.Pointer(&reply)) })
}

// decide makes the change of a call, or says why not. stillAsks reports whether the process that asks is still the one
// with that number.
func (w *Warden) decide(call *callOfProgram, stillAsks func() bool) error {
	change, ok := changes[int(call.number)]
	if !ok {
		return unix.ENOSYS
	}
	times, err := change.readTimes(call)
	if err != nil {
		return err
	}
	file, err := w.open(call, change)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(file) }()
	if !stillAsks() { // what was read and opened belongs to another process
		return unix.ESRCH
	}
	var info unix.Stat_t
	if err := unix.Fstat(file, &info); err != nil {
		return err
	}
	if path, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", file)); err != nil || !isWithinAny(path, w.write) {
		return unix.EPERM
	}
	return change.apply(file, call, &info, times)
}

// open opens the file of a call, without a right to it.
func (w *Warden) open(call *callOfProgram, change *change) (int, error) {
	flags := unix.O_PATH | unix.O_CLOEXEC
	given := uint64(0)
	if change.flags >= 0 {
		given = call.args[change.flags]
	}
	if change.noFollow || given&unix.AT_SYMLINK_NOFOLLOW != 0 {
		flags |= unix.O_NOFOLLOW
	}
	folder := fmt.Sprintf("/proc/%d/cwd", call.pid)
	if change.folder >= 0 && int32(call.args[change.folder]) != unix.AT_FDCWD {
		folder = fmt.Sprintf("/proc/%d/fd/%d", call.pid, int32(call.args[change.folder]))
	}
	path := ""
	switch {
	case change.path < 0 && int32(call.args[change.folder]) < 0:
		return -1, unix.EBADF
	case change.path >= 0 && call.args[change.path] == 0 && (change.times != timespecs || int32(call.args[change.folder]) < 0):
		return -1, unix.EFAULT // only utimensat takes no path for an open file
	case change.path >= 0 && call.args[change.path] != 0:
		text, err := readText(int(call.pid), call.args[change.path])
		if err != nil {
			return -1, err
		}
		if text == "" && given&unix.AT_EMPTY_PATH == 0 {
			return -1, unix.ENOENT
		}
		path = text
	}
	if path == "" { // the file that is open as the descriptor
		return unix.Open(folder, unix.O_PATH|unix.O_CLOEXEC, 0)
	}
	if filepath.IsAbs(path) {
		return unix.Open(ofProcess(path, call.pid), flags, 0)
	}
	base, err := unix.Open(folder, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, err
	}
	defer func() { _ = unix.Close(base) }()
	return unix.Openat(base, path, flags, 0)
}

// ofProcess returns a path as it is for a process: its own entry of /proc is another one than ours. Paths that reach it by
// links lead to ours, where no file is in a folder of the program.
func ofProcess(path string, pid uint32) string {
	for from, to := range map[string]string{"/proc/self/": "/proc/%d/", "/dev/fd/": "/proc/%d/fd/"} {
		if rest, ok := strings.CutPrefix(filepath.Clean(path), from); ok {
			return fmt.Sprintf(to, pid) + rest
		}
	}
	return path
}

// readText reads a path from the memory of a process.
func readText(pid int, address uint64) (string, error) {
	text := make([]byte, 0, unix.PathMax)
	for len(text) < unix.PathMax {
		// Up to the end of the page: the next one may not be there.
		part := make([]byte, min(4096-int(address%4096), unix.PathMax-len(text)))
		if err := readMemory(pid, address, part); err != nil {
			return "", err
		}
		for i, b := range part {
			if b == 0 {
				return string(append(text, part[:i]...)), nil
			}
		}
		text, address = append(text, part...), address+uint64(len(part))
	}
	return "", unix.ENAMETOOLONG
}

func readMemory(pid int, address uint64, into []byte) error {
	local := []unix.Iovec{{Base: &into[0]}}
	local[0].SetLen(len(into))
	n, err := unix.ProcessVMReadv(pid, local, []unix.RemoteIovec{{Base: uintptr(address), Len: len(into)}}, 0)
	if err == nil && n != len(into) {
		err = unix.EFAULT
	}
	return err
}

// change describes a system call: which of its arguments are what. An argument that it does not have is -1.
type change struct {
	folder, path, flags int
	noFollow            bool
	mode, owner         int        // owner: that of the user; the group follows
	times               timeFormat // of the argument after the path, or -1
	timesAt             int
}

// timeFormat is how a call has times.
type timeFormat int

const (
	noTimes    timeFormat = iota
	timespecs             // two of seconds and nanoseconds
	timevals              // two of seconds and microseconds
	wholeTimes            // two of seconds
)

// readTimes reads the new times of a call, nil for the present.
func (c *change) readTimes(call *callOfProgram) ([]unix.Timespec, error) {
	if c.times == noTimes || call.args[c.timesAt] == 0 {
		return nil, nil
	}
	size, scale := 32, int64(1)
	switch c.times {
	case timevals:
		scale = 1000
	case wholeTimes:
		size, scale = 16, 0
	}
	memory := make([]byte, size)
	if err := readMemory(int(call.pid), call.args[c.timesAt], memory); err != nil {
		return nil, err
	}
	times := make([]unix.Timespec, 2)
	for i := range times {
		part := memory[i*size/2:]
		times[i].Sec = int64(binary.NativeEndian.Uint64(part))
		if scale > 0 {
			times[i].Nsec = int64(binary.NativeEndian.Uint64(part[8:])) * scale
		}
	}
	return times, nil
}

// apply changes an open file, with no more rights than the program has: it owns the file, and lends its rights to nobody.
func (c *change) apply(file int, call *callOfProgram, info *unix.Stat_t, times []unix.Timespec) error {
	isOwner := int(info.Uid) == os.Geteuid()
	if !isOwner && (c.times == noTimes || times != nil) {
		return unix.EPERM
	}
	self := fmt.Sprintf("/proc/self/fd/%d", file)
	switch {
	case c.mode >= 0:
		mode := uint32(call.args[c.mode]) & 0o7777
		if mode&(unix.S_ISUID|unix.S_ISGID) != 0 && info.Mode&unix.S_IFMT != unix.S_IFDIR {
			return unix.EPERM // another user could run it as this one
		}
		if info.Mode&unix.S_IFMT == unix.S_IFLNK {
			return unix.EOPNOTSUPP
		}
		return unix.Fchmodat(unix.AT_FDCWD, self, mode, 0)
	case c.owner >= 0:
		user, group := int32(call.args[c.owner]), int32(call.args[c.owner+1])
		if user != -1 && uint32(user) != info.Uid || group != -1 && uint32(group) != info.Gid && int(group) != os.Getegid() {
			return unix.EPERM
		}
		return unix.Fchownat(file, "", int(user), int(group), unix.AT_EMPTY_PATH)
	}
	if !isOwner && unix.Faccessat(unix.AT_FDCWD, self, unix.W_OK, 0) != nil {
		return unix.EACCES
	}
	if info.Mode&unix.S_IFMT == unix.S_IFLNK {
		return utimes(file, times)
	}
	return unix.UtimesNanoAt(unix.AT_FDCWD, self, orNow(times), 0)
}

func orNow(times []unix.Timespec) []unix.Timespec {
	if times == nil {
		return []unix.Timespec{{Nsec: unix.UTIME_NOW}, {Nsec: unix.UTIME_NOW}}
	}
	return times
}

// utimes changes the times of a symbolic link that is open.
func utimes(file int, times []unix.Timespec) error {
	times = orNow(times)
	empty := []byte{0}
	_, _, errno := unix.Syscall6(unix.SYS_UTIMENSAT, uintptr(file), uintptr(unsafe.Pointer(&empty[0])), uintptr(unsafe.Pointer(&times[0])), unix.AT_EMPTY_PATH, 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}

// changes are the calls that both kinds of processors have.
var changes = map[int]*change{
	unix.SYS_FCHMOD:    {folder: 0, path: -1, flags: -1, mode: 1, owner: -1},
	unix.SYS_FCHMODAT:  {folder: 0, path: 1, flags: -1, mode: 2, owner: -1},
	unix.SYS_FCHMODAT2: {folder: 0, path: 1, flags: 3, mode: 2, owner: -1},
	unix.SYS_FCHOWN:    {folder: 0, path: -1, flags: -1, mode: -1, owner: 1},
	unix.SYS_FCHOWNAT:  {folder: 0, path: 1, flags: 4, mode: -1, owner: 2},
	unix.SYS_UTIMENSAT: {folder: 0, path: 1, flags: 3, mode: -1, owner: -1, times: timespecs, timesAt: 2},
}
