package fleet

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/servers/process"
)

// This file looks at what the processes of servers use, for the history of calls, and holds them to their limits. A server
// whose processes use more than limits.memory or sandbox.memory is stopped. People are held to http.limits.memory: nothing
// more is started for one whose processes use too much, and the largest of them is stopped. The user of the workbench has no
// such limit.

const (
	// memoryPause is the time between two looks at the memory of processes, while there is a limit.
	memoryPause = time.Second
	// memoryShare bounds what the looks cost, on a machine with many processes: one part in so many of the time.
	memoryShare = 20
	// usagePause is the time between two looks at what processes use, without a limit: only while servers are in use.
	usagePause = 3 * time.Second
	// usageShare bounds what the looks without a limit cost: one part in so many of the time.
	usageShare = 100
	// firstLook is how long after a start, or the first use after a pause, processes are looked at.
	firstLook = 250 * time.Millisecond
	// namedServers is how many servers an error about memory names.
	namedServers = 5
)

// The keys of limits, for errors.
const (
	keyOfServer  = "limits.memory"
	keyOfSandbox = "sandbox.memory"
	keyOfPerson  = "http.limits.memory"
)

// memoryGuard looks what the processes use. Its goroutine runs while there is a process, and a limit for it or somebody who
// uses it.
type memoryGuard struct {
	fleet *Fleet
	read  func(leaders []int) map[int]process.Usage

	isUnknown sync.Once   // that the memory is not known was logged
	sleeps    atomic.Bool // the next use of a process has it looked at again

	mu     sync.Mutex
	active bool                     // a goroutine looks
	woken  bool                     // since the last look began
	used   map[string]*personMemory // by person, at the last look
}

// personMemory is what the processes of one person use.
type personMemory struct {
	total   int64
	servers []serverMemory // the largest first
}

// serverMemory is what one process of a server uses, with all that it started.
type serverMemory struct {
	server *Server
	in     *instance
	size   int64
}

// MemoryLimitError says that processes used more memory than they may.
type MemoryLimitError struct {
	Used, Limit int64  // in bytes
	Key         string // of the configuration, which has the limit
}

func (e *MemoryLimitError) Error() string {
	return fmt.Sprintf("%s of memory; the limit is %s (%s)", sizeText(e.Used), sizeText(e.Limit), e.Key)
}

func (g *memoryGuard) limit() int64 { return g.fleet.table.Load().config.HTTP.Limits.Memory }

// wake has somebody look.
func (g *memoryGuard) wake() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.woken = true
	g.sleeps.Store(false)
	if !g.active {
		g.active = g.fleet.run(g.watch)
	}
}

// rouse has somebody look, unless somebody does. It costs nothing then.
func (g *memoryGuard) rouse() {
	if g.sleeps.Load() {
		g.wake()
	}
}

func (g *memoryGuard) watch() {
	timer := time.NewTimer(firstLook)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
		case <-g.fleet.life.Done():
			return
		}
		began := time.Now()
		pause, share := g.look()
		if pause == 0 {
			return
		}
		timer.Reset(max(pause, share*time.Since(began)))
	}
}

