package front

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/access/httpauth"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/hops"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// HTTPOptions are the options of serving over HTTP.
type HTTPOptions struct {
	// Gate wraps the handler of everything but loop detection; it authenticates requests, say.
	// Default: every request passes.
	Gate func(http.Handler) http.Handler
	// Identify returns who sent a request that passed the gate. Default: an anonymous client that
	// may see everything.
	Identify func(*http.Request) Identity
	// Valid returns a function that tells whether the one with an ID may go on with what was last used with a credential;
	// what may not is ended. It is asked for at each look at all clients. nil: all may.
	Valid func() func(id, credential string, expires time.Time) bool
	// Limits returns what each may use at once, now. Default: nobody has limits of their own.
	Limits func() config.PersonLimits
	// Metrics answers requests for metrics that passed the gate. Default: there are none.
	Metrics http.Handler
	// Page answers requests below PagePath that passed the gate. Default: there is no page.
	Page http.Handler
	// Exists reports whether the toolbox of an audience of one toolbox exists. Default: it does not.
	Exists func(Audience) bool

	// Ready returns why the workbench cannot be used now, a line each. It may be called often, by anybody. Default: nothing is wrong.
	Ready func() []string
	// Proxies say which clients their requests are from. Default: no proxy is trusted.
	Proxies *httpauth.Proxies
	// Hurry is closed to end at once while requests in flight are waited for. Default: nobody does.
	Hurry <-chan struct{}

	Drain       time.Duration // how long requests in flight may take at the end; default 2 seconds
	SessionIdle time.Duration // after which an idle session ends; default 1 hour
	ClientIdle  time.Duration // after which servers stop that run for an idle client alone; default 10 minutes
	MaxSessions int           // default 10,000
}

// Paths of the health checks, of the metrics, and of the page.
const (
	HealthPath  = "/healthz"
	ReadyPath   = "/readyz"
	MetricsPath = "/metrics"
	PagePath    = "/ui/"
)

// Limits of one connection.
const (
	headerTime    = 10 * time.Second      // for the headers of a request
	idleTime      = 2 * time.Minute       // between two requests
	bodyTime      = 2 * time.Minute       // for the body of a request
	bodyPause     = 10 * time.Second      // without a byte of it
	bodyWait      = 10 * time.Second      // for memory to read a large one
	maxHeader     = 32 << 10              // size of the headers of a request; larger ones are refused with 431
	defaultIdle   = time.Hour             // without a request before a session ends; http.sessionIdle
	defaultAway   = 10 * time.Minute      // without a request before the servers of one client end; http.clientIdle
	sweepInterval = 15 * time.Second      // the longest pause between two looks for idle sessions; see sweep
	sweepPause    = 10 * time.Millisecond // between two sessions that are ended by one sweep
	validInterval = time.Second           // between two looks for sessions whose token was removed or revoked
	// closeTime is for the last bytes of responses at the end.
	closeTime = 300 * time.Millisecond
)

const defaultMaxSessions = 10_000

// httpServer serves clients over HTTP.
type httpServer struct {
	server           *Server
	options          HTTPOptions
	spill            *spillBuffer
	bodies           *bodies
	sessions         registry[*httpSession]
	statelessClients *statelessClients
	draining         atomic.Bool  // nothing new begins
	posts            atomic.Int64 // that are being answered
}

func (s *Server) newHTTPServer(options HTTPOptions) *httpServer {
	if options.Gate == nil {
		options.Gate = func(next http.Handler) http.Handler { return next }
	}
	if options.Exists == nil {
		options.Exists = func(Audience) bool { return false }
	}
	if options.Identify == nil {
		options.Identify = func(*http.Request) Identity { return Identity{} }
	}
	if options.Limits == nil {
		options.Limits = func() config.PersonLimits { return config.PersonLimits{} }
	}
	if options.SessionIdle <= 0 {
		options.SessionIdle = defaultIdle
	}
	if options.ClientIdle <= 0 {
		options.ClientIdle = defaultAway
	}
	if options.Drain <= 0 {
		options.Drain = defaultDrain
	}
	if options.MaxSessions <= 0 {
		options.MaxSessions = defaultMaxSessions
	}
	h := &httpServer{
		server: s, options: options, spill: newSpillBuffer(), bodies: newBodies(),
		statelessClients: newStatelessClients(s, options.MaxSessions),
		sessions:         newRegistry[*httpSession](options.MaxSessions, keepSession),
	}
	ownLimit := func() int { return options.Limits().Sessions }
	h.sessions.ownLimit, h.statelessClients.ownLimit = ownLimit, ownLimit
	h.statelessClients.limits = options.Limits
	return h
}

