package passthrough

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/downstream"
)

func TestNotices(t *testing.T) {
	b := newBench(t, "", three()...)
	b.ask(t, protocol.MethodResourcesList, `{}`)
	for _, test := range []struct{ name, message, want string }{
		{"list changed", `{"jsonrpc":"2.0","method":"notifications/prompts/list_changed"}`, `{"jsonrpc":"2.0","method":"notifications/prompts/list_changed"}`},
		{"log", `{"jsonrpc":"2.0","method":"notifications/message","params":{ "level":"info","data":1.0}}`, `{"jsonrpc":"2.0","method":"notifications/message","params":{ "level":"info","data":1.0}}`},
		{"unknown", `{"method":"x/y","params":[],"jsonrpc":"2.0"}`, `{"jsonrpc":"2.0","method":"x/y","params":[]}`},
		{
			"an update that nobody asked for", `{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"x:2"}}`,
			`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"x:2"}}`,
		},
		{
			"of a renamed resource", `{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"x:1", "t":1}}`,
			`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"workbench://t/b/x%3A1", "t":1}}`,
		},
		{"without a URI", `{"jsonrpc":"2.0","method":"notifications/resources/updated"}`, `{"jsonrpc":"2.0","method":"notifications/resources/updated"}`},
	} {
		message := notification(t, test.message)
		params, ok := b.Notification(b.client, b.server("t/b"), message)
		if got := wire.Notification(string(message.Method), params); !ok || strings.TrimSpace(string(got)) != test.want {
			t.Errorf("%s: got %s, want %s", test.name, got, test.want)
		}
	}
	b.client.open, b.OpenedOnly = []string{"u"}, true
	if got, ok := b.Notification(b.client, b.server("t/b"), notification(t, `{"jsonrpc":"2.0","method":"x"}`)); ok {
		t.Errorf("the client got %s of a toolbox that it did not open", got)
	}
}

// update returns which of the clients get an update, and by which URI.
func update(t *testing.T, b *bench, server, uri string, clients ...*client) (got []string) {
	t.Helper()
	for i, c := range clients {
		line := `{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"` + uri + `"}}`
		if params, ok := b.Notification(c, b.server(server), notification(t, line)); ok {
			as, _ := wire.Raw(params).Member("uri").Text()
			got = append(got, fmt.Sprintf("%d %s", i, as))
		}
	}
	return got
}

