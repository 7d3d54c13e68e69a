package passthrough

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/catalog"
)

// Memory is the state of one client: the lists of its servers with the names that their entries have for the client, its
// tasks and its subscriptions. It is safe for concurrent use.
type Memory struct {
	subscriptions *Subscriptions
	prompts       toolbox.Names
	renamed       atomic.Bool // an entry or a task has another name for the client than for its server

	mu        sync.Mutex
	named     map[listKey]*namedList
	served    map[listKey]*catalog.List // the lists that the client got last; see served.go
	notified  map[string]bool           // whether it got the notification since it asked last; missing: it never asked
	uris      uriNames
	templates uriNames
	tasks     taskNames

	subscribed map[subscription]string // with the client's own URI; guarded by the mu of subscriptions
}

// NewMemory makes the memory of a client. The subscriptions are those of all clients.
func NewMemory(subscriptions *Subscriptions) *Memory {
	return &Memory{
		subscriptions: subscriptions,
		named:         make(map[listKey]*namedList), served: make(map[listKey]*catalog.List), notified: make(map[string]bool),
		templates: uriNames{isTemplates: true}, subscribed: make(map[subscription]string),
	}
}

// listKey identifies one list of one server.
type listKey struct {
	kind   *listKind
	origin origin
}

// namedList is a list whose entries have names for the client. It never changes.
type namedList struct {
	cached    *catalog.List
	prompts   []string // the server's own names
	templates []template
}

// maxTemplates is how many templates of a server are matched.
const maxTemplates = 1000

// hasNamed reports whether the entries of all lists have names.
func (m *Memory) hasNamed(kind *listKind, lists []serverList) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, list := range lists {
		if named := m.named[listKey{kind, list.origin}]; named == nil || named.cached != list.cached {
			return false
		}
	}
	return true
}

// assignNames returns the names that entries have for the client: for each list, one for each entry. The lists are in
// the order of the configuration.
func (m *Memory) assignNames(kind *listKind, lists []serverList) [][]string {
	m.mu.Lock()
	defer m.mu.Unlock()
	names := make([][]string, len(lists))
	for i, list := range lists {
		names[i] = entryNames(kind, list.entries)
		m.recordNamed(kind, list, names[i])
	}
	switch kind {
	case resources, templates:
		m.nameURIs(kind, lists, names)
	case skills:
		m.nameSkills(lists, names)
	case prompts:
		m.namePrompts(lists, names)
	case tasks:
		m.nameTasks(lists, names)
	}
	return names
}

func entryNames(kind *listKind, entries []wire.Payload) []string {
	names := make([]string, len(entries))
	for i, entry := range entries {
		names[i], _ = entry.Member(kind.Key).Text()
	}
	return names
}

// recordNamed records that the entries of a list have names. Called with mu held.
func (m *Memory) recordNamed(kind *listKind, list serverList, names []string) {
	if kind == tasks {
		return
	}
	named := &namedList{cached: list.cached}
	switch kind {
	case templates:
		for _, text := range names[:min(len(names), maxTemplates)] {
			named.templates = append(named.templates, parseTemplate(text))
		}
	case prompts:
		named.prompts = slices.Clone(names)
	}
	m.named[listKey{kind, list.origin}] = named
}

// nameURIs replaces the URIs of servers, or URI templates, by those that the client knows. Called with mu held.
func (m *Memory) nameURIs(kind *listKind, lists []serverList, names [][]string) {
	known := &m.uris
	if kind == templates {
		known = &m.templates
	}
	m.makeRoom(known, kind, lists)
	for i, list := range lists {
		for j, uri := range names[i] {
			if uri == "" {
				continue
			}
			names[i][j] = known.assign(list.origin, uri)
			if names[i][j] != uri {
				m.renamed.Store(true)
			}
		}
	}
}

