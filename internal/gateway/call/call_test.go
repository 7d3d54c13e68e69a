package call

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/base/secret"
	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/downstream"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/fleet"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/process"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/test/selfserver"
)

func TestMain(m *testing.M) { selfserver.Main(m) }

// serve makes a fleet of one toolbox "T" with one fake server "S".
func serve(t *testing.T, spec string) (servers *fleet.Fleet, log string) {
	t.Helper()
	folder := t.TempDir()
	server := selfserver.New(t, folder, "S", spec)
	server.Timeouts.Call = 300 * time.Millisecond
	host := process.NewHost(process.HostOptions{})
	servers = fleet.New(fleet.Options{Host: host, Environ: os.Environ(), Config: &config.Config{Secrets: []string{"hunter2hunter2"}, Toolboxes: []config.Toolbox{{
		Name: "T", Servers: []config.Server{server, {Name: "off", Disabled: true}},
	}}}})
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		if err := errors.Join(servers.Stop(ctx), host.Close(ctx)); err != nil {
			t.Error(err)
		}
	})
	return servers, filepath.Join(folder, "S.log")
}

// caller is the client of a call and the one that takes its reply.
type caller struct {
	notices chan string
	replies chan reply
}

type reply struct {
	outcome Outcome
	err     error
}

func newCaller() *caller { return &caller{make(chan string, 100), make(chan reply, 2)} }

func (c *caller) Notify(method string, params []byte) error {
	c.notices <- method + " " + string(params)
	return nil
}

func (c *caller) TryNotify(method string, params []byte) { _ = c.Notify(method, params) }

func (c *caller) Ask(q *downstream.Question) { q.RefuseUnsupported() }

func (c *caller) Profile() *fleet.ClientProfile { return nil }

func (c *caller) Reply(outcome Outcome, err error) { c.replies <- reply{outcome, err} }

// patience bounds every wait; nothing that works comes near it.
const patience = 30 * time.Second

// await takes the next thing that comes.
func await[T any](t *testing.T, from <-chan T) (next T) {
	t.Helper()
	select {
	case next = <-from:
	case <-time.After(patience):
		t.Fatalf("nothing came for %s", patience)
	}
	return next
}

// start begins a call of a tool with a progress token.
func start(servers *fleet.Fleet, ref toolbox.Ref) (*caller, *Canceller) {
	c, canceller := newCaller(), new(Canceller)
	new(Router).CallTool(servers, &Request{
		Ref: ref, Arguments: wire.Raw([]byte(`{"a":1}`)), Meta: wire.Raw([]byte(`{"progressToken":"theirs"}`)),
		Client: c, Canceller: canceller, Replier: c,
	})
	return c, canceller
}

const tools = `"tools":[{"name":"x","inputSchema":{"type":"object","required":["p"]}},{"name":"y","inputSchema":{}}]`

func TestOutcomes(t *testing.T) {
	servers, _ := serve(t, `{`+tools+`,"calls":{"x":[
		{"starts":1,"result":{ "b" :1.0,"a":[]}}
	]}}`)
	c, _ := start(servers, toolbox.Ref{Toolbox: "T", Server: "S", Name: "x"})
	got := await(t, c.replies)
	if got.err != nil || string(got.outcome.Result.Bytes()) != `{ "b" :1.0,"a":[]}` {
		t.Errorf("the outcome is %s, %v; want the result as it was sent", got.outcome.Result.Bytes(), got.err)
	}
}

