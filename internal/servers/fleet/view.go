package fleet

import (
	"slices"
	"strings"
	"sync"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
)

// View is the fleet restricted to some of its toolboxes. It reads the fleet on each call, and so follows its changes.
type View struct {
	fleet   *Fleet
	visible []string // sorted, each once
	names   toolbox.Names
}

// View returns the view of the named toolboxes, which need not exist yet. The same names return the same view, so that
// the tool names of direct mode are the same for all clients.
func (f *Fleet) View(names []string) *View {
	visible := slices.Clone(names)
	slices.Sort(visible)
	return f.views.get(&View{fleet: f, visible: slices.Compact(visible)})
}

// Toolboxes returns the toolboxes in view, in the order of the configuration.
func (v *View) Toolboxes() []*Toolbox {
	var boxes []*Toolbox
	for _, box := range v.fleet.Toolboxes() {
		if v.sees(box.Name) {
			boxes = append(boxes, box)
		}
	}
	return boxes
}

// DisabledToolboxes returns the toolboxes in view whose servers are all disabled.
func (v *View) DisabledToolboxes() []*Toolbox {
	return slices.DeleteFunc(slices.Clone(v.fleet.DisabledToolboxes()), func(box *Toolbox) bool { return !v.sees(box.Name) })
}

// Toolbox returns a toolbox by its name if it is in view.
func (v *View) Toolbox(name string) (*Toolbox, bool) {
	if !v.sees(name) {
		return nil, false
	}
	return v.fleet.Toolbox(name)
}

// Names returns the tool names of direct mode for the toolboxes in view.
func (v *View) Names() *toolbox.Names { return &v.names }

// Names returns the tool names of direct mode for all toolboxes.
func (f *Fleet) Names() *toolbox.Names { return &f.names }

func (v *View) sees(name string) bool {
	_, ok := slices.BinarySearch(v.visible, name)
	return ok
}

// maxViews is the number of views that are remembered, far more than anybody configures. Further views work, but each has
// tool names of its own.
const maxViews = 1000

// views holds the views by their toolboxes.
type views struct {
	mu    sync.Mutex
	known map[string]*View
}

// get returns the existing view of the same toolboxes, or else the given one.
func (v *views) get(view *View) *View {
	key := strings.Join(view.visible, "\x00")
	v.mu.Lock()
	defer v.mu.Unlock()
	if known, ok := v.known[key]; ok && slices.Equal(known.visible, view.visible) {
		return known
	}
	if len(v.known) < maxViews {
		if v.known == nil {
			v.known = make(map[string]*View)
		}
		v.known[key] = view
	}
	return view
}

// Part is the fleet restricted to some of its servers.
type Part struct {
	fleet   *Fleet
	servers []toolbox.Ref
	names   toolbox.Names
}

// Part returns the part of the fleet with the named servers, which need not exist yet.
func (f *Fleet) Part(servers []toolbox.Ref) *Part { return &Part{fleet: f, servers: servers} }

// Toolboxes returns the toolboxes that have any of the servers, with only these servers.
func (p *Part) Toolboxes() []*Toolbox {
	var boxes []*Toolbox
	for _, box := range p.fleet.Toolboxes() {
		if part := p.restrict(box); len(part.Servers) > 0 {
			boxes = append(boxes, part)
		}
	}
	return boxes
}

// Toolbox returns a toolbox by its name if it has any of the servers, with only these servers.
func (p *Part) Toolbox(name string) (*Toolbox, bool) {
	box, ok := p.fleet.Toolbox(name)
	if !ok {
		return nil, false
	}
	part := p.restrict(box)
	return part, len(part.Servers) > 0
}

// DisabledToolboxes returns none: a part has the servers that run.
func (p *Part) DisabledToolboxes() []*Toolbox { return nil }

// Names returns the tool names of direct mode for the part.
func (p *Part) Names() *toolbox.Names { return &p.names }

func (p *Part) restrict(box *Toolbox) *Toolbox {
	part := &Toolbox{Name: box.Name, Description: box.Description, byName: make(map[string]*Server)}
	for _, server := range box.Servers {
		if slices.ContainsFunc(p.servers, func(ref toolbox.Ref) bool { return ref.Toolbox == box.Name && ref.Server == server.Name() }) {
			part.Servers = append(part.Servers, server)
			part.byName[server.Name()] = server
		}
	}
	return part
}
