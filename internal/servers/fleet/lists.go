package fleet

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/catalog"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/downstream"
)

// This file reads and caches the lists of servers besides tools, so that clients get them without starting a server.

const (
	// listTime is how long a running server may take for one list.
	listTime = 30 * time.Second
	// listsPatience is how long a start waits for the lists, so that a client that opens a toolbox finds them. The starts
	// of a server that took longer once do not wait again.
	listsPatience = 5 * time.Second
	// maxScopes is the number of folders and circles of clients for which the lists of a server are kept in memory.
	maxScopes = 20
)

// lister reads the lists of one instance of a server.
type lister struct {
	stop context.CancelFunc
	done chan struct{} // closed when the goroutine has ended
	wake chan struct{} // holds a token when there are notices

	mu      sync.Mutex
	notices []wire.Message // that lists changed, each method once
}

// startLists reads the lists of a server that has just started, and waits for them for a while. They are read again when
// the server notifies that they changed, until stopLists.
func (s *Server) startLists(ctx context.Context, in *instance) {
	life, stop := context.WithCancel(s.fleet.life)
	in.lister.stop, in.lister.done = stop, make(chan struct{})
	first := make(chan struct{})
	go func() { // ends with stopLists
		defer close(in.lister.done)
		s.announceLists(s.readLists(life, in.session, declaredLists(in.session.Capabilities())))
		close(first)
		s.followLists(life, in)
	}()
	patience := listsPatience
	if s.startHints.slowLists.Load() {
		patience = 0
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-first:
	case <-timer.C:
		s.startHints.slowLists.Store(true)
	case <-ctx.Done():
	}
}

// stopLists ends what startLists began, if it did.
func (in *instance) stopLists() {
	if in.lister.stop != nil {
		in.lister.stop()
		<-in.lister.done
	}
}

// addNotice queues a notification that a list changed.
func (l *lister) addNotice(message wire.Message) {
	notice := wire.Message{Method: []byte(string(message.Method)), Params: wire.Raw([]byte(string(message.Params.Bytes())))}
	if message.Params.IsAbsent() {
		notice.Params = wire.Payload{}
	}
	l.mu.Lock()
	known := false
	for _, other := range l.notices {
		known = known || string(other.Method) == string(notice.Method)
	}
	if !known {
		l.notices = append(l.notices, notice)
	}
	l.mu.Unlock()
	signal(l.wake)
}

func (l *lister) takeNotices() []wire.Message {
	l.mu.Lock()
	defer l.mu.Unlock()
	notices := l.notices
	l.notices = nil
	return notices
}

// followLists reads changed lists again, and then notifies the clients of the session, so that they get the new list when
// they ask for it. It pauses between two readings.
func (s *Server) followLists(ctx context.Context, in *instance) {
	for {
		select {
		case <-in.lister.wake:
		case <-ctx.Done():
			return
		}
		notices := in.lister.takeNotices()
		var changed []*catalog.ListKind
		for _, kind := range declaredLists(in.session.Capabilities()) {
			for _, notice := range notices {
				if kind.Changed == string(notice.Method) {
					changed = append(changed, kind)
				}
			}
		}
		others := s.readLists(ctx, in.session, changed)
		for _, notice := range notices {
			for _, p := range s.clients() {
				p.options.Notice(s.configured(), notice)
			}
		}
		s.announceLists(others)
		rest := time.NewTimer(refreshPause)
		select {
		case <-rest.C:
		case <-ctx.Done():
		}
		rest.Stop()
	}
}

