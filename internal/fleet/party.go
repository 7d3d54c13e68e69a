package fleet

import (
	"bytes"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/downstream"
	"github.com/mcp-workbench/mcp-workbench/internal/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/wire"
)

// Party is a client as the fleet knows it. Servers are told what their client can be
// asked, and may ask it, so that only parties that are alike share a session with a
// server: those that declared the same, and have nothing that is their own. See Server.For.
type Party struct {
	options PartyOptions
	number  uint64 // tells parties apart
	private bool   // it has sessions of its own while its roots are not known

	mu      sync.Mutex
	roots   []byte              // the client's roots; nil while they are not known
	servers map[*Server]*Server // the variant of each configured server that it uses
	closed  bool
	level   []byte // params of the last logging/setLevel; nil without one
}

// PartyOptions say what a party is like, and where it hears. The functions must not block.
type PartyOptions struct {
	Capabilities []byte // as the client declared them; nil: none
	// Modern says that the client is of the era without sessions. A server of both eras is
	// spoken to in that of its client.
	Modern bool
	// Folder is where the client works. A server for which the configuration names none runs
	// there, so that clients in other folders do not share it. Default: the workbench's own.
	Folder string
	// Ask puts a question to the client that belongs to none of its requests.
	Ask func(*downstream.Question)
	// Notice gets a notification of a configured server that belongs to no request.
	Notice func(*Server, wire.Message)
	// Began is told of a session with a configured server that has just begun, perhaps in
	// the place of one that ended. Default: nothing.
	Began func(*Server, *downstream.Session)
}

var lastParty atomic.Uint64

// NewParty makes a party. Close it when the client is gone.
func NewParty(options PartyOptions) *Party {
	options.Capabilities = bytes.TrimSpace(options.Capabilities)
	return &Party{
		options: options, number: lastParty.Add(1), servers: make(map[*Server]*Server),
		// What a client's roots are, a session would tell all who share it.
		private: !wire.Raw(options.Capabilities).Member("roots").IsAbsent(),
	}
}

// Modern reports whether the client is of the modern era; a nil party is not.
func (p *Party) Modern() bool { return p != nil && p.options.Modern }

// Capabilities returns what the client declared; a nil party declared nothing.
func (p *Party) Capabilities() wire.Payload {
	if p == nil {
		return wire.Payload{}
	}
	return wire.Raw(p.options.Capabilities)
}

// Close ends the party's part in all sessions. Those that nobody else has a part in end.
func (p *Party) Close() {
	p.mu.Lock()
	servers := p.servers
	p.servers, p.closed = nil, true
	p.mu.Unlock()
	for _, variant := range servers {
		variant.leave(p)
	}
}

// Notify sends a notification to every server that the party has a session with, such as
// that its roots changed.
func (p *Party) Notify(method string, params []byte) {
	p.mu.Lock()
	var running []*Server
	for _, variant := range p.servers {
		running = append(running, variant)
	}
	p.mu.Unlock()
	for _, variant := range running {
		if lease := variant.TryLease(); lease != nil {
			if !lease.Session.Modern() { // that era has no notifications of the client
				lease.Session.Notify(method, params)
			}
			lease.Release()
		}
	}
}

// SetLogLevel has servers that are yet to be started told the level, too; params are those
// of logging/setLevel.
func (p *Party) SetLogLevel(params []byte) {
	p.mu.Lock()
	p.level = bytes.Clone(params)
	p.mu.Unlock()
}

func (p *Party) logLevel() []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.level
}

// SetRoots says what the client's roots are, so that it can share sessions with clients
// that have the same. If they are others than before, it leaves those who have not.
func (p *Party) SetRoots(roots []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	first, same := p.roots == nil, bytes.Equal(p.roots, roots)
	p.roots = bytes.Clone(roots)
	for server, variant := range p.servers {
		switch {
		case first && !server.variants.asks.Load():
			server.variants.rekey(variant, p.key(server, false)) // others may join from now on
		case first, same, variant.isPrivate():
		case !server.variants.rekey(variant, p.ownKey()):
			delete(p.servers, server)
			variant.leave(p)
		}
	}
}

