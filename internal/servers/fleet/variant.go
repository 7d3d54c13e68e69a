package fleet

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/mcp-workbench/mcp-workbench/internal/servers/builtin"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// variantKey is what clients have in common that share a session with a server. The zero
// value is that of the configured server itself.
type variantKey struct {
	modern       bool   // clients of the modern era
	folder       string // of the clients, where the server runs there; "": it does not depend on it
	environment  string // a digest of what is other in the clients' environment; "": nothing
	hops         string // the mark of the clients' connections, where the server may be a workbench as well; "": none
	capabilities string // that the clients declared; "": none
	roots        string // of the clients, where the server asked for them; "": it did not
	alone        uint64 // the number of the one client that it is for; 0: all that have the rest in common
}

// key returns what the client has in common with those that it may share a session with;
// rooted says that the server asks for roots. Called with mu held.
func (p *ClientProfile) key(s *Server, rooted bool) variantKey {
	key := variantKey{modern: p.options.Modern, folder: s.folderFor(p), hops: s.hopsFor(p), capabilities: p.declared}
	if d := p.options.Environment.differs(s); d != nil {
		key.environment = d.digest
	}
	switch {
	case s.variants.asks.Load():
		key.alone = p.number
	case !rooted || !p.hasRoots:
	case p.roots == nil: // what they are, a session would tell all who share it
		key.alone = p.number
	default:
		key.roots = string(p.roots)
	}
	return key
}

// folderFor returns the client's folder if it makes a difference to the server.
func (s *Server) folderFor(p *ClientProfile) string {
	definition := &s.config
	if d := p.options.Environment.differs(s); d != nil {
		definition = &d.config
	}
	if !dependsOnFolder(definition) {
		return ""
	}
	return p.options.Folder
}

// hopsFor returns the mark of the client's connection if it makes a difference to the server:
// what is no workbench leads nowhere.
func (s *Server) hopsFor(p *ClientProfile) string {
	if s.config.Builtin != "" || s.habits.isOther.Load() {
		return ""
	}
	return p.options.Hops
}

// dependsOnFolder reports whether it makes a difference to the server in which folder its clients work: a remote server does not
// know it, and most built-in servers do not use it.
func dependsOnFolder(server *config.Server) bool {
	return server.Dir == "" && server.URL == "" && (server.Builtin == "" || builtin.WorksInFolder(server.Builtin))
}

func (s *Server) isPrivate() bool { return s.private.Load() }

// maxVariants is how many sessions with one server there may be at once. Those that nobody is there
// for make room. Without them, further clients use it as clients that cannot be asked anything, and
// are refused if they cannot share the configured one; see isApart.
const maxVariants = 200

var errTooMany = fmt.Errorf("%d copies of it are there for other clients, which is the limit, and none is for the folder and the environment variables "+
	"of this client: close clients that are not needed, or give the server a 'cwd'", maxVariants)

// isApart reports whether the configured server is another one than that for clients of this key,
// so that it must not stand in for it.
func (k *variantKey) isApart() bool { return k.environment != "" || k.folder != "" || k.hops != "" }

// variants of a configured server are servers of the same definition whose sessions are
// for other clients. The configured one itself is for those of the legacy era that declare
// nothing.
type variants struct {
	asks atomic.Bool // it asks questions that nobody can tell whom they are for

	mu      sync.Mutex
	rooted  bool // it asks for roots, and may answer accordingly
	byKey   map[variantKey]*Server
	members map[*Server]map[*ClientProfile]struct{} // of each, the configured one included
	people  people                                  // of all

	memories memories // of those that have not that of the configured one

	tasks taskOwners // of all
}