// makeRoom forgets all names if the limit is reached, and that lists have names, except for those that are about to get
// them. Called with mu held.
func (m *Memory) makeRoom(known *uriNames, kind *listKind, lists []serverList) {
	if !known.isFull() {
		return
	}
	*known = uriNames{isTemplates: known.isTemplates}
	for key := range m.named {
		if key.kind == kind && hasOrigin(lists, key.origin) {
			continue
		}
		if (key.kind == templates) == known.isTemplates {
			delete(m.named, key)
		}
	}
}

func hasOrigin(lists []serverList, o origin) bool {
	return slices.ContainsFunc(lists, func(list serverList) bool { return list.origin == o })
}

// namePrompts replaces the names of prompts by those that the client knows. Called with mu held.
func (m *Memory) namePrompts(lists []serverList, names [][]string) {
	var all []toolbox.Ref
	for i, list := range lists {
		for _, name := range names[i] {
			all = append(all, toolbox.Ref{Toolbox: list.origin.toolbox, Server: list.origin.server, Name: name})
		}
	}
	// The prompts of other servers are offered as well.
	for key, named := range m.named {
		if key.kind != prompts || hasOrigin(lists, key.origin) {
			continue
		}
		for _, name := range named.prompts {
			all = append(all, toolbox.Ref{Toolbox: key.origin.toolbox, Server: key.origin.server, Name: name})
		}
	}
	given := m.prompts.Assign(all)
	for i := range names {
		for j, name := range names[i] {
			names[i][j], given = given[0], given[1:]
			if names[i][j] != name {
				m.renamed.Store(true)
			}
		}
	}
}

// hasRenamed reports whether an entry or a task of the server has another name for the client. It costs nothing as long
// as nothing is renamed at all.
func (m *Memory) hasRenamed(o origin) bool {
	if !m.renamed.Load() {
		return false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.hasRenamedInResults(o) {
		return true
	}
	named := m.named[listKey{prompts, o}]
	if named == nil {
		return false
	}
	return slices.ContainsFunc(named.prompts, func(name string) bool {
		clientName, ok := m.prompts.Name(toolbox.Ref{Toolbox: o.toolbox, Server: o.server, Name: name})
		return ok && clientName != name
	})
}

// clientURI returns the URI under which the client knows the server's, and whether it is renamed. A URI that only a
// template matches is renamed with the template. Called with mu held.
func (m *Memory) clientURI(o origin, uri string) (clientURI string, renamed bool) {
	if clientURI, renamed = m.uris.lookup(o, uri); renamed {
		return clientURI, true
	}
	named, renamedTemplates := m.named[listKey{templates, o}], m.templates.renamed[o]
	if len(renamedTemplates) == 0 || named == nil || m.uris.owners[uri] == o {
		return uri, false
	}
	for _, t := range named.templates {
		if _, renamed = renamedTemplates[t.text]; renamed && t.matches(uri) {
			return o.renameTemplate(uri), true
		}
	}
	return uri, false
}

// hasRenamedInResults reports whether results of the server may contain URIs or tasks that have other names for the
// client. Called with mu held.
func (m *Memory) hasRenamedInResults(o origin) bool {
	_, ok := m.tasks.renamed[o]
	return ok || len(m.uris.renamed[o])+len(m.templates.renamed[o]) > 0
}

// owner returns the server that listed a URI.
func (m *Memory) owner(uri string) (origin, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	o, ok := m.uris.owners[uri]
	return o, ok
}

// templateOwner returns the server that listed a URI template.
func (m *Memory) templateOwner(text string) (origin, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	o, ok := m.templates.owners[text]
	return o, ok
}

// matchTemplates reports whether a template of the server matches the URI, and whether one does that is not renamed.
func (m *Memory) matchTemplates(o origin, uri string) (matches, owned bool) {
	m.mu.Lock()
	named := m.named[listKey{templates, o}]
	m.mu.Unlock()
	if named == nil {
		return false, false
	}
	for _, t := range named.templates {
		if t.matches(uri) {
			matches = true
			if owner, ok := m.templateOwner(t.text); ok && owner == o {
				return true, true
			}
		}
	}
	return matches, false
}
