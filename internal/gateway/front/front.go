// Package front is the MCP server that clients connect to, over stdio and over HTTP.
//
// A transport (pipe, httpServer) reads frames and hands messages to the session of the client. The
// session makes a request of each, which packages metatool and passthrough answer. Notifications
// and responses are values on their way back, until the transport encodes them; see message.go.
//
// Clients of the legacy era begin with initialize and have a session. Clients of the modern era,
// revision 2026-07-28, are stateless: each request declares what the client can do, and a server's
// question is the response to the request. Both are sessions and requests here; what differs is in
// statelessClient and suspension, in package era, and in the transports.
package front

import (
	"bytes"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/call"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/elicitation"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/metatool"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/passthrough"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/tracecontext"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/catalog"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/fleet"
)

// Options are the options of a server.
type Options struct {
	// Surface makes the tools that an audience sees. It is called again after a Change.
	Surface func(Audience) *metatool.Surface
	// Forwarder makes the routes of an audience to everything except tools. It is called again after
	// a Change.
	Forwarder func(Audience) *passthrough.Forwarder
	// Admit refuses a client by the mark of its connection; see package hops. Default: all are
	// admitted.
	Admit func(mark string) error
	// RootsMatter reports whether a client is asked for its roots even if no other client declares
	// the same: servers that ask for roots are shared by clients with the same. Default: false.
	RootsMatter func() bool
	// Answered is told of every request that was answered, for its trace; see call.Origin. Default: requests are not traced.
	Answered func(origin *call.Origin, answer call.Answer)
	// SessionEnded is told how long each session of a client lasted that initialized; requests of the modern era have none.
	// Default: nobody is told.
	SessionEnded func(overHTTP bool, revision protocol.Revision, after time.Duration)
	// People answer elicitations for clients that cannot be asked. Default: nobody does.
	People     *elicitation.Desk
	Version    string       // that clients see
	MaxMessage int          // limit in bytes of one message; default wire.DefaultLimit
	Log        *slog.Logger // default: discard
}

// Audience is what a client may see. Clients of the same audience share a surface.
type Audience struct {
	Toolboxes []string // nil: all of them
	// Only is the toolbox that is served alone, as if its servers were connected directly; ""
	// serves as configured.
	Only string
	// Terminal is set for a person who calls tools one by one: tools are called in the same way in
	// every mode, and results are not shortened.
	Terminal bool
	// Servers limits the audience to these, by toolbox and server; nil: all of the toolboxes.
	Servers []toolbox.Ref
	// Caller is who the client is to the rules of the policy; see config.CallerStdio and the others.
	Caller string
}

func (a Audience) equals(b Audience) bool {
	return a.Caller == b.Caller && a.Terminal == b.Terminal && (a.Servers == nil) == (b.Servers == nil) && slices.Equal(a.Servers, b.Servers) && a.Only == b.Only && (a.Toolboxes == nil) == (b.Toolboxes == nil) && slices.Equal(a.Toolboxes, b.Toolboxes)
}

// Server serves any number of clients.
type Server struct {
	options       Options
	subscriptions *passthrough.Subscriptions
	suspended     *suspendedCalls
	results       *metatool.ResultStore
	batches       quota      // bytes of responses that wait for others of their batch
	calls         quota      // requests in flight, of those who have a limit
	tooMany       tooManyLog // of the limits of those
	sessionNumber atomic.Uint64

	mu       sync.Mutex
	sessions map[*session]struct{}
	surfaces []audienceSurface // of the audiences seen last
}

type audienceSurface struct {
	audience  Audience
	surface   *metatool.Surface
	forwarder *passthrough.Forwarder
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

// traceOf returns what the headers of a request say about its trace, if requests are traced.
func (s *Server) traceOf(r *http.Request) (carrier tracecontext.Carrier) {
	if s.options.Answered != nil {
		carrier = tracecontext.FromHeader(r.Header)
	}
	return carrier
}

// admit refuses a workbench that must not be our client.
func (s *Server) admit(mark string) error {
	if mark == "" || s.options.Admit == nil {
		return nil
	}
	return s.options.Admit(mark)
}

// add adds a session, and sets its surface and forwarder.
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

// maxSurfaces limits the surfaces that are kept. There are few audiences, unless tokens come and
// go.
const maxSurfaces = 100

// show sets the surface and forwarder of a client. Called with mu held.
func (s *Server) show(client *session) {
	shown := s.surfaceFor(client.audience)
	client.surface.Store(shown.surface)
	client.forwarder.Store(shown.forwarder)
}

// Surface returns the tools that an audience sees now.
func (s *Server) Surface(audience Audience) *metatool.Surface {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.surfaceFor(audience).surface
}

// surfaceFor returns the surface of an audience, which is made if needed. Called with mu held.
func (s *Server) surfaceFor(audience Audience) audienceSurface {
	for _, known := range s.surfaces {
		if known.audience.equals(audience) {
			return known
		}
	}
	if len(s.surfaces) == maxSurfaces {
		s.surfaces = slices.Delete(s.surfaces, 0, 1)
	}
	made := audienceSurface{audience, s.options.Surface(audience), s.options.Forwarder(audience)}
	s.surfaces = append(s.surfaces, made)
	return made
}

// Change changes what is served: apply does so, and the surfaces are made again. Clients are
// notified if their lists of tools, resources or prompts change.
func (s *Server) Change(apply func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	type seen struct {
		tools              []byte
		resources, prompts []*catalog.List
	}
	see := func(client *session) seen {
		forwarder := client.forwarder.Load()
		return seen{client.surface.Load().Listed(client), forwarder.CachedLists(client, protocol.NotifyResourcesList), forwarder.CachedLists(client, protocol.NotifyPromptsList)}
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

// ToolsChanged notifies the clients in a scope that see tools of the toolbox.
func (s *Server) ToolsChanged(toolbox string, whom fleet.Scope) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for client := range s.sessions {
		if whom.Includes(client.Profile()) && client.surface.Load().Shows(client, toolbox) {
			client.notifyListChanged(protocol.NotifyToolsList)
		}
	}
}

// ListsChanged sends the notification to the clients in a scope that know another list of the server.
func (s *Server) ListsChanged(server *fleet.Server, notification string, whom fleet.Scope) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for client := range s.sessions {
		if whom.Includes(client.Profile()) && client.live.Load() && client.forwarder.Load().NeedsNotification(client, server, notification, client.news.areExpected()) && !client.news.holdBack(notification) {
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

// Time limits of the end of a session, which takes at most their sum.
const (
	answerTime = 2 * time.Second        // for requests in flight
	cancelTime = 200 * time.Millisecond // for requests that were cancelled then
	flushTime  = 200 * time.Millisecond // for responses that wait to be written
	readTime   = 100 * time.Millisecond // for a read in progress
)
