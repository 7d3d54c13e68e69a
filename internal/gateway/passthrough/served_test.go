package passthrough

import (
	"slices"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// What comes after a client asked for lists is news to it, once, and what it got is not.
func TestWhatComesLaterIsNews(t *testing.T) {
	const both = `{"resources":{},"prompts":{}}`
	one := map[string]string{protocol.MethodResourcesList: `{"resources":[]}`, protocol.MethodPromptsList: `{"prompts":[]}`}
	other := map[string]string{protocol.MethodResourcesList: `{"resources":[{"uri":"x:1"}]}`, protocol.MethodPromptsList: `{"prompts":[]}`}
	templates := map[string]string{protocol.MethodTemplatesList: `{"resourceTemplates":[]}`}
	resourcesChanged, promptsChanged := protocol.NotifyResourcesList, protocol.NotifyPromptsList
	all := []string{protocol.MethodResourcesList, protocol.MethodTemplatesList, protocol.MethodPromptsList}
	for _, test := range []struct {
		name          string
		before, after *fake
		lists         []string
		closed        bool // its toolbox is not open, and lists are those of opened ones
		brings        bool // the client brought it about
		want          []string
	}{
		{"first seen", &fake{}, &fake{capabilities: both, answers: one}, all, false, false, []string{resourcesChanged, promptsChanged}},
		{"first seen, nothing was listed", &fake{}, &fake{capabilities: both, answers: one}, nil, false, false, nil},
		{"first seen, opened, nothing was listed", &fake{}, &fake{capabilities: both, answers: one}, nil, false, true, []string{resourcesChanged, promptsChanged}},
		{"it has none", &fake{}, &fake{capabilities: `{"tools":{}}`, answers: one}, all, false, false, nil},
		{"templates", &fake{}, &fake{capabilities: hasResources, answers: templates}, all, false, false, []string{resourcesChanged}},
		{"as it was known", &fake{capabilities: both, answers: one, stopped: true}, &fake{capabilities: both, answers: one}, all, false, false, nil},
		{"changed since", &fake{capabilities: both, answers: one, stopped: true}, &fake{capabilities: both, answers: other}, all, false, false, []string{resourcesChanged}},
		{"not open", &fake{}, &fake{capabilities: both, answers: one}, all, true, true, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.before.name, test.after.name = "t/b", "t/b"
			b := newBench(t, config.Proxy, &fake{name: "t/a", capabilities: both, answers: one}, test.before)
			if test.closed {
				b.client.open, b.OpenedOnly = nil, true
			}
			for _, method := range test.lists {
				b.ask(t, method, `{}`)
			}
			f := b.fakes[origin{"t", "b"}]
			f.capabilities, f.answers = test.after.capabilities, test.after.answers
			b.start(t, f)
			var told []string
			for range 2 { // once is enough
				for _, notification := range []string{resourcesChanged, promptsChanged} {
					if b.NeedsNotification(b.client, b.server("t/b"), notification, test.brings) {
						told = append(told, notification)
					}
				}
			}
			if !slices.Equal(told, test.want) {
				t.Errorf("told %q, want %q", told, test.want)
			}
			for _, method := range test.lists { // and after the client has it, nothing is news
				b.ask(t, method, `{}`)
			}
			if len(test.lists) > 0 && b.NeedsNotification(b.client, b.server("t/b"), resourcesChanged, true) {
				t.Error("what the client got is news")
			}
		})
	}
}

// What a server says itself is always told, and not once more.
func TestWhatAServerTellsIsNoNewsAfterwards(t *testing.T) {
	late := &fake{name: "t/b", capabilities: hasResources, answers: map[string]string{protocol.MethodResourcesList: `{"resources":[]}`}}
	b := newBench(t, config.Proxy, &fake{name: "t/a", capabilities: hasResources}, late)
	b.ask(t, protocol.MethodResourcesList, `{}`)
	late.answers = map[string]string{protocol.MethodResourcesList: `{"resources":[{"uri":"x:1"}]}`}
	b.start(t, late)
	for range 2 {
		if _, ok := b.Notification(b.client, b.server("t/b"), notification(t, `{"jsonrpc":"2.0","method":"notifications/resources/list_changed"}`)); !ok {
			t.Error("the client is not told")
		}
	}
	if b.NeedsNotification(b.client, b.server("t/b"), protocol.NotifyResourcesList, true) {
		t.Error("it is told twice")
	}
}
