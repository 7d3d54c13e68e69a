package process

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// mark is a number that every process of a server inherits: 46 random bits for the run of the workbench, one bit for
// KeepDetached and 15 bits for the server. With that bit, the guard and the next run know which processes to spare.
type mark uint64

const (
	runBits       = 46
	keepBit  mark = 1 << 15
	serverOf      = keepBit - 1

	// guardServer marks the guard itself, which no sweep of its run may end. It needs a mark: otherwise a workbench
	// that started this one as a server would count the guard as a part of that server.
	guardServer = 0
)

func newMark(run uint64, server uint16, keepDetached bool) mark {
	m := mark(run)<<16 | mark(server)&serverOf
	if keepDetached {
		m |= keepBit
	}
	return m
}

func (m mark) run() uint64         { return uint64(m >> 16) }
func (m mark) server() uint16      { return uint16(m & serverOf) }
func (m mark) keepsDetached() bool { return m&keepBit != 0 }

// marking is the way to attach marks to processes.
type marking string

const (
	// byLimit uses the soft RLIMIT_LOCKS. The kernel has ignored it since 2.4.25, but passes it on through fork, exec,
	// setsid and a cleared environment, requires no privilege for it, and shows it to everyone in /proc.
	byLimit marking = "limit"

	// byEnvironment is for systems that refuse such a limit. It misses processes that clear their environment and whose
	// parents have exited.
	byEnvironment marking = "env"

	markVariable = "WORKBENCH_RUN"

	// maxAncestors bounds the search for a marked ancestor.
	maxAncestors = 32
)

// spawning guards state of the whole program, not of one Host: its own resource limit, and which of its children
// somebody waits for.
var spawning = struct {
	sync.Mutex
	children map[int]bool
}{children: make(map[int]bool)}

// chooseMarking tests whether the limit can be set and read.
func chooseMarking(run uint64) (marking, error) {
	spawning.Lock()
	defer spawning.Unlock()
	probe := newMark(run, guardServer, false)
	err := withLimit(probe, func() error {
		if got, ok := readLockLimit(os.Getpid()); !ok || mark(got) != probe {
			return errors.New("the lock limit does not keep what was set")
		}
		return nil
	})
	if err != nil {
		return byEnvironment, err
	}
	return byLimit, nil
}

// withLimit runs f while the limit of this process is the mark. The caller holds spawning.
func withLimit(m mark, f func() error) error {
	var before unix.Rlimit
	if err := unix.Prlimit(0, unix.RLIMIT_LOCKS, nil, &before); err != nil {
		return fmt.Errorf("reading the lock limit: %w", err)
	}
	marked := unix.Rlimit{Cur: uint64(m), Max: before.Max}
	if err := unix.Prlimit(0, unix.RLIMIT_LOCKS, &marked, nil); err != nil {
		return fmt.Errorf("setting the lock limit: %w", err)
	}
	err := f()
	_ = unix.Prlimit(0, unix.RLIMIT_LOCKS, &before, nil) // cannot fail: it was allowed before
	return err
}

// start starts a command with the mark, and registers its process as one that somebody waits for.
func (k marking) start(cmd *exec.Cmd, m mark) error {
	spawning.Lock()
	defer spawning.Unlock()
	var err error
	if k == byLimit {
		err = withLimit(m, cmd.Start)
	} else {
		cmd.Env = append(cmd.Env, fmt.Sprintf("%s=%x", markVariable, uint64(m)))
		err = cmd.Start()
	}
	if err != nil {
		return err
	}
	spawning.children[cmd.Process.Pid] = true
	return nil
}

// forgetChild unregisters a child after the wait for it.
func forgetChild(pid int) {
	spawning.Lock()
	defer spawning.Unlock()
	delete(spawning.children, pid)
}

// markOf returns the mark of a process.
func (k marking) markOf(pid int) (mark, bool) {
	if k == byLimit {
		limit, ok := readLockLimit(pid)
		return mark(limit), ok
	}
	return markFromEnvironment(pid)
}

// markFromEnvironment returns the mark in the environment of a process, of its nearest marked ancestor, or of the
// leader of its group.
func markFromEnvironment(pid int) (mark, bool) {
	s, ok := readStat(pid)
	if !ok {
		return 0, false
	}
	relatives := []int{pid, s.group}
	for range maxAncestors {
		if s.parent <= 1 || s.parent == os.Getpid() {
			break
		}
		relatives = append(relatives, s.parent)
		if s, ok = readStat(s.parent); !ok {
			break
		}
	}
	for _, relative := range relatives {
		if value, ok := readVariable(relative, markVariable); ok {
			m, err := strconv.ParseUint(value, 16, 64)
			return mark(m), err == nil
		}
	}
	return 0, false
}

// run identifies the run of a workbench and how to find its processes from outside: the guard gets it as an argument,
// and a ledger file is named after it.
type run struct {
	id      uint64
	session int // of the workbench, and of every server process that did not detach
	marking marking
}

func (r run) String() string {
	return fmt.Sprintf("%012x.%d.%s", r.id, r.session, r.marking)
}

func parseRun(s string) (run, error) {
	parts := strings.Split(s, ".")
	if len(parts) != 3 {
		return run{}, fmt.Errorf("%q does not name a run", s)
	}
	id, idErr := strconv.ParseUint(parts[0], 16, runBits)
	session, sessionErr := strconv.Atoi(parts[1])
	how := marking(parts[2])
	if err := errors.Join(idErr, sessionErr); err != nil {
		return run{}, fmt.Errorf("%q does not name a run: %w", s, err)
	}
	if how != byLimit && how != byEnvironment {
		return run{}, fmt.Errorf("%q does not name a run: unknown marking", s)
	}
	return run{id: id, session: session, marking: how}, nil
}
