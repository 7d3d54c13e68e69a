package app

import (
	"math"
	"sync"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/servers/process"
)

// usageLooks keeps what process trees use for a moment, so that several watchers do not each look for it, and what they used
// before, which their share of the processors is counted from.
type usageLooks struct {
	mu          sync.Mutex
	at          time.Time
	now, before map[int]process.Usage
}

// treeUsage is what is shown of a process tree. It is zero if it is not known.
type treeUsage struct {
	memory     int64
	cpuPercent float64 // of one processor, since the look before, or since the tree's start
	cpuSeconds float64 // since its start
}

// read returns what the trees of processes use.
func (u *usageLooks) read(leaders []int, now time.Time) map[int]treeUsage {
	u.mu.Lock()
	defer u.mu.Unlock()
	isOld := now.Sub(u.at) >= countTime-watchTick/2
	if isOld {
		u.at, u.before = now, u.now
	}
	if isOld || !u.has(leaders) {
		u.now = process.Measure(leaders)
	}
	uses := make(map[int]treeUsage, len(leaders))
	for _, leader := range leaders {
		use := u.now[leader]
		earlier := u.before[leader]
		if earlier.Age > use.Age { // of another process with this number
			earlier = process.Usage{}
		}
		uses[leader] = treeUsage{
			memory: use.Memory, cpuPercent: math.Round(use.Share(earlier)*1000) / 10, cpuSeconds: use.CPU.Seconds(),
		}
	}
	return uses
}

// has reports whether the last look was at all of these. Where nothing is known, it is not looked for again.
func (u *usageLooks) has(leaders []int) bool {
	for _, leader := range leaders {
		if _, ok := u.now[leader]; !ok {
			return u.now == nil
		}
	}
	return true
}