// LogLevel returns the level that the client asked for last; "" if it did not, and for a nil
// party.
func (p *Party) LogLevel() string {
	if p == nil {
		return ""
	}
	level, _ := wire.Raw(p.logLevel()).Member("level").Text()
	return level
}

// modernKey begins the keys of sessions for clients of the modern era.
const modernKey = "\x01"

// folderKey begins the part of a key that names the clients' working folder.
const folderKey = "\x02"

// key tells which parties may share a session with the server. Called with mu held.
func (p *Party) key(s *Server, apart bool) string {
	if apart || p.private && p.roots == nil {
		return p.ownKey()
	}
	key := ""
	if p.options.Modern {
		key = modernKey
	}
	if folder := s.folderFor(p); folder != "" {
		key += folderKey + folder + folderKey
	}
	if string(p.options.Capabilities) != "{}" {
		key += string(p.options.Capabilities)
	}
	if p.private {
		key += "\x00" + string(p.roots)
	}
	return key
}

// folderFor returns the client's folder if it makes a difference to the server.
func (s *Server) folderFor(p *Party) string {
	if !s.minds() {
		return ""
	}
	return p.options.Folder
}

// minds reports whether it makes a difference to the server where its clients work: one that
// is remote does not know, and of our own only the files are seen from there.
func (s *Server) minds() bool {
	return s.config.Dir == "" && s.config.URL == "" && (s.config.Builtin == "" || s.config.Builtin == "files")
}

// ownKey is the key of sessions that nobody else has a part in.
func (p *Party) ownKey() string { return "\x00" + strconv.FormatUint(p.number, 10) }

func (s *Server) isPrivate() bool { return s.key != "" && s.key[0] == 0 }

// maxVariants is how many sessions with one server there may be at once. Further parties
// use it as clients that cannot be asked anything.
const maxVariants = 200

// lingerTime is how long a session that several parties may share is kept for the next.
const lingerTime = time.Minute

// variants of a configured server are servers of the same definition whose sessions are
// for other parties. The configured one itself is for those of the legacy era that declare
// nothing.
type variants struct {
	asks atomic.Bool // it asks questions that nobody can tell whom they are for

	mu      sync.Mutex
	byKey   map[string]*Server
	members map[*Server]map[*Party]struct{} // of each, the configured one included
}

// For returns the server as the party uses it; a nil party declares nothing, and a server
// with a fault is the same to all.
func (s *Server) For(p *Party) *Server {
	if p == nil || s.config.Fault != nil {
		return s
	}
	apart := s.variants.asks.Load()
	p.mu.Lock()
	defer p.mu.Unlock()
	used, ok := p.servers[s]
	if ok && (used.isPrivate() || !apart) {
		return used
	}
	if p.closed {
		return s
	}
	next := s.variants.join(s, p, p.key(s, apart))
	p.servers[s] = next
	if ok {
		used.leave(p)
	}
	return next
}

// join returns the variant of a key, which the party has a part in from now on.
func (v *variants) join(s *Server, p *Party, key string) *Server {
	v.mu.Lock()
	defer v.mu.Unlock()
	variant := s
	if key != "" {
		known, ok := v.byKey[key]
		switch {
		case ok:
			variant = known
		case len(v.byKey) < maxVariants:
			variant = newServer(s.fleet, s.toolbox, s.config, s.maxMessage)
			variant.origin, variant.key, variant.capabilities = s, key, p.options.Capabilities
			variant.habits, variant.memory, variant.journal, variant.modern, variant.folder = s.habits, s.memory, s.journal, p.options.Modern, s.folderFor(p)
			if v.byKey == nil {
				v.byKey = make(map[string]*Server)
			}
			v.byKey[key] = variant
			if s.isDismissed() {
				variant.dismiss()
			}
		default:
			s.log.Warn("too many clients need sessions of their own with the server; one more is treated as if it could not be asked")
		}
	}
	if v.members == nil {
		v.members = make(map[*Server]map[*Party]struct{})
	}
	if v.members[variant] == nil {
		v.members[variant] = make(map[*Party]struct{})
	}
	v.members[variant][p] = struct{}{}
	return variant
}

