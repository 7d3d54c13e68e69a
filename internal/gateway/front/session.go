package front

import (
	"errors"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/call"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/metatool"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/passthrough"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/hops"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/downstream"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/fleet"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// session is the state of one client: of a connection over stdio, of a session over HTTP, or of
// a stateless client. Each part has its own lock, and no part calls another with its lock held.
// Nothing here blocks for long, so that no request holds up another.
type session struct {
	identity
	server   *Server
	number   uint64 // of all sessions of the server, from 1
	since    time.Time
	log      *slog.Logger
	notifier notifier // sends what does not belong to a request

	surface   atomic.Pointer[metatool.Surface]
	forwarder atomic.Pointer[passthrough.Forwarder]
	memory    *passthrough.Memory
	results   *metatool.Results // nil if results are not kept for the client

	declaration declaration
	profile     atomic.Pointer[fleet.ClientProfile] // nil before initialize
	live        atomic.Bool                         // the client has initialized
	began       atomic.Pointer[time.Time]           // when it first did; nil before, and after the session was told of

	calls     metatool.CallReader
	requests  requestTable
	questions questionTable
	roots     rootsExchange
	opened    openedToolboxes
	news      heldNews
	idle      idleClock
	waitUntil atomic.Pointer[time.Time] // see WaitUntil; nil before the first wait

	lastUsed atomic.Pointer[Credential] // of its requests over HTTP; nil before the first

	stateless *statelessClient // nil for clients of the legacy era
}

// identity is who a client is. It does not change.
type identity struct {
	sender
	limits  func() config.PersonLimits // of the sender; nil: none
	origin  Origin
	foreign bool // the client may belong to another person than others
	distant bool // the client may run on another machine
}

// declaration is what the client said of itself when it began.
type declaration struct {
	mu           sync.Mutex
	revision     protocol.Revision // "" before initialize
	capabilities wire.Payload
	hops         string // the mark of the client's connection, if the client is a workbench
}

var (
	errGivenUp = errors.New("the workbench is shutting down")
	errUnread  = errors.New("the client does not read what it is sent")
)

func newSession(server *Server, who identity) *session {
	return &session{
		identity: who, server: server, number: server.sessionNumber.Add(1), since: time.Now(), log: server.options.Log,
		memory:    passthrough.NewMemory(server.subscriptions),
		results:   server.results.Session(),
		requests:  newRequestTable(),
		questions: questionTable{open: make(map[uint64]pendingQuestion)},
	}
}

// state implements registered.
func (s *session) state() *session { return s }

// declare sets what the client declares; from then on its requests are answered.
func (s *session) declare(revision protocol.Revision, capabilities []byte) {
	s.declaration.mu.Lock()
	defer s.declaration.mu.Unlock()
	s.declaration.revision, s.declaration.capabilities = revision, wire.Raw(capabilities)
	s.live.Store(true)
	if s.stateless == nil {
		s.began.CompareAndSwap(nil, new(time.Now()))
	}
}

// capabilities returns the capabilities that the client declared.
func (s *session) capabilities() wire.Payload {
	s.declaration.mu.Lock()
	defer s.declaration.mu.Unlock()
	return s.declaration.capabilities
}

func (s *session) revision() protocol.Revision {
	s.declaration.mu.Lock()
	defer s.declaration.mu.Unlock()
	return s.declaration.revision
}

func (s *session) hops() string {
	s.declaration.mu.Lock()
	defer s.declaration.mu.Unlock()
	return s.declaration.hops
}

func (s *session) setHops(mark string) {
	s.declaration.mu.Lock()
	defer s.declaration.mu.Unlock()
	s.declaration.hops = mark
}

// isUnmarked reports whether the client is a workbench that has not shown its mark yet. It shows
// it when it knows that it talks to a workbench. Until then nothing may be started for it: it
// may be this very workbench.
func (s *session) isUnmarked(info wire.Payload) bool {
	name, _ := info.Member("name").Name()
	return name == protocol.OwnName && s.hops() == ""
}

// maxClientName bounds the name and the version of a client that are kept, in bytes; the rest is cut off.
const maxClientName = 100

// shortText returns a text that a client says of itself, cut and copied: it outlives the message.
func shortText(said wire.Payload) string {
	text, _ := said.Text()
	return strings.Clone(strings.ToValidUTF8(text[:min(len(text), maxClientName)], ""))
}

// joinFleet makes the client known to the fleet by what it declares.
func (s *session) joinFleet(capabilities []byte, info wire.Payload) {
	next := fleet.NewClientProfile(fleet.ProfileOptions{
		Capabilities: capabilities, Name: shortText(info.Member("name")), Version: shortText(info.Member("version")), Modern: s.stateless != nil, Folder: s.origin.Folder, Environment: s.origin.Environment,
		Foreign: s.foreign, Person: s.person, PersonName: s.personName(), Caller: s.audience.Caller, Issuer: s.issuer, Account: string(s.account), Hops: hops.Chain(s.hops()), Distant: s.distant, AtPage: s.server.options.People.TakesQuestions(),
		Ask: s.Ask, Notice: s.forwardNotice, Began: s.serverBegan,
	})
	if before := s.profile.Swap(next); before != nil {
		s.server.options.People.ClientLeft(before)
		before.Close()
	}
}

// leaveFleet ends what joinFleet began, and drops what is kept for the client.
func (s *session) leaveFleet() {
	s.questions.refuseAll()
	if s.results != nil {
		s.results.Close()
	}
	s.forwarder.Load().ClientLeft(s)
	if profile := s.profile.Load(); profile != nil {
		s.server.options.People.ClientLeft(profile)
		profile.Close()
	}
	s.tellEnd()
}

// tellEnd tells once how long the session of a client lasted.
func (s *session) tellEnd() {
	began := s.began.Swap(nil)
	if tell := s.server.options.SessionEnded; tell != nil && began != nil {
		_, overHTTP := s.notifier.(*stream)
		tell(overHTTP, s.revision(), time.Since(*began))
	}
}

// serverBegan gives a server's new session what the one before knew of the client.
func (s *session) serverBegan(server *fleet.Server, session *downstream.Session) {
	s.forwarder.Load().SessionBegan(s, server, session)
}

// forwardNotice sends a server's notification that belongs to no request.
func (s *session) forwardNotice(server *fleet.Server, message wire.Message) {
	params, ok := s.forwarder.Load().Notification(s, server, message)
	if !ok {
		return
	}
	if err := s.Notify(string(message.Method), params); err != nil {
		s.log.Debug("dropped a notification for a client", "reason", err)
	}
}

// Notify implements call.Client, for notifications that belong to no request.
func (s *session) Notify(method string, params []byte) error {
	if !s.notifier.tryNotify(outgoing{method: method, params: params}) {
		return errUnread
	}
	return nil
}

// TryNotify implements call.Client.
func (s *session) TryNotify(method string, params []byte) { _ = s.Notify(method, params) }

// Ask implements call.Client, for questions that belong to no request.
func (s *session) Ask(question *downstream.Question) {
	if s.isForPerson(question) {
		s.askPerson(question, nil)
		return
	}
	s.putQuestion(question, s.notifier.tryNotify)
}

// Profile implements call.Client.
func (s *session) Profile() *fleet.ClientProfile { return s.profile.Load() }

// IsOpen implements metatool.Session.
func (s *session) IsOpen(toolbox string) bool {
	return s.opened.contains(toolbox) || s.surface.Load().CountsAsOpen(toolbox)
}

// MarkOpen implements metatool.Session. A toolbox that counts as open without it is remembered,
// too: a reload may end that.
func (s *session) MarkOpen(toolbox string) (first bool) {
	return s.opened.add(toolbox) && !s.surface.Load().CountsAsOpen(toolbox)
}

// HoldNotifications implements metatool.Session; there is no request that could wait for the news.
func (s *session) HoldNotifications() (release func()) { return func() {} }

// WaitUntil implements metatool.Session.
func (s *session) WaitUntil(limit time.Duration) time.Time {
	if s.waitUntil.Load() == nil {
		s.waitUntil.CompareAndSwap(nil, new(time.Now().Add(limit)))
	}
	return *s.waitUntil.Load()
}

// Links implements metatool.Session.
func (s *session) Links(ref toolbox.Ref, definition wire.Payload) []wire.Edit {
	return s.forwarder.Load().DefinitionEdits(s, ref, definition)
}

// Results implements metatool.Keeper.
func (s *session) Results() *metatool.Results { return s.results }

// Memory implements passthrough.Session.
func (s *session) Memory() *passthrough.Memory { return s.memory }

// dispatch starts what a message asks for.
func (s *session) dispatch(message *wire.Message, to replyPath) {
	if message.Repaired {
		s.log.Warn("replaced bytes of the client that are not UTF-8", "bytes", message.Size)
	}
	switch {
	case message.IsRequest() && string(message.Method) == protocol.MethodInitialize:
		s.initialize(*message, to)
	case message.IsRequest():
		s.idle.hold()
		r := &request{session: s, reply: reply{to: to, key: idKey(message.ID)}}
		r.start(message)
	case message.IsResponse():
		s.receiveAnswer(*message)
	default:
		s.receiveNotification(*message)
	}
}

func (s *session) receiveNotification(message wire.Message) {
	if problem := call.Ambiguous(string(message.Method), message.Params); problem != "" {
		s.log.Warn("ignored a notification of the client", "reason", problem)
		return
	}
	switch string(message.Method) {
	case protocol.NotifyCancelled:
		s.cancelNamed(message.Params)
	case protocol.NotifyProgress:
		s.forwardProgress(message.Params)
	case protocol.NotifyRootsList:
		if profile := s.Profile(); profile != nil {
			profile.RootsChanged(message.Params.Bytes())
			if s.roots.wasAsked() {
				s.askRoots()
			}
		}
	case protocol.NotifyInitialized:
		s.exchangeRoots()
	default:
		s.forwardNotification(message)
	}
}

// cancelNamed cancels the request that a cancellation of the client names.
func (s *session) cancelNamed(params wire.Payload) {
	var cause call.Cancelled
	if reason := params.Member("reason"); reason.Kind() == "string" {
		cause.Reason = reason.Bytes()
	}
	s.requests.cancel(idKey(params.Member("requestId")), cause)
}

// forwardNotification sends a notification that the protocol does not know to the only server
// that it can be for. A request without an id is not forwarded: a server could run it, and it passed
// no check here.
func (s *session) forwardNotification(message wire.Message) {
	if similar := protocol.SimilarMethod(string(message.Method)); similar != "" {
		s.log.Warn("ignored a notification of the client", "reason", "'"+similar+"' is a request, and needs an id")
		return
	}
	if servers := s.forwarder.Load().Servers(s); len(servers) == 1 {
		if lease := servers[0].TryLeaseFor(s.Profile()); lease != nil {
			lease.Session.Notify(string(message.Method), message.Params.Bytes())
			lease.Release()
		}
	}
}

// abandon ends all requests at once; no more are accepted.
func (s *session) abandon(cause error) {
	s.close()
	s.requests.giveUp(cause)
	s.leaveFleet()
}

// close has no further requests and questions accepted.
func (s *session) close() {
	s.requests.close()
	s.questions.close()
}

// finish answers what was read, within limits; gone is closed when nobody reads responses any
// more.
func (s *session) finish(gone <-chan struct{}, limit time.Duration) {
	s.close()
	answered := s.requests.answered()
	patience := time.NewTimer(limit)
	defer patience.Stop()
	select {
	case <-answered:
	case <-patience.C:
	case <-gone:
	}
	s.requests.giveUp(errGivenUp)
	s.leaveFleet()
	patience.Reset(cancelTime)
	select {
	case <-answered:
	case <-patience.C:
		s.log.Warn("requests were still running when the session ended")
	}
}
