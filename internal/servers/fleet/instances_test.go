package fleet

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/base/journal"
	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/builtin"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/catalog"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/downstream"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

func perPerson(s *config.Server) { s.Instances = config.InstancesPerPerson }

func perClient(s *config.Server) { s.Instances = config.InstancesPerClient }

// loneWith is lone with another definition.
func loneWith(t *testing.T, change func(*config.Server)) *Server {
	t.Helper()
	definition := config.Server{Name: "S", Command: "x"}
	change(&definition)
	f := New(Options{Config: &config.Config{Toolboxes: []config.Toolbox{{Name: "T", Servers: []config.Server{definition}}}}})
	box, _ := f.Toolbox("T")
	return box.Servers[0]
}

// ofEra returns a client of a person, of one of the eras.
func ofEra(t *testing.T, who, capabilities string, modern bool) *member {
	m := person(t, who, capabilities)
	m.options.Modern = modern
	return m
}

func TestForWhomServersRun(t *testing.T) {
	signsIn := &config.HTTPOAuth{}
	own := &config.OAuth{Accounts: config.AccountsPerPerson}
	for _, test := range []struct {
		people    *config.HTTPOAuth
		instances string
		oauth     *config.OAuth
		want      string
	}{
		{nil, "", nil, config.InstancesShared},
		{signsIn, "", nil, config.InstancesPerPerson},
		{signsIn, config.InstancesShared, nil, config.InstancesShared},
		{signsIn, config.InstancesPerClient, nil, config.InstancesPerClient},
		{nil, config.InstancesPerPerson, nil, config.InstancesPerPerson},
		{nil, "", &config.OAuth{}, config.InstancesShared},
		{nil, "", own, config.InstancesPerPerson},
		{signsIn, config.InstancesShared, own, config.InstancesPerPerson},
		{signsIn, config.InstancesPerClient, own, config.InstancesPerClient},
	} {
		got := instancesOf(&config.Config{HTTP: config.HTTP{OAuth: test.people}}, &config.Server{Instances: test.instances, OAuth: test.oauth})
		if got != test.want {
			t.Errorf("%+v: %s", test, got)
		}
	}
}

func TestWhoSharesInstances(t *testing.T) {
	for _, test := range []struct {
		name                   string
		change                 func(*config.Server)
		sameClient, samePerson bool // whether others share
		others                 bool
	}{
		{"shared", func(*config.Server) {}, true, true, true},
		{"per person", perPerson, true, true, false},
		{"per client", perClient, true, false, false},
		{"own accounts", func(s *config.Server) { s.OAuth = &config.OAuth{Accounts: config.AccountsPerPerson} }, true, true, false},
	} {
		for _, modern := range []bool{false, true} {
			for _, capabilities := range []string{"", `{"elicitation":{}}`, `{"roots":{}}`} {
				t.Run(fmt.Sprintf("%s, modern %t, %s", test.name, modern, capabilities), func(t *testing.T) {
					server := loneWith(t, test.change)
					alice, again, bob := ofEra(t, "alice", capabilities, modern), ofEra(t, "alice", capabilities, modern), ofEra(t, "bob", capabilities, modern)
					user := newMember(t, capabilities)
					user.options.Modern = modern
					same := func(a, b *member) bool { return server.For(a.ClientProfile) == server.For(b.ClientProfile) }
					if same(alice, alice) != test.sameClient || same(alice, again) != test.samePerson || same(alice, bob) != test.others || same(user, alice) != test.others {
						t.Errorf("same client %t, same person %t, others %t, user %t", same(alice, alice), same(alice, again), same(alice, bob), same(user, alice))
					}
					if !test.others && server.For(alice.ClientProfile) == server {
						t.Error("a person uses the instance of the user of the workbench")
					}
				})
			}
		}
	}
}

