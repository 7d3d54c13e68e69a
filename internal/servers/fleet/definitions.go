package fleet

import (
	"crypto/sha256"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/catalog"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/process"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// memory is what a configured server offered last, to whichever client, in this run or in
// an earlier one. Its variants share it, but those that have another definition or identity, and those that are for one
// person: they share that of the person.
type memory struct {
	isPersonal bool // it is that of one person, of which nothing is kept in files; see recall

	mu     sync.Mutex // held while the file is read: only those who need it wait
	looked bool       // whether a copy is kept
	isOwn  bool       // of a personal one: the person's instance was started
	last   *catalog.Snapshot

	view  *catalog.Snapshot // last as far as clients may see it
	under *catalog.Restrictions

	lists map[listScope]catalog.Lists // what else it listed

	shared *catalog.Snapshot // as it was read last, for all whose reading was the same; see intern

	flagged *flags
}

// remembered returns what is known of a server that was not started yet for its client; nil
// if nothing is. The copy that an earlier run kept is read when it is first needed, and once.
func (s *Server) remembered() *catalog.Snapshot {
	m, now := s.memory, s.fleet.restrictions.Load()
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.isPersonal && !m.isOwn && (!m.looked || m.under != now) {
		m.looked, m.under = true, now
		m.last, m.view = s.recall()
		return m.view
	}
	if !m.looked {
		m.looked = true
		m.last = s.fleet.options.Copies.Load(s.Name(), s.copyKey(), s.config.Filter)
		if s.config.DoubtHints {
			m.last = m.last.WithoutTrust()
		}
		m.view = nil
	}
	if m.view == nil || m.under != now {
		m.last = s.doubt(m.last)
		m.view, m.under = m.last.Under(now, s.toolbox, s.Name()), now
	}
	return m.view
}

// recall returns what people are shown of a server that was not started for them yet: the tools that it offered to
// others, if all use the same account. They stay the same for a person until the server lists others for that person,
// so that nobody is told of what others do. Called with mu of the person's memory held.
func (s *Server) recall() (last, view *catalog.Snapshot) {
	if hasOwnAccounts(&s.config) || s.differs != nil {
		return nil, nil
	}
	view = s.origin.remembered()
	common := s.origin.memory
	common.mu.Lock()
	defer common.mu.Unlock()
	return common.last, view
}

// remember keeps what the server offers now, for its other clients and for the next run. What an instance of one person
// offers when it starts is kept for others, too, if all use the same account; what changes later may be about that person.
func (s *Server) remember(snapshot *catalog.Snapshot, starts bool) {
	if !s.memory.isPersonal {
		s.keep(snapshot)
		return
	}
	if starts && !hasOwnAccounts(&s.config) && s.differs == nil {
		s.origin.keep(snapshot)
	}
	m, now := s.memory, s.fleet.restrictions.Load()
	last := *snapshot
	last.Stored = true
	m.mu.Lock()
	defer m.mu.Unlock()
	m.looked, m.isOwn, m.last = true, true, &last
	m.view, m.under = last.Under(now, s.toolbox, s.Name()), now
}

// keep keeps a snapshot in memory and in a file.
func (s *Server) keep(snapshot *catalog.Snapshot) {
	m, now := s.memory, s.fleet.restrictions.Load()
	last := *snapshot
	last.Stored = true
	m.mu.Lock()
	defer m.mu.Unlock()
	m.looked, m.last = true, &last
	m.view, m.under = last.Under(now, s.toolbox, s.Name()), now
	s.fleet.options.Copies.Save(s.Name(), s.copyKey(), snapshot, s.fleet.masker.Load().Mask)
}

// memories are those of the definitions and identities that clients of other environments have.
type memories struct {
	mu    sync.Mutex
	byKey map[catalog.Hash]*memory
}

// maxMemories is how many there are of a server. What is forgotten is read from the disk again.
const maxMemories = 200

func (m *memories) get(key catalog.Hash) *memory {
	m.mu.Lock()
	defer m.mu.Unlock()
	known, ok := m.byKey[key]
	if !ok {
		if m.byKey == nil || len(m.byKey) >= maxMemories {
			m.byKey = make(map[catalog.Hash]*memory)
		}
		known = &memory{flagged: &flags{}}
		m.byKey[key] = known
	}
	return known
}

// copyKey tells copies of servers apart. The filter counts, too: with another one, what was
// kept is not what is offered. Of the configured server, a token that was renewed makes no
// difference; clients of other environments do not see what it offers to another identity.
func (s *Server) copyKey() catalog.Hash {
	key := definitionKey(s.toolbox, s.config)
	text := fmt.Appendf(key[:], "%q", s.config.Filter.String())
	if s.origin != nil && s.identity() != s.origin.identity() {
		identity := s.identity()
		text = append(text, identity[:]...)
	}
	return sha256.Sum256(text)
}

// findIdentity returns a hash of what a server may know its user by, besides its definition: the
// variables that 'inheritEnv' passes, the headers, and the account of its login. It is zero if there are none.
func (s *Server) findIdentity() (identity catalog.Hash) {
	environ := s.environ()
	var fields []string
	compared := asCompared(&s.config)
	if inherit := compared.InheritEnv; inherit.All || len(inherit.Patterns) > 0 {
		short := s.config
		short.InheritEnv = config.InheritEnv{}
		without := childEnvironment(environ, &short)
		for name, value := range childEnvironment(environ, compared) {
			if before, ok := without[name]; (!ok || before != value) && !process.IsIncidental(name) {
				fields = append(fields, fmt.Sprintf("%q=%q", name, value))
			}
		}
	}
	for _, header := range s.config.Headers {
		fields = append(fields, fmt.Sprintf("%q: %q", header.Name, header.Value))
	}
	if settings := s.config.OAuth; settings != nil && settings.Account != "" {
		fields = append(fields, fmt.Sprintf("account %q", settings.Account))
	}
	if len(fields) == 0 {
		return identity
	}
	slices.Sort(fields)
	return sha256.Sum256([]byte(strings.Join(fields, "\n")))
}

// intern returns the snapshot that another instance of the server read, if it is equal: people whose instances offer the
// same share one, which is indexed for searches once.
func (s *Server) intern(snapshot *catalog.Snapshot) *catalog.Snapshot {
	if s.person == "" {
		return snapshot
	}
	m := s.origin.memory
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.shared == nil || !reflect.DeepEqual(m.shared, snapshot) {
		m.shared = snapshot
	}
	return m.shared
}

// permitted returns what clients may see of a snapshot who are no caller that a rule names; see catalog.Snapshot.For.
func (s *Server) permitted(snapshot *catalog.Snapshot) *catalog.Snapshot {
	now := s.fleet.restrictions.Load()
	if s.person == "" {
		return snapshot.Under(now, s.toolbox, s.Name())
	}
	return s.origin.variants.lastView.get(snapshot, now, s)
}

// lastView is what clients may see of the snapshot that the instances of several people share; see intern.
type lastView struct {
	mu    sync.Mutex
	of    *catalog.Snapshot
	under *catalog.Restrictions
	view  *catalog.Snapshot
}

func (v *lastView) get(of *catalog.Snapshot, under *catalog.Restrictions, s *Server) *catalog.Snapshot {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.of == nil || v.of != of || v.under != under {
		v.of, v.under, v.view = of, under, of.Under(under, s.toolbox, s.Name())
	}
	return v.view
}

// logWithheld tells of tools that clients do not see: not every mode has another place for it.
func (s *Server) logWithheld(snapshot *catalog.Snapshot) {
	if snapshot.InstructionsWithheld() {
		s.log.Warn("instructions of the server are withheld because they are not as " + toolbox.LockFile + " has them; to see them, run: mcp-workbench lock")
	}
	if n := snapshot.WithheldTools(); n > 0 {
		s.log.Warn("tools are withheld because they are not as "+toolbox.LockFile+" has them; to see them, run: mcp-workbench lock", "tools", n)
	}
}

// logFaults tells of what is wrong with what a server offers, for modes that have no other place for it: each once.
func (s *Server) logFaults(warnings []string) {
	for _, warning := range warnings {
		if s.memory.flagged.isNew(warning) {
			s.log.Warn("a fault in what the server offers", "reason", s.fleet.cleanServerText(warning))
		}
	}
}

// Restrict changes which tools clients may see and use, also of servers that run. Servers go on, and clients are not
// told: the caller tells them.
func (f *Fleet) Restrict(to *catalog.Restrictions) {
	f.restrictions.Store(to)
	for _, box := range f.Toolboxes() {
		for _, server := range box.Servers {
			for _, variant := range server.allVariants() {
				variant.restrict()
			}
		}
	}
	f.changes.Add(1)
}

func (s *Server) restrict() {
	s.mu.Lock()
	before := s.offered
	s.mu.Unlock()
	doubted := s.doubt(before) // reads a file
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.offered == before { // else it is newer
		s.offered = doubted
	}
	s.offered = s.permitted(s.offered)
	if s.running != nil {
		s.running.tools.Store(s.offered)
	}
}

// maxLoggedChanges bounds what one reading of a server's tools says in the log.
const maxLoggedChanges = 50

// compare adds warnings to a snapshot for the tools whose definitions changed, and for instructions that did.
func (s *Server) compare(snapshot *catalog.Snapshot) *catalog.Snapshot {
	masker := s.fleet.masker.Load()
	if s.config.DoubtHints {
		snapshot = snapshot.WithoutTrust()
	}
	snapshot, changes := s.fleet.options.Baseline.Compare(s.Name(), definitionKey(s.toolbox, s.config), snapshot, masker.Mask)
	if events := s.fleet.options.Events; events != nil && len(changes) > 0 {
		events.DefinitionsChanged(s.toolbox, s.Name(), changes)
	}
	for i, change := range changes {
		if i == maxLoggedChanges {
			s.log.Warn("definitions of more tools changed", "tools", len(changes)-i)
			break
		}
		before, after := change.Before.Hash.String(), change.After.Hash.String()
		if change.Tool == "" {
			s.log.Warn("instructions of a server changed", "before", before, "after", after)
			continue
		}
		s.log.Warn("definition of a tool changed", "tool", masker.Mask(change.Tool), "before", before, "after", after)
	}
	return snapshot
}

// definitionKey is a hash of what makes a configured server the same one as before. A
// server that is configured otherwise is another one, and has no past. Left out are
// settings that only concern how we treat it, and headers, since tokens in them are
// renewed: better a warning too many. Nothing of a value can be read from it.
func definitionKey(toolbox string, server config.Server) catalog.Hash {
	fields := []string{
		toolbox, server.Name, server.Builtin, server.Command, server.Dir, server.URL, server.Transport,
		fmt.Sprint(len(server.Args)), // where the arguments end
	}
	fields = append(fields, server.Args...)
	variables := slices.Clone(server.Env) // their order has no meaning
	slices.SortStableFunc(variables, func(a, b config.Variable) int { return strings.Compare(a.Name, b.Name) })
	for _, variable := range variables {
		value := sha256.Sum256([]byte(variable.Value))
		fields = append(fields, variable.Name, string(value[:]))
	}
	if server.OAuth != nil && server.OAuth.Account != "" {
		fields = append(fields, "account", server.OAuth.Account)
	}
	hash := sha256.New()
	for _, field := range fields {
		fmt.Fprintf(hash, "%d:%s", len(field), field)
	}
	return catalog.Hash(hash.Sum(nil))
}
