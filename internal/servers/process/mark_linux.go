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

// mark is what every process of a server inherits: 46 random bits for the run of the
// workbench, one bit for KeepDetached and 15 bits for the server. With the bit in the
// mark the guard and the next run know whom to spare without being told.
type mark uint64

const (
	runBits       = 46
	keepBit  mark = 1 << 15
	serverOf      = keepBit - 1

	// guardServer marks the guard itself, which no sweep of its run may end. It needs
	// a mark of its own, lest a workbench that started this one takes it for a part
	// of the server that we are to it.
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

// marking is how marks are attached to processes.
type marking string

const (
	// byLimit uses the soft RLIMIT_LOCKS. The kernel has ignored it since 2.4.25, but
	// hands it down through fork, exec, setsid and a cleared environment, needs no
	// privilege for it, and shows it to everyone in /proc.
	byLimit marking = "limit"

	// byEnvironment is for systems that refuse such a limit. It loses processes that
	// clear their environment and whose parents are gone.
	byEnvironment marking = "env"

	markVariable = "WORKBENCH_RUN"

	// maxAncestors bounds the walk to a marked ancestor.
	maxAncestors = 32
)

// spawning guards what belongs to the whole program and not to one Host: its own
// resource limit, and which of its children will be waited for by someone.
var spawning = struct {
	sync.Mutex
	children map[int]bool
}{children: make(map[int]bool)}

// chooseMarking tries whether a limit can be set and seen.
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

// withLimit runs f while the mark is our own limit. The caller holds spawning.
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
	_ = unix.Prlimit(0, unix.RLIMIT_LOCKS, &before, nil) // what was allowed before is allowed now
	return err
}

// start starts a command whose process carries the mark from its first moment, and
// registers it as one that will be waited for.
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

// forgetChild is called when a child was waited for.
func forgetChild(pid int) {
	spawning.Lock()
	defer spawning.Unlock()
	delete(spawning.children, pid)
}

// of returns the mark of a process.
func (k marking) of(pid int) (mark, bool) {
	if k == byLimit {
		limit, ok := readLockLimit(pid)
		return mark(limit), ok
	}
	return markFromEnvironment(pid)
}

// markFromEnvironment returns the mark in the environment of a process, or else of
// its nearest ancestor or of the leader of its group.
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

// run is what must be known of a workbench's run to find its processes from outside:
// the guard gets it as an argument, and a ledger file has it as its name.
type run struct {
	id      uint64
	session int // of the workbench, and so of every server's process that did not detach
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
