package front

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"
)

// openedToolboxes are the toolboxes that a client opened.
type openedToolboxes struct {
	all   bool                                // all are always open: without sessions there is nothing to open them in
	onAdd func(toolbox string)                // called for each that the client opens; may be nil
	mu    sync.Mutex                          // of changes
	names atomic.Pointer[map[string]struct{}] // replaced, never changed: others may be reading it
}

func (o *openedToolboxes) contains(toolbox string) bool {
	if o.all {
		return true
	}
	names := o.names.Load()
	if names == nil {
		return false
	}
	_, ok := (*names)[toolbox]
	return ok
}

// list returns the names of the toolboxes, in order; not nil. Where all are always open it is empty.
func (o *openedToolboxes) list() []string {
	list := []string{}
	if names := o.names.Load(); names != nil {
		list = slices.AppendSeq(list, maps.Keys(*names))
		slices.Sort(list)
	}
	return list
}

// add remembers that the client opened a toolbox; first says that it had not before.
func (o *openedToolboxes) add(toolbox string) (first bool) {
	if first = o.restore(toolbox); first && o.onAdd != nil {
		o.onAdd(toolbox)
	}
	return first
}

// restore is add for a toolbox that the client opened in an earlier session.
func (o *openedToolboxes) restore(toolbox string) (first bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.contains(toolbox) {
		return false
	}
	next := map[string]struct{}{toolbox: {}}
	if before := o.names.Load(); before != nil {
		maps.Copy(next, *before)
	}
	o.names.Store(&next)
	return true
}

// heldNews holds back that lists changed while a request is about to say so before its answer.
type heldNews struct {
	bySubscription bool // the client gets news by its subscriptions only; nothing is held

	mu      sync.Mutex
	holders int      // requests that hold news back
	methods []string // of the notifications that are held
}

// areExpected reports whether the client is told of lists that it never asked for: it opens
// something, or subscribes to them.
func (n *heldNews) areExpected() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.bySubscription || n.holders > 0
}

// holdBack reports whether a notification was held back.
func (n *heldNews) holdBack(method string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.holders > 0 && !slices.Contains(n.methods, method) {
		n.methods = append(n.methods, method)
	}
	return n.holders > 0
}

// hold holds news back until release, which passes them on.
func (n *heldNews) hold(pass func(method string)) (release func()) {
	if n.bySubscription {
		return func() {}
	}
	n.mu.Lock()
	n.holders++
	n.mu.Unlock()
	return func() {
		n.mu.Lock()
		n.holders--
		methods := n.methods
		n.methods = nil
		n.mu.Unlock()
		for _, method := range methods {
			pass(method)
		}
	}
}
