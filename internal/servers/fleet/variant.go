package fleet

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// variantKey is equal for clients that share a session with a server. The zero value is the key of the configured server
// itself.
type variantKey struct {
	modern       bool   // clients of the modern era
	folder       string // of the clients, where the server runs there; "": it does not depend on it
	environment  string // a digest of what is other in the clients' environment; "": nothing
	hops         string // the mark of the clients' connections, where the server may be a workbench as well; "": none
	capabilities string // that the clients declared; "": none
	roots        string // of the clients, where the server asked for them; "": it did not
	person       string // whose it is, where each has their own; "": the user of the workbench's, or of all
	alone        uint64 // the number of the one client that it is for; 0: all that have the rest in common
}

// key returns the client's key for a server; rooted says that the server asks for roots. Called with mu held.
func (p *ClientProfile) key(s *Server, rooted bool) variantKey {
	key := variantKey{modern: p.options.Modern, folder: s.folderFor(p), hops: s.hopsFor(p), capabilities: p.declared}
	if d := p.options.Environment.differenceFor(s); d != nil {
		key.environment = d.digest
	}
	key.person = s.personFor(p)
	switch {
	case s.instances == config.InstancesPerClient, s.variants.asks.has(key.person):
		key.alone = p.number
	case !rooted || !p.hasRoots:
	case p.roots == nil: // a shared session would reveal them to all its clients
		key.alone = p.number
	default:
		key.roots = string(p.roots)
	}
	return key
}

// hopsFor returns the mark of the client's connection if the server may be a workbench, which passes it on.
func (s *Server) hopsFor(p *ClientProfile) string {
	if s.config.Builtin != "" || s.startHints.isOther.Load() {
		return ""
	}
	return p.options.Hops
}

func (s *Server) isPrivate() bool { return s.private.Load() }

// isApart reports whether clients of this key must not use the configured server instead of their variant.
func (k *variantKey) isApart() bool {
	return k.environment != "" || k.folder != "" || k.hops != "" || k.person != ""
}

// variants are servers of the same definition whose sessions are for other clients. The configured server itself is for
// clients of the legacy era without capabilities.
type variants struct {
	asks askers // whom it asks questions that nobody can tell whom they are for
	// gone is the failure of the variant that was removed last, until the server starts again: a person who looks why a call failed
	// comes after the client of the call has left.
	gone atomic.Pointer[failure]

	mu      sync.Mutex
	rooted  bool // it asks for roots, and may answer accordingly
	byKey   map[variantKey]*Server
	counts  variantCounts                           // of those in byKey
	members map[*Server]map[*ClientProfile]struct{} // of each, the configured one included
	persons personsSeen                             // of all

	memories memories       // of those that have not that of the configured one
	people   peopleMemories // of those that are for one person
	lastView lastView       // of these
	signIns  signIns        // of people with an account of their own

	tasks taskOwners // of all
}

// existingVariant returns the variant that the client would use; nil if it does not exist yet. It does not add the client
// to it.
func (s *Server) existingVariant(p *ClientProfile) *Server {
	if p == nil || s.config.Fault != nil && p.options.Environment.differenceFor(s) == nil {
		return s
	}
	isAsking := s.variants.asks.has(s.personFor(p))
	p.mu.Lock()
	defer p.mu.Unlock()
	if used, ok := p.servers[s]; ok && (used.isPrivate() || !isAsking) && !used.isDismissed() {
		return used
	}
	s.variants.mu.Lock()
	defer s.variants.mu.Unlock()
	key := p.key(s, s.variants.rooted)
	if p.closed && key.environment == "" && !s.keepsApart(p) || key == (variantKey{}) {
		return s
	}
	return s.variants.byKey[key] // nil if there is none
}

