package fleet

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/internal/servers/catalog"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// A client whose environment cannot read the configuration gets nothing that was read in another.
func TestEnvironmentThatCannotReadTheConfiguration(t *testing.T) {
	r := newRig(t, map[string]string{"A": askTools, "B": askTools}, func(s *config.Server) {
		s.Dir = t.TempDir()
		s.Env = append(s.Env, config.Variable{Name: "TOKEN", Value: "of-another"})
	}, Options{})
	unread := &config.Error{File: "workbench-config.json", Problems: []config.Problem{{Message: "DESC is not set"}}}
	var onlyA config.Config
	for _, server := range r.table.Load().config.Toolboxes[0].Servers {
		if server.Name == "A" {
			onlyA.Toolboxes = []config.Toolbox{{Name: "T", Servers: []config.Server{server}}}
		}
	}
	for _, test := range []struct {
		name   string
		cfg    *config.Config
		unread *config.Error
		fails  map[string]string
	}{
		{"nothing of it", nil, unread, map[string]string{"A": "DESC is not set", "B": "DESC is not set"}},
		{"an empty rest", &config.Config{}, unread, map[string]string{"A": "DESC is not set", "B": "DESC is not set"}},
		{"one of two files", &onlyA, unread, map[string]string{"B": "DESC is not set"}},
		{"one that lacks a server", &onlyA, nil, map[string]string{"B": "the configuration has no such server"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := r.NewEnvironment(r.options.Environ, test.cfg, test.unread)
			defer e.Close()
			profile := NewClientProfile(ProfileOptions{Environment: e})
			defer profile.Close()
			for _, name := range []string{"A", "B"} {
				server := r.server(t, name)
				lease, err := server.LeaseFor(t.Context(), profile)
				if lease != nil {
					lease.Release()
				}
				want := test.fails[name]
				if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
					t.Errorf("%s: the error is %v, want %q", name, err, want)
				}
				if fault := server.FaultFor(profile); (fault == nil) != (want == "") {
					t.Errorf("%s: its fault is %v", name, fault)
				}
				if server.Fault() != nil {
					t.Errorf("%s is faulty for all", name)
				}
			}
		})
	}
}

// tokenParty makes a client with a value of the variable that the server inherits.
func tokenParty(t *testing.T, r *rig, token string) *ClientProfile {
	t.Helper()
	return inEnvironment(t, r, nil, "TOKEN="+token).ClientProfile
}

func inheritToken(s *config.Server) {
	s.InheritEnv = config.InheritEnv{Patterns: []string{"TOKEN"}}
}

func TestTooManyEnvironments(t *testing.T) {
	r := newRig(t, map[string]string{"S": askTools}, inheritToken, Options{})
	server := r.server(t, "S")
	var clients []*ClientProfile
	for i := range maxVariants {
		profile := tokenParty(t, r, fmt.Sprint(i))
		server.For(profile).lives.Add(1) // as if it ran
		clients = append(clients, profile)
	}
	further := tokenParty(t, r, "further")
	if server.For(further) == server {
		t.Fatal("one client too many gets the server of another environment")
	}
	if _, err := server.LeaseFor(t.Context(), further); !errors.Is(err, errTooMany) {
		t.Fatalf("the error is %v", err)
	}
	if all := len(server.allVariants()) - 1; all != maxVariants {
		t.Errorf("there are %d variants", all)
	}
	// What nobody is there for makes room, the one that was left first.
	first, second := server.For(clients[1]), server.For(clients[0])
	clients[1].Close()
	clients[0].Close()
	if first.isDismissed() {
		t.Error("what runs does not wait for the next client")
	}
	lease, err := server.LeaseFor(t.Context(), further)
	if err != nil {
		t.Fatal(err)
	}
	lease.Release()
	if !first.isDismissed() || second.isDismissed() {
		t.Error("another one made room")
	}
	// Who left gets nobody's.
	further.Close()
	if _, err := server.LeaseFor(t.Context(), further); !errors.Is(err, errDeserted) || server.existingVariant(further) == server {
		t.Errorf("a client that left is told %v", err)
	}
}

