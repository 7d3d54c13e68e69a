package process

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// stat is the part of /proc/<pid>/stat used here.
type stat struct {
	state                           byte
	parent, group, session, threads int
	pages                           int64 // resident pages
	cpu                             int64 // in clock ticks, of the process and of those it has waited for
	started                         int64 // in clock ticks since the system started
}

// alive is false for a zombie. A process whose first thread has ended also shows as zombie while other threads run.
func (s stat) alive() bool {
	return s.state != 'Z' && s.state != 'X' || s.threads > 1
}

func readStat(pid int) (stat, bool) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return stat{}, false
	}
	// The name is second, in parentheses, and can contain anything.
	end := bytes.LastIndexByte(data, ')')
	if end < 0 {
		return stat{}, false
	}
	fields := strings.Fields(string(data[end+1:]))
	if len(fields) < 22 {
		return stat{}, false
	}
	number := func(field int) int {
		n, _ := strconv.Atoi(fields[field]) // written by the kernel
		return n
	}
	return stat{
		state:   fields[0][0],
		parent:  number(1),
		group:   number(2),
		session: number(3),
		threads: number(17),
		pages:   int64(number(21)),
		cpu:     int64(number(11)) + int64(number(12)) + int64(number(13)) + int64(number(14)),
		started: int64(number(19)),
	}, true
}

// readUser returns the real user of a process. That user can signal it even if it runs with other rights.
func readUser(pid int) (int, bool) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, false
	}
	_, line, ok := bytes.Cut(data, []byte("\nUid:\t"))
	if !ok {
		return 0, false
	}
	user, _, _ := strings.Cut(string(line), "\t")
	n, err := strconv.Atoi(user)
	return n, err == nil
}

// readLockLimit returns the soft RLIMIT_LOCKS of a process, also of a zombie. The system call is forty times as fast as
// /proc, which leaves a process that forks and exits little time to escape a scan, but it works only for the same user.
func readLockLimit(pid int) (uint64, bool) {
	var own unix.Rlimit
	if err := unix.Prlimit(pid, unix.RLIMIT_LOCKS, nil, &own); err == nil {
		return own.Cur, true
	} else if errors.Is(err, unix.ESRCH) {
		return 0, false
	}
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/limits", pid))
	if err != nil {
		return 0, false
	}
	_, line, ok := bytes.Cut(data, []byte("\nMax file locks "))
	if !ok {
		return 0, false
	}
	soft, _, _ := strings.Cut(strings.TrimLeft(string(line), " "), " ")
	if soft == "unlimited" {
		return unix.RLIM_INFINITY, true
	}
	limit, err := strconv.ParseUint(soft, 10, 64)
	return limit, err == nil
}

// readVariable returns a variable of a process's initial environment.
func readVariable(pid int, name string) (string, bool) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	if err != nil {
		return "", false
	}
	for entry := range bytes.SplitSeq(data, []byte{0}) {
		if value, ok := bytes.CutPrefix(entry, []byte(name+"=")); ok {
			return string(value), true
		}
	}
	return "", false
}

// listProcesses returns the ids of all processes except this one, newest first (until the numbers wrap around): these
// are the most likely to exit soon.
func listProcesses() ([]int, error) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	self := os.Getpid()
	var pids []int
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil && pid != self {
			pids = append(pids, pid)
		}
	}
	slices.SortFunc(pids, func(a, b int) int { return b - a })
	return pids, nil
}
