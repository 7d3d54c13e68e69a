package toolbox

import (
	"fmt"
	"strings"
	"sync"
)

// Names gives tools the names under which they are offered all at once, where two of
// them may have the same. A name that was given to a tool stays with it and never comes
// to mean another one, whatever comes and goes. The zero value is ready.
type Names struct {
	mu    sync.Mutex
	names map[Ref]string
	refs  map[string]Ref
}

// maxHeldNames is how many tools that are no longer offered keep their names.
const maxHeldNames = 10_000

// Give names all tools that are offered, in order, and returns their names. Of those that
// have none yet, the first of a name keeps its own; the later ones are server__tool.
func (n *Names) Give(offered []Ref) []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.names == nil {
		n.names, n.refs = make(map[Ref]string), make(map[string]Ref)
	}
	// Own names first: what we make up must not take the name that another tool brings.
	var later []Ref
	for _, ref := range offered {
		if _, named := n.names[ref]; !named && !n.take(ref, ref.Name) {
			later = append(later, ref)
		}
	}
	for _, ref := range later {
		if _, named := n.names[ref]; !named {
			n.takeOther(ref)
		}
	}
	if len(n.names)-len(offered) > maxHeldNames {
		n.forget(offered)
	}
	names := make([]string, len(offered))
	for i, ref := range offered {
		names[i] = n.names[ref]
	}
	return names
}

// Name returns the name that was given to a tool.
func (n *Names) Name(ref Ref) (string, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	name, ok := n.names[ref]
	return name, ok
}

// Find returns the tool that a name was given to.
func (n *Names) Find(name string) (Ref, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	ref, ok := n.refs[name]
	return ref, ok
}

// takeOther gives a tool whose own name is taken another one. Each form says more than
// the one before; the last is numbered and thus always free.
func (n *Names) takeOther(ref Ref) {
	// A form that clients refuse would be worse than one that says more.
	if short := ref.Server + Separator + ref.Name; len(short) <= nativeLimit &&
		strings.IndexFunc(ref.Server, isForeign) < 0 && n.take(ref, short) {
		return
	}
	native := ref.NativeName()
	for i := 2; !n.take(ref, native); i++ {
		suffix := fmt.Sprintf("_%d", i)
		full := ref.NativeName()
		native = full[:min(len(full), nativeLimit-len(suffix))] + suffix
	}
}

// take gives a tool a name that is free.
func (n *Names) take(ref Ref, name string) bool {
	if _, taken := n.refs[name]; taken {
		return false
	}
	n.names[ref], n.refs[name] = name, ref
	return true
}

// forget frees the names of all tools that are not offered.
func (n *Names) forget(offered []Ref) {
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
