package wire

import (
	"bytes"
	"maps"
	"sync"
	"sync/atomic"
)

// Bounds of what a Memo remembers, whoever sends it.
const (
	maxRemembered = 1000
	maxTextLength = 256
)

// Memo remembers what texts mean that come again and again. It never forgets, and takes
// nothing more when it is full. The zero value is ready.
type Memo[V any] struct {
	known atomic.Pointer[map[string]V] // is never changed, only replaced
	mu    sync.Mutex                   // held to replace it
}

// Get returns what was put for a text.
func (m *Memo[V]) Get(text []byte) (value V, ok bool) {
	if known := m.known.Load(); known != nil {
		value, ok = (*known)[string(text)]
	}
	return value, ok
}

// Put remembers a value for a text, which is copied.
func (m *Memo[V]) Put(text []byte, value V) {
	if len(text) > maxTextLength || m.isFull() {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.isFull() {
		return
	}
	more := map[string]V{string(text): value}
	if known := m.known.Load(); known != nil {
		maps.Copy(more, *known)
	}
	m.known.Store(&more)
}

func (m *Memo[V]) isFull() bool {
	known := m.known.Load()
	return known != nil && len(*known) >= maxRemembered
}

// names are texts such as those of tools and methods, so that each is in memory once.
var names Memo[string]

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
	name, ok := names.Get(text)
	if !ok {
		name = string(text)
		names.Put(text, name)
	}
	return name
}
