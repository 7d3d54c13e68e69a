package fleet

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/catalog"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/downstream"
)

// listSpec lists other things at its first start than later.
const listSpec = `{"capabilities":{"tools":{},"prompts":{},"resources":{}},"tools":[{"name":"a","inputSchema":{}}],
	"on":{
	"prompts/list":[{"starts":1,"result":{"prompts":[{"name":"first"}]}},{"result":{"prompts":[{"name":"later"}]}}],
	"resources/list":[{"starts":1,"result":{"resources":[{"uri":"x:first"}]}},{"result":{"resources":[]}}]}}`

func listed(lists catalog.Lists) string {
	var texts []string
	for _, kind := range catalog.ListKinds {
		if list := lists[kind]; list != nil {
			text := kind.Array + ":"
			for _, entry := range list.Entries {
				name, _ := entry.Member(kind.Key).Text()
				text += " " + name
			}
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, "; ")
}

func TestListsAreKnownBeforeTheFirstStart(t *testing.T) {
	folder := t.TempDir()
	first := newRig(t, map[string]string{"S": listSpec}, nil, Options{Copies: catalog.NewCopies(folder, nil)})
	if got := listed(first.server(t, "S").ListsFor(nil)); got != "" {
		t.Errorf("a server that was never seen lists %s", got)
	}
	if err := call(t.Context(), first.server(t, "S"), "a"); err != nil {
		t.Fatal(err)
	}
	const want = "resources: x:first; resourceTemplates:; prompts: first"
	if got := listed(first.server(t, "S").ListsFor(nil)); got != want {
		t.Errorf("it lists %s, want %s", got, want)
	}
	changed := make(chan string, 10)
	second := first.again(t, Options{
		Copies: catalog.NewCopies(folder, nil), ListsChanged: func(_ *Server, notification string, _ Scope) { changed <- notification },
	})
	server := second.server(t, "S")
	if got := listed(server.ListsFor(nil)); got != want || second.starts(t, "S") != 1 {
		t.Errorf("before the start it lists %s, want %s; it was started %d times", got, want, second.starts(t, "S"))
	}
	if err := call(t.Context(), server, "a"); err != nil {
		t.Fatal(err)
	}
	if got, want := listed(server.ListsFor(nil)), "resources:; resourceTemplates:; prompts: later"; got != want {
		t.Errorf("after the start it lists %s, want %s", got, want)
	}
	for _, want := range []string{protocol.NotifyResourcesList, protocol.NotifyPromptsList} {
		if got := <-changed; got != want {
			t.Errorf("told %s, want %s", got, want)
		}
	}
	if len(changed) > 0 {
		t.Errorf("told %s, too", <-changed)
	}
}

// A change is told when the new list is there: who asks at once gets it.
func TestAnnouncedChangesAreReadFirst(t *testing.T) {
	gate := filepath.Join(t.TempDir(), "gate")
	spec := `{"capabilities":{"tools":{},"prompts":{}},"tools":[{"name":"change","inputSchema":{}}],
		"calls":{"change":[{"send":{"jsonrpc":"2.0","method":"notifications/prompts/list_changed"}},{"result":{"content":[]}}]},
		"on":{"prompts/list":[{"wait":"file ` + gate + `"},{"result":{"prompts":[{"name":"p"}]}}]}}`
	r := newRig(t, map[string]string{"S": spec}, nil, Options{})
	server := r.server(t, "S")
	server.startHints.slowLists.Store(true) // the first reading waits at the gate
	m := newMember(t, "{}")
	<-m.begin(t, server, "change")
	if got := listed(server.ListsFor(m.ClientProfile)); got != "" || len(m.notices) > 0 {
		t.Errorf("it lists %q, and told %d times that this changed", got, len(m.notices))
	}
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := <-m.notices; got != protocol.NotifyPromptsList {
		t.Errorf("told %s", got)
	}
	if got, want := listed(server.ListsFor(m.ClientProfile)), "prompts: p"; got != want {
		t.Errorf("it lists %s, want %s", got, want)
	}
}

func TestWhoSeesTheListsOfOtherClients(t *testing.T) {
	const roots, other = `{"roots":{}}`, `{"roots":{},"sampling":{}}`
	client := func(options ProfileOptions) *ClientProfile {
		options.Ask, options.Notice = func(q *downstream.Question) { q.RefuseUnsupported() }, func(*Server, wire.Message) {}
		p := NewClientProfile(options)
		t.Cleanup(p.Close)
		return p
	}
	const all = "resources: x:first; resourceTemplates:; prompts: first"
	rooted := strings.Replace(listSpec, `"prompts/list":[`, `"prompts/list":[{"ask":"roots/list"},`, 1)
	here, there := t.TempDir(), t.TempDir()
	for _, test := range []struct {
		name        string
		first, next ProfileOptions
		spec        string
		want        string
	}{
		{"the user's own", ProfileOptions{Capabilities: []byte(roots)}, ProfileOptions{Capabilities: []byte(other)}, rooted, all},
		{"of the other era", ProfileOptions{}, ProfileOptions{Modern: true}, listSpec, all},
		{"in another folder", ProfileOptions{Folder: here}, ProfileOptions{Folder: there}, listSpec, "resourceTemplates:; prompts: first"},
		{"without roots", ProfileOptions{Foreign: true, Person: "a"}, ProfileOptions{Foreign: true, Person: "b", Capabilities: []byte(`{"sampling":{}}`)}, listSpec, all},
		{"of those without roots", ProfileOptions{Foreign: true}, ProfileOptions{Foreign: true, Capabilities: []byte(roots)}, listSpec, all},
		{"with roots that nobody asks for", ProfileOptions{Foreign: true, Capabilities: []byte(roots)}, ProfileOptions{Foreign: true}, listSpec, all},
		{"with roots", ProfileOptions{Foreign: true, Capabilities: []byte(roots)}, ProfileOptions{Foreign: true}, rooted, ""},
		{"with roots, another program", ProfileOptions{Foreign: true, Capabilities: []byte(roots)}, ProfileOptions{Foreign: true, Capabilities: []byte(other)}, rooted, ""},
		{"with roots, another person", ProfileOptions{Foreign: true, Person: "a", Capabilities: []byte(roots)}, ProfileOptions{Foreign: true, Person: "b", Capabilities: []byte(roots)}, rooted, ""},
		{"with roots, the same client again", ProfileOptions{Foreign: true, Person: "a", Capabilities: []byte(roots)}, ProfileOptions{Foreign: true, Person: "a", Capabilities: []byte(roots)}, rooted, all},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := newRig(t, map[string]string{"S": test.spec}, nil, Options{})
			server := r.server(t, "S")
			first, next := client(test.first), client(test.next)
			if err := call(t.Context(), server.For(first), "a"); err != nil {
				t.Fatal(err)
			}
			if got := listed(server.ListsFor(first)); got != all {
				t.Errorf("the first client sees %s, want %s", got, all)
			}
			if got := listed(server.ListsFor(next)); got != test.want {
				t.Errorf("the next client sees %s, want %s", got, test.want)
			}
			if server.SessionFor(first) == nil || slices.Contains(r.variantsOf(server), next) {
				t.Error("looking gave the next client a part in a session")
			}
		})
	}
}

// variantsOf returns the clients that have a part in sessions with the server.
func (r *rig) variantsOf(server *Server) (clients []*ClientProfile) {
	for _, variant := range server.allVariants() {
		clients = append(clients, variant.clients()...)
	}
	return clients
}

// A server that does not answer for its lists is used all the same.
func TestListsThatDoNotComeAreNotWaitedForTwice(t *testing.T) {
	spec := `{"capabilities":{"tools":{},"prompts":{}},"tools":[{"name":"a","inputSchema":{}},{"name":"crash","inputSchema":{}}],
		"calls":{"crash":[{"exit":1}]},"on":{"prompts/list":[{"wait":"forever"}]}}`
	r := newRig(t, map[string]string{"S": spec}, nil, Options{})
	server := r.server(t, "S")
	for range 2 {
		if err := call(t.Context(), server, "a"); err != nil {
			t.Fatal(err)
		}
		if !server.startHints.slowLists.Load() {
			t.Error("its lists count as there")
		}
		_ = call(t.Context(), server, "crash")
	}
}