// ServeHTTP serves clients that connect to the listener, until ctx ends. Then it accepts no more
// sessions, lets requests finish for a while, and ends the others with a response.
func (s *Server) ServeHTTP(ctx context.Context, listener net.Listener, options HTTPOptions) error {
	h := s.newHTTPServer(options)
	server := &http.Server{
		Handler:           h.refuseLoops(h.options.Proxies.Wrap(h.options.Gate(http.HandlerFunc(h.route)))),
		ReadHeaderTimeout: headerTime, IdleTimeout: idleTime, MaxHeaderBytes: maxHeader,
		ErrorLog: discardLog,
	}
	httpauth.GuardConnections(server, h.options.Proxies, s.options.Log)
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	sweeping, stop := context.WithCancel(context.WithoutCancel(ctx)) // also while requests finish: tokens may be removed
	var sweeper sync.WaitGroup
	sweeper.Go(func() { h.sweep(sweeping) })
	var err error
	select {
	case err = <-ended:
	case <-ctx.Done():
		h.draining.Store(true) // before anybody reads that it ends
		s.options.Log.Info("shutting down", "reason", context.Cause(ctx))
	}
	h.drain()
	stop()
	sweeper.Wait()
	h.shutDown(server)
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// refuseLoops refuses a workbench that connects to itself. It comes before the gate, so that its
// user is told of the loop and does not look for a token.
func (h *httpServer) refuseLoops(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := h.server.admit(r.Header.Get(hops.Header)); err != nil {
			refuse(w, http.StatusLoopDetected, protocol.CodeInvalidRequest, err.Error())
			return
		}
		next.ServeHTTP(w, r)
	})
}

// sweep ends idle sessions, and before that the servers that run for their clients alone. It also ends what began with an identity
// that is not valid any more.
func (h *httpServer) sweep(ctx context.Context) {
	ticker, validTicker := time.NewTicker(max(min(sweepInterval, h.options.ClientIdle/4), sweepPause)), time.NewTicker(validInterval)
	defer ticker.Stop()
	defer validTicker.Stop()
	for {
		select {
		case <-validTicker.C:
			h.endInvalid()
		case now := <-ticker.C:
			h.statelessClients.sweep(h.options.ClientIdle, h.validity())
			h.endInvalid()
			for _, client := range h.sessions.all() {
				client.posts.sweep(now)
				client.rest(h.options.ClientIdle)
				if idle, isIdle := client.idle.idleFor(); isIdle && idle > h.options.SessionIdle {
					h.server.options.Log.Debug("a session ended", "reason", "its client has not been heard of")
					h.dropSession(client)
				}
			}
		case <-ctx.Done():
			return
		}
	}
}

// endInvalid ends the sessions of clients that may not go on, with all that runs for them.
func (h *httpServer) endInvalid() {
	if h.options.Valid == nil {
		return
	}
	isValid := h.validity()
	for _, client := range h.sessions.all() {
		if !client.mayGoOn(isValid) {
			h.server.options.Log.Debug("a session ended", "reason", "its client may not use the workbench any more")
			h.dropSession(client)
		}
	}
}

// validity returns whether the one with an ID may go on with what was last used with a credential.
func (h *httpServer) validity() validity {
	if h.options.Valid == nil {
		return anybody
	}
	return h.options.Valid()
}

// validity is the result of HTTPOptions.Valid.
type validity = func(id, credential string, expires time.Time) bool

func anybody(string, string, time.Time) bool { return true }

// dropSession ends a session at once, with the servers that run for it alone.
func (h *httpServer) dropSession(client *httpSession) {
	h.sessions.remove(client)
	if profile := client.Profile(); profile != nil {
		profile.MarkAway()
	}
	client.abandon(errSessionEnded)
	client.get.respond(noResponse)
	h.server.remove(client.session)
	client.get.drop()
	client.posts.dropAll()
}

var errSessionEnded = errors.New("the session has ended")