const privateSpec = `{"era":"both",
	"capabilities":{"tools":{"listChanged":true},"resources":{"listChanged":true,"subscribe":true},"prompts":{"listChanged":true},"logging":{}},
	"tools":[{"name":"hi","inputSchema":{}},{"name":"tell","inputSchema":{}},{"name":"grow","inputSchema":{}},{"name":"ask","inputSchema":{}},{"name":"wait","inputSchema":{}}],
	"on":{"resources/list":[{"result":{"resultType":"complete","ttlMs":0,"cacheScope":"private","resources":[{"uri":"file:///diary","name":"diary"}]}}],
		"prompts/list":[{"result":{"resultType":"complete","ttlMs":0,"cacheScope":"private","prompts":[{"name":"confess"}]}}],
		"resources/templates/list":[{"result":{"resultType":"complete","ttlMs":0,"cacheScope":"private","resourceTemplates":[{"uriTemplate":"diary://{day}","name":"day"}]}}]},
	"calls":{
		"tell":[{"send":{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"file:///diary"}}},
			{"send":{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"error","data":"secret"}}},
			{"send":{"jsonrpc":"2.0","method":"notifications/tasks/status","params":{"taskId":"7"}}},
			{"send":{"jsonrpc":"2.0","method":"notifications/resources/list_changed"}}],
		"grow":[{"change":[{"name":"hi","inputSchema":{}},{"name":"of-alice","inputSchema":{}}]}],
		"ask":[{"ask":"elicitation/create"}],
		"wait":[{"wait":"calls 2"}]}}`

// announced collects which changes are announced to whom.
type announced struct {
	mu  sync.Mutex
	all []Scope
}

func (a *announced) add(whom Scope) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.all = append(a.all, whom)
}

// to counts the changes that a client is told of.
func (a *announced) to(m *member) (n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, whom := range a.all {
		if whom.Includes(m.ClientProfile) {
			n++
		}
	}
	return n
}

func (a *announced) options(folder string) Options {
	return Options{
		Copies: catalog.NewCopies(folder, nil), Baseline: catalog.NewBaseline("", nil),
		ToolsChanged: func(_ string, whom Scope) { a.add(whom) }, ListsChanged: func(_ *Server, _ string, whom Scope) { a.add(whom) },
	}
}

// What an instance of one person lists, tells and asks reaches nobody else, whichever way it might.
func TestNothingCrossesFromOnePersonToAnother(t *testing.T) {
	for _, modern := range []bool{false, true} {
		for name, change := range map[string]func(*config.Server){"per person": perPerson, "per client": perClient} {
			t.Run(fmt.Sprintf("%s, modern %t", name, modern), func(t *testing.T) {
				var told announced
				r := newRig(t, map[string]string{"S": privateSpec}, change, told.options(t.TempDir()))
				server := r.server(t, "S")
				alice, bob := ofEra(t, "alice", `{"elicitation":{}}`, modern), ofEra(t, "bob", `{"elicitation":{}}`, modern)
				for _, m := range []*member{alice, bob} {
					if err := <-m.begin(t, server, "hi"); err != nil {
						t.Fatal(err)
					}
				}
				if got := r.starts(t, "S"); got != 2 {
					t.Fatalf("%d processes serve two people", got)
				}
				before, listsBefore := server.OfferedFor(bob.ClientProfile), listed(server.ListsFor(bob.ClientProfile))
				announcedToBob := told.to(bob)
				for _, tool := range []string{"tell", "grow"} {
					if err := <-alice.begin(t, server, tool); err != nil {
						t.Fatal(err)
					}
				}
				eventually(t, "the change of her tools", func() bool {
					_, ok := server.OfferedFor(alice.ClientProfile).Find("of-alice")
					return ok && told.to(alice) > 0
				})
				if !modern { // that server tells the changes of lists to those who asked for them only
					eventually(t, "what her instance tells", func() bool { return len(alice.notices) >= 4 })
				}
				if got := server.OfferedFor(bob.ClientProfile); got != before || listed(server.ListsFor(bob.ClientProfile)) != listsBefore {
					t.Error("what another one is shown changed")
				}
				if got := told.to(bob) - announcedToBob; got > 0 || len(bob.notices) > 0 || len(bob.asked) > 0 {
					t.Errorf("another one is told of %d changes and %d notices, and asked %d times", got, len(bob.notices), len(bob.asked))
				}
				checkNewcomers(t, r, modern)
			})
		}
	}
}

// checkNewcomers checks what those see who come later: another person, and the user of the workbench, now and in the next run.
func checkNewcomers(t *testing.T, r *rig, modern bool) {
	t.Helper()
	server := r.server(t, "S")
	later := r.again(t, Options{Copies: r.options.Copies})
	for name, one := range map[string]*Server{"this run": server, "the next run": later.server(t, "S")} {
		for _, m := range []*member{ofEra(t, "carol", "", modern), newMember(t, "")} {
			offered := one.OfferedFor(m.ClientProfile)
			if offered == nil {
				t.Errorf("%s: the tools are not known, though all use the same account", name)
			} else if _, ok := offered.Find("of-alice"); ok {
				t.Errorf("%s: %q is shown a tool that was made for another person", name, m.options.Person)
			}
			if got := listed(one.ListsFor(m.ClientProfile)); got != "" {
				t.Errorf("%s: %q is shown %s", name, m.options.Person, got)
			}
			if one.SessionFor(m.ClientProfile) != nil {
				t.Errorf("%s: %q has a session with an instance of others", name, m.options.Person)
			}
		}
	}
}

