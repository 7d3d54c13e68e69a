package passthrough

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/catalog"
)

// Memory is what is remembered of one client: what its servers listed and under which
// names, its tasks and its subscriptions. It is safe for concurrent use.
type Memory struct {
	subscriptions *Subscriptions
	prompts       toolbox.Names
	renamed       atomic.Bool // something has another name than its server gave it

	mu       sync.Mutex
	books    map[bookKey]*book
	served   map[bookKey]*catalog.List // what the client got last; see late.go
	told     map[string]bool           // notifications that it got since it last asked; missing: it never asked
	uris     claims
	patterns claims // templates of URIs
	tasks    taskNames

	// Guarded by the lock of subscriptions:
	own map[subscribed]string // with the URI as the client knows it
}

// NewMemory makes the memory of a client. Subscriptions are those of all clients.
func NewMemory(subscriptions *Subscriptions) *Memory {
	return &Memory{
		subscriptions: subscriptions,
		books:         make(map[bookKey]*book), served: make(map[bookKey]*catalog.List), told: make(map[string]bool),
		patterns: claims{ofTemplates: true}, own: make(map[subscribed]string),
	}
}

// bookKey names one list of one server.
type bookKey struct {
	list   *listing
	origin origin
}

// book is what a server listed, with the names that it has to the client.
type book struct {
	of        *catalog.List
	names     []string
	templates []template
}

// maxTemplates is how many templates of a server are matched against.
const maxTemplates = 1000

// knows reports whether all of the lists have names.
func (m *Memory) knows(l *listing, lists []offered) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, list := range lists {
		if b := m.books[bookKey{l, list.origin}]; b == nil || b.of != list.of {
			return false
		}
	}
	return true
}

// name takes in what servers listed, in the order of the configuration, and returns under
// which names the client knows it: for each list, one for each entry.
func (m *Memory) name(l *listing, lists []offered) [][]string {
	m.mu.Lock()
	defer m.mu.Unlock()
	names := make([][]string, len(lists))
	for i, list := range lists {
		names[i] = entryNames(l, list.entries)
		m.note(l, list, names[i])
	}
	switch l {
	case resources, templates:
		m.nameURIs(l, lists, names)
	case skills:
		m.nameSkills(lists, names)
	case prompts:
		m.namePrompts(lists, names)
	case tasks:
		m.nameTasks(lists, names)
	}
	return names
}

func entryNames(l *listing, entries []wire.Payload) []string {
	names := make([]string, len(entries))
	for i, entry := range entries {
		names[i], _ = entry.Member(l.Key).Text()
	}
	return names
}

// note remembers a list. Called with mu held.
func (m *Memory) note(l *listing, list offered, names []string) {
	if l == tasks {
		return
	}
	b := &book{of: list.of}
	switch l {
	case templates:
		for _, text := range names[:min(len(names), maxTemplates)] {
			b.templates = append(b.templates, parseTemplate(text))
		}
	case prompts:
		b.names = slices.Clone(names)
	}
	m.books[bookKey{l, list.origin}] = b
}

// nameURIs replaces the URIs of servers, or templates of URIs, by those that the client
// knows. Called with mu held.
func (m *Memory) nameURIs(l *listing, lists []offered, names [][]string) {
	known := &m.uris
	if l == templates {
		known = &m.patterns
	}
	m.makeRoom(known, l, lists)
	for i, list := range lists {
		for j, uri := range names[i] {
			if uri == "" {
				continue
			}
			names[i][j] = known.give(list.origin, uri)
			if names[i][j] != uri {
				m.renamed.Store(true)
			}
		}
	}
}

// makeRoom forgets all claims if there are too many of them, but for those of the lists, which
// are about to be made. Called with mu held.
func (m *Memory) makeRoom(known *claims, l *listing, lists []offered) {
	if !known.isFull() {
		return
	}
	*known = claims{ofTemplates: known.ofTemplates}
	for key := range m.books {
		isAsked := func(list offered) bool { return list.origin == key.origin }
		if key.list == l && slices.ContainsFunc(lists, isAsked) {
			continue
		}
		if (key.list == templates) == known.ofTemplates {
			delete(m.books, key)
		}
	}
}

