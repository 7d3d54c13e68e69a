package front

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
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
)

// session is one client, however it is connected. Whatever takes long is done elsewhere,
// so that no request holds up another.
type session struct {
	server   *Server
	audience Audience
	account  account // over HTTP
	modern   bool    // the client is of the modern era; see guest
	origin   Origin
	foreign  bool                        // the client may be another person's than others
	person   string                      // who that is, if it is known
	mark     func(toolbox string) []byte // see Pipe
	surface  atomic.Pointer[metatool.Surface]
	passage  atomic.Pointer[passthrough.Passage]
	memory   *passthrough.Memory
	results  *metatool.Results
	log      *slog.Logger
	own      notifier

	life     context.Context // ends when unanswered requests are given up
	giveUp   context.CancelFunc
	requests sync.WaitGroup

	party atomic.Pointer[fleet.Party] // nil before initialize

	live    atomic.Bool                         // there was an initialize
	opened  atomic.Pointer[map[string]struct{}] // toolboxes that the client opened; replaced with mu held
	mayWait atomic.Bool                         // settled or awaited may be set

	mu           sync.Mutex
	waitUntil    time.Time                  // see WaitUntil; zero before the first wait
	holding      int                        // requests that tell of lists that change; see HoldNews
	held         []string                   // what they will tell
	rootsAsked   bool                       // the client was asked for its roots
	settled      chan struct{}              // not nil while it has not told them
	awaited      []chan struct{}            // settled of others that may have the same
	capabilities wire.Payload               // that the client declared
	asked        map[uint64]pendingQuestion // questions of servers that the client has not answered
	lastAsked    uint64
	revision     protocol.Revision // "" before initialize
	hops         string            // the mark of the client's connection, if it is a workbench
	inFlight     map[string]cancellable
	full         chan struct{} // closed when there is room for another request; nil while nobody waits for that
	ending       bool          // no request is taken any more
}

// replyPath takes what the client gets for one message of its own.
type replyPath interface {
	// notify sends a message that comes before the answer. It fails only with the session.
	notify(message []byte) error
	// send takes the answer, which is nil if the client wants none any more.
	send(message []byte)
}

// notifier takes what the client gets unasked.
type notifier interface {
	// tell does not block; it reports whether there was room for the message.
	tell(message []byte) bool
}

var (
	errGivenUp = errors.New("the workbench is shutting down")
	errUnread  = errors.New("the client does not read what it is sent")
)

func newSession(server *Server, audience Audience) *session {
	s := &session{
		server: server, audience: audience, log: server.options.Log,
		memory:   passthrough.NewMemory(server.subscriptions),
		results:  server.results.Session(),
		inFlight: make(map[string]cancellable),
		asked:    make(map[uint64]pendingQuestion),
	}
	s.life, s.giveUp = context.WithCancel(context.Background())
	return s
}

// Notify implements call.Client, for notifications that belong to no request.
func (s *session) Notify(method string, params []byte) error {
	if !s.own.tell(wire.Notification(method, params)) {
		return errUnread
	}
	return nil
}

// Ask implements call.Client, for questions that belong to no request. In the modern era
// there is no way to ask them.
func (s *session) Ask(question *downstream.Question) {
	if s.modern {
		question.RefuseUnsupported()
		return
	}
	s.ask(question, s.own.tell)
}

// Party implements call.Client.
func (s *session) Party() *fleet.Party { return s.party.Load() }

// join makes the client known to the fleet by what it declares.
func (s *session) join(capabilities []byte) {
	s.mu.Lock()
	mark := hops.Chain(s.hops)
	s.mu.Unlock()
	next := fleet.NewParty(fleet.PartyOptions{
		Capabilities: capabilities, Modern: s.modern, Folder: s.origin.Folder, Environment: s.origin.Environment,
		Foreign: s.foreign, Person: s.person, Account: string(s.account), Hops: mark,
		Ask: s.Ask, Notice: s.noticed, Began: s.began,
	})
	if before := s.party.Swap(next); before != nil {
		before.Close()
	}
}

// part ends what join began.
func (s *session) part() {
	s.refuseAsked()
	s.results.Close()
	s.passage.Load().Leave(s)
	if party := s.party.Load(); party != nil {
		party.Close()
	}
}

// began has a server's new session know what that of before knew of the client.
func (s *session) began(server *fleet.Server, session *downstream.Session) {
	s.passage.Load().Began(s, server, session)
}

// noticed passes a server's notification on that belongs to no request.
func (s *session) noticed(server *fleet.Server, message wire.Message) {
	params, ok := s.passage.Load().Notice(s, server, message)
	if !ok {
		return
	}
	if err := s.Notify(string(message.Method), params); err != nil {
		s.log.Debug("dropped a notification for a client", "reason", err)
	}
}

// IsOpen reports whether the toolbox is open to the client. Without sessions there is nothing
// that it could be opened in, so that it always is.
func (s *session) IsOpen(toolbox string) bool {
	return s.modern || s.hasOpened(toolbox) || s.surface.Load().CountsAsOpen(toolbox)
}

// hasOpened reports whether the client opened the toolbox itself.
func (s *session) hasOpened(toolbox string) bool {
	opened := s.opened.Load()
	if opened == nil {
		return false
	}
	_, ok := (*opened)[toolbox]
	return ok
}

// Results implements metatool.Keeper.
func (s *session) Results() *metatool.Results { return s.results }

// Memory implements passage.Session.
func (s *session) Memory() *passthrough.Memory { return s.memory }

// Links implements metatool.Session.
func (s *session) Links(ref toolbox.Ref, definition wire.Payload) []wire.Edit {
	return s.passage.Load().Define(s, ref, definition)
}

