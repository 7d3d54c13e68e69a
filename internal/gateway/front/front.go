// Package front is the MCP server that clients see, over stdio and over HTTP: it reads
// their requests, answers them, and keeps what belongs to one client's session.
package front

import (
	"bytes"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/metatool"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/passthrough"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/catalog"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/fleet"
)

// Options say what a server serves.
type Options struct {
	// Surface makes what an audience sees. It is called again after a Change.
	Surface func(Audience) *metatool.Surface
	// Passage makes the way of an audience to what is no tool. As above.
	Passage func(Audience) *passthrough.Forwarder
	// Admit refuses a client whose connection has a mark that it must not have; see package
	// hops. Default: all are admitted.
	Admit func(mark string) error
	// RootsMatter reports whether the roots of a client decide whom it shares servers with, so
	// that they have to be known. Default: they do not, unless there are several that may be alike.
	RootsMatter func() bool
	Version     string       // told to clients
	MaxMessage  int          // limit in bytes of one message; default wire.DefaultLimit
	Log         *slog.Logger // default: discard
}

// Audience is what a client may see. Clients of one audience share a surface.
type Audience struct {
	Toolboxes []string // nil: all of them
	// Only is the one toolbox that is served as if its servers were connected directly;
	// "" serves as the configuration says.
	Only string
	// Terminal says that it is a person who calls tools one by one: these are used in the same way
	// whatever clients see, and results are not cut.
	Terminal bool
	// Servers are the only ones, by toolbox and server; nil: all of the toolboxes.
	Servers []toolbox.Ref
}

func (a Audience) equals(b Audience) bool {
	return a.Terminal == b.Terminal && (a.Servers == nil) == (b.Servers == nil) && slices.Equal(a.Servers, b.Servers) && a.Only == b.Only && (a.Toolboxes == nil) == (b.Toolboxes == nil) && slices.Equal(a.Toolboxes, b.Toolboxes)
}

// Server serves any number of clients.
type Server struct {
	options       Options
	subscriptions *passthrough.Subscriptions
	suspended     *suspendedCalls
	results       *metatool.ResultStore
	batches       quota // bytes of answers that wait for others of their batch

	mu       sync.Mutex
	sessions map[*session]struct{}
	surfaces []audienceSurface // those in use, and some that were
}

type audienceSurface struct {
	audience Audience
	surface  *metatool.Surface
	passage  *passthrough.Forwarder
}

// New makes a server.
func New(options Options) *Server {
	if options.Log == nil {
		options.Log = slog.New(slog.DiscardHandler)
	}
	if options.MaxMessage <= 0 {
		options.MaxMessage = wire.DefaultLimit
	}
	if options.RootsMatter == nil {
		options.RootsMatter = func() bool { return false }
	}
	return &Server{
		options: options, subscriptions: passthrough.NewSubscriptions(), suspended: newSuspendedCalls(),
		results: metatool.NewResultStore(), batches: quota{most: maxBatchAnswers}, sessions: make(map[*session]struct{}),
	}
}

// admit refuses a workbench that must not be our client.
func (s *Server) admit(mark string) error {
	if mark == "" || s.options.Admit == nil {
		return nil
	}
	return s.options.Admit(mark)
}

// add takes a session in, whose surface and passage it sets.
func (s *Server) add(client *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.show(client)
	s.sessions[client] = struct{}{}
}

func (s *Server) remove(client *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.sessions, client)
}

// maxSurfaces is how many surfaces are kept for audiences to come: there are few, unless
// tokens come and go.
const maxSurfaces = 100

// show gives a client what its audience sees. It is called with mu held.
func (s *Server) show(client *session) {
	shown := s.surfaceFor(client.audience)
	client.surface.Store(shown.surface)
	client.passage.Store(shown.passage)
}

// surfaceFor is called with mu held.
func (s *Server) surfaceFor(audience Audience) audienceSurface {
	for _, known := range s.surfaces {
		if known.audience.equals(audience) {
			return known
		}
	}
	if len(s.surfaces) == maxSurfaces {
		s.surfaces = slices.Delete(s.surfaces, 0, 1)
	}
	made := audienceSurface{audience, s.options.Surface(audience), s.options.Passage(audience)}
	s.surfaces = append(s.surfaces, made)
	return made
}

// Change changes what is served: apply does it, and the surfaces are made anew. Clients
// are told if that changes their lists of tools, resources or prompts.
func (s *Server) Change(apply func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	type seen struct {
		tools              []byte
		resources, prompts []*catalog.List
	}
	see := func(client *session) seen {
		way := client.passage.Load()
		return seen{client.surface.Load().Listed(client), way.CachedLists(client, protocol.NotifyResourcesList), way.CachedLists(client, protocol.NotifyPromptsList)}
	}
	before := make(map[*session]seen, len(s.sessions))
	for client := range s.sessions {
		before[client] = see(client)
	}
	apply()
	s.surfaces = nil
	for client, was := range before {
		s.show(client)
		is := see(client)
		if !bytes.Equal(was.tools, is.tools) {
			client.notifyListChanged(protocol.NotifyToolsList)
		}
		if !slices.Equal(was.resources, is.resources) {
			client.notifyListChanged(protocol.NotifyResourcesList)
		}
		if !slices.Equal(was.prompts, is.prompts) {
			client.notifyListChanged(protocol.NotifyPromptsList)
		}
	}
}

// ToolsChanged tells clients that see tools of the toolbox that they changed.
func (s *Server) ToolsChanged(toolbox string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for client := range s.sessions {
		if client.surface.Load().Shows(client, toolbox) {
			client.notifyListChanged(protocol.NotifyToolsList)
		}
	}
}

// ListsChanged tells clients, by the notification, that the server lists something else than they
// know.
func (s *Server) ListsChanged(server *fleet.Server, notification string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for client := range s.sessions {
		if client.live.Load() && client.passage.Load().NeedsNotification(client, server, notification, client.news.areExpected()) && !client.news.holdBack(notification) {
			client.notifyListChanged(notification)
		}
	}
}

func (s *session) notifyListChanged(method string) {
	if !s.live.Load() {
		return
	}
	if err := s.Notify(method, nil); err != nil {
		s.log.Warn("client was not told that a list changed", "method", method, "reason", err)
	}
}

// How a session ends, in at most the sum of these.
const (
	answerTime = 2 * time.Second        // for requests that were read already
	cancelTime = 200 * time.Millisecond // for those that were cancelled then
	flushTime  = 200 * time.Millisecond // for answers that wait to be written
	readTime   = 100 * time.Millisecond // for a read that is under way
)