// existingVariant returns the server as the client would use it, if there is such a one already. It gives
// the client no part in it.
func (s *Server) existingVariant(p *ClientProfile) *Server {
	if p == nil || s.config.Fault != nil && p.options.Environment.differs(s) == nil {
		return s
	}
	apart := s.variants.asks.Load()
	p.mu.Lock()
	defer p.mu.Unlock()
	if used, ok := p.servers[s]; ok && (used.isPrivate() || !apart) && !used.isDismissed() {
		return used
	}
	s.variants.mu.Lock()
	defer s.variants.mu.Unlock()
	key := p.key(s, s.variants.rooted)
	if p.closed && key.environment == "" || key == (variantKey{}) {
		return s
	}
	return s.variants.byKey[key] // nil if there is none
}

// preview returns the server as the client would use it, to see what is remembered of it. Where there is
// none it is one to look at only, which nobody has a part in.
func (s *Server) preview(p *ClientProfile) *Server {
	if variant := s.existingVariant(p); variant != nil {
		return variant
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return s.newVariant(p, p.key(s, s.variants.isRooted()))
}

// refusedVariant returns a server for a client that can have none.
func (s *Server) refusedVariant(p *ClientProfile, why error) *Server {
	variant := s.newVariant(p, p.key(s, false))
	variant.refusal = why
	return variant
}

// FaultFor is Fault of the server as the client uses it.
func (s *Server) FaultFor(p *ClientProfile) *config.Error {
	if p != nil {
		if d := p.options.Environment.differs(s); d != nil {
			return d.config.Fault
		}
	}
	return s.config.Fault
}

// circle names those who may see what a server that asks for roots lists to the client; "": all.
func (p *ClientProfile) circle() string {
	if !p.options.Foreign || !p.hasRoots {
		return ""
	}
	return strconv.Quote(p.options.Person) + " " + p.declared
}

// For returns the server as the client uses it; a nil client declares nothing, and a server
// with a fault is the same to all whose environment does not mend it.
func (s *Server) For(p *ClientProfile) *Server {
	if p == nil || s.config.Fault != nil && p.options.Environment.differs(s) == nil {
		return s
	}
	apart := s.variants.asks.Load()
	p.mu.Lock()
	defer p.mu.Unlock()
	used, ok := p.servers[s]
	if ok && (used.isPrivate() || !apart) && !used.isDismissed() {
		return used
	}
	if p.closed {
		if p.options.Environment.differs(s) != nil {
			return s.refusedVariant(p, errDeserted)
		}
		return s
	}
	next := s.variants.join(s, p)
	if next == nil {
		return s.refusedVariant(p, errTooMany)
	}
	p.servers[s] = next
	if ok && used != next {
		used.leave(p)
	}
	return next
}

// LeaseFor is Lease of the server as the client uses it. While that starts it may turn out to
// be for others, so that the client gets another one.
func (s *Server) LeaseFor(ctx context.Context, p *ClientProfile) (*Lease, error) {
	for {
		used := s.For(p)
		lease, err := used.Lease(ctx)
		if used.refusal != nil || s.For(p) == used || ctx.Err() != nil {
			return lease, err
		}
		if lease != nil {
			lease.Release()
		}
	}
}

// join returns the variant for a client, which has a part in it from now on; nil if there are too
// many. Called with the client's mu held.
func (v *variants) join(s *Server, p *ClientProfile) *Server {
	v.mu.Lock()
	defer v.mu.Unlock()
	variant, key := s, p.key(s, v.rooted)
	if key != (variantKey{}) {
		known, ok := v.byKey[key]
		if !ok {
			v.shed(p.options.Account)
		}
		switch {
		case ok:
			variant = known
		case len(v.byKey) < maxVariants || v.makeRoom():
			variant = s.newVariant(p, key)
			if v.byKey == nil {
				v.byKey = make(map[variantKey]*Server)
			}
			v.byKey[key] = variant
			s.fleet.apart.add(variant)
			if s.isDismissed() {
				variant.dismiss()
			}
		case key.isApart():
			s.log.Warn("too many clients need sessions of their own with the server; one more is refused")
			return nil
		default:
			s.log.Warn("too many clients need sessions of their own with the server; one more is treated as if it could not be asked")
		}
	}
	if v.members == nil {
		v.members = make(map[*Server]map[*ClientProfile]struct{})
	}
	if v.members[variant] == nil {
		v.members[variant] = make(map[*ClientProfile]struct{})
	}
	v.members[variant][p] = struct{}{}
	variant.people.add(p.options.Person)
	v.people.add(p.options.Person)
	return variant
}

// makeRoom ends the variant that nobody has been there for the longest. It reports whether there
// was one. Called with mu held.
func (v *variants) makeRoom() bool {
	var oldest *Server
	for _, variant := range v.byKey {
		if !v.isAttended(variant) && (oldest == nil || variant.left.Before(oldest.left)) {
			oldest = variant
		}
	}
	if oldest != nil {
		v.remove(oldest)
	}
	return oldest != nil
}

// newVariant makes a variant of a configured server.
func (s *Server) newVariant(p *ClientProfile, key variantKey) *Server {
	definition := s.config
	differs := p.options.Environment.differs(s)
	if differs != nil {
		definition = differs.config
	}
	variant := newServer(s.fleet, s.toolbox, definition, s.maxMessage)
	variant.origin, variant.key, variant.capabilities = s, key, p.options.Capabilities
	variant.habits, variant.journal, variant.modern, variant.folder = s.habits, s.journal, p.options.Modern, key.folder
	variant.hops = key.hops
	variant.account, variant.number = p.options.Account, p.number
	variant.private.Store(key.alone != 0)
	variant.circle = p.circle()
	variant.differs = differs
	if differs == nil {
		variant.memory = s.memory
	} else if key := variant.copyKey(); key == s.copyKey() {
		variant.memory = s.memory
	} else {
		variant.memory = s.variants.memories.get(key)
	}
	return variant
}

// rekey has a variant that only this client has a part in be for all that have in common with
// it what it is like now. It reports whether that was so, and there is no other for them.
// Called with the client's mu held.
func (v *variants) rekey(variant *Server, p *ClientProfile) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return len(v.members[variant]) == 1 && v.move(variant, p.key(variant.configured(), v.rooted))
}