func TestFailures(t *testing.T) {
	ref := toolbox.Ref{Toolbox: "T", Server: "S", Name: "x"}
	for _, test := range []struct {
		name, step string
		ref        toolbox.Ref
		message    string
		hint       string
		schema     string
		notFound   bool
	}{
		{name: "unknown toolbox", ref: toolbox.Ref{Toolbox: "U", Server: "S", Name: "x"}, message: "Toolbox 'U' not found", notFound: true},
		{name: "unknown server", ref: toolbox.Ref{Toolbox: "T", Server: "s", Name: "x"}, message: "Server 's' not found in toolbox 'T'", hint: "Did you mean 'S'?", notFound: true},
		{name: "disabled server", ref: toolbox.Ref{Toolbox: "T", Server: "off", Name: "x"}, message: "Server 'off' not found in toolbox 'T'", hint: "It is disabled in the configuration.", notFound: true},
		{name: "unknown tool", ref: toolbox.Ref{Toolbox: "T", Server: "S", Name: "unlike"}, message: "Tool 'unlike' not found in server 'S' (toolbox 'T')", hint: "Its tools: 'x', 'y'.", notFound: true},
		{name: "an error", ref: ref, step: `{"error":{"code":-32000,"message":"no luck"}}`, message: "no luck"},
		{name: "wrong arguments", ref: ref, step: `{"error":{"code":-32602,"message":"p is missing"}}`, message: "p is missing", schema: `{"type":"object","required":["p"]}`},
		{name: "no object", ref: ref, step: `{"result":[]}`, message: "the server's result is not an object but array"},
		{name: "silence", ref: ref, step: `{"wait":"forever"}`, message: "no answer and no progress for 300ms (timeouts.call): timeout"},
		{name: "a crash", ref: ref, step: `{"exit":5}`, message: "the server exited with code 5"},
	} {
		t.Run(test.name, func(t *testing.T) {
			step := test.step
			if step == "" {
				step = `{"result":{}}`
			}
			servers, _ := serve(t, `{`+tools+`,"calls":{"x":[`+step+`]}}`)
			c, _ := start(servers, test.ref)
			got := await(t, c.replies)
			failure, ok := errors.AsType[*Failure](got.err)
			if !ok {
				t.Fatalf("the reply is %+v, want a failure", got)
			}
			if failure.Message != test.message || failure.Hint != test.hint || string(failure.Schema) != test.schema || failure.NotFound != test.notFound {
				t.Errorf("the failure is %+v", failure)
			}
		})
	}
}

func TestErrorForTheClientsProgramIsPassedOn(t *testing.T) {
	object := `{"code":-32042,"message":"m","data":{"u" : "https://example.com"}}`
	servers, _ := serve(t, `{`+tools+`,"calls":{"x":[{"error":`+object+`}]}}`)
	c, _ := start(servers, toolbox.Ref{Toolbox: "T", Server: "S", Name: "x"})
	if got := await(t, c.replies); got.err != nil || string(got.outcome.Error.Bytes()) != object {
		t.Errorf("the reply is %s, %v; want the error as it was sent", got.outcome.Error.Bytes(), got.err)
	}
}

