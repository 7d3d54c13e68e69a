package fleet

import (
	"sync"

	"github.com/mcp-workbench/mcp-workbench/internal/base/hidden"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

const (
	// maxLook is how many bytes of a result are looked at: its usual size costs nothing that could be measured.
	maxLook = 64 << 10
	// maxFlags is how many things are told of once; after that all may be told again.
	maxFlags = 1000
)

// flags are what was told of a server, so that it is told once.
type flags struct {
	mu   sync.Mutex
	told map[string]bool
}

func (f *flags) isNew(what string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.told[what] {
		return false
	}
	if f.told == nil || len(f.told) >= maxFlags {
		f.told = make(map[string]bool)
	}
	f.told[what] = true
	return true
}

// WarnAboutHiddenText tells the log of a result that hides text, once for each tool, prompt and resource. A result is data that somebody
// asked for, and is never changed.
func (l *Lease) WarnAboutHiddenText(result wire.Payload, method, name string) {
	raw := result.Bytes()
	if !hidden.InJSON(raw[:min(len(raw), maxLook)]) {
		return
	}
	if s := l.server; s.memory.flagged.isNew(method + " " + name) {
		s.log.Warn("a result has invisible text; it is passed on as it is", "method", method, "name", s.fleet.masker.Load().Mask(hidden.Show(name)))
	}
}
