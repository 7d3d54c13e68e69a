package wire

import (
	"bytes"
	"maps"
	"sync"
	"sync/atomic"
)

// names interns texts that recur, such as the names of tools and methods. Nothing is evicted, and nothing is added once
// there are maxNames, whoever sends them.
var names struct {
	known atomic.Pointer[map[string]string] // is never changed, only replaced
	mu    sync.Mutex                        // held to replace it
}

const (
	maxNames      = 1000 // names that are kept as strings; others are allocated each time
	maxNameLength = 256  // size of a name that is kept
)

// Name returns the text as a string that is interned. It allocates nothing for a known one.
func Name(text []byte) string {
	known := names.known.Load()
	if known != nil {
		if name, ok := (*known)[string(text)]; ok {
			return name
		}
	}
	name := string(text)
	if len(name) <= maxNameLength && (known == nil || len(*known) < maxNames) {
		addName(name)
	}
	return name
}

func addName(name string) {
	names.mu.Lock()
	defer names.mu.Unlock()
	more := map[string]string{name: name}
	if known := names.known.Load(); known != nil {
		if len(*known) >= maxNames {
			return
		}
		maps.Copy(more, *known)
	}
	names.known.Store(&more)
}

// Name is Text for a name; see wire.Name.
func (p Payload) Name() (name string, ok bool) {
	if p.Kind() != "string" {
		return "", false
	}
	if inner := p.buf[p.start+1 : p.end-1]; bytes.IndexByte(inner, '\\') < 0 {
		return Name(inner), true
	}
	return p.Text()
}
