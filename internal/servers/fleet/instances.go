package fleet

import (
	"cmp"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/mcp-workbench/mcp-workbench/internal/base/hidden"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// This file keeps the instances of a server apart that are for one person, or for one client, as the configuration has it.
// The configured server itself is for the user of the workbench, who is the person "", and for whom nobody is charged.

// instancesOf returns for whom a server runs: a constant config.Instances…. A login of one person is for no other one, so
// its sessions are not shared either.
func instancesOf(cfg *config.Config, server *config.Server) string {
	instances := server.Instances
	switch {
	case instances == "" && cfg.HTTP.OAuth != nil:
		instances = config.InstancesPerPerson
	case instances == "":
		instances = config.InstancesShared
	}
	if instances == config.InstancesShared && hasOwnAccounts(server) {
		return config.InstancesPerPerson
	}
	return instances
}

// hasOwnAccounts reports whether each person has a login of their own to a server.
func hasOwnAccounts(server *config.Server) bool {
	return server.HasOwnAccounts()
}

// personFor returns the person whose instance of the server the client uses; "" if the instance may be for several, and
// for the user of the workbench.
func (s *Server) personFor(p *ClientProfile) string {
	if p == nil || s.instances == config.InstancesShared {
		return ""
	}
	return p.options.Person
}

// keepsApart reports whether the server is never used for a client in place of the client's own variant, whatever happens.
func (s *Server) keepsApart(p *ClientProfile) bool {
	return s.instances == config.InstancesPerClient || s.personFor(p) != ""
}

// account returns who is charged for what is kept for the client.
func (p *ClientProfile) account() string { return cmp.Or(p.options.Account, p.options.Person) }

// maxPersonName bounds the name of a person that is shown, in bytes.
const maxPersonName = 100

// personName returns the name of the person that is shown to people who look at the workbench.
func (p *ClientProfile) personName() string {
	if p.options.Person == "" {
		return ""
	}
	name := hidden.Clean(cmp.Or(p.options.PersonName, p.options.Person))
	return name[:min(len(name), maxPersonName)]
}

// Limits of the variants of one server, running or not.
const (
	// maxVariants is how many are for clients of several persons, or of the user of the workbench. Variants without clients make
	// room. If there are none, further clients use the configured server as clients without capabilities, and are refused if
	// they cannot share it; see isApart.
	maxVariants = 200
	// maxPersonVariants is how many are for one person each. Variants without clients make room, then those that do not run.
	// If there are none, further clients are refused.
	maxPersonVariants = 5_000
)

var (
	errTooMany = fmt.Errorf("%d copies of it are there for other clients, which is the limit, and none is for the folder and the environment variables "+
		"of this client: close clients that are not needed, or give the server a 'cwd'", maxVariants)
	errTooManyClients = fmt.Errorf("%d copies of it are there, one for each client, which is the limit, and none is for this client: "+
		"close clients that are not needed, or have clients share the server ('instances')", maxVariants)
	errTooManyPersons = fmt.Errorf("%d copies of it run for other people, which is the limit, and none is for you: try again later, "+
		"or ask those who run the workbench to share the server ('instances')", maxPersonVariants)
)

// variantCounts tell how many variants there are without looking at each.
type variantCounts struct {
	ofPersons int
	byAccount map[string]int
}

func (c *variantCounts) add(variant *Server, difference int) {
	if variant.person != "" {
		c.ofPersons += difference
	}
	if c.byAccount == nil {
		c.byAccount = make(map[string]int)
	}
	if c.byAccount[variant.account] += difference; c.byAccount[variant.account] == 0 {
		delete(c.byAccount, variant.account)
	}
}

// put adds a variant. Called with mu held.
func (v *variants) put(variant *Server) {
	if v.byKey == nil {
		v.byKey = make(map[variantKey]*Server)
	}
	v.byKey[variant.key] = variant
	v.counts.add(variant, 1)
}

// hasRoom reports whether there may be another variant of this key, after it made room for it. Called with mu held.
func (v *variants) hasRoom(key *variantKey) bool {
	count, limit := len(v.byKey)-v.counts.ofPersons, maxVariants
	if key.person != "" {
		count, limit = v.counts.ofPersons, maxPersonVariants
	}
	return count < limit || v.makeRoom(key.person != "")
}

// makeRoom removes the variant that has been without clients for the longest time, among those that are for one person or
// among the others. If none is without clients, one of a person makes room that does not run: its clients get another one
// when they need it. It reports whether one was removed. Called with mu held.
func (v *variants) makeRoom(ofPersons bool) bool {
	var oldest, spare *Server
	for key, variant := range v.byKey {
		switch {
		case (key.person != "") != ofPersons:
		case !v.isAttended(variant):
			if oldest == nil || variant.left.Before(oldest.left) {
				oldest = variant
			}
		case ofPersons && (spare == nil || variant.number < spare.number) && !variant.isUp():
			spare = variant
		}
	}
	if oldest = cmp.Or(oldest, spare); oldest != nil {
		v.remove(oldest)
	}
	return oldest != nil
}

// tooMany returns the error for a client for which there is no room.
func (s *Server) tooMany(p *ClientProfile) error {
	switch {
	case s.personFor(p) != "":
		return errTooManyPersons
	case s.instances == config.InstancesPerClient:
		return errTooManyClients
	}
	return errTooMany
}

// askers records for which persons a server asks questions that nobody can tell whom they are for. Instances of other
// persons are not affected.
type askers struct {
	any atomic.Bool // most servers ask nothing

	mu      sync.Mutex
	persons map[string]struct{}
}

// maxAskers is how many persons are recorded; beyond it, the server counts as asking all.
const maxAskers = 10_000

func (a *askers) add(person string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.persons == nil {
		a.persons = make(map[string]struct{})
	}
	if len(a.persons) < maxAskers {
		a.persons[person] = struct{}{}
	}
	a.any.Store(true)
}

func (a *askers) has(person string) bool {
	if !a.any.Load() {
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	_, ok := a.persons[person]
	return ok || len(a.persons) >= maxAskers
}

// Scope is which clients a change of what a server lists can be seen by.
type Scope struct {
	isPersonal bool
	person     string
}

// Includes reports whether the change can be seen by a client.
func (s Scope) Includes(p *ClientProfile) bool {
	if !s.isPersonal {
		return true
	}
	person := ""
	if p != nil {
		person = p.options.Person
	}
	return person == s.person
}

// scope returns which clients see what this session lists.
func (s *Server) scope() Scope {
	return Scope{isPersonal: s.instances != config.InstancesShared, person: s.person}
}

// shownPerson returns the name of the person that the session is for alone; "" if it is nobody's in particular.
func (s *Server) shownPerson() string {
	if s.person == "" {
		return ""
	}
	return s.fleet.masker.Load().Mask(s.personName)
}

// nameInLog has the log say whose instance it is, before it is used.
func (s *Server) nameInLog() {
	if s.personName != "" && (s.person != "" || s.key.alone != 0) {
		s.log = s.log.With("person", s.fleet.masker.Load().Mask(s.personName))
	}
}

// owner returns the person that the session is for alone; "" if it may be for others, or is for the user of the workbench.
func (s *Server) owner() string {
	v := &s.configured().variants
	v.mu.Lock()
	defer v.mu.Unlock()
	if s.person != "" || s.key.alone == 0 {
		return s.person
	}
	for p := range v.members[s] {
		if p.number == s.key.alone {
			return p.options.Person
		}
	}
	return ""
}

// peopleMemories are what a server offered to each person, in this run: nothing of it is kept in files, where it would stay.
type peopleMemories struct {
	mu       sync.Mutex
	byPerson map[string]*memory
}

// maxPeopleMemories is for how many people a server's lists are kept in memory.
const maxPeopleMemories = 5_000

// get returns the memory of a person, which begins with the tools that the configured server knows; see recall.
func (m *peopleMemories) get(person string, common *memory) *memory {
	m.mu.Lock()
	defer m.mu.Unlock()
	if known, ok := m.byPerson[person]; ok {
		return known
	}
	if m.byPerson == nil {
		m.byPerson = make(map[string]*memory)
	}
	for forgotten := range m.byPerson { // any
		if len(m.byPerson) < maxPeopleMemories {
			break
		}
		delete(m.byPerson, forgotten)
	}
	made := &memory{isPersonal: true, flagged: common.flagged}
	m.byPerson[person] = made
	return made
}

// memoryFor returns the memory of a new variant.
func (s *Server) memoryFor(variant *Server) *memory {
	switch {
	case variant.person != "":
		return s.variants.people.get(variant.person, s.memory)
	case variant.differs == nil:
		return s.memory
	}
	if key := variant.copyKey(); key != s.copyKey() {
		return s.variants.memories.get(key)
	}
	return s.memory
}
