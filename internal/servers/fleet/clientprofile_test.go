package fleet

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/downstream"
)

// member is a client that keeps what it hears.
type member struct {
	*ClientProfile
	asked   chan *downstream.Question
	notices chan string
}

func newMember(t *testing.T, capabilities string) *member {
	m := &member{asked: make(chan *downstream.Question, 10), notices: make(chan string, 10)}
	m.ClientProfile = NewClientProfile(ProfileOptions{
		Capabilities: []byte(capabilities),
		Ask:          func(q *downstream.Question) { m.asked <- q },
		Notice:       func(_ *Server, message wire.Message) { m.notices <- string(message.Method) },
	})
	t.Cleanup(m.Close)
	return m
}

// turn is one call for a client.
type turn struct {
	ending
	m *member
}

func (u turn) Caller() downstream.Caller   { return u }
func (u turn) Profile() any                { return u.m.ClientProfile }
func (u turn) Ask(q *downstream.Question)  { u.m.asked <- q }
func (u turn) Notice(message wire.Message) { u.m.notices <- string(message.Method) }

// begin calls a tool for the client, and returns where its end is told.
func (m *member) begin(t *testing.T, server *Server, tool string) (end ending) {
	t.Helper()
	lease, err := server.For(m.ClientProfile).Lease(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer lease.Release()
	end = make(ending, 1)
	if _, err := lease.Session.CallTool(downstream.ToolCall{Name: tool}, turn{end, m}); err != nil {
		t.Fatal(err)
	}
	return end
}

const askTools = `{"tools":[{"name":"ask","inputSchema":{}},{"name":"wait","inputSchema":{}},{"name":"hi","inputSchema":{}}],"calls":{
	"ask":[{"ask":"elicitation/create"},{"result":{"content":[]}}],
	"wait":[{"wait":"call hi"},{"result":{"content":[]}}]}}`

func TestPartiesThatAreAlikeShareASession(t *testing.T) {
	r := newRig(t, map[string]string{"S": askTools}, nil, Options{})
	server := r.server(t, "S")
	none, none2 := newMember(t, "{}"), newMember(t, "")
	able, able2 := newMember(t, `{"elicitation":{}}`), newMember(t, ` {"elicitation":{}} `)
	both, both2 := newMember(t, `{"roots":{},"elicitation":{"form":{},"url":{}}}`), newMember(t, `{"elicitation": {"url": {}, "form": {}}, "roots": {}}`)
	if server.For(none.ClientProfile) != server || server.For(none2.ClientProfile) != server || server.For(nil) != server {
		t.Error("who declares nothing does not use the configured server")
	}
	if server.For(able.ClientProfile) == server || server.For(able.ClientProfile) != server.For(able2.ClientProfile) {
		t.Error("who declares the same does not share a session")
	}
	if server.For(both.ClientProfile) != server.For(both2.ClientProfile) || server.For(both.ClientProfile) == server.For(able.ClientProfile) {
		t.Error("who declares the same in another order does not share a session")
	}
	<-able.begin(t, server, "hi")
	content, err := os.ReadFile(filepath.Join(r.folder, "S.log"))
	if err != nil || !strings.Contains(string(content), `"capabilities":{"elicitation":{}}`) {
		t.Errorf("the server was told %s, %v", content, err)
	}
}

func TestQuestionOfASharedSessionReachesTheOneThatCalled(t *testing.T) {
	r := newRig(t, map[string]string{"S": askTools}, nil, Options{})
	server := r.server(t, "S")
	a, b := newMember(t, `{"elicitation":{}}`), newMember(t, `{"elicitation":{}}`)
	<-b.begin(t, server, "hi")
	end := a.begin(t, server, "ask")
	(<-a.asked).RefuseUnsupported()
	<-end
	if len(b.asked) > 0 {
		t.Error("the other one was asked, too")
	}
}

func TestServerThatAsksSeveralGetsASessionForEach(t *testing.T) {
	r := newRig(t, map[string]string{"S": askTools}, nil, Options{})
	server := r.server(t, "S")
	a, b := newMember(t, `{"elicitation":{}}`), newMember(t, `{"elicitation":{}}`)
	if server.For(a.ClientProfile) != server.For(b.ClientProfile) {
		t.Fatal("they do not share a session")
	}
	waiting := b.begin(t, server, "wait")
	shared := server.For(b.ClientProfile)
	<-a.begin(t, server, "ask") // which call it belongs to cannot be told: it is refused
	lease, err := shared.Lease(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer lease.Release()
	if _, err := lease.Session.CallTool(downstream.ToolCall{Name: "hi"}, make(ending, 1)); err != nil {
		t.Fatal(err)
	}
	<-waiting
	if len(a.asked)+len(b.asked) > 0 {
		t.Error("somebody was asked")
	}
	if server.For(a.ClientProfile) == server.For(b.ClientProfile) {
		t.Error("they still share a session")
	}
	end := a.begin(t, server, "ask")
	(<-a.asked).RefuseUnsupported()
	<-end
}

func TestSessionsEndWithTheirParty(t *testing.T) {
	r := newRig(t, map[string]string{"S": askTools}, nil, Options{})
	server := r.server(t, "S")
	m := newMember(t, `{"elicitation":{}}`)
	server.variants.asks.add("")
	<-m.begin(t, server, "hi")
	variant := server.For(m.ClientProfile)
	lease := variant.tryLease("")
	if lease == nil {
		t.Fatal("there is no session")
	}
	lease.Release()
	if statuses := r.Status(); len(statuses) != 1 || statuses[0].State != Ready {
		t.Errorf("the status is %+v", statuses)
	}
	m.Close()
	<-lease.Session.Done()
	if server.For(m.ClientProfile) != server {
		t.Error("a profile that was closed got a session")
	}
	if all := server.allVariants(); len(all) != 1 {
		t.Errorf("%d variants are left", len(all)-1)
	}
}

func TestPartiesHearOfSessionsThatBeginInFull(t *testing.T) {
	r := newRig(t, map[string]string{"S": `{"on":{"tools/list":[{"starts":1,"error":{"code":-32603,"message":"not yet"}}]}}`}, nil, Options{})
	server, began := r.server(t, "S"), 0
	profile := NewClientProfile(ProfileOptions{Began: func(*Server, *downstream.Session) { began++ }})
	defer profile.Close()
	for i, want := range []int{0, 1} {
		if err := server.For(profile).Restart(t.Context()); (err != nil) != (want == 0) || began != want {
			t.Errorf("start %d: %v, and %d sessions began; want %d", i+1, err, began, want)
		}
	}
}

func TestOpensPages(t *testing.T) {
	for _, test := range []struct {
		options ProfileOptions
		want    bool
	}{
		{ProfileOptions{Capabilities: []byte(`{"elicitation":{"url":{}}}`)}, true},
		{ProfileOptions{Capabilities: []byte(`{"elicitation":{"url":{}}}`), Distant: true}, false},
		{ProfileOptions{Capabilities: []byte(`{"elicitation":{}}`)}, false},
		{ProfileOptions{Capabilities: []byte(`{"elicitation":{"form":{}}}`)}, false},
		{ProfileOptions{}, false},
	} {
		if got := NewClientProfile(test.options).OpensPages(); got != test.want {
			t.Errorf("%s, distant %t: %t", test.options.Capabilities, test.options.Distant, got)
		}
	}
	if (*ClientProfile)(nil).OpensPages() {
		t.Error("a client that declares nothing opens pages")
	}
}

// For clients that cannot be asked, servers are told that a person at the page can; the others stay as they are.
func TestAtPage(t *testing.T) {
	const added = `{"elicitation":{"form":{},"url":{}}}`
	for _, test := range []struct {
		capabilities, offered string
		atPage, answersForms  bool
	}{
		{"", added, true, false},
		{"{}", added, true, false},
		{`{"sampling":{}}`, `{"sampling":{},"elicitation":{"form":{},"url":{}}}`, true, false},
		{`{"elicitation":{}}`, `{"elicitation":{}}`, false, true},
		{`{"elicitation":{"url":{}}}`, `{"elicitation":{"url":{}}}`, false, false},
	} {
		p := NewClientProfile(ProfileOptions{Capabilities: []byte(test.capabilities), AtPage: true})
		if got := string(p.Offered().Bytes()); got != test.offered || p.AtPage() != test.atPage || p.AnswersForms() != test.answersForms || p.OpensPages() == test.atPage && test.atPage {
			t.Errorf("%s: offers %s, at the page %t, answers forms %t", test.capabilities, got, p.AtPage(), p.AnswersForms())
		}
	}
	if p := NewClientProfile(ProfileOptions{}); p.AtPage() || !p.Offered().IsAbsent() {
		t.Errorf("without the setting: %s", p.Offered().Bytes())
	}
	r := newRig(t, map[string]string{"S": askTools}, nil, Options{})
	server := r.server(t, "S")
	profile := func(options ProfileOptions) *ClientProfile {
		p := NewClientProfile(options)
		t.Cleanup(p.Close)
		return p
	}
	asked, able := profile(ProfileOptions{AtPage: true}), profile(ProfileOptions{Capabilities: []byte(added)})
	if server.For(asked) != server.For(able) || server.For(asked) == server.For(profile(ProfileOptions{})) {
		t.Error("who is offered the same does not share a session, or who is not does")
	}
}
