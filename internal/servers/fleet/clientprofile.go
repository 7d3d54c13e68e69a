package fleet

import (
	"bytes"
	"encoding/json"
	"sync"
	"sync/atomic"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/downstream"
)

// ClientProfile is a client as the fleet knows it. Servers are told what their client can be
// asked, and may ask it, so that only clients that are alike share a session with a
// server; see variantKey.
type ClientProfile struct {
	options  ProfileOptions
	declared string // the capabilities, the same for all that mean the same; "" for none
	number   uint64 // tells clients apart
	hasRoots bool   // it declared that it can be asked for its roots
	away     atomic.Bool

	mu      sync.Mutex
	roots   []byte              // the client's roots; nil while they are not known
	servers map[*Server]*Server // the variant of each configured server that it uses
	closed  bool
	level   []byte // params of the last logging/setLevel; nil without one
}

// ProfileOptions say what a client is like, and where it hears. The functions must not block.
type ProfileOptions struct {
	Capabilities []byte // as the client declared them; nil: none
	// Modern says that the client is of the era without sessions. A server of both eras is
	// spoken to in that of its client.
	Modern bool
	// Folder is where the client works. A server for which the configuration names none runs
	// there, so that clients in other folders do not share it. Default: the workbench's own.
	Folder string
	// Environment is that of the client; a server that it makes a difference to is not shared
	// with clients of another one. Default: the fleet's own.
	Environment *Environment
	// Foreign says that the client may be another person's than other clients, and Person who that
	// is, if it is known. What a server lists to a client with roots is shown to others only if they
	// are the same person's and declare the same.
	Foreign bool
	Person  string
	// Account is on whose account the sessions go that are needed for this client alone: a limited number, so that
	// nobody has servers started without end. Default: the user of the workbench.
	Account string
	// Hops is the mark of the client's connection, if it is a workbench. Servers that may be
	// workbenches as well are reached with it, and so shared only by clients with the same.
	Hops string
	// Ask puts a question to the client that belongs to none of its requests.
	Ask func(*downstream.Question)
	// Notice gets a notification of a configured server that belongs to no request.
	Notice func(*Server, wire.Message)
	// Began is told of a session with a configured server that has just begun, perhaps in
	// the place of one that ended. Default: nothing.
	Began func(*Server, *downstream.Session)
}

var lastProfile atomic.Uint64

// NewClientProfile makes a client. Close it when the client is gone.
func NewClientProfile(options ProfileOptions) *ClientProfile {
	options.Capabilities = bytes.TrimSpace(options.Capabilities)
	return &ClientProfile{
		options: options, declared: canonical(options.Capabilities), number: lastProfile.Add(1), servers: make(map[*Server]*Server),
		hasRoots: !wire.Raw(options.Capabilities).Member("roots").IsAbsent(),
	}
}

// canonical writes capabilities in one way, whatever the order of their keys and the spaces.
func canonical(capabilities []byte) string {
	var value any
	if json.Unmarshal(capabilities, &value) != nil {
		return string(capabilities)
	}
	encoded, err := json.Marshal(value)
	if err != nil || string(encoded) == "{}" {
		return ""
	}
	return string(encoded)
}

// Modern reports whether the client is of the modern era; a nil client is not.
func (p *ClientProfile) Modern() bool { return p != nil && p.options.Modern }

// Capabilities returns what the client declared; a nil client declared nothing.
func (p *ClientProfile) Capabilities() wire.Payload {
	if p == nil {
		return wire.Payload{}
	}
	return wire.Raw(p.options.Capabilities)
}

// Close ends the client's part in all sessions. Those that nobody else has a part in end.
func (p *ClientProfile) Close() {
	p.away.Store(true) // for good
	p.mu.Lock()
	servers := p.servers
	p.servers, p.closed = nil, true
	p.mu.Unlock()
	for _, variant := range servers {
		variant.leave(p)
	}
}

// RootsChanged tells servers that the client's roots are others now: those that it shares
// with nobody. From a session that it shares it moves instead, once they are known; see SetRoots.
func (p *ClientProfile) RootsChanged(params []byte) {
	p.mu.Lock()
	var own []*Server
	for _, variant := range p.servers {
		if len(variant.clients()) == 1 {
			own = append(own, variant)
		}
	}
	p.mu.Unlock()
	for _, variant := range own {
		if lease := variant.TryLease(); lease != nil {
			if !lease.Session.Modern() { // that era has no notifications of the client
				lease.Session.Notify(protocol.NotifyRootsList, params)
			}
			lease.Release()
		}
	}
}

// SetLogLevel has servers that are yet to be started told the level, too; params are those
// of logging/setLevel.
func (p *ClientProfile) SetLogLevel(params []byte) {
	p.mu.Lock()
	p.level = bytes.Clone(params)
	p.mu.Unlock()
}

func (p *ClientProfile) logLevel() []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.level
}

// SetRoots says what the client's roots are, so that it can share sessions with clients
// that have the same. If they are others than before, it leaves those who have not.
func (p *ClientProfile) SetRoots(roots []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	first, same := p.roots == nil, bytes.Equal(p.roots, roots)
	p.roots = bytes.Clone(roots)
	for server, variant := range p.servers {
		switch v := &server.variants; {
		case !v.isRooted():
		case first:
			v.rekey(variant, p) // others may join from now on
		case same, variant.isPrivate():
		case !v.seclude(variant, p):
			delete(p.servers, server)
			variant.leave(p)
		}
	}
}

// LogLevel returns the level that the client asked for last; "" if it did not, and for a nil
// client.
func (p *ClientProfile) LogLevel() string {
	if p == nil {
		return ""
	}
	level, _ := wire.Raw(p.logLevel()).Member("level").Text()
	return level
}
