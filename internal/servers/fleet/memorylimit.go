package fleet

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// This file holds people to http.limits.memory: nothing more is started for one whose processes use too much, and the
// largest of them is stopped. The user of the workbench has no limit.

const (
	// memoryPause is the time between two looks at the memory of processes, while there is a limit.
	memoryPause = 3 * time.Second
	// memoryShare bounds what the looks cost, on a machine with many processes: one part in so many of the time.
	memoryShare = 20
	// namedServers is how many servers an error about memory names.
	namedServers = 5
)

// memoryGuard looks how much memory the processes use that run for one person alone. Its goroutine runs while there is a
// limit, and a process.
type memoryGuard struct {
	fleet *Fleet
	read  func(leaders []int) map[int]int64

	isUnknown sync.Once // that the memory is not known was logged

	mu     sync.Mutex
	active bool                     // a goroutine looks
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

func (g *memoryGuard) limit() int64 { return g.fleet.table.Load().config.HTTP.Limits.Memory }

// wake has somebody look, if there is a limit.
func (g *memoryGuard) wake() {
	if g.limit() <= 0 {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.active {
		g.active = g.fleet.run(g.watch)
	}
}

func (g *memoryGuard) watch() {
	timer := time.NewTimer(memoryPause)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
		case <-g.fleet.life.Done():
			return
		}
		began := time.Now()
		if !g.look() {
			return
		}
		timer.Reset(max(memoryPause, memoryShare*time.Since(began)))
	}
}

// look measures, and stops the largest server of each person who is over the limit. It reports whether there is anything to
// look at later.
func (g *memoryGuard) look() bool {
	limit := g.limit()
	running := g.fleet.runningProcesses()
	sums := map[int]int64{}
	if limit > 0 && len(running) > 0 {
		leaders := make([]int, len(running))
		for i, one := range running {
			leaders[i] = one.in.pid()
		}
		if sums = g.read(leaders); sums == nil {
			g.isUnknown.Do(func() {
				g.fleet.options.Log.Warn("http.limits.memory has no effect: the memory of processes is not known on this system")
			})
		}
	}
	used := make(map[string]*personMemory)
	for _, one := range running {
		owner := one.server.owner()
		if owner == "" {
			continue
		}
		one.size = sums[one.in.pid()]
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
	g.mu.Lock()
	defer g.mu.Unlock()
	g.used = used
	g.active = limit > 0 && len(running) > 0 && sums != nil
	return g.active
}

// enforce stops the largest server of a person who is over the limit. What is left counts at once.
func (u *personMemory) enforce(limit int64) {
	slices.SortFunc(u.servers, func(a, b serverMemory) int { return cmp.Compare(b.size, a.size) })
	if u.total <= limit || len(u.servers) == 0 {
		return
	}
	largest := u.servers[0]
	largest.server.stopFor(largest.in, &Failure{
		reason: fmt.Sprintf("it was stopped, because the servers of one person used %s of memory, it the most of them with %s; the limit is %s (http.limits.memory)",
			sizeText(u.total), sizeText(largest.size), sizeText(limit)),
		hint: "let it do less at a time, or ask those who run the workbench for a higher limit",
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
		reason: fmt.Sprintf("it is not started, because your servers use %s of memory (%s), and the limit for one person is %s (http.limits.memory)",
			sizeText(used.total), used.names(), sizeText(limit)),
		hint: "end what you do not need of these and try again, or ask those who run the workbench for a higher limit",
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
