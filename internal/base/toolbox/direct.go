package toolbox

import (
	"fmt"
	"strings"
	"sync"
)

// Names assigns unique names to tools that are offered together and may share a name. An assigned name stays with its
// tool and is never given to another one, whichever tools are added or removed. The zero value is ready to use.
type Names struct {
	mu    sync.Mutex
	names map[Ref]string
	refs  map[string]Ref
}

// maxHeldNames bounds the names kept for tools that are no longer offered; beyond it, they are released.
const maxHeldNames = 10_000

// Assign assigns a name to each offered tool, in order, and returns the names. The first new tool of a name gets its own
// name; later ones get server__tool.
func (n *Names) Assign(offered []Ref) []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.names == nil {
		n.names, n.refs = make(map[Ref]string), make(map[string]Ref)
	}
	// Own names first: a generated name must not occupy the own name of another tool.
	var later []Ref
	for _, ref := range offered {
		if _, named := n.names[ref]; !named && !n.claim(ref, ref.Name) {
			later = append(later, ref)
		}
	}
	for _, ref := range later {
		if _, named := n.names[ref]; !named {
			n.claimQualified(ref)
		}
	}
	if len(n.names)-len(offered) > maxHeldNames {
		n.releaseExcept(offered)
	}
	names := make([]string, len(offered))
	for i, ref := range offered {
		names[i] = n.names[ref]
	}
	return names
}

// Name returns the name assigned to a tool.
func (n *Names) Name(ref Ref) (string, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	name, ok := n.names[ref]
	return name, ok
}

// Find returns the tool that a name is assigned to.
func (n *Names) Find(name string) (Ref, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	ref, ok := n.refs[name]
	return ref, ok
}

// claimQualified assigns a generated name to a tool whose own name is in use. Each form is more specific than the one
// before; the last is numbered and so always free.
func (n *Names) claimQualified(ref Ref) {
	// A longer name is better than one that clients reject.
	if short := ref.Server + Separator + ref.Name; len(short) <= nativeLimit &&
		strings.IndexFunc(ref.Server, isForeign) < 0 && n.claim(ref, short) {
		return
	}
	native := ref.NativeName()
	for i := 2; !n.claim(ref, native); i++ {
		suffix := fmt.Sprintf("_%d", i)
		full := ref.NativeName()
		native = full[:min(len(full), nativeLimit-len(suffix))] + suffix
	}
}

// claim assigns a name to a tool if the name is free.
func (n *Names) claim(ref Ref, name string) bool {
	if _, taken := n.refs[name]; taken {
		return false
	}
	n.names[ref], n.refs[name] = name, ref
	return true
}

// releaseExcept releases the names of all tools that are not offered.
func (n *Names) releaseExcept(offered []Ref) {
	kept := make(map[Ref]string, len(offered))
	for _, ref := range offered {
		kept[ref] = n.names[ref]
	}
	for ref, name := range n.names {
		if _, ok := kept[ref]; !ok {
			delete(n.refs, name)
		}
	}
	n.names = kept
}