// preview returns the variant that the client would use, to look at its cache. If it does not exist yet, the returned
// variant is for this purpose only, and has no clients.
func (s *Server) preview(p *ClientProfile) *Server {
	if variant := s.existingVariant(p); variant != nil {
		return variant
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return s.newVariant(p, p.key(s, s.variants.isRooted()))
}

// refusedVariant returns a variant that cannot be used, for a client that is refused.
func (s *Server) refusedVariant(p *ClientProfile, why error) *Server {
	variant := s.newVariant(p, p.key(s, false))
	variant.refusal = why
	return variant
}

// FaultFor is Fault for the variant of a client.
func (s *Server) FaultFor(p *ClientProfile) *config.Error {
	if p != nil {
		if d := p.options.Environment.differenceFor(s); d != nil {
			return d.config.Fault
		}
	}
	return s.config.Fault
}

// circle identifies the clients that may see the lists that a server which asks for roots sends to this one; "": all.
func (p *ClientProfile) circle() string {
	if !p.options.Foreign || !p.hasRoots {
		return ""
	}
	return strconv.Quote(p.options.Person) + " " + p.declared
}

// For returns the variant of the server that the client uses. A nil profile has no capabilities. A faulty server has no
// variants, except for clients whose environment corrects the fault.
func (s *Server) For(p *ClientProfile) *Server {
	if p == nil || s.config.Fault != nil && p.options.Environment.differenceFor(s) == nil {
		return s
	}
	isAsking := s.variants.asks.has(s.personFor(p))
	p.mu.Lock()
	defer p.mu.Unlock()
	used, ok := p.servers[s]
	if ok && (used.isPrivate() || !isAsking) && !used.isDismissed() {
		return used
	}
	if p.closed {
		if p.options.Environment.differenceFor(s) != nil || s.keepsApart(p) {
			return s.refusedVariant(p, errDeserted)
		}
		return s
	}
	next := s.variants.join(s, p)
	if next == nil {
		return s.refusedVariant(p, s.tooMany(p))
	}
	p.servers[s] = next
	if ok && used != next {
		used.leave(p)
	}
	return next
}

// LeaseFor is Lease for the variant of a client. If the start shows that the client needs another variant, it gets that
// one.
func (s *Server) LeaseFor(ctx context.Context, p *ClientProfile) (*Lease, error) {
	for {
		used := s.For(p)
		lease, err := used.leaseAs(ctx, p.Caller())
		if used.refusal != nil || s.For(p) == used || ctx.Err() != nil {
			return lease, err
		}
		if lease != nil {
			lease.Release()
		}
	}
}

// join adds a client to its variant, and returns it; nil if the limit is reached. Called with the client's mu held.
func (v *variants) join(s *Server, p *ClientProfile) *Server {
	v.mu.Lock()
	defer v.mu.Unlock()
	variant, key := s, p.key(s, v.rooted)
	if key != (variantKey{}) {
		known, ok := v.byKey[key]
		if !ok {
			v.forgetOldest(p.account())
		}
		switch {
		case ok:
			variant = known
		case v.hasRoom(&key):
			variant = s.newVariant(p, key)
			variant.nameInLog()
			v.put(variant)
			s.fleet.variantSecrets.add(variant)
			if s.isDismissed() {
				variant.dismiss()
			}
		case key.isApart() || s.keepsApart(p):
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
	variant.persons.add(p.options.Person)
	v.persons.add(p.options.Person)
	return variant
}

// newVariant makes a variant of a configured server.
func (s *Server) newVariant(p *ClientProfile, key variantKey) *Server {
	definition := s.config
	differs := p.options.Environment.differenceFor(s)
	if differs != nil {
		definition = differs.config
	}
	variant := newServer(s.fleet, s.toolbox, definition, s.instances, s.maxMessage)
	variant.origin, variant.key, variant.capabilities = s, key, p.offered
	variant.startHints, variant.journal, variant.modern, variant.folder = s.startHints, s.journal, p.options.Modern, key.folder
	variant.hops, variant.taps = key.hops, s.taps
	variant.account, variant.number, variant.person, variant.personName = p.account(), p.number, key.person, p.personName()
	variant.private.Store(key.alone != 0)
	variant.circle = p.circle()
	variant.differs = differs
	if differs == nil {
		variant.signIn = s.signIn
	} else {
		variant.signIn = s.fleet.signInTo(s.toolbox, &definition, differs.environ)
	}
	if hasOwnAccounts(&variant.config) {
		variant.signIn = s.signInFor(p)
	}
	variant.memory = s.memoryFor(variant)
	return variant
}

// rekey moves a variant to the current key of its only client, so that others can join. It reports false if the variant
// has other clients, or the key has another variant. Called with the client's mu held.
func (v *variants) rekey(variant *Server, p *ClientProfile) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return len(v.members[variant]) == 1 && v.move(variant, p.key(variant.configured(), v.rooted))
}

// seclude limits a variant to one client. It reports false if the variant has other clients.
func (v *variants) seclude(variant *Server, p *ClientProfile) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	key := variant.key
	key.roots, key.alone = "", p.number
	return len(v.members[variant]) == 1 && v.move(variant, key)
}

// move changes the key of a variant, unless the key is taken. Called with mu held.
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

// drop removes the client from a variant of a server, if it is in it: its next use is of another variant.
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

// allVariants returns a configured server and then its variants, in the order in which their clients came.
func (s *Server) allVariants() []*Server {
	s.variants.mu.Lock()
	defer s.variants.mu.Unlock()
	all := []*Server{s}
	for _, variant := range s.variants.byKey {
		all = append(all, variant)
	}
	slices.SortFunc(all, func(a, b *Server) int { return cmp.Compare(a.number, b.number) })
	return all
}

// clients returns the clients of the server in the order in which they came, those that are away last.
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
