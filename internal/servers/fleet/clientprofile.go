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

// ClientProfile is what the fleet knows of a client. A server learns the capabilities of its client and may send it
// requests, so only clients with equal profiles share a session with a server; see variantKey.
type ClientProfile struct {
	options  ProfileOptions
	offered  []byte // the capabilities that servers are told
	declared string // those in canonical form; "" for none
	atPage   bool   // a person at the page answers elicitations for the client
	number   uint64 // identifies the client
	hasRoots bool   // it declared the capability 'roots'
	away     atomic.Bool

	mu      sync.Mutex
	roots   []byte              // nil while they are not known
	servers map[*Server]*Server // the variant of each configured server that it uses
	closed  bool
	onClose []func()
	level   []byte // params of the last logging/setLevel; nil without one
}

// ProfileOptions describe a client, and how to reach it. The functions must not block.
type ProfileOptions struct {
	Capabilities []byte // as the client declared them; nil: none
	// AtPage says that a person at the page answers elicitations for the client if it did not declare that it does. Servers are
	// told that it can be asked, so it shares sessions with clients that declare the same themselves.
	AtPage bool
	// Name and Version are what the client says of itself; they may be empty.
	Name, Version string
	// Modern says that the client is of the era without sessions. A dual-era server is addressed in the client's era.
	Modern bool
	// Folder is the client's working folder. A server without a configured folder runs there, so clients in other folders
	// do not share it. Default: the folder of the workbench.
	Folder string
	// Environment is the client's environment. A server that depends on it is not shared with clients of another one.
	// Default: the environment of the fleet.
	Environment *Environment
	// Foreign says that the client may belong to another person than other clients, and Person who that is, if known.
	// Lists of a server for a client with roots are shown only to clients of the same person and capabilities. "" is the user
	// of the workbench. A server that each person has an instance of is never shared with clients of another person.
	Foreign bool
	Person  string
	// Issuer is the identity provider that vouches for a person, whose subject is in Caller then; "" for other callers, who
	// cannot have accounts of their own at servers.
	Issuer string
	// PersonName is the name of that person for people who look at the workbench. Default: Person.
	PersonName string
	// Caller is who the client is to the rules of the policy; see config.CallerStdio and the others. Clients that are not the
	// same caller share sessions, but may see different tools.
	Caller string
	// Account is charged with the sessions that this client does not share; their number is limited per account. Default:
	// the user of the workbench.
	Account string
	// Hops is the mark of the client's connection, if the client is a workbench. It is passed on to servers that may be
	// workbenches too, so only clients with the same mark share them.
	Hops string
	// Distant says that the client may run on another machine, and cannot open pages of the workbench then.
	Distant bool
	// Ask sends a question to the client that does not belong to any of its requests.
	Ask func(*downstream.Question)
	// Notice gets the notifications of a configured server that do not belong to a request.
	Notice func(*Server, wire.Message)
	// Began is called when a session with a configured server begins, perhaps in place of one that ended. Default: nothing.
	Began func(*Server, *downstream.Session)
}

var lastProfile atomic.Uint64

// NewClientProfile makes a client. Close it when the client is gone.
func NewClientProfile(options ProfileOptions) *ClientProfile {
	options.Capabilities = bytes.TrimSpace(options.Capabilities)
	offered, atPage := options.Capabilities, options.AtPage && wire.Raw(options.Capabilities).Member("elicitation").IsAbsent()
	if atPage {
		offered = withElicitation(offered)
	}
	return &ClientProfile{
		options: options, offered: offered, declared: canonical(offered), atPage: atPage, number: lastProfile.Add(1), servers: make(map[*Server]*Server),
		hasRoots: !wire.Raw(options.Capabilities).Member("roots").IsAbsent(),
	}
}

// withElicitation adds the capability to answer elicitations, in both modes.
func withElicitation(capabilities []byte) []byte {
	const added = `"elicitation":{"form":{},"url":{}}`
	if wire.Raw(capabilities).Kind() != "object" {
		return []byte("{" + added + "}")
	}
	return wire.AppendWithMembers(nil, wire.Raw(capabilities), nil, []byte(added))
}