// A question that nobody can tell whom it is for makes the instances of one person separate, and of nobody else.
func TestQuestionsOfOneInstanceDoNotConcernOthers(t *testing.T) {
	r := newRig(t, map[string]string{"S": askTools}, perPerson, Options{})
	server := r.server(t, "S")
	a, again := person(t, "alice", `{"elicitation":{}}`), person(t, "alice", `{"elicitation":{}}`)
	b, b2 := person(t, "bob", `{"elicitation":{}}`), person(t, "bob", `{"elicitation":{}}`)
	for _, m := range []*member{b, b2} {
		<-m.begin(t, server, "hi")
	}
	shared := server.For(b.ClientProfile)
	waiting := again.begin(t, server, "wait")
	<-a.begin(t, server, "ask") // which call it belongs to cannot be told
	<-person(t, "alice", `{"elicitation":{}}`).begin(t, server, "hi")
	lease := server.For(again.ClientProfile)
	if lease == server.For(a.ClientProfile) {
		t.Error("her clients still share an instance that asks")
	}
	if server.For(b.ClientProfile) != shared || server.For(b2.ClientProfile) != shared || len(b.asked)+len(b2.asked) > 0 {
		t.Error("the instance of another person is not as it was")
	}
	a.Close()
	again.Close()
	<-waiting
}

// A server that asks for roots is told those of the person that it runs for.
func TestRootsOfOnePersonAreNotTheOthers(t *testing.T) {
	r := newRig(t, map[string]string{"S": rootsTools}, perPerson, Options{})
	server := r.server(t, "S")
	a, b := newRooted(t, x), newRooted(t, x) // the same folder on two machines
	a.options.Person, b.options.Person = "alice", "bob"
	for _, m := range []*member{a, b} {
		end := m.begin(t, server, "where")
		m.tell(t, x)
		<-end
	}
	if server.For(a.ClientProfile) == server.For(b.ClientProfile) || len(a.asked)+len(b.asked) > 0 {
		t.Error("people with the same roots share an instance")
	}
	a.SetRoots([]byte(y))
	b.RootsChanged(nil)
	if server.For(a.ClientProfile).person != "alice" || server.For(b.ClientProfile).person != "bob" {
		t.Error("a change of roots leads to another person's instance")
	}
}

// Where each person has a login, the tools of one are no other one's either.
func TestToolsOfOwnAccountsAreNotShared(t *testing.T) {
	for _, hasUser := range []bool{false, true} {
		t.Run(fmt.Sprintf("user of the workbench %t", hasUser), func(t *testing.T) {
			var told announced
			r := newRig(t, map[string]string{"S": privateSpec}, func(s *config.Server) { s.OAuth = &config.OAuth{Accounts: config.AccountsPerPerson} }, told.options(t.TempDir()))
			server := r.server(t, "S")
			if hasUser { // with a login of their own
				if err := call(t.Context(), server, "hi"); err != nil {
					t.Fatal(err)
				}
			}
			alice := person(t, "alice", "")
			<-alice.begin(t, server, "hi")
			another := person(t, "alice", `{"sampling":{}}`) // who has no session yet
			if server.OfferedFor(alice.ClientProfile) == nil || server.OfferedFor(another.ClientProfile) == nil || listed(server.ListsFor(another.ClientProfile)) == "" {
				t.Error("her clients do not know what her account offers")
			}
			strangers := []*member{person(t, "bob", "")}
			if told.to(strangers[0]) > 0 {
				t.Error("another person is told of changes")
			}
			if !hasUser {
				strangers = append(strangers, newMember(t, ""))
			}
			later := r.again(t, Options{Copies: r.options.Copies})
			for name, one := range map[string]*Server{"this run": server, "the next run": later.server(t, "S")} {
				for _, m := range strangers {
					if offered := one.OfferedFor(m.ClientProfile); offered != nil || listed(one.ListsFor(m.ClientProfile)) != "" {
						t.Errorf("%s: %q is shown what another account offers", name, m.options.Person)
					}
				}
			}
		})
	}
}