func TestListsOfAnotherAccount(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(*config.Server)
	}{
		{"named variable", inheritToken},
		{"all variables", func(s *config.Server) { s.InheritEnv.All = true }},
	} {
		t.Run(test.name, func(t *testing.T) {
			copies := catalog.NewCopies(t.TempDir(), nil)
			r := newRig(t, map[string]string{"S": listSpec}, test.change, Options{Copies: copies})
			server := r.server(t, "S")
			first := tokenParty(t, r, "first")
			for _, p := range []*ClientProfile{nil, first} {
				lease, err := server.LeaseFor(t.Context(), p)
				if err != nil {
					t.Fatal(err)
				}
				lease.Release()
			}
			if got := listed(server.ListsFor(first)); !strings.Contains(got, "prompts:") {
				t.Fatalf("its own client sees %q", got)
			}
			other := tokenParty(t, r, "other")
			if got := listed(server.ListsFor(other)); got != "" {
				t.Errorf("a client of another account sees %s", got)
			}
			if server.OfferedFor(other) != nil {
				t.Error("a client of another account sees its tools")
			}
			if all := len(server.allVariants()) - 1; all != 1 {
				t.Errorf("looking made one of %d variants", all)
			}
			alike := tokenParty(t, r, "first")
			if listed(server.ListsFor(alike)) != listed(server.ListsFor(first)) {
				t.Error("a client of the same account sees other lists")
			}
			later := r.again(t, Options{Copies: copies, Environ: append(r.options.Environ, "TOKEN=other")})
			if got := listed(later.server(t, "S").ListsFor(nil)); got != "" {
				t.Errorf("the next run, with another account, lists %s", got)
			}
		})
	}
}

// Headers are no part of what makes a server the same one, but lists are those of an account.
func TestHeadersTellListsApart(t *testing.T) {
	keys := func(token string) (definition, lists catalog.Hash) {
		server := config.Server{Name: "S", URL: "http://127.0.0.1/", Headers: []config.Variable{{Name: "Authorization", Value: token}}}
		s := newServer(New(Options{Config: &config.Config{}}), "T", server, config.InstancesShared, 0)
		return s.copyKey(), s.listsKey(listScope{})
	}
	definition, lists := keys("a")
	renewed, others := keys("b")
	if definition != renewed || lists == others {
		t.Error("a token that was renewed makes another server, or lists of one are those of another")
	}
}

func TestSecretsAreMaskedAsLongAsAServerRunsWithThem(t *testing.T) {
	r := newRig(t, map[string]string{"S": askTools}, nil, Options{})
	theirs := *r.table.Load().config
	server := theirs.Toolboxes[0].Servers[0]
	server.Env = append(server.Env, config.Variable{Name: "PASSWORD", Value: "hunter-two"})
	theirs.Toolboxes = []config.Toolbox{{Name: "T", Servers: []config.Server{server}}}
	theirs.Secrets = []string{"hunter-two"}
	e := r.NewEnvironment(r.options.Environ, &theirs, nil)
	profile := NewClientProfile(ProfileOptions{Environment: e})
	used := r.server(t, "S").For(profile)
	used.lives.Add(1) // as if it ran
	isMasked := func() bool {
		r.NewEnvironment(r.options.Environ, nil, nil).Close() // another client comes and goes
		return !strings.Contains(r.masker.Load().Mask("hunter-two"), "hunter")
	}
	profile.Close()
	e.Close()
	if !isMasked() {
		t.Error("a secret of a server that runs is not masked after its client left")
	}
	if used.abandon(); !isMasked() {
		t.Error("a secret of a server that is being stopped is not masked")
	}
	if used.lives.Add(-1); isMasked() {
		t.Error("a secret is kept for ever")
	}
}
