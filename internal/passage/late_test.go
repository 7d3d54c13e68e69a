package passage

import (
	"slices"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/internal/config"
	"github.com/mcp-workbench/mcp-workbench/internal/fleet"
	"github.com/mcp-workbench/mcp-workbench/internal/protocol"
)

// A server that comes up after the client asked for lists brings notifications for those that
// it was not in, and for no others.
func TestALateServerTellsOfItsLists(t *testing.T) {
	const both = `{"resources":{},"prompts":{}}`
	empty := map[string]string{protocol.MethodResourcesList: `{"resources":[]}`, protocol.MethodPromptsList: `{"prompts":[]}`}
	failing := map[string]string{protocol.MethodResourcesList: "fail"}
	resourcesChanged, promptsChanged := protocol.NotifyResourcesList, protocol.NotifyPromptsList
	for _, test := range []struct {
		name   string
		fakes  []*fake // the last one begins a session
		lists  []string
		begins string // what it declares then
		closed bool   // its toolbox is not open
		want   []string
	}{
		{"nothing was listed", []*fake{{name: "t/a", capabilities: both}, {name: "t/b"}}, nil, both, false, nil},
		{"not there", []*fake{{name: "t/a", capabilities: both}, {name: "t/b"}}, []string{protocol.MethodResourcesList}, both, false, []string{resourcesChanged}},
		{"templates", []*fake{{name: "t/a", capabilities: both}, {name: "t/b"}}, []string{protocol.MethodTemplatesList}, both, false, []string{resourcesChanged}},
		{"both lists", []*fake{{name: "t/a", capabilities: both}, {name: "t/b"}}, []string{protocol.MethodPromptsList, protocol.MethodResourcesList}, both, false, []string{resourcesChanged, promptsChanged}},
		{"nobody there", []*fake{{name: "t/a"}, {name: "t/b"}}, []string{protocol.MethodPromptsList}, both, false, []string{promptsChanged}},
		{"the only one", []*fake{{name: "t/b", capabilities: both, answers: failing}}, []string{protocol.MethodResourcesList}, both, false, []string{resourcesChanged}},
		{"failed meanwhile", []*fake{{name: "t/a", capabilities: both, answers: empty}, {name: "t/b", capabilities: both, answers: failing}}, []string{protocol.MethodResourcesList}, both, false, []string{resourcesChanged}},
		{"it was there", []*fake{{name: "t/a", capabilities: both, answers: empty}, {name: "t/b", capabilities: both, answers: empty}}, []string{protocol.MethodResourcesList, protocol.MethodPromptsList}, both, false, nil},
		{"it has none", []*fake{{name: "t/a", capabilities: both}, {name: "t/b"}}, []string{protocol.MethodResourcesList, protocol.MethodPromptsList}, `{"tools":{}}`, false, nil},
		{"not open", []*fake{{name: "t/a", capabilities: both}, {name: "u/b"}}, []string{protocol.MethodResourcesList}, both, true, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := newBench(t, config.Proxy, test.fakes...)
			late := test.fakes[len(test.fakes)-1]
			for _, method := range test.lists {
				b.ask(t, method, `{}`)
			}
			if test.closed {
				b.client.open = b.client.open[:1]
			}
			b.Began(b.client, b.server(late.name), &sessionOf{capabilities: test.begins})
			if !slices.Equal(b.client.told, test.want) {
				t.Errorf("told %q, want %q", b.client.told, test.want)
			}
		})
	}
}

// What is begun for a list is no news.
func TestAServerThatAListStartsTellsNothing(t *testing.T) {
	late := &fake{name: "t/b"}
	b := newBench(t, config.Proxy, &fake{name: "t/a", capabilities: hasResources}, late)
	b.ask(t, protocol.MethodResourcesList, `{}`)
	late.capabilities, late.answers = hasResources, map[string]string{protocol.MethodResourcesList: `{"resources":[]}`}
	b.starts = func(server *fleet.Server) {
		if server == b.server("t/b") {
			b.Began(b.client, server, &sessionOf{capabilities: hasResources})
		}
	}
	b.ask(t, protocol.MethodResourcesList, `{}`)
	if len(b.client.told) > 0 {
		t.Errorf("told %q", b.client.told)
	}
	if b.client.memory.isNews(resources.capability, origin{"t", "b"}) {
		t.Error("it counts as not listed")
	}
}
