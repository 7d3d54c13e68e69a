package fleet

import (
	"fmt"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// person returns a member that is a client of that person.
func person(t *testing.T, name, capabilities string) *member {
	m := newMember(t, capabilities)
	m.options.Foreign, m.options.Person = true, name
	return m
}

func TestTasksAreForThePersonThatMadeThem(t *testing.T) {
	server := lone(t)
	alice, bob := person(t, "alice", ""), person(t, "bob", "")
	server.For(alice.ClientProfile)
	if server.HidesTask(alice.ClientProfile, "1") || server.HidesTask(nil, "1") {
		t.Error("a task is hidden from the only person")
	}
	server.RecordTask(alice.ClientProfile, "1")
	if !server.HidesTask(bob.ClientProfile, "1") {
		t.Error("who never used the server is shown a task of another person")
	}
	server.For(bob.ClientProfile)
	again := person(t, "alice", "")
	for _, test := range []struct {
		name    string
		profile *ClientProfile
		id      string
		hides   bool
	}{
		{"one's own", alice.ClientProfile, "1", false},
		{"that of the same person", again.ClientProfile, "1", false},
		{"that of another person", bob.ClientProfile, "1", true},
		{"one that nobody is known to have made", alice.ClientProfile, "2", true},
		{"one that nobody is known to have made", bob.ClientProfile, "2", true},
	} {
		if got := server.HidesTask(test.profile, test.id); got != test.hides {
			t.Errorf("%s: hidden is %v", test.name, got)
		}
	}
	bob.Close()
	if !server.HidesTask(alice.ClientProfile, "2") {
		t.Error("what the other person may have left is shown")
	}
	server.RecordTask(again.ClientProfile, "1")
	server.RecordTask(person(t, "carol", "").ClientProfile, "1") // a server that begins anew with its ids
	if !server.HidesTask(alice.ClientProfile, "1") {
		t.Error("an id that was given again is still that of the first")
	}
}

func TestTasksOfOtherSessions(t *testing.T) {
	for _, test := range []struct {
		url                             string
		hidesUnknown, hidesOwnElsewhere bool
	}{
		{"", false, false},
		{"http://127.0.0.1:1/", true, false}, // it may have the same tasks in all sessions
	} {
		server := lone(t)
		server.config.URL = test.url
		alice, bob := person(t, "alice", `{"elicitation":{}}`), person(t, "bob", `{"sampling":{}}`)
		server.For(alice.ClientProfile)
		server.For(bob.ClientProfile)
		server.RecordTask(alice.ClientProfile, "1")
		if !server.HidesTask(bob.ClientProfile, "1") {
			t.Error("another person's task is reached by another session")
		}
		if got := server.HidesTask(alice.ClientProfile, "2"); got != test.hidesUnknown {
			t.Errorf("%q: of a task that nobody is known to have made, hidden is %v", test.url, got)
		}
		elsewhere := person(t, "alice", `{"roots":{}}`)
		server.For(elsewhere.ClientProfile)
		if got := server.HidesTask(elsewhere.ClientProfile, "1"); got != test.hidesOwnElsewhere {
			t.Errorf("%q: of one's own task of another session, hidden is %v", test.url, got)
		}
		// The same id in sessions of their own: each has its own, and it leads nobody to another's.
		server.RecordTask(bob.ClientProfile, "1")
		if server.HidesTask(alice.ClientProfile, "1") || server.HidesTask(bob.ClientProfile, "1") {
			t.Error("who made a task does not reach it")
		}
		intruder := person(t, "bob", `{"elicitation":{}}`)
		server.For(intruder.ClientProfile)
		if !server.HidesTask(intruder.ClientProfile, "1") {
			t.Error("a task of another session with the same id leads to another person's")
		}
		if !server.HidesTask(elsewhere.ClientProfile, "1") {
			t.Error("an id that several have is shown where nobody knows whose it is")
		}
	}
}

// Tasks of a process are those of its person, whoever else has a process of the server. A remote server may have the same tasks in
// all of its sessions.
func TestTasksOfInstances(t *testing.T) {
	for _, url := range []string{"", "http://127.0.0.1:1/"} {
		server := loneWith(t, func(s *config.Server) {
			perPerson(s)
			s.URL = url
		})
		alice, bob := person(t, "alice", ""), person(t, "bob", "")
		server.For(alice.ClientProfile)
		server.For(bob.ClientProfile)
		server.RecordTask(alice.ClientProfile, "1")
		isRemote := url != ""
		if server.ServesOthers(bob.ClientProfile) != isRemote || server.HidesTask(bob.ClientProfile, "1") != isRemote || server.HidesTask(bob.ClientProfile, "2") != isRemote {
			t.Errorf("%q: what is shown of tasks is not right", url)
		}
		if server.HidesTask(alice.ClientProfile, "1") {
			t.Errorf("%q: her own task is hidden", url)
		}
		if _, known := server.variants.tasks.find("1"); known != isRemote {
			t.Errorf("%q: what is recorded for all sessions is not right", url)
		}
	}
}

// What a remote server still has of an earlier run may be anybody's who signs in.
func TestTasksOfAnEarlierRun(t *testing.T) {
	for _, accounts := range []string{"", config.AccountsPerPerson} {
		server := loneWith(t, func(s *config.Server) {
			s.URL, s.OAuth = "http://127.0.0.1:1/", &config.OAuth{Accounts: accounts}
		})
		alice := person(t, "alice", "")
		server.For(alice.ClientProfile)
		if server.HidesTask(alice.ClientProfile, "1") {
			t.Errorf("%q: a task is hidden where nobody signs in", accounts)
		}
		table := server.fleet.table.Load()
		table.config.HTTP.OAuth = &config.HTTPOAuth{}
		if isShared := accounts == ""; server.HidesTask(alice.ClientProfile, "1") != isShared || server.ServesOthers(alice.ClientProfile) != isShared {
			t.Errorf("%q: what is shown of tasks is not right", accounts)
		}
		server.RecordTask(alice.ClientProfile, "2")
		if server.HidesTask(alice.ClientProfile, "2") {
			t.Errorf("%q: her own task is hidden", accounts)
		}
	}
}

func TestOwnersOfTasksAreBounded(t *testing.T) {
	var owners taskOwners
	alice, bob := person(t, "alice", ""), person(t, "bob", "")
	owners.add("alice's", alice.ClientProfile, false)
	for i := range maxOwned + 5 {
		owners.add(fmt.Sprint(i), bob.ClientProfile, false)
	}
	if _, known := owners.find("alice's"); !known {
		t.Error("the tasks of another person made it forgotten")
	}
	if _, known := owners.find("4"); known || len(owners.byID) != maxOwned+1 {
		t.Errorf("%d tasks are remembered", len(owners.byID))
	}
}

const taskTools = `{"tools":[{"name":"make","inputSchema":{}},{"name":"ask","inputSchema":{}}],"calls":{
	"make":[{"result":{"content":[]}}],
	"ask":[{"send":{"jsonrpc":"2.0","method":"notifications/tasks/status","params":{"taskId":"7"}}},
		{"ask":"elicitation/create","with":{"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"7"}}}},{"result":{"content":[]}}]}}`

// A question or a notification that belongs to a task goes to the one that made it, whoever has a call under way.
func TestQuestionOfATaskReachesItsOwner(t *testing.T) {
	r := newRig(t, map[string]string{"S": taskTools}, nil, Options{})
	server := r.server(t, "S")
	alice, bob := person(t, "alice", `{"elicitation":{}}`), person(t, "bob", `{"elicitation":{}}`)
	<-alice.begin(t, server, "make")
	server.RecordTask(alice.ClientProfile, "7")
	end := bob.begin(t, server, "ask")
	(<-alice.asked).RefuseUnsupported()
	<-end
	if got := <-alice.notices; got != "notifications/tasks/status" || len(bob.asked) > 0 {
		t.Errorf("the owner was told %s, and the other was asked %d times", got, len(bob.asked))
	}

	alice.Close()
	<-bob.begin(t, server, "ask") // refused, since nobody is there who may be asked
	if len(bob.asked) > 0 {
		t.Error("another person was asked")
	}
}

func TestReloadKeepsWhoseTasksAre(t *testing.T) {
	f := New(Options{Config: &config.Config{Toolboxes: []config.Toolbox{{Name: "T", Servers: []config.Server{{Name: "S", Command: "x"}}}}}})
	box, _ := f.Toolbox("T")
	server := box.Servers[0]
	alice, bob := person(t, "alice", ""), person(t, "bob", "")
	server.For(alice.ClientProfile)
	server.For(bob.ClientProfile)
	server.RecordTask(alice.ClientProfile, "1")
	f.Apply(&config.Config{Toolboxes: []config.Toolbox{{Name: "T", Servers: []config.Server{{Name: "S", Command: "x"}, {Name: "N", Command: "x"}}}}})
	box, _ = f.Toolbox("T")
	if same := box.Servers[0]; same.HidesTask(alice.ClientProfile, "1") || !same.HidesTask(bob.ClientProfile, "1") {
		t.Error("after a reload that leaves the server alone, its tasks are somebody else's")
	}
}
