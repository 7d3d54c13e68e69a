package daemon

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/sharing/runtimedir"
)

// Kin is what a shared workbench is to one of another build.
type Kin string

// The answers to Retire.
const (
	stranger Kin = "stranger" // it serves other files, or another environment
	newer    Kin = "newer"    // it stays: the other one is older
	retiring Kin = "retiring" // it ends once no client uses it
)

const (
	maxOthers    = 100             // sockets of shared workbenches, alive or dead, that are asked to retire; others stay until they are idle
	takeOverTime = 2 * time.Second // for all of them to answer; then they stay until they are idle
)

// Other is a shared workbench of another build that runs for the same configuration.
type Other struct {
	Version string
	PID     int
	Clients int // who still use it

	kin Kin
	own string // the version of this program
}

// String tells the user about it.
func (o Other) String() string {
	which := "of version "
	if o.Version == o.own {
		which = "of another build of version "
	}
	who := fmt.Sprintf("a shared workbench %s%s (process %d)", which, o.Version, o.PID)
	switch {
	case o.kin == newer:
		return who + " is newer than this program (" + o.own + "), which gets a workbench of its own; upgrade it, or remove it from the client"
	case o.kin != retiring:
		return who + " does not understand version " + o.own + ", which gets a workbench of its own; to end the other one: mcp-workbench stop --pid " + strconv.Itoa(o.PID)
	case o.Clients > 0:
		return who + " still serves " + toolbox.Count(o.Clients, "client", "clients") + "; it is replaced by version " + o.own + " and ends with them: restart them to use the new one"
	}
	return who + " was used by nobody, and is replaced by version " + o.own
}

// TakeOver asks the shared workbenches of other builds for the same configuration to end once nobody uses them, and returns
// them. It blocks for a bounded time.
func TakeOver(ctx context.Context, t Target, version, lineage string) (others []Other) {
	sockets, _ := filepath.Glob(t.Dir.Path("d-*.sock")) // the pattern is valid
	sockets = slices.DeleteFunc(sockets, func(path string) bool { return path == t.Socket() })
	sockets = sockets[:min(len(sockets), maxOthers)]
	ctx, cancel := context.WithTimeout(ctx, takeOverTime)
	defer cancel()
	answers := make([]welcome, len(sockets))
	var asking sync.WaitGroup
	for i, path := range sockets {
		asking.Go(func() { // one that hangs must not use up the time of the others
			answer, err := askToRetire(ctx, path, Hello{Protocol: helloVersion, Order: Retire, Version: version, Lineage: lineage})
			if err == nil {
				answers[i] = answer
			}
		})
	}
	asking.Wait()
	for _, answer := range answers {
		if answer.PID != 0 && answer.Kin != stranger {
			others = append(others, Other{Version: answer.Version, PID: answer.PID, Clients: answer.Clients, kin: answer.Kin, own: version})
		}
	}
	return others
}

func askToRetire(ctx context.Context, path string, hello Hello) (answer welcome, err error) {
	conn, err := runtimedir.Dial(ctx, path)
	if err != nil {
		return answer, err
	}
	defer func() { _ = conn.Close() }()
	if limit, ok := ctx.Deadline(); ok {
		if err := conn.SetDeadline(limit); err != nil {
			return answer, err
		}
	}
	if err := writeLine(conn, hello); err != nil {
		return answer, err
	}
	return answer, readLine(conn, &answer)
}

// retireFor answers a Retire.
func (s *server) retireFor(conn net.Conn, hello *Hello) {
	answer := welcome{Protocol: helloVersion, Version: s.options.Version, PID: os.Getpid(), Kin: retiring}
	s.mu.Lock()
	switch {
	case hello.Lineage == "" || hello.Lineage != s.options.Lineage:
		answer.Kin = stranger
	case compareVersions(s.options.Version, hello.Version) > 0:
		answer.Kin = newer
	default:
		answer.Clients = s.clients
		s.retiring = true
	}
	s.mu.Unlock()
	_ = writeLine(conn, answer) // who has asked may be gone
	if answer.Kin == retiring {
		s.options.Log.Info("another version takes over", "version", hello.Version, "clients", answer.Clients)
		s.mu.Lock()
		s.signalChange()
		s.mu.Unlock()
	}
}

// isRetired reports whether another workbench has taken over and nobody uses this one. No client is accepted then.
func (s *server) isRetired() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	isOver := s.retiring && s.clients == 0
	s.stopping = s.stopping || isOver
	return isOver
}

// compareVersions compares two versions such as 1.2.3-rc.1, by their numbers; a version with a suffix is before that without.
func compareVersions(a, b string) int {
	first, firstSuffix, _ := strings.Cut(strings.TrimPrefix(a, "v"), "-")
	second, secondSuffix, _ := strings.Cut(strings.TrimPrefix(b, "v"), "-")
	firstParts, secondParts := strings.Split(first, "."), strings.Split(second, ".")
	for i := range max(len(firstParts), len(secondParts)) {
		if order := cmp.Compare(part(firstParts, i), part(secondParts, i)); order != 0 {
			return order
		}
	}
	switch {
	case firstSuffix == secondSuffix:
		return 0
	case firstSuffix == "":
		return 1
	case secondSuffix == "":
		return -1
	}
	return strings.Compare(firstSuffix, secondSuffix)
}

// part returns a number of a version; 0 without one.
func part(parts []string, i int) int {
	if i >= len(parts) {
		return 0
	}
	n, _ := strconv.Atoi(parts[i]) // what is not a number counts as 0
	return n
}
