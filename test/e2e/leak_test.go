package e2e

import (
	"crypto/rand"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcp-workbench/mcp-workbench/test/processtable"
)

// This file makes sure that no test leaves a process behind.

// markVariable is in the environment of all that a test starts.
const markVariable = "E2E_MARK"

// mark knows the processes of one test: by the variable, which children inherit, and
// by having been seen below a process that the test started. The latter finds those
// that clear their environment, and zombies, which have none.
type mark struct {
	t  *testing.T
	id string

	mu   sync.Mutex
	seen map[processtable.Process]bool
}

// newMark checks, after all later clean-ups of the test, that nothing is left.
func newMark(t *testing.T) *mark {
	t.Helper()
	m := &mark{t: t, id: rand.Text(), seen: make(map[processtable.Process]bool)}
	t.Cleanup(m.check)
	return m
}

func (m *mark) env() string { return markVariable + "=" + m.id }

// record remembers the processes that are there now, for the check at the end; call
// it before something is stopped. Root is a process that the test started.
func (m *mark) record(root int) {
	found := append(processtable.Marked(m.env()), processtable.Below(root)...)
	if p, ok := processtable.Find(root); ok {
		found = append(found, p)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, p := range found {
		m.seen[p] = true
	}
}

// leftTime is how long a process may take to go after its test has ended: the
// workbench promises 5 s, and this machine may be busy.
const leftTime = 8 * time.Second

func (m *mark) check() {
	deadline := time.NewTimer(leftTime)
	defer deadline.Stop()
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for {
		left := m.left()
		if len(left) == 0 {
			return
		}
		select {
		case <-again.C:
		case <-deadline.C:
			var lines []string
			for _, p := range left {
				lines = append(lines, p.String())
				p.Kill()
			}
			m.t.Errorf("processes are left:\n%s", strings.Join(lines, "\n"))
			return
		}
	}
}

// left returns what is still there, zombies included.
func (m *mark) left() []processtable.Process {
	left := processtable.Marked(m.env())
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, p := range left {
		delete(m.seen, p)
	}
	for p := range m.seen {
		if p.Exists() {
			left = append(left, p)
		}
	}
	for _, p := range left {
		m.seen[p] = true
	}
	return left
}