// namePrompts replaces the names of prompts by those that the client knows. Called with mu
// held.
func (m *Memory) namePrompts(lists []offered, names [][]string) {
	var refs []toolbox.Ref
	for i, list := range lists {
		for _, name := range names[i] {
			refs = append(refs, toolbox.Ref{Toolbox: list.origin.toolbox, Server: list.origin.server, Name: name})
		}
	}
	// Those of servers that were not asked just now are offered as well.
	all := slices.Clone(refs)
	for key, b := range m.books {
		isAsked := func(list offered) bool { return list.origin == key.origin }
		if key.list != prompts || slices.ContainsFunc(lists, isAsked) {
			continue
		}
		for _, name := range b.names {
			all = append(all, toolbox.Ref{Toolbox: key.origin.toolbox, Server: key.origin.server, Name: name})
		}
	}
	given := m.prompts.Give(all)
	for i := range names {
		for j, name := range names[i] {
			names[i][j], given = given[0], given[1:]
			if names[i][j] != name {
				m.renamed.Store(true)
			}
		}
	}
}

// hasRenamed reports whether the client knows something of the server by another name than
// the server does. It costs nothing as long as nothing is renamed at all.
func (m *Memory) hasRenamed(o origin) bool {
	if !m.renamed.Load() {
		return false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.hasRenamedInResults(o) {
		return true
	}
	b := m.books[bookKey{prompts, o}]
	if b == nil {
		return false
	}
	return slices.ContainsFunc(b.names, func(name string) bool {
		known, ok := m.prompts.Name(toolbox.Ref{Toolbox: o.toolbox, Server: o.server, Name: name})
		return ok && known != name
	})
}

// knownURI returns the URI under which the client finds what the server calls so, and whether
// that is another. What only a template is listed for goes by the name of the template. Called
// with mu held.
func (m *Memory) knownURI(o origin, uri string) (as string, renamed bool) {
	if as, renamed = m.uris.known(o, uri); renamed {
		return as, true
	}
	b, ofServer := m.books[bookKey{templates, o}], m.patterns.renamed[o]
	if len(ofServer) == 0 || b == nil || m.uris.owners[uri] == o {
		return uri, false
	}
	for _, t := range b.templates {
		if _, renamed = ofServer[t.text]; renamed && t.matches(uri) {
			return o.renameTemplate(uri), true
		}
	}
	return uri, false
}

// hasRenamedInResults reports whether the client knows URIs or tasks of the server by other
// names, which its results may have. Called with mu held.
func (m *Memory) hasRenamedInResults(o origin) bool {
	_, ok := m.tasks.other[o]
	return ok || len(m.uris.renamed[o])+len(m.patterns.renamed[o]) > 0
}

// owner returns the server that a URI belongs to by the lists.
func (m *Memory) owner(uri string) (origin, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	o, ok := m.uris.owners[uri]
	return o, ok
}

// templateOwner returns the server that a template of URIs belongs to by the lists.
func (m *Memory) templateOwner(text string) (origin, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	o, ok := m.patterns.owners[text]
	return o, ok
}

// matches reports whether a server has a template for the URI, and one that the client knows
// by the text that the server gave it.
func (m *Memory) matches(o origin, uri string) (matches, owned bool) {
	m.mu.Lock()
	b := m.books[bookKey{templates, o}]
	m.mu.Unlock() // a book never changes
	if b == nil {
		return false, false
	}
	for _, t := range b.templates {
		if t.matches(uri) {
			matches = true
			if owner, ok := m.templateOwner(t.text); ok && owner == o {
				return true, true
			}
		}
	}
	return matches, false
}