// MarkOpen implements metatool.Session. What counted as open without it is remembered, too:
// a reload may end that.
func (s *session) MarkOpen(toolbox string) (first bool) {
	if s.modern {
		return false
	}
	if first = s.open(toolbox); first && s.mark != nil {
		s.own.tell(s.mark(toolbox))
	}
	return first && !s.surface.Load().CountsAsOpen(toolbox)
}

// HoldNews implements metatool.Session; there is no request that could wait for it.
func (s *session) HoldNews() (release func()) { return func() {} }

// bringsNews reports whether the client is to be told of lists that it never asked for: it opens
// something, or listens for that.
func (s *session) bringsNews() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.modern || s.holding > 0
}

// tellNews tells the client that a list changed, unless a request does so before its answer.
func (s *session) tellNews(method string) {
	s.mu.Lock()
	hold := s.holding > 0
	if hold && !slices.Contains(s.held, method) {
		s.held = append(s.held, method)
	}
	s.mu.Unlock()
	if !hold {
		s.notifyListChanged(method)
	}
}

// WaitUntil implements metatool.Session.
func (s *session) WaitUntil(limit time.Duration) time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.waitUntil.IsZero() {
		s.waitUntil = time.Now().Add(limit)
	}
	return s.waitUntil
}

// open remembers that the client opened the toolbox. What others may be reading is never
// changed.
func (s *session) open(toolbox string) (first bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.hasOpened(toolbox) {
		return false
	}
	next := map[string]struct{}{toolbox: {}}
	if before := s.opened.Load(); before != nil {
		maps.Copy(next, *before)
	}
	s.opened.Store(&next)
	return true
}

// resume has the session know what the client did in the one that it goes on with.
func (s *session) resume(known Pipe) {
	s.origin, s.mark, s.lastAsked = known.Origin, known.Mark, known.LastAsked
	if len(known.Opened) > 0 {
		s.memory.Resume()
	}
	for _, toolbox := range known.Opened {
		s.open(toolbox)
	}
}

// receive takes in one frame; what is to be answered goes to the sender.
func (s *session) receive(frame wire.Frame, to replyPath) {
	if frame.IsBatch() {
		s.receiveBatch(frame, to)
		return
	}
	message, err := wire.Parse(frame)
	if err != nil {
		to.send(rejection(frame, err))
		return
	}
	s.dispatch(&message, to)
}

// rejection answers a frame that holds no message.
func rejection(frame wire.Frame, reason error) []byte {
	if shape, ok := errors.AsType[*wire.ShapeError](reason); ok {
		return wire.ErrorResponse(shape.ID.Bytes(), protocol.CodeInvalidRequest, "Invalid request: "+shape.Reason)
	}
	id, _ := wire.Skim(frame.Bytes())
	return wire.ErrorResponse(id, protocol.CodeParseError, "Parse error: "+reason.Error())
}

// dispatch starts what a message asks for.
func (s *session) dispatch(message *wire.Message, to replyPath) {
	if message.Repaired {
		s.log.Warn("replaced bytes of the client that are not UTF-8", "bytes", message.Size)
	}
	switch {
	case message.IsRequest() && string(message.Method) == protocol.MethodInitialize:
		s.initialize(*message, to)
	case message.IsRequest():
		s.begin(message, to)
	case message.IsResponse():
		s.receiveAnswer(*message)
	default:
		s.receiveNotification(*message)
	}
}

// receiveNotification takes in a notification of the client.
func (s *session) receiveNotification(message wire.Message) {
	if problem := call.Ambiguous(string(message.Method), message.Params); problem != "" {
		s.log.Warn("ignored a notification of the client", "reason", problem)
		return
	}
	switch string(message.Method) {
	case protocol.NotifyCancelled:
		s.cancel(message.Params)
	case protocol.NotifyProgress:
		s.progressOfAnswer(message.Params)
	case protocol.NotifyRootsList:
		if party := s.Party(); party != nil {
			party.RootsChanged(message.Params.Bytes())
			s.mu.Lock()
			asked := s.rootsAsked
			s.mu.Unlock()
			if asked {
				s.askRoots()
			}
		}
	case protocol.NotifyInitialized:
		s.meetAlike()
	default:
		s.forwardNotification(message)
	}
}

// forwardNotification takes a notification that the protocol does not know to the server that it can
// only be for.
func (s *session) forwardNotification(message wire.Message) {
	if servers := s.passage.Load().Servers(s); len(servers) == 1 {
		if lease := servers[0].For(s.Party()).TryLease(); lease != nil {
			lease.Session.Notify(string(message.Method), message.Params.Bytes())
			lease.Release()
		}
	}
}

// abandon ends all requests at once; no more are taken.
func (s *session) abandon(cause error) {
	s.mu.Lock()
	s.ending = true
	s.mu.Unlock()
	s.giveUp()
	s.cancelAll(cause)
	s.part()
}

// end answers what was read, within limits; gone says that nobody takes answers any more.
func (s *session) end(gone <-chan struct{}) {
	s.mu.Lock()
	s.ending = true
	s.mu.Unlock()
	answered := make(chan struct{})
	go func() { // ends with the requests, which giving up ends
		s.requests.Wait()
		close(answered)
	}()
	patience := time.NewTimer(answerTime)
	defer patience.Stop()
	select {
	case <-answered:
	case <-patience.C:
	case <-gone:
	}
	s.giveUp()
	s.cancelAll(errGivenUp)
	s.part()
	patience.Reset(cancelTime)
	select {
	case <-answered:
	case <-patience.C:
		s.log.Warn("requests were still running when the session ended")
	}
}