// canonical returns capabilities independent of the order of keys and of spaces.
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

// Caller returns who the client is to the rules of the policy; "" for a nil client.
func (p *ClientProfile) Caller() string {
	if p == nil {
		return ""
	}
	return p.options.Caller
}

// Issuer returns the identity provider that vouches for the client's person; "" if none does.
func (p *ClientProfile) Issuer() string {
	if p == nil {
		return ""
	}
	return p.options.Issuer
}

// Capabilities returns what the client declared; a nil client declared nothing.
func (p *ClientProfile) Capabilities() wire.Payload {
	if p == nil {
		return wire.Payload{}
	}
	return wire.Raw(p.options.Capabilities)
}

// Offered returns what servers are told that the client can do: what it declared, and what a person at the page does for it.
func (p *ClientProfile) Offered() wire.Payload {
	if p == nil {
		return wire.Payload{}
	}
	return wire.Raw(p.offered)
}

// AtPage reports whether a person at the page answers elicitations for the client, which is not asked itself.
func (p *ClientProfile) AtPage() bool { return p != nil && p.atPage }

// OpensPages reports whether the client can be asked to open a page of the workbench in the browser of its user.
func (p *ClientProfile) OpensPages() bool {
	return p.OpensLinks() && !p.options.Distant
}

// OpensLinks reports whether the client can be asked to open a page in the browser of its user, wherever that is.
func (p *ClientProfile) OpensLinks() bool {
	return p != nil && p.Capabilities().Member("elicitation").Member("url").Kind() == "object"
}

// AnswersForms reports whether the client can be asked to show a form to its user.
func (p *ClientProfile) AnswersForms() bool {
	declared := p.Capabilities().Member("elicitation")
	has := func(mode string) bool { return declared.Member(mode).Kind() == "object" }
	// Before there were modes, there were just forms.
	return has("form") || declared.Kind() == "object" && !has("url")
}

// Name returns what the client calls itself; a nil client has no name.
func (p *ClientProfile) Name() string {
	if p == nil {
		return ""
	}
	return p.options.Name
}

// Version returns the version that the client says it has.
func (p *ClientProfile) Version() string { return p.options.Version }

// OnClose has a function called when the client is gone; at once if it is already.
func (p *ClientProfile) OnClose(gone func()) {
	p.mu.Lock()
	isClosed := p.closed
	if !isClosed {
		p.onClose = append(p.onClose, gone)
	}
	p.mu.Unlock()
	if isClosed {
		gone()
	}
}

// Notice tells the client of a notification of a configured server that belongs to no request. Clients of the modern era are
// told only of what they listen for.
func (p *ClientProfile) Notice(server *Server, message wire.Message) {
	if p != nil && !p.options.Modern && p.options.Notice != nil {
		p.options.Notice(server, message)
	}
}

// Close removes the client from all sessions. Sessions without any other client end.
func (p *ClientProfile) Close() {
	p.away.Store(true) // for good
	p.mu.Lock()
	servers, onClose := p.servers, p.onClose
	p.servers, p.onClose, p.closed = nil, nil, true
	p.mu.Unlock()
	for _, gone := range onClose {
		gone()
	}
	for _, variant := range servers {
		variant.leave(p)
	}
}

// RootsChanged notifies the servers that the client does not share that its roots changed. It leaves shared sessions once
// the new roots are known; see SetRoots.
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
		if lease := variant.tryLease(p.Caller()); lease != nil {
			if !lease.Session.Modern() { // that era has no notifications of the client
				lease.Session.Notify(protocol.NotifyRootsList, params)
			}
			lease.Release()
		}
	}
}

// SetLogLevel sets the log level for servers that start later; params are those of logging/setLevel.
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

// SetRoots records the client's roots, so that it can share sessions with clients that have the same. If they changed, it
// leaves sessions that it shared with clients of the old roots.
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