// declaredLists returns the lists that a server declares.
func declaredLists(capabilities wire.Payload) (kinds []*catalog.ListKind) {
	for _, kind := range catalog.ListKinds {
		if kind.IsDeclared(capabilities) {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

// readLists reads lists of a server in parallel, keeps each as it comes, and returns the notifications for those that
// changed. A list that cannot be read stays as it was.
func (s *Server) readLists(ctx context.Context, session *downstream.Session, kinds []*catalog.ListKind) (changed []string) {
	before := s.lists()
	kept := make(catalog.Lists)
	for _, kind := range declaredLists(session.Capabilities()) {
		if list, known := before[kind]; known {
			kept[kind] = list
		}
	}
	s.mu.Lock()
	s.listed = kept
	s.mu.Unlock()
	var group sync.WaitGroup
	for _, kind := range kinds {
		group.Go(func() {
			list := s.readList(ctx, session, kind)
			if list == nil || list.Same(before[kind]) || ctx.Err() != nil { // an unchanged list stays the same object
				return
			}
			s.mu.Lock()
			s.listed = maps.Clone(s.listed)
			s.listed[kind] = list
			s.mu.Unlock()
		})
	}
	group.Wait()
	if ctx.Err() != nil {
		return nil
	}
	after := s.lists()
	s.rememberLists(after)
	for _, kind := range catalog.ListKinds {
		if before[kind] != after[kind] && !slices.Contains(changed, kind.Changed) {
			changed = append(changed, kind.Changed)
		}
	}
	return changed
}

// readList reads one list; nil if that fails. An unknown method is usual: templates have no capability of their own.
func (s *Server) readList(ctx context.Context, session *downstream.Session, kind *catalog.ListKind) *catalog.List {
	ctx, cancel := context.WithTimeout(ctx, listTime)
	defer cancel()
	entries, note, err := session.List(ctx, kind.Method, kind.Array)
	refused, ok := errors.AsType[*downstream.RPCError](err)
	switch {
	case ok && refused.Code == protocol.CodeMethodNotFound:
		return catalog.NewList(s.Name(), kind, nil, "")
	case err != nil:
		if s.fleet.life.Err() == nil && session.Err() == nil {
			s.log.Warn("a server is left out of a list", "list", kind.Method, "reason", s.fleet.cleanServerText(err.Error()))
		}
		return nil
	}
	list := catalog.NewList(s.Name(), kind, entries, note)
	s.logFaults(list.Warnings)
	if list.Cut != "" {
		s.log.Warn("a list was cut off", "list", kind.Method, "reason", list.Cut)
	}
	return list
}

// announceLists reports that lists may have changed for clients.
func (s *Server) announceLists(changed []string) {
	for _, notification := range changed {
		s.fleet.options.ListsChanged(s.configured(), notification, s.scope())
	}
}

// ListsFor returns the cached lists of a configured server that the client may see, from this run or an earlier one. It
// starts nothing, and may read a file.
func (s *Server) ListsFor(p *ClientProfile) catalog.Lists {
	return s.preview(p).lists()
}

// SessionFor returns the session that a client would use now, for inspection; nil if there is none. It does not count as a
// use of the server, and does not add the client to the session.
func (s *Server) SessionFor(p *ClientProfile) *downstream.Session {
	variant := s.existingVariant(p)
	if variant == nil {
		return nil
	}
	variant.mu.Lock()
	defer variant.mu.Unlock()
	if !variant.isReady() {
		return nil
	}
	return variant.running.session
}

// lists returns the lists that the server sent in this session, or the cached ones.
func (s *Server) lists() catalog.Lists {
	s.mu.Lock()
	listed := s.listed
	s.mu.Unlock()
	if listed != nil {
		return listed
	}
	return s.rememberedLists(s.circle, s.listFolder(s.folder))
}

// ListWarnings returns the problems of the server's lists besides tools.
func (l *Lease) ListWarnings() (warnings []string) {
	lists := l.server.lists()
	for _, kind := range catalog.ListKinds {
		if list := lists[kind]; list != nil {
			warnings = append(warnings, list.Warnings...)
		}
	}
	return warnings
}

// listFolder returns the working folder that a server's resources may depend on; "" if they do not.
func (s *Server) listFolder(folder string) string {
	if !dependsOnFolder(&s.config) {
		return ""
	}
	if folder = cmp.Or(folder, s.fleet.options.Folder); folder == "" {
		folder, _ = os.Getwd() // "" if it is gone
	}
	return folder
}

// listScope is what cached lists depend on besides the server: the circle of clients that may see them, and for resources
// the folder.
type listScope struct{ circle, folder string }

func scopeOf(kind *catalog.ListKind, circle, folder string) listScope {
	if kind != catalog.Resources {
		folder = ""
	}
	return listScope{circle, folder}
}

// rememberedLists returns the cached lists of a server that was not started yet for its client: those for the circle of
// the client, or else those for all clients.
func (s *Server) rememberedLists(circle, folder string) catalog.Lists {
	m := s.memory
	m.mu.Lock()
	defer m.mu.Unlock()
	known := make(catalog.Lists)
	for _, kind := range catalog.ListKinds {
		list := s.listsOf(scopeOf(kind, circle, folder))[kind]
		if list == nil && circle != "" {
			list = s.listsOf(scopeOf(kind, "", folder))[kind]
		}
		if list != nil {
			known[kind] = list
		}
	}
	return known
}

// listsOf returns the cached lists of a scope. Called with the memory's mu held.
func (s *Server) listsOf(scope listScope) catalog.Lists {
	m := s.memory
	lists, looked := m.lists[scope]
	if !looked {
		if m.lists == nil || len(m.lists) >= maxScopes {
			m.lists = make(map[listScope]catalog.Lists)
		}
		if !m.isPersonal {
			lists = s.fleet.options.Copies.LoadLists(s.Name(), s.listsKey(scope))
		}
		m.lists[scope] = lists
	}
	return lists
}

// rememberLists caches the lists for other clients and for the next run.
func (s *Server) rememberLists(listed catalog.Lists) {
	m, folder, circle := s.memory, s.listFolder(s.folder), ""
	if s.configured().variants.isRooted() {
		circle = s.circle
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	byScope := make(map[listScope]catalog.Lists)
	for _, kind := range catalog.ListKinds {
		scope := scopeOf(kind, circle, folder)
		if byScope[scope] == nil {
			byScope[scope] = make(catalog.Lists)
		}
		if list := listed[kind]; list != nil {
			byScope[scope][kind] = list
		}
	}
	for scope, lists := range byScope {
		if maps.Equal(s.listsOf(scope), lists) {
			continue
		}
		m.lists[scope] = lists
		if m.isPersonal {
			continue
		}
		s.fleet.options.Copies.SaveLists(s.Name(), s.listsKey(scope), lists, s.fleet.masker.Load().Mask)
	}
}

func (s *Server) listsKey(scope listScope) catalog.Hash {
	key := definitionKey(s.toolbox, s.config)
	text := fmt.Appendf(key[:], "lists %q %q", scope.circle, scope.folder)
	if identity := s.identity(); identity != (catalog.Hash{}) { // its lists may be for that identity only
		text = append(text, identity[:]...)
	}
	return sha256.Sum256(text)
}