func TestErrorsArePassedOnToWhoWantsThem(t *testing.T) {
	for _, test := range []struct{ name, sent, want string }{
		{"as it was sent", `{ "message":"no luck","data":[1.0],"code":-32000}`, `{ "message":"no luck","data":[1.0],"code":-32000}`},
		{"wrong arguments", `{"code":-32602,"message":"p"}`, `{"code":-32602,"message":"p"}`},
		{"a secret", `{"code":-1,"message":"bad token hunter2hunter2","data":1}`, `{"code":-1,"message":"bad token ` + secret.Mask + `"}`},
		{"an escaped secret", `{"code":-1,"message":"hunter2\u0068unter2"}`, `{"code":-1,"message":"` + secret.Mask + `"}`},
		{"a secret in the data", `{"code":-1,"message":"m","data":"hunter2hunter2"}`, `{"code":-1,"message":"m"}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			servers, _ := serve(t, `{`+tools+`,"calls":{"x":[{"error":`+test.sent+`}]}}`)
			c := newCaller()
			new(Router).CallTool(servers, &Request{
				Ref: toolbox.Ref{Toolbox: "T", Server: "S", Name: "x"}, Client: c, Canceller: new(Canceller), Replier: c, PassErrors: true,
			})
			if got := await(t, c.replies); got.err != nil || string(got.outcome.Error.Bytes()) != test.want {
				t.Errorf("the reply is %s, %v; want %s", got.outcome.Error.Bytes(), got.err, test.want)
			}
		})
	}
}

func TestViewHidesTheOtherToolboxes(t *testing.T) {
	servers, _ := serve(t, `{`+tools+`}`)
	c := newCaller()
	new(Router).CallTool(servers.View([]string{"U"}), &Request{Ref: toolbox.Ref{Toolbox: "T", Server: "S", Name: "x"}, Client: c, Canceller: new(Canceller), Replier: c})
	if failure, ok := errors.AsType[*Failure](await(t, c.replies).err); !ok || failure.Message != "Toolbox 'T' not found" || failure.Hint != "" {
		t.Errorf("the failure is %+v", failure)
	}
}

func TestProgressHasTheClientsToken(t *testing.T) {
	servers, _ := serve(t, `{`+tools+`,"calls":{"x":[{"progress":{"progress":1}},{"result":{}}]}}`)
	c, _ := start(servers, toolbox.Ref{Toolbox: "T", Server: "S", Name: "x"})
	await(t, c.replies)
	want := `notifications/progress {"progressToken":"theirs","progress":1}`
	if got := await(t, c.notices); got != want {
		t.Errorf("the client was told %s, want %s", got, want)
	}
}

func TestCancelInFlight(t *testing.T) {
	servers, log := serve(t, `{`+tools+`,"calls":{"x":[{"progress":{"progress":1}},{"wait":"cancelled"}]}}`)
	c, canceller := start(servers, toolbox.Ref{Toolbox: "T", Server: "S", Name: "x"})
	await(t, c.notices) // it runs
	cause := Cancelled{Reason: []byte(`"enough"`)}
	canceller.Cancel(cause)
	canceller.Cancel(errors.New("again"))
	got := await(t, c.replies)
	if cancelled, ok := errors.AsType[Cancelled](got.err); !ok || string(cancelled.Reason) != `"enough"` {
		t.Errorf("the reply is %+v, want the cause", got)
	}
	next, _ := start(servers, toolbox.Ref{Toolbox: "T", Server: "S", Name: "y"})
	await(t, next.replies) // the server has read everything before it
	content, err := os.ReadFile(log)
	if err != nil || !strings.Contains(string(content), `"notifications/cancelled","params":{"requestId":3,"reason":"enough"}`) {
		t.Errorf("the server saw %s, %v; want the cancellation", content, err)
	}
}

func TestCancelDuringTheStart(t *testing.T) {
	servers, _ := serve(t, `{"on":{"initialize":[{"wait":"forever"}]}}`)
	c, canceller := start(servers, toolbox.Ref{Toolbox: "T", Server: "S", Name: "x"})
	cause := errors.New("shutting down")
	canceller.Cancel(cause)
	if got := await(t, c.replies); !errors.Is(got.err, cause) {
		t.Errorf("the reply is %+v, want the cause", got)
	}
}

func TestCancelledBeforeTheCall(t *testing.T) {
	servers, _ := serve(t, `{`+tools+`,"calls":{"x":[{"wait":"cancelled"}]}}`)
	warm, _ := start(servers, toolbox.Ref{Toolbox: "T", Server: "S", Name: "y"})
	await(t, warm.replies)
	c, canceller := newCaller(), new(Canceller)
	cause := errors.New("too late")
	canceller.Cancel(cause)
	new(Router).CallTool(servers, &Request{Ref: toolbox.Ref{Toolbox: "T", Server: "S", Name: "x"}, Client: c, Canceller: canceller, Replier: c})
	if got := await(t, c.replies); !errors.Is(got.err, cause) {
		t.Errorf("the reply is %+v, want the cause", got)
	}
}