// seclude has a variant be for one client alone. It reports whether no other had a part in it.
func (v *variants) seclude(variant *Server, p *ClientProfile) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	key := variant.key
	key.roots, key.alone = "", p.number
	return len(v.members[variant]) == 1 && v.move(variant, key)
}

// move changes whom a variant is for, unless there is one for them. Called with mu held.
func (v *variants) move(variant *Server, key variantKey) bool {
	if _, taken := v.byKey[key]; taken || variant.origin == nil || v.byKey[variant.key] != variant {
		return false
	}
	delete(v.byKey, variant.key)
	variant.key = key
	variant.private.Store(key.alone != 0)
	v.byKey[key] = variant
	return true
}

func (v *variants) isRooted() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.rooted
}

// drop ends a client's part in a variant of a server, if it still has one: its next use is
// that of another variant.
func (p *ClientProfile) drop(variant *Server) {
	p.mu.Lock()
	has := p.servers[variant.configured()] == variant
	if has {
		delete(p.servers, variant.configured())
	}
	p.mu.Unlock()
	if has {
		variant.leave(p)
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

// clients returns those that have a part in the server, in the order in which they came, but
// those that are away last.
func (s *Server) clients() []*ClientProfile {
	v := &s.configured().variants
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.clientsOf(s)
}

// clientsOf is called with mu held.
func (v *variants) clientsOf(s *Server) []*ClientProfile {
	var here, away []*ClientProfile
	for p := range v.members[s] {
		if p.away.Load() {
			away = append(away, p)
		} else {
			here = append(here, p)
		}
	}
	byNumber := func(a, b *ClientProfile) int { return cmp.Compare(a.number, b.number) }
	slices.SortFunc(here, byNumber)
	slices.SortFunc(away, byNumber)
	return append(here, away...)
}
