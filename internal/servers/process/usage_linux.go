package process

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// tick is the unit of times in /proc: USER_HZ, which is the same on all architectures that we are built for.
const tick = 10 * time.Millisecond

// Measure returns what process trees use. A process that has exited uses nothing. Processes that a server left behind count for
// it while they run: they are children of this program, and have the mark of the server.
func Measure(leaders []int) map[int]Usage {
	pids, err := listProcesses()
	if err != nil {
		return nil
	}
	children, uses := make(map[int][]int), make(map[int]Usage)
	page, now := int64(os.Getpagesize()), sinceBoot()
	for _, pid := range append(pids, os.Getpid()) {
		s, ok := readStat(pid)
		if !ok {
			continue
		}
		use := Usage{CPU: time.Duration(s.cpu) * tick}
		if s.alive() {
			children[s.parent] = append(children[s.parent], pid)
			use.Memory, use.Age = s.pages*page, max(now-time.Duration(s.started)*tick, tick)
		} else if s.parent != os.Getpid() { // nobody waits for our own but we, and at once
			children[s.parent] = append(children[s.parent], pid)
		}
		uses[pid] = use
	}
	orphans := orphansOf(leaders, children[os.Getpid()])
	sums := make(map[int]Usage, len(leaders))
	for _, leader := range leaders {
		sum := Usage{Age: uses[leader].Age}
		todo := append([]int{leader}, orphans[leader]...)
		for len(todo) > 0 {
			pid := todo[len(todo)-1]
			todo = append(todo[:len(todo)-1], children[pid]...)
			sum.Memory += uses[pid].Memory
			sum.CPU += uses[pid].CPU
		}
		sums[leader] = sum
	}
	return sums
}

// sinceBoot returns the time since the system started, which the start of processes is counted from.
func sinceBoot() time.Duration {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &now); err != nil {
		return 0 // cannot be: Linux has this clock
	}
	return time.Duration(now.Nano())
}

// orphansOf returns which of our children are not started by us but were left behind by one of the servers, by the leader of
// its tree.
func orphansOf(leaders, children []int) map[int][]int {
	own, _ := readLockLimit(os.Getpid()) // which children have where marks are not possible
	isLeader := make(map[int]bool, len(leaders))
	for _, leader := range leaders {
		isLeader[leader] = true
	}
	marks := make(map[mark][]int) // of the children that may be
	for _, pid := range children {
		if isLeader[pid] {
			continue
		}
		if limit, ok := readLockLimit(pid); ok && limit != own && mark(limit).server() != guardServer {
			marks[mark(limit)] = append(marks[mark(limit)], pid)
		}
	}
	if len(marks) == 0 {
		return nil
	}
	orphans := make(map[int][]int)
	for _, leader := range leaders {
		if limit, ok := readLockLimit(leader); ok && leader != os.Getpid() {
			if left := marks[mark(limit)]; left != nil {
				orphans[leader] = left
			}
		}
	}
	return orphans
}
