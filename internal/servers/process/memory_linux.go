package process

import "os"

// Memory returns the resident memory of process trees, in bytes. A process that has exited counts 0; shared memory
// counts for each process. Processes that a server left behind count for it: they are children of this program, and have
// the mark of the server.
func Memory(leaders []int) map[int]int64 {
	pids, err := listProcesses()
	if err != nil {
		return nil
	}
	children, resident := make(map[int][]int), make(map[int]int64)
	page := int64(os.Getpagesize())
	for _, pid := range append(pids, os.Getpid()) {
		if s, ok := readStat(pid); ok && s.alive() {
			children[s.parent] = append(children[s.parent], pid)
			resident[pid] = s.pages * page
		}
	}
	orphans := orphansOf(leaders, children[os.Getpid()])
	sums := make(map[int]int64, len(leaders))
	for _, leader := range leaders {
		todo := append([]int{leader}, orphans[leader]...)
		for len(todo) > 0 {
			pid := todo[len(todo)-1]
			todo = append(todo[:len(todo)-1], children[pid]...)
			sums[leader] += resident[pid]
		}
	}
	return sums
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
