package wire

import (
	"bytes"
	"maps"
	"sync"
	"sync/atomic"
)

// Bounds of the names that are remembered, whoever sends them.
const (
	maxNames      = 1000
	maxNameLength = 128
)

// names remembers texts that come again and again, such as those of tools and methods, so
// that each is in memory once. It is never changed, only replaced.
var names struct {
	known atomic.Pointer[map[string]string]
	mu    sync.Mutex // held to replace it
}

// Name is Text for a name that is likely to come again: for one that is known, it
// allocates nothing.
func (p Payload) Name() (name string, ok bool) {
	if p.Kind() != "string" {
		return "", false
	}
	if inner := p.buf[p.start+1 : p.end-1]; bytes.IndexByte(inner, '\\') < 0 {
		return Name(inner), true
	}
	return p.Text()
}

// Name is a text that is likely to come again; see Payload.Name.
func Name(text []byte) string {
	known := names.known.Load()
	if known != nil {
		if name, ok := (*known)[string(text)]; ok {
			return name
		}
		if len(*known) >= maxNames {
			return string(text)
		}
	}
	name := string(text)
	if len(text) > maxNameLength {
		return name
	}
	names.mu.Lock()
	defer names.mu.Unlock()
	more := map[string]string{}
	if known = names.known.Load(); known != nil {
		if len(*known) >= maxNames {
			return name
		}
		more = maps.Clone(*known)
	}
	more[name] = name
	names.known.Store(&more)
	return name
}