// route uses the path as it was sent: it is not cleaned, since names of toolboxes may have any
// characters.
func (h *httpServer) route(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	path := r.URL.EscapedPath()
	segment, isOne := strings.CutPrefix(path, "/mcp/")
	switch {
	case path == HealthPath:
		h.health(w, r, nil)
	case path == ReadyPath:
		h.ready(w, r)
	case path == MetricsPath && h.options.Metrics != nil:
		h.options.Metrics.ServeHTTP(boundedWriter{w, newOutput(w)}, r)
	case h.options.Page != nil && (path+"/" == PagePath || strings.HasPrefix(path, PagePath)):
		h.options.Page.ServeHTTP(w, r)
	case path == "/mcp":
		h.serve(w, r, "")
	case isOne && segment != "" && !strings.Contains(segment, "/"):
		only, err := url.PathUnescape(segment)
		if err != nil || only == "" {
			refuse(w, http.StatusNotFound, protocol.CodeInvalidRequest, "There is nothing at this address")
			return
		}
		h.serve(w, r, only)
	default:
		refuse(w, http.StatusNotFound, protocol.CodeInvalidRequest,
			"There is nothing at this address. MCP is served at /mcp, and one toolbox alone at /mcp/TOOLBOX")
	}
}

// exchange is one HTTP request to the endpoint of MCP, and its response.
type exchange struct {
	w http.ResponseWriter
	r *http.Request
	sender
	ending bool // nothing new begins
}

// isDistant reports whether a request may come from another machine: directly, or by way of a proxy on this one.
func isDistant(r *http.Request) bool {
	for _, name := range []string{"Forwarded", "X-Forwarded-For", "X-Real-Ip", "Via"} {
		if r.Header[name] != nil {
			return true
		}
	}
	address, err := netip.ParseAddrPort(r.RemoteAddr)
	return err != nil || !address.Addr().Unmap().IsLoopback()
}

// serve serves the endpoint of MCP.
func (h *httpServer) serve(w http.ResponseWriter, r *http.Request, only string) {
	v := exchange{w: w, r: r, sender: senderOf(h.options.Identify(r), r.RemoteAddr, only)}
	if only != "" && !h.options.Exists(v.audience) {
		refuse(w, http.StatusNotFound, protocol.CodeInvalidRequest, "There is no toolbox of this name")
		return
	}
	switch {
	case r.Method == http.MethodPost:
		h.post(v)
	case hasModernRevision(r):
		w.Header().Set("Allow", "POST")
		refuse(w, http.StatusMethodNotAllowed, protocol.CodeInvalidRequest, "The method is not allowed in this revision of the protocol; use POST")
	case r.Method == http.MethodGet:
		h.get(v)
	case r.Method == http.MethodDelete:
		if client, ok := h.session(v); ok {
			h.dropSession(client)
			w.WriteHeader(http.StatusNoContent)
		}
	default:
		w.Header().Set("Allow", "GET, POST, DELETE")
		refuse(w, http.StatusMethodNotAllowed, protocol.CodeInvalidRequest, "The method is not allowed; use POST, GET or DELETE")
	}
}

const (
	sessionHeader  = "Mcp-Session-Id"
	revisionHeader = "Mcp-Protocol-Version"
)

// session returns the session that a request names, or refuses the request. A session of another
// owner is not found.
func (h *httpServer) session(e exchange) (*httpSession, bool) {
	ids := e.r.Header.Values(sessionHeader)
	if len(ids) != 1 || ids[0] == "" {
		refuse(e.w, http.StatusBadRequest, protocol.CodeInvalidRequest,
			"Invalid request: it needs one "+sessionHeader+" header; begin a session with an initialize request")
		return nil, false
	}
	if !knownRevision(e) {
		return nil, false
	}
	client, ok := h.sessions.find(ids[0])
	isTheirs := ok && client.person == e.person && client.audience.equals(e.audience)
	if !isTheirs && h.draining.Load() { // it may have ended just now, and with 404 the client would begin another one here
		refuseNew(e.w)
		return nil, false
	}
	if !isTheirs {
		refuse(e.w, http.StatusNotFound, protocol.CodeInvalidRequest,
			"The session was not found: it has ended or never was. Begin another one with an initialize request")
		return nil, false
	}
	client.use(e.credential)
	return client, true
}

func knownRevision(e exchange) bool {
	for _, name := range e.r.Header.Values(revisionHeader) {
		if !protocol.Revision(name).Known() {
			refuse(e.w, http.StatusBadRequest, protocol.CodeInvalidRequest,
				"Invalid request: the protocol revision of the "+revisionHeader+" header is not known here")
			return false
		}
	}
	return true
}

// refuse answers a request that no session handles.
func refuse(w http.ResponseWriter, status, code int, text string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(wire.ErrorResponse(nil, code, text))
}