// When people share an account, what is the same for all is kept once, and searches use one index.
func TestEqualToolsAreKeptOnce(t *testing.T) {
	denies := func(string, toolbox.Ref, catalog.Tool) bool { return false }
	r := newRig(t, map[string]string{"S": askTools}, perPerson, Options{Restrictions: &catalog.Restrictions{Denies: denies}})
	server := r.server(t, "S")
	a, b := person(t, "alice", ""), person(t, "bob", "")
	<-a.begin(t, server, "hi")
	<-b.begin(t, server, "hi")
	if one, other := server.OfferedFor(a.ClientProfile), server.OfferedFor(b.ClientProfile); one != other {
		t.Error("each has a copy")
	}
	c, d := person(t, "carol", ""), person(t, "dora", "")
	if one, other := server.OfferedFor(c.ClientProfile), server.OfferedFor(d.ClientProfile); one == nil || one != other {
		t.Error("each of those who were not served yet has a copy")
	}
}

// A client that has left, and one for which there is no room, do not fall back to what is there for others.
func TestNobodyFallsBackToAnInstanceOfOthers(t *testing.T) {
	for name, change := range map[string]func(*config.Server){"per person": perPerson, "per client": perClient} {
		for _, modern := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, modern %t", name, modern), func(t *testing.T) {
				r := newRig(t, map[string]string{"S": askTools}, change, Options{})
				server := r.server(t, "S")
				if err := call(t.Context(), server, "hi"); err != nil { // the user's instance, which is there
					t.Fatal(err)
				}
				m := ofEra(t, "alice", "", modern)
				m.Close()
				_, err := server.LeaseFor(t.Context(), m.ClientProfile)
				if !errors.Is(err, errDeserted) || server.For(m.ClientProfile) == server || server.existingVariant(m.ClientProfile) == server {
					t.Errorf("a client that has left: %v", err)
				}
				if server.TryLeaseFor(m.ClientProfile) != nil || server.SessionFor(m.ClientProfile) != nil {
					t.Error("a client that has left has a session")
				}
			})
		}
	}
}

// occupy makes the variant of a client look as if it were starting.
func occupy(server *Server, m *member) *Server {
	variant := server.For(m.ClientProfile)
	variant.mu.Lock()
	defer variant.mu.Unlock()
	variant.starting = &attempt{done: make(chan struct{})}
	return variant
}

func TestLimitOfInstances(t *testing.T) {
	server := loneWith(t, perPerson)
	first := person(t, "0", "")
	quiet := server.For(first.ClientProfile)
	for i := range maxPersonVariants - 1 {
		occupy(server, ofEra(t, fmt.Sprint(i+1), "", i%2 == 0))
	}
	next := person(t, "next", "")
	if used := occupy(server, next); used == server || used.refusal != nil || !quiet.isDismissed() {
		t.Error("an instance that does not run made no room")
	}
	if again := server.For(first.ClientProfile); again == server || !errors.Is(again.refusal, errTooManyPersons) {
		t.Error("one too many is not refused")
	}
	if _, err := server.LeaseFor(t.Context(), first.ClientProfile); !errors.Is(err, errTooManyPersons) {
		t.Errorf("one too many: %v", err)
	}
	// The user of the workbench has other places.
	user := newMember(t, `{"elicitation":{}}`)
	if used := server.For(user.ClientProfile); used == server || used.refusal != nil {
		t.Error("people take the places of the user")
	}

	server = loneWith(t, perClient)
	for range maxVariants {
		occupy(server, newMember(t, ""))
	}
	if used := server.For(newMember(t, "").ClientProfile); used == server || !errors.Is(used.refusal, errTooManyClients) {
		t.Error("one client too many is not refused")
	}
}

// One person cannot take all places.
func TestInstancesOfOnePersonAreBounded(t *testing.T) {
	server := loneWith(t, perClient)
	for range 2 * accountVariants {
		server.For(person(t, "alice", "").ClientProfile)
	}
	if n := len(server.allVariants()) - 1; n != accountVariants {
		t.Errorf("one person has %d", n)
	}
}

