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

// This file is about what servers list besides tools: it is read when a server has started,
// and kept, so that clients get these lists without a server being started for them.

const (
	// listTime is how long a server that is up may take for one list.
	listTime = 30 * time.Second
	// listsPatience is how long a start waits for the lists, so that who opened a toolbox finds
	// them. A server that took longer is not waited for again.
	listsPatience = 5 * time.Second
	// maxScopes is for how many folders and circles of clients a server's lists are in memory.
	maxScopes = 20
)

// lister reads the lists of one life of a server.
type lister struct {
	stop context.CancelFunc
	done chan struct{} // closed when the goroutine has ended
	wake chan struct{} // holds a token when there are notices

	mu      sync.Mutex
	notices []wire.Message // that lists changed, each method once
}

// startLists reads the lists of a server that has just started, and waits for them a while.
// They are read again when it says that they changed, until stopLists.
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
	if s.habits.slowLists.Load() {
		patience = 0
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-first:
	case <-timer.C:
		s.habits.slowLists.Store(true)
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

// addNotice records that the server said that lists changed.
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

// followLists reads lists again that changed, and then tells those who share the session: they
// are to get the new list when they ask for it. Between two readings it rests for a while.
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

// declaredLists returns the kinds of lists that a server has.
func declaredLists(capabilities wire.Payload) (kinds []*catalog.ListKind) {
	for _, kind := range catalog.ListKinds {
		if kind.IsDeclared(capabilities) {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

// readLists reads lists of a server, in parallel, keeps each as it comes, and returns the notifications for
// those that are others than before. A list that cannot be read stays what it was.
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
			if list == nil || list.Same(before[kind]) || ctx.Err() != nil { // one that is the same stays the same object
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

// readList reads one list; nil if that fails. That a server does not know the method is nothing
// unusual: templates have no capability of their own.
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
			s.log.Warn("a server is left out of a list", "list", kind.Method, "reason", s.fleet.foreign(err.Error()))
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

// announceLists tells clients whose lists may be others now.
func (s *Server) announceLists(changed []string) {
	for _, notification := range changed {
		s.fleet.options.ListsChanged(s.configured(), notification)
	}
}

// ListsFor returns what a configured server listed last as far as the client may see it: in this
// run, or in an earlier one. It starts nothing, and may read a file.
func (s *Server) ListsFor(p *ClientProfile) catalog.Lists {
	return s.preview(p).lists()
}

// OfferedFor is Offered for a client. It does not give the client a part in any session.
func (s *Server) OfferedFor(p *ClientProfile) *catalog.Snapshot {
	return s.preview(p).Offered()
}

// SessionFor returns the session that a client would use now, to look at it; nil if there is none.
// It does not count as a use of the server, and gives the client no part in it.
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

// lists returns what the server listed to this client, or what is remembered for it.
func (s *Server) lists() catalog.Lists {
	s.mu.Lock()
	listed := s.listed
	s.mu.Unlock()
	if listed != nil {
		return listed
	}
	return s.rememberedLists(s.circle, s.listFolder(s.folder))
}

// ListWarnings say what is wrong with what the server lists besides tools.
func (l *Lease) ListWarnings() (warnings []string) {
	lists := l.server.lists()
	for _, kind := range catalog.ListKinds {
		if list := lists[kind]; list != nil {
			warnings = append(warnings, list.Warnings...)
		}
	}
	return warnings
}

// listFolder tells apart the working folders for which a server may list other resources.
func (s *Server) listFolder(folder string) string {
	if !dependsOnFolder(&s.config) {
		return ""
	}
	if folder = cmp.Or(folder, s.fleet.options.Folder); folder == "" {
		folder, _ = os.Getwd() // "" if it is gone
	}
	return folder
}

// listScope says what lists of a kind belong to besides the server: those who may see them, and of
// resources the folder. What else a server lists does not depend on that, as its tools do not.
type listScope struct{ circle, folder string }

func scopeOf(kind *catalog.ListKind, circle, folder string) listScope {
	if kind != catalog.Resources {
		folder = ""
	}
	return listScope{circle, folder}
}

// rememberedLists returns what is known of the lists of a server that was not started yet for
// its client: what those of its circle were told, or else what is for all.
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

// listsOf returns what is kept of a scope. Called with the memory's mu held.
func (s *Server) listsOf(scope listScope) catalog.Lists {
	m := s.memory
	lists, looked := m.lists[scope]
	if !looked {
		if m.lists == nil || len(m.lists) >= maxScopes {
			m.lists = make(map[listScope]catalog.Lists)
		}
		lists = s.fleet.options.Copies.LoadLists(s.Name(), s.listsKey(scope))
		m.lists[scope] = lists
	}
	return lists
}

// rememberLists keeps what the server lists now, for its other clients and for the next run.
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
		s.fleet.options.Copies.SaveLists(s.Name(), s.listsKey(scope), lists, s.fleet.masker.Load().Mask)
	}
}

func (s *Server) listsKey(scope listScope) catalog.Hash {
	key := definitionKey(s.toolbox, s.config)
	text := fmt.Appendf(key[:], "lists %q %q", scope.circle, scope.folder)
	if identity := s.identity(); identity != (catalog.Hash{}) { // what it lists may be for that one alone
		text = append(text, identity[:]...)
	}
	return sha256.Sum256(text)
}
