package telemetry

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/access/credentials"
	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/call"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/downstream"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/fleet"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/oauth"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/test/oauthtest"
	"github.com/mcp-workbench/mcp-workbench/test/otlptest"
)

// person is a client with a person who logs in and answers questions.
type person struct {
	profile *fleet.ClientProfile
	replies chan error
}

func (*person) Notify(string, []byte) error     { return nil }
func (*person) TryNotify(string, []byte)        {}
func (p *person) Profile() *fleet.ClientProfile { return p.profile }
func (p *person) Reply(_ call.Outcome, err error) {
	p.replies <- err
}

func (p *person) Ask(q *downstream.Question) {
	page, isLogin := q.Params.Member("url").Text()
	go func() {
		if isLogin {
			_, _ = new(oauthtest.Person).Visit(page) // a login that fails shows in the reply
		}
		time.Sleep(2 * minStep)
		q.Answer(wire.Message{Result: wire.Raw([]byte(`{"action":"accept","content":{"answer":"their-answer"}}`))})
	}()
}

// A slow call explains itself: its start, the login, the approval and the question are spans. Nothing of what it is about
// is sent.
func TestTreeOfASlowCall(t *testing.T) {
	receiver := otlptest.New(t)
	s, _ := start(t, receiver.URL)
	provider := oauthtest.Start(t, oauthtest.Options{Spec: []byte(`{"era":"modern","tools":[{"name":"x","inputSchema":{}}],"calls":{"x":[
		{"state":"","result":{"resultType":"input_required","inputRequests":{"a":{"method":"elicitation/create","params":{"message":"their-question","requestedSchema":{}}}},"requestState":"their-state"}},
		{"state":"their-state","result":{"resultType":"complete","content":[{"type":"text","text":"their-result"}],"isError":true}}]}}`)})
	manager := oauth.New(oauth.Options{Store: credentials.Open(t.TempDir(), credentials.Options{})})
	defer manager.Close()
	servers := fleet.New(fleet.Options{OAuth: manager, Config: &config.Config{
		MaxMessageSize: wire.DefaultLimit,
		Toolboxes: []config.Toolbox{{Name: "T", Servers: []config.Server{{
			Name: "S", URL: provider.URL(), Timeouts: config.Timeouts{Connect: 30 * time.Second, Call: time.Minute},
		}}}},
	}})
	client := &person{replies: make(chan error, 1), profile: fleet.NewClientProfile(fleet.ProfileOptions{Capabilities: []byte(`{"elicitation":{"url":{},"form":{}}}`)})}
	defer client.profile.Close()
	router := call.NewRouter(call.Stages{Observe: []call.Observer{s}, Trace: s.Tracer(), Admit: []call.Admitter{thinker{}}})
	router.CallTool(servers, &call.Request{
		Ref: toolbox.Ref{Toolbox: "T", Server: "S", Name: "x"}, Arguments: wire.Raw([]byte(`{"their-key":"their-argument"}`)), Client: client,
		Meta: wire.Raw([]byte(`{"traceparent":"` + sampled + `","tracestate":"a=1"}`)), Canceller: new(call.Canceller), Replier: client,
	})
	if err := <-client.replies; err != nil {
		t.Fatal(err)
	}
	if err := servers.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	s.Close(t.Context())
	spans := receiver.Spans()
	const start, want = "  internal mcp_workbench.server.start\n", `server tools/call x
  internal mcp_workbench.login
  internal mcp_workbench.approval
  client tools/call x
  internal mcp_workbench.question
  client tools/call x
`
	// One start finds out that a login is needed, and another succeeds; what is left to do after an approval may count, too.
	got := otlptest.Tree(spans, "0af7651916cd43dd8448eb211c80319c")
	if starts := strings.Count(got, start); strings.ReplaceAll(got, start, "") != want || starts < 2 || starts > 3 {
		t.Fatalf("the trace is\n%s", got)
	}
	if root := spans[0]; root.Parent != "b7ad6b7169203331" || !root.Remote || root.State != "a=1" || !root.Failed || root.Attributes["error.type"] != "tool_error" {
		t.Errorf("the request is %+v", root)
	}
	requests := slices.DeleteFunc(slices.Clone(spans), func(s otlptest.Span) bool { return s.Kind != "client" })
	if first, last := requests[0], requests[1]; first.Failed || !last.Failed || last.Attributes["network.transport"] != "tcp" ||
		last.Attributes["server.address"] != "127.0.0.1" || last.Attributes["server.port"] == "" || last.Attributes["mcp.protocol.version"] != "2026-07-28" {
		t.Errorf("the requests to the server are %+v and %+v", first, last)
	}
	for _, span := range spans {
		if span.Began.Before(spans[0].Began) || span.Ended.After(spans[0].Ended) || span.Ended.Before(span.Began) {
			t.Errorf("%s is from %s to %s, the request from %s to %s", span.Name, span.Began, span.Ended, spans[0].Began, spans[0].Ended)
		}
	}
	if strings.Contains(receiver.Raw(), "their-") {
		t.Error("something of the call was sent")
	}
}

// thinker admits requests after a while.
type thinker struct{}

func (thinker) Admit(*call.Call) call.Verdict {
	return call.Verdict{Wait: func(context.Context) *call.Failure {
		time.Sleep(2 * minStep)
		return nil
	}}
}
