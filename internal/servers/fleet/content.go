package fleet

import (
	"sync"

	"github.com/mcp-workbench/mcp-workbench/internal/base/hidden"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

const (
	// maxLook is the number of bytes of a result that are checked. The usual results cost no measurable time.
	maxLook = 64 << 10
	// maxFlags is the number of warnings that are remembered; after that, warnings may repeat.
	maxFlags = 1000
)

// flags hold the warnings that were logged about a server, so that each is logged once.
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

// WarnAboutHiddenText logs a warning if a result contains hidden text, once for each tool, prompt and resource. The result
// is never changed.
func (l *Lease) WarnAboutHiddenText(result wire.Payload, method, name string) {
	raw := result.Bytes()
	if !hidden.InJSON(raw[:min(len(raw), maxLook)]) {
		return
	}
	if s := l.server; s.memory.flagged.isNew(method + " " + name) {
		s.log.Warn("a result has invisible text; it is passed on as it is", "method", method, "name", s.fleet.masker.Load().Mask(hidden.Show(name)))
	}
}