func TestSubscriptions(t *testing.T) {
	fakes := three()
	for _, f := range fakes {
		f.answers[protocol.MethodSubscribe], f.answers[protocol.MethodUnsubscribe] = `{"own":1}`, `{"own":2}`
	}
	b := newBench(t, "", fakes...)
	one := b.client
	other := b.another(t, "")
	check := func(server, uri string, want ...string) {
		t.Helper()
		if got := update(t, b, server, uri, one, other); !slices.Equal(got, want) {
			t.Errorf("an update of %s in %s goes to %q, want %q", uri, server, got, want)
		}
	}
	ask := func(from *client, method, uri, want string) {
		t.Helper()
		b.takeSent()
		if got := b.askAs(t, from, method, `{"uri":"`+uri+`"}`); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	const renamed = "workbench://t/b/x%3A1"
	check("t/b", "x:1", "0 x:1", "1 x:1") // nobody has any subscription
	ask(one, protocol.MethodSubscribe, renamed, `{"own":1}`)
	check("t/b", "x:1", "0 "+renamed)
	check("t/a", "x:1", "0 x:1", "1 x:1") // another server
	check("t/b", "x:1/part", "0 x:1/part")
	ask(other, protocol.MethodSubscribe, renamed, `{"own":1}`)
	check("t/b", "x:1", "0 "+renamed, "1 "+renamed)
	ask(other, protocol.MethodSubscribe, "x:2", `{"own":1}`)
	check("t/b", "x:2", "1 x:2")

	ask(one, protocol.MethodUnsubscribe, renamed, `{}`)
	if sent := b.takeSent(); len(sent) > 0 {
		t.Errorf("sent %q while another client is subscribed", sent)
	}
	check("t/b", "x:1", "1 "+renamed)
	ask(other, protocol.MethodUnsubscribe, renamed, `{"own":2}`)
	b.wantSent(t, `b resources/unsubscribe {"uri":"x:1"}`)

	// Who leaves takes its subscriptions along.
	ask(one, protocol.MethodSubscribe, "x:2", `{"own":1}`)
	b.takeSent()
	b.ClientLeft(one)
	if sent := b.takeSent(); len(sent) > 0 {
		t.Errorf("sent %q while another client is subscribed", sent)
	}
	b.ClientLeft(other)
	b.wantSent(t, `b resources/unsubscribe {"uri":"x:2"}`)
	if s := one.memory.subscriptions; len(s.clients) != 0 || len(s.counts) != 0 {
		t.Errorf("left over: %v %v", s.clients, s.counts)
	}
}

func TestSubscriptionsOfOneServerAlone(t *testing.T) {
	f := &fake{name: "t/a", capabilities: hasResources, answers: map[string]string{protocol.MethodSubscribe: `{}`, protocol.MethodUnsubscribe: `{}`}}
	b := newBench(t, "", f)
	one := b.client
	other := b.another(t, "")
	b.want(t, protocol.MethodSubscribe, `{"uri":"x:1"}`, `{}`, `a resources/subscribe {"uri":"x:1"}`)
	if got := update(t, b, "t/a", "x:1", one, other); !slices.Equal(got, []string{"0 x:1"}) {
		t.Errorf("%q got the update", got)
	}
	b.askAs(t, other, protocol.MethodSubscribe, `{"uri":"x:1"}`)
	b.want(t, protocol.MethodUnsubscribe, `{"uri":"x:1"}`, `{}`, []string{}...)

	// In sessions of their own each is the last one.
	b.want(t, protocol.MethodSubscribe, `{"uri":"x:1"}`, `{}`)
	b.start(t, f)
	b.want(t, protocol.MethodUnsubscribe, `{"uri":"x:1"}`, `{}`, `a resources/unsubscribe {"uri":"x:1"}`)

	// The session of the other is over: nobody is to be told.
	b.takeSent()
	b.ClientLeft(other)
	if sent := b.takeSent(); len(sent) > 0 {
		t.Errorf("sent %q", sent)
	}
}

func TestUnsubscribingGoesWhereTheSubscriptionIs(t *testing.T) {
	fakes := three()
	fakes[0].answers[protocol.MethodSubscribe] = `{"code":-32002,"message":"no"}`
	fakes[1].answers[protocol.MethodSubscribe] = `{}`
	for _, f := range fakes {
		f.answers[protocol.MethodUnsubscribe] = `{}`
	}
	b := newBench(t, "", fakes...)
	b.want(t, protocol.MethodSubscribe, `{"uri":"z:9"}`, `{}`)
	b.want(t, protocol.MethodUnsubscribe, `{"uri":"z:9"}`, `{}`, `b resources/unsubscribe {"uri":"z:9"}`)
}

func TestSubscriptionsOutliveASession(t *testing.T) {
	fakes := three()
	fakes[1].answers[protocol.MethodSubscribe], fakes[1].answers[protocol.MethodUnsubscribe] = `{}`, `{}`
	b := newBench(t, "", fakes...)
	server := b.server("t/b")
	b.ask(t, protocol.MethodSubscribe, `{"uri":"workbench://t/b/x%3A1"}`)
	b.client.memory.subscribe(subscription{origin{"t", "b"}, downstream.Topic{ID: "x:new"}}, "x:new", nil) // on its way to this very session
	b.start(t, fakes[1])
	b.takeSent()
	next := liveSession(server, b.client)
	b.SessionBegan(b.client, b.server("t/a"), next)
	b.SessionBegan(b.client, server, next)
	b.SessionBegan(b.client, server, next)
	b.wantSent(t, `b resources/subscribe {"uri":"x:1"}`)
	b.ClientLeft(b.client)
	b.wantSent(t, `b resources/unsubscribe {"uri":"x:1"}`)
}

func TestRefusedSubscriptionsAreForgotten(t *testing.T) {
	f := &fake{name: "t/a", capabilities: hasResources, answers: map[string]string{protocol.MethodSubscribe: `{"code":-32602,"message":"no"}`}}
	b := newBench(t, "", f)
	b.want(t, protocol.MethodSubscribe, `{"uri":"x:1"}`, f.answers[protocol.MethodSubscribe])
	if _, _, ok := b.client.memory.findSubscription("x:1"); ok {
		t.Error("a subscription that was refused is remembered")
	}
	f.answers[protocol.MethodSubscribe] = "{}"
	b.want(t, protocol.MethodSubscribe, `{"uri":"x:1"}`, "{}")
	f.answers[protocol.MethodSubscribe] = "status 500"
	b.ask(t, protocol.MethodSubscribe, `{"uri":"x:1"}`)
	if _, _, ok := b.client.memory.findSubscription("x:1"); !ok {
		t.Error("a subscription is forgotten because it could not be repeated")
	}
}

func TestSubscriptionsAreLimited(t *testing.T) {
	b := newBench(t, "", &fake{name: "t/a", capabilities: hasResources, answers: map[string]string{protocol.MethodSubscribe: `{}`}})
	for i := range maxSubscriptions {
		b.client.memory.subscribe(subscription{origin{"t", "a"}, downstream.Topic{ID: fmt.Sprintf("x:%d", i)}}, "", nil)
	}
	b.want(t, protocol.MethodSubscribe, `{"uri":"y"}`, `{"code":-32603,"message":"Too many subscriptions: a client can have 10000; end others with resources/unsubscribe first"}`)
	b.want(t, protocol.MethodSubscribe, `{"uri":"x:1"}`, `{}`) // again
}

func TestRelink(t *testing.T) {
	b := newBench(t, "", three()...)
	if edits := b.LinkEdits(b.client, toolbox.Ref{Toolbox: "t", Server: "b"}, wire.Raw([]byte(`{"contents":[{"uri":"x:1"}]}`))); edits != nil {
		t.Error("something is edited although nothing is renamed")
	}
	b.ask(t, protocol.MethodResourcesList, `{}`)
	const renamed = `"workbench://t/b/x%3A1"`
	for _, test := range []string{ // @ is the URI
		`{"content":[{"type":"text","text":"x:1"},{"type":"resource_link","uri":@},{"uri":@ ,"type":"resource_link","x":1.0}]}`,
		`{"content":[{"type":"resource","resource":{"uri":@,"text":"t"}},{"type":"resource_link","uri":"x:2"}],"isError":true}`,
		`{"_meta":{"ui/resourceUri":@,"ui":{"resourceUri":@}},"content":[{"type":"resource_link","uri":@}]}`,
		`{"messages":[{"role":"user","content":{"type":"resource","resource":{"uri":@}}},{"content":[{"type":"resource_link","uri":@}]}]}`,
		`{"contents":[{"uri":@},{"uri":"x:2"},{"uri":5},{}]}`,
		`{"content":[{"type":"text","uri":"x:1"},{"type":"other","resource":{"uri":"x:1"}}],"structuredContent":{"uri":"x:1"},"uri":"x:1"}`,
		`{"content":"x:1","messages":{},"contents":null,"_meta":[]}`,
		`[]`,
	} {
		payload := wire.Raw([]byte(strings.ReplaceAll(test, "@", `"x:\u0031"`)))
		edits := b.LinkEdits(b.client, toolbox.Ref{Toolbox: "t", Server: "b"}, payload)
		got := string(wire.AppendEdited(nil, payload, edits...))
		if want := strings.ReplaceAll(test, "@", renamed); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		if edits := b.LinkEdits(b.client, toolbox.Ref{Toolbox: "t", Server: "a"}, payload); edits != nil {
			t.Errorf("the server that kept its URI is edited: %s", payload.Bytes())
		}
	}
}

// Servers need not list the resources that show their tools' results.
func TestDefinitionsLinkToTheirOwnServer(t *testing.T) {
	fakes := three()
	b := newBench(t, "", fakes...)
	a, other := toolbox.Ref{Toolbox: "t", Server: "a", Name: "n"}, toolbox.Ref{Toolbox: "t", Server: "b", Name: "n"}
	const renamed = "ui://workbench/t/b/ui%3A%2F%2Fview"
	define := func(ref toolbox.Ref, definition, want string) {
		t.Helper()
		payload := wire.Raw([]byte(definition))
		if got := string(wire.AppendEdited(nil, payload, b.DefinitionEdits(b.client, ref, payload)...)); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	link := func(uri string) string {
		return `{"name":"n","_meta":{"ui":{"visibility":["app"],"resourceUri":"` + uri + `"},"ui/resourceUri":"` + uri + `"}}`
	}
	define(a, link("ui://view"), link("ui://view"))
	define(other, link("ui://view"), link(renamed))
	define(other, link("ui://own"), link("ui://own"))
	define(other, link("workbench://x/y/z"), link("workbench://x/y/z"))
	define(other, link("ui://workbench/x/y/z"), link("ui://workbench/x/y/z"))
	define(other, `{"name":"resourceUri","_meta":[]}`, `{"name":"resourceUri","_meta":[]}`)
	fakes[0].answers[protocol.MethodResourcesRead+` {"uri":"ui://view"}`] = `{"contents":[{"uri":"ui://view","text":"a"}]}`
	fakes[1].answers[protocol.MethodResourcesRead+` {"uri":"ui://view"}`] = `{"contents":[{"uri":"ui://view","text":"b"}]}`
	b.want(t, protocol.MethodResourcesRead, `{"uri":"ui://view"}`, `{"contents":[{"uri":"ui://view","text":"a"}]}`)
	b.want(t, protocol.MethodResourcesRead, `{"uri":"`+renamed+`"}`, `{"contents":[{"uri":"`+renamed+`","text":"b"}]}`)
}