// rekey changes whom a variant is for that just one party has a part in. It reports
// whether that was so, and no other is there for the key.
func (v *variants) rekey(variant *Server, key string) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	_, taken := v.byKey[key]
	if len(v.members[variant]) != 1 || variant.origin == nil || taken {
		return false
	}
	delete(v.byKey, variant.key)
	variant.key = key
	v.byKey[key] = variant
	return true
}

// leave ends a party's part in the server, which ends if nobody else has one.
func (s *Server) leave(p *Party) {
	v := &s.configured().variants
	v.mu.Lock()
	delete(v.members[s], p)
	empty := len(v.members[s]) == 0
	v.mu.Unlock()
	switch {
	case !empty || s.origin == nil:
	case s.isPrivate():
		s.abandon()
	default:
		time.AfterFunc(lingerTime, s.abandon)
	}
}

// abandon ends a variant that nobody has a part in.
func (s *Server) abandon() {
	v := &s.origin.variants
	v.mu.Lock()
	empty := len(v.members[s]) == 0
	if empty {
		delete(v.byKey, s.key)
		delete(v.members, s)
	}
	v.mu.Unlock()
	if empty {
		s.dismiss()
	}
}

// configured returns the server that this one is a variant of, or itself.
func (s *Server) configured() *Server {
	if s.origin != nil {
		return s.origin
	}
	return s
}

// allVariants returns the sessions of a configured server: itself, and then its variants.
func (s *Server) allVariants() []*Server {
	s.variants.mu.Lock()
	defer s.variants.mu.Unlock()
	all := []*Server{s}
	for _, variant := range s.variants.byKey {
		all = append(all, variant)
	}
	return all
}

func (s *Server) parties() []*Party {
	v := &s.configured().variants
	v.mu.Lock()
	defer v.mu.Unlock()
	var all []*Party
	for p := range v.members[s] {
		all = append(all, p)
	}
	return all
}

// asked takes a question of the server to the party that it is for. Where that cannot be
// told it is refused, and from then on each party has a session of its own.
func (s *Server) asked(q *downstream.Question, caller downstream.Caller, several bool) {
	if caller != nil {
		caller.Ask(q)
		return
	}
	parties := s.parties()
	switch {
	case q.Method == protocol.MethodRootsList && len(parties) > 0:
		parties[0].options.Ask(q) // those who share a session have the same
	case !several && len(parties) == 1:
		parties[0].options.Ask(q)
	case len(parties) == 0 && !several:
		q.RefuseUnsupported()
	default:
		s.configured().variants.asks.Store(true)
		s.log.Info("server asks its clients; from now on each has a session of its own with it")
		q.Refuse(protocol.CodeInternalError, "Several clients use this session, and none is known to be the one to ask")
	}
}

// noticed takes a notification of the server to those that it is for.
func (s *Server) noticed(message wire.Message, caller downstream.Caller, several bool) {
	switch string(message.Method) {
	case protocol.NotifyResourcesList, protocol.NotifyPromptsList, protocol.NotifyResourceUpdated, protocol.NotifyTasks:
		for _, p := range s.parties() {
			p.options.Notice(s.configured(), message)
		}
		return
	}
	parties := s.parties()
	switch {
	case caller != nil:
		caller.Notice(message)
	case !several && len(parties) == 1:
		parties[0].options.Notice(s.configured(), message)
	default:
		s.log.Debug("dropped a notification of the server: it is not known whom it is for", "method", string(message.Method))
	}
}
