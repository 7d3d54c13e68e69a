//go:build linux && (amd64 || arm64)

package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// launchTime is how long the launcher may take. It opens the folders of the plan, which may be on a network.
const launchTime = 10 * time.Second

// Line is the workbench's end of the line to a launcher.
type Line struct {
	ours, theirs *os.File
	file         *os.File // the plan, in memory
	plan         *Plan
}

// Supported returns nil: there are sandboxes on this system. What the kernel lacks is known when one is made.
func Supported() error { return nil }

// Gaps returns what the kernel lacks for a complete sandbox.
func Gaps() []string { return gapsOf(landlockVersion()) }

// Open makes the line for a plan. Close it in any case.
func Open(plan *Plan) (*Line, error) {
	encoded, err := json.Marshal(plan)
	if err != nil {
		return nil, err
	}
	if len(encoded) >= maxPlan {
		return nil, failure("Name folders instead of what is in them.", "'sandbox' names too many paths, or the environment is too large (more than %d KiB together)", maxPlan>>10)
	}
	memory, err := unix.MemfdCreate("plan", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("the plan of the sandbox: %w", err)
	}
	file := os.NewFile(uintptr(memory), "plan")
	if _, err := file.WriteAt(encoded, 0); err != nil { // the launcher reads it from its beginning
		_ = file.Close()
		return nil, fmt.Errorf("the plan of the sandbox: %w", err)
	}
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		_ = file.Close()
		return nil, fmt.Errorf("the line to the launcher of the sandbox: %w", err)
	}
	return &Line{ours: os.NewFile(uintptr(fds[0]), "launcher"), theirs: os.NewFile(uintptr(fds[1]), "line"), file: file, plan: plan}, nil
}

// Files returns what the launcher has to be started with as exec.Cmd.ExtraFiles.
func (l *Line) Files() []*os.File { return []*os.File{l.theirs, l.file} }

// Close closes the line.
func (l *Line) Close() {
	_ = l.ours.Close()
	_ = l.theirs.Close() // it may be closed already
	_ = l.file.Close()
}

// Await waits until the launcher has executed the program, or has failed: an *Error, or the errno of exec. gaps is what the
// kernel cannot keep the program from.
func (l *Line) Await() (warden *Warden, gaps []string, err error) {
	_ = l.theirs.Close()
	fd := int(l.ours.Fd())
	deadline := unix.NsecToTimeval(int64(launchTime))
	if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &deadline); err != nil {
		return nil, nil, err
	}
	first, notifier, err := receive(fd)
	switch {
	case errors.Is(err, unix.EAGAIN):
		return nil, nil, failure("Is one of its folders on a network that does not answer?", "the launcher of the sandbox did not finish within %s", launchTime)
	case err != nil:
		return nil, nil, fmt.Errorf("the line to the launcher of the sandbox: %w", err)
	case first == nil:
		return nil, nil, failure("", "the launcher of the sandbox ended before it had begun")
	case first.Error != "":
		return nil, nil, &Error{Message: first.Error, Fix: first.Fix}
	}
	if second, _, err := receive(fd); err == nil && second != nil {
		if notifier >= 0 {
			_ = unix.Close(notifier)
		}
		return nil, nil, syscall.Errno(second.Errno)
	}
	if notifier >= 0 {
		warden = newWarden(notifier, l.plan)
	}
	return warden, first.Gaps, nil
}

// receive returns the next report, nil at the end, and the file descriptor that came with it or -1.
func receive(fd int) (*report, int, error) {
	message, control := make([]byte, 16<<10), make([]byte, unix.CmsgSpace(4))
	var n, rights int
	var err error
	for {
		n, rights, _, _, err = unix.Recvmsg(fd, message, control, unix.MSG_CMSG_CLOEXEC)
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	if err != nil || n == 0 {
		return nil, -1, err
	}
	notifier := -1
	if messages, err := unix.ParseSocketControlMessage(control[:rights]); err == nil && len(messages) == 1 {
		if fds, err := unix.ParseUnixRights(&messages[0]); err == nil && len(fds) == 1 {
			notifier = fds[0]
		}
	}
	r := &report{}
	if err := json.Unmarshal(message[:n], r); err != nil {
		return nil, -1, err
	}
	return r, notifier, nil
}
