//go:build linux && (amd64 || arm64)

package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// lineFD is the launcher's end of the line to the workbench: the first of exec.Cmd.ExtraFiles. It closes when the server is
// executed.
const lineFD = 3

// planFD is the plan as JSON: the second of exec.Cmd.ExtraFiles. It is not an argument, which others could read, and the launcher has
// nothing of the server's environment: a variable could load code into it.
const planFD = 4

// LauncherMain is the main function of the launcher. It returns only if the server could not be executed.
func LauncherMain() int {
	// What is given up is given up by one thread. It is the one that executes the server, and the others end with that.
	runtime.LockOSThread()
	unix.CloseOnExec(lineFD)
	unix.CloseOnExec(planFD)
	plan, encoded := &Plan{}, make([]byte, maxPlan)
	n, err := unix.Pread(planFD, encoded, 0)
	if err == nil {
		err = json.Unmarshal(encoded[:max(0, n)], plan)
	}
	if err != nil {
		tell(report{Error: "the launcher of the sandbox was started without a plan", Fix: "It is started by the workbench only."}, -1)
		return 2
	}
	warden, gaps, err := confine(plan)
	if err != nil {
		answer := report{Error: "the sandbox cannot be had on this system: " + err.Error()}
		if known, ok := errors.AsType[*Error](err); ok {
			answer = report{Error: known.Message, Fix: known.Fix}
		}
		tell(answer, -1)
		return 1
	}
	tell(report{Gaps: gaps}, warden)
	err = syscall.Exec(plan.Path, plan.Args, append(plan.Env, os.Environ()...)) // of our own, only the mark, if it is a variable
	errno, _ := errors.AsType[syscall.Errno](err)
	tell(report{Errno: int(errno), Error: err.Error()}, -1)
	return 1
}

// tell sends a report to the workbench, with a file descriptor unless it is negative. If nobody listens, the launcher has no
// other way to tell.
func tell(r report, fd int) {
	encoded, _ := json.Marshal(r) // it consists of texts and numbers
	var rights []byte
	if fd >= 0 {
		rights = unix.UnixRights(fd)
	}
	_ = unix.Sendmsg(lineFD, encoded, rights, nil, unix.MSG_NOSIGNAL)
}

// confine gives up all rights but those of the plan, for this thread and what it executes. gaps is what the kernel cannot
// keep it from. warden is a file descriptor, or -1 without a warden; see Warden.
func confine(plan *Plan) (warden int, gaps []string, err error) {
	version := landlockVersion()
	if plan.LandlockVersion != 0 {
		version = max(0, min(version, plan.LandlockVersion))
	}
	if gaps = gapsOf(version); len(gaps) > 0 && !plan.BestEffort {
		return -1, nil, missing(gaps)
	}
	if err := limit(plan.Memory); err != nil {
		return -1, nil, err
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return -1, nil, fmt.Errorf("no_new_privs: %w", err)
	}
	if version > 0 {
		if err := restrictFiles(plan, version); err != nil {
			return -1, nil, err
		}
	}
	if err := dropCapabilities(); err != nil {
		return -1, nil, err
	}
	warden, err = installFilter(plan.Network, true)
	if errors.Is(err, unix.EBUSY) || errors.Is(err, unix.EINVAL) {
		// The workbench itself runs where system calls are decided on by somebody, as in some containers. There can be
		// only one who does.
		warden, err = installFilter(plan.Network, false)
	}
	if err != nil {
		return -1, nil, missing([]string{fmt.Sprintf("the filter of system calls is refused (%v)", err)})
	}
	return warden, gaps, nil
}

// limit sets the limits of resources, which the program cannot raise.
func limit(memory int64) error {
	limits := []struct {
		resource int
		value    uint64
	}{{unix.RLIMIT_CORE, 0}, {unix.RLIMIT_DATA, uint64(memory)}}
	for _, l := range limits {
		if l.resource == unix.RLIMIT_DATA && memory <= 0 {
			continue
		}
		var before unix.Rlimit
		if err := unix.Getrlimit(l.resource, &before); err != nil {
			return fmt.Errorf("reading a limit: %w", err)
		}
		value := min(l.value, before.Max)
		if err := unix.Setrlimit(l.resource, &unix.Rlimit{Cur: value, Max: value}); err != nil {
			return fmt.Errorf("setting a limit: %w", err)
		}
	}
	return nil
}

// dropCapabilities gives up all capabilities, and with them what root may do beyond owning files. Others have none, and may
// not change the bounding set; no_new_privs has the same effect for them.
func dropCapabilities() error {
	const noRoot = 1<<0 | 1<<1 | 1<<2 | 1<<3 | 1<<5 | 1<<6 | 1<<7 // SECBIT_NOROOT, NO_SETUID_FIXUP, NO_CAP_AMBIENT_RAISE and their locks
	err := unix.Prctl(unix.PR_SET_SECUREBITS, noRoot, 0, 0, 0)
	isPrivileged := err == nil
	for c := uintptr(0); isPrivileged && c <= unix.CAP_LAST_CAP+8; c++ {
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0); err != nil && !errors.Is(err, unix.EINVAL) { // no such capability
			return fmt.Errorf("dropping a capability: %w", err)
		}
	}
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil && !errors.Is(err, unix.EINVAL) {
		return fmt.Errorf("dropping ambient capabilities: %w", err)
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	none := [2]unix.CapUserData{}
	if err := unix.Capset(&header, &none[0]); err != nil {
		return fmt.Errorf("dropping capabilities: %w", err)
	}
	return nil
}