func TestReloadOfInstances(t *testing.T) {
	configured := func(instances string, people *config.HTTPOAuth) *config.Config {
		return &config.Config{HTTP: config.HTTP{OAuth: people}, Toolboxes: []config.Toolbox{{Name: "T", Servers: []config.Server{{Name: "S", Command: "x", Instances: instances}}}}}
	}
	f := New(Options{Config: configured("", nil)})
	server := func() *Server {
		box, _ := f.Toolbox("T")
		return box.Servers[0]
	}
	for _, test := range []struct {
		cfg     *config.Config
		changes bool
	}{
		{configured("", nil), false},
		{configured("", &config.HTTPOAuth{}), true},
		{configured("", &config.HTTPOAuth{Issuer: "another"}), false},
		{configured(config.InstancesShared, &config.HTTPOAuth{}), true},
		{configured(config.InstancesPerClient, &config.HTTPOAuth{}), true},
	} {
		before := server()
		variant := before.For(person(t, "alice", `{"elicitation":{}}`).ClientProfile)
		f.Apply(test.cfg)
		if (server() != before) != test.changes || variant.isDismissed() != test.changes {
			t.Errorf("%s: changed %t", test.cfg.Toolboxes[0].Servers[0].Instances, server() != before)
		}
	}
}

// An instance ends with the last client of its person, and when that is away.
func TestInstancesEndWithTheirPerson(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := loneWith(t, perPerson)
		a, again, b := person(t, "alice", ""), person(t, "alice", ""), person(t, "bob", "")
		hers, his := server.For(a.ClientProfile), server.For(b.ClientProfile)
		server.For(again.ClientProfile)
		hers.lives.Add(1) // as if it ran
		his.lives.Add(1)
		a.Close()
		if again.MarkAway(); !hers.isDismissed() || his.isDismissed() {
			t.Error("an instance goes on while its person is away, or ended with another one's")
		}
		b.Close()
		<-time.After(lingerTime + time.Second)
		if !his.isDismissed() || len(server.allVariants()) != 1 {
			t.Error("an instance goes on without clients")
		}
	})
}

// An idle instance stops, and others go on.
func TestIdleInstanceStopsByItself(t *testing.T) {
	r := newRig(t, map[string]string{"S": askTools}, func(s *config.Server) {
		perPerson(s)
		s.Timeouts.Idle = 20 * time.Millisecond
	}, Options{})
	server := r.server(t, "S")
	a, b := person(t, "alice", ""), person(t, "bob", "")
	held, err := server.LeaseFor(t.Context(), b.ClientProfile)
	if err != nil {
		t.Fatal(err)
	}
	<-a.begin(t, server, "hi")
	eventually(t, "the idle stop", func() bool { return server.For(a.ClientProfile).Status().State == Idle })
	if server.For(b.ClientProfile).Status().State != Ready {
		t.Error("an instance in use stopped with another one")
	}
	held.Release()
}

// Who looks at the workbench sees whose an instance is, and none that does nothing.
func TestStatusOfInstances(t *testing.T) {
	r := newRig(t, map[string]string{"S": `{"start":[{"stderr":"hello"}],"tools":[{"name":"hi","inputSchema":{}}]}`}, perPerson,
		Options{Config: &config.Config{Secrets: []string{"hunter2hunter2"}}})
	server := r.server(t, "S")
	for range 30 {
		server.For(person(t, "looks only", "").ClientProfile)
	}
	if rows := r.Status(); len(rows) != 1 || rows[0].For.Person != "" {
		t.Errorf("%d rows without an instance that runs", len(rows))
	}
	a, b := person(t, "id-of-alice", ""), person(t, "id-of-bob", "")
	a.options.PersonName = "Alice\u200b hunter2hunter2" + strings.Repeat("x", 2*maxPersonName)
	<-a.begin(t, server, "hi")
	<-b.begin(t, server, "hi")
	rows := r.Status()
	if len(rows) != 2 || !strings.HasPrefix(rows[0].For.Person, "Alice [hidden]x") || len(rows[0].For.Person) > maxPersonName || rows[1].For.Person != "id-of-bob" {
		t.Errorf("the rows are %+v", rows)
	}
	eventually(t, "the lines", func() bool {
		lines, _, _ := server.Journal(0)
		return slices.ContainsFunc(lines, func(l journal.Line) bool { return l.Text == "[id-of-bob] hello" })
	})
	if err := server.Restart(t.Context()); err != nil || r.starts(t, "S") != 4 {
		t.Errorf("restart: %v, and %d starts", err, r.starts(t, "S"))
	}
	a.Close()
	b.Close()
	server.For(a.ClientProfile).abandon()
	eventually(t, "the end", func() bool {
		for _, variant := range server.allVariants()[1:] {
			variant.abandon()
		}
		return up(server) == 0
	})
	if err := server.Restart(t.Context()); err != nil {
		t.Errorf("restart of a server of which nothing runs: %v", err)
	}
}