// look measures, and stops what is over its limit. It returns the time to the next look, and how many times as long as this
// one it is at least; 0 if there is nothing to look at later.
func (g *memoryGuard) look() (pause, share time.Duration) {
	g.mu.Lock()
	g.woken = false
	read := g.read
	g.mu.Unlock()
	limit := g.limit()
	running := g.fleet.runningProcesses()
	isLimited := limit > 0 && len(running) > 0
	isUsed := false
	for _, one := range running {
		ownLimit, _ := one.server.memoryLimit()
		isLimited = isLimited || ownLimit > 0
		isUsed = one.in.wasUsed() || isUsed
	}
	var used map[string]*personMemory
	isKnown := true
	if isLimited || isUsed {
		used, isKnown = g.measure(read, running, limit)
	}
	if !isKnown && isLimited {
		g.isUnknown.Do(func() {
			g.fleet.options.Log.Warn("limits of memory have no effect on servers: the memory of processes is not known on this system",
				"keys", strings.Join([]string{keyOfServer, keyOfPerson}, ", "))
		})
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.used = used
	g.active = isKnown && (isLimited || isUsed || g.woken)
	g.sleeps.Store(isKnown && !g.active)
	switch {
	case !g.active:
		return 0, 0
	case isLimited:
		return memoryPause, memoryShare
	}
	return usagePause, usageShare
}

// measure notes what processes use, and stops those over a limit. It returns what people use, unless that is not known.
func (g *memoryGuard) measure(read func([]int) map[int]process.Usage, running []serverMemory, limit int64) (used map[string]*personMemory, isKnown bool) {
	leaders := make([]int, len(running))
	for i, one := range running {
		leaders[i] = one.in.pid()
	}
	uses := read(leaders)
	if uses == nil {
		return nil, false
	}
	used = make(map[string]*personMemory)
	for _, one := range running {
		use := uses[one.in.pid()]
		one.in.note(use)
		one.size = use.Memory
		if ownLimit, key := one.server.memoryLimit(); ownLimit > 0 && one.size > ownLimit {
			over := &MemoryLimitError{Used: one.size, Limit: ownLimit, Key: key}
			one.server.stopFor(one.in, &Failure{
				reason: "it was stopped, because its processes used " + over.Error(),
				hint:   "let it do less at a time, or raise the limit", cause: over,
			})
			continue
		}
		owner := one.server.owner()
		if owner == "" {
			continue
		}
		if used[owner] == nil {
			used[owner] = &personMemory{}
		}
		used[owner].total += one.size
		used[owner].servers = append(used[owner].servers, one)
	}
	if limit > 0 {
		for _, one := range used {
			one.enforce(limit)
		}
	}
	return used, true
}

// memoryLimit returns how much memory the processes of an instance may use together, and the key that says so; 0: any.
func (s *Server) memoryLimit() (limit int64, key string) {
	limit, key = s.config.Limits.Memory, keyOfServer
	if box := s.config.Sandbox; box != nil && box.Memory > 0 && (limit == 0 || int64(box.Memory) < limit) {
		return int64(box.Memory), keyOfSandbox
	}
	return limit, key
}

// enforce stops the largest server of a person who is over the limit. What is left counts at once.
func (u *personMemory) enforce(limit int64) {
	slices.SortFunc(u.servers, func(a, b serverMemory) int { return cmp.Compare(b.size, a.size) })
	if u.total <= limit || len(u.servers) == 0 {
		return
	}
	largest := u.servers[0]
	largest.server.stopFor(largest.in, &Failure{
		reason: fmt.Sprintf("it was stopped, because the servers of one person used %s of memory, it the most of them with %s; the limit is %s (%s)",
			sizeText(u.total), sizeText(largest.size), sizeText(limit), keyOfPerson),
		hint:  "let it do less at a time, or ask those who run the workbench for a higher limit",
		cause: &MemoryLimitError{Used: u.total, Limit: limit, Key: keyOfPerson},
	})
	u.total -= largest.size
	u.servers = u.servers[1:]
}

// admit refuses to start a process for a person who is over the limit.
func (g *memoryGuard) admit(s *Server) error {
	limit := g.limit()
	if limit <= 0 || s.config.URL != "" {
		return nil
	}
	owner := s.owner()
	if owner == "" {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	used := g.used[owner]
	if used == nil || used.total <= limit {
		return nil
	}
	return &Failure{
		reason: fmt.Sprintf("it is not started, because your servers use %s of memory (%s), and the limit for one person is %s (%s)",
			sizeText(used.total), used.names(), sizeText(limit), keyOfPerson),
		hint:  "end what you do not need of these and try again, or ask those who run the workbench for a higher limit",
		cause: &MemoryLimitError{Used: used.total, Limit: limit, Key: keyOfPerson},
	}
}

// names returns the servers with what each uses, the largest first.
func (u *personMemory) names() string {
	var names []string
	for _, one := range u.servers[:min(len(u.servers), namedServers)] {
		names = append(names, fmt.Sprintf("%s/%s %s", one.server.toolbox, one.server.Name(), sizeText(one.size)))
	}
	text := strings.Join(names, ", ")
	if more := len(u.servers) - namedServers; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// sizeText returns a size in memory for people.
func sizeText(bytes int64) string {
	if bytes >= 1<<30 {
		return strings.TrimSuffix(fmt.Sprintf("%.1f", float64(bytes)/(1<<30)), ".0") + " GiB"
	}
	return fmt.Sprintf("%d MiB", (bytes+1<<19)>>20)
}

// runningProcesses returns the instances with a process, of all servers, those included that are just starting.
func (f *Fleet) runningProcesses() (all []serverMemory) {
	for _, box := range f.Toolboxes() {
		for _, server := range box.Servers {
			for _, session := range server.allVariants() {
				if in := session.withProcess(); in != nil {
					all = append(all, serverMemory{server: session, in: in})
				}
			}
		}
	}
	return all
}

func (s *Server) withProcess() *instance {
	s.mu.Lock()
	defer s.mu.Unlock()
	in := cmp.Or(s.running, s.launching)
	if in == nil || in.process == nil {
		return nil
	}
	return in
}

// stopFor ends an instance for a reason, with its calls, which fail with that reason. The next start is as after a crash.
func (s *Server) stopFor(in *instance, why *Failure) {
	s.mu.Lock()
	defer s.mu.Unlock()
	in.stopped.Store(why)
	switch in {
	case s.launching: // the start fails, and says why
		in.abort()
	case s.running:
		s.retire(in)
		s.failed(why, s.failures-1)
		s.failure.of = in
		if s.failures == 1 {
			s.failure.until = time.Time{}
		}
		signal(in.condemned)
	}
}