// A thousand people, half of them with a client of the modern era: nobody shares, and nothing stays when they have gone.
func TestAThousandPeople(t *testing.T) {
	const people, busy = 1_000, 200 // who use the server, and who call it
	h := newHub(t, streamableHandler())
	r, server := remoteRig(t, h.URL, "http", perPerson, Options{})
	var clients []*member
	for i := range people {
		clients = append(clients, ofEra(t, fmt.Sprint("person ", i), "", i%2 == 0))
	}
	var mu sync.Mutex
	owners := make(map[*downstream.Session]string)
	var work sync.WaitGroup
	places := make(chan struct{}, 32)
	variants := make(map[*Server]bool)
	for _, m := range clients {
		variants[server.For(m.ClientProfile)] = true
	}
	if len(variants) != people || variants[server] {
		t.Errorf("there are %d variants", len(variants))
	}
	for _, m := range clients[:busy] {
		work.Go(func() {
			places <- struct{}{}
			defer func() { <-places }()
			lease, err := server.LeaseFor(t.Context(), m.ClientProfile)
			if err != nil {
				t.Error(err)
				return
			}
			defer lease.Release()
			lease.RecordCaller(m.ClientProfile)
			mu.Lock()
			defer mu.Unlock()
			if owner, known := owners[lease.Session]; known && owner != m.options.Person {
				t.Errorf("%s has the session of %s", m.options.Person, owner)
			}
			owners[lease.Session] = m.options.Person
		})
	}
	work.Wait()
	if len(owners) != busy || len(r.Status()) != busy {
		t.Errorf("%d sessions and %d rows", len(owners), len(r.Status()))
	}
	first := server.OfferedFor(clients[0].ClientProfile)
	for _, m := range clients[:busy] {
		if server.OfferedFor(m.ClientProfile) != first {
			t.Fatal("each has a copy of the tools")
		}
	}
	for _, m := range clients[busy:] {
		if server.OfferedFor(m.ClientProfile) == nil || server.SessionFor(m.ClientProfile) != nil {
			t.Fatal("who did not call has a session, or does not know the tools")
		}
	}
	for _, m := range clients {
		m.MarkAway()
		m.Close()
	}
	if left := len(server.allVariants()) - 1; left > 0 || server.variants.counts.ofPersons != 0 || len(server.variants.counts.byAccount) > 0 {
		t.Errorf("%d variants are left, and %+v are counted", left, server.variants.counts)
	}
	eventually(t, "the end of all sessions", func() bool {
		for session := range owners {
			if session.Err() == nil {
				return false
			}
		}
		return true
	})
}

// Of a server to which each person logs in, nothing can be known before.
func TestPrefetchWithOwnAccounts(t *testing.T) {
	r := newRig(t, map[string]string{"own": askTools, "common": askTools}, func(s *config.Server) {
		if perPerson(s); s.Name == "own" {
			s.OAuth = &config.OAuth{Accounts: config.AccountsPerPerson}
		}
	}, Options{})
	r.Prefetch(r.Toolboxes())
	eventually(t, "the end of the prefetch", func() bool {
		return r.starts(t, "common") == 1 && !r.server(t, "common").isUp()
	})
	if r.starts(t, "own") != 0 || r.server(t, "common").OfferedFor(person(t, "alice", "").ClientProfile) == nil {
		t.Error("it was started, or the tools of the other one are not known")
	}
}

// A built-in server keeps what it is told for each person, whatever the configuration says of its environment.
func TestBuiltinServersKnowForWhomTheyRun(t *testing.T) {
	of := func(change func(*config.Server), who string) string {
		server := loneWith(t, func(s *config.Server) {
			s.Command, s.Builtin, s.Env = "", "notes", []config.Variable{{Name: builtin.PersonVariable, Value: "forged"}}
			change(s)
		})
		used := server.For(person(t, who, "").ClientProfile)
		spec, _ := used.spec(&used.config)
		last := ""
		for _, entry := range spec.Env {
			if value, ok := strings.CutPrefix(entry, builtin.PersonVariable+"="); ok {
				last = value
			}
		}
		return last
	}
	alice, bob := of(perPerson, "alice"), of(perPerson, "bob")
	if alice == bob || alice != builtin.PersonKey("alice") || of(perClient, "alice") != alice || of(perPerson, "") == alice {
		t.Errorf("alice is %s, bob is %s", alice, bob)
	}
}
