package metatool

import (
	"context"
	"errors"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/downstream"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/fleet"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/process"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/test/selfserver"
)

func TestMain(m *testing.M) { selfserver.Main(m) }

// fake is a server of a toolbox. Without a spec it cannot be started.
type fake struct{ toolbox, server, spec string }

// fakes makes the configuration of fake servers, in order.
func fakes(t *testing.T, servers ...fake) *config.Config {
	t.Helper()
	cfg := &config.Config{}
	for _, f := range servers {
		last := len(cfg.Toolboxes) - 1
		if last < 0 || cfg.Toolboxes[last].Name != f.toolbox {
			cfg.Toolboxes = append(cfg.Toolboxes, config.Toolbox{Name: f.toolbox, Description: "of " + f.toolbox})
			last++
		}
		server := selfserver.New(t, t.TempDir(), f.server, f.spec)
		if f.spec == "" {
			server.Command += "-missing"
		}
		cfg.Toolboxes[last].Servers = append(cfg.Toolboxes[last].Servers, server)
	}
	return cfg
}

func fleetOf(t *testing.T, cfg *config.Config) *fleet.Fleet {
	t.Helper()
	host := process.NewHost(process.HostOptions{})
	servers := fleet.New(fleet.Options{Host: host, Environ: os.Environ(), Config: cfg})
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		if err := errors.Join(servers.Stop(ctx), host.Close(ctx)); err != nil {
			t.Error(err)
		}
	})
	return servers
}

// session is a client that takes one answer at a time.
type session struct {
	answers chan string

	results *Results

	mu   sync.Mutex
	open map[string]bool
}

func newSession() *session {
	return &session{answers: make(chan string, 1), open: make(map[string]bool), results: NewResultStore().Session()}
}

func (s *session) Notify(string, []byte) error { return nil }
func (s *session) TryNotify(string, []byte)    {}

func (s *session) Ask(q *downstream.Question) { q.RefuseUnsupported() }

func (s *session) Profile() *fleet.ClientProfile { return nil }

func (s *session) Results() *Results { return s.results }

func (s *session) Links(toolbox.Ref, wire.Payload) []wire.Edit { return nil }

func (s *session) IsOpen(toolbox string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open[toolbox]
}

func (s *session) HoldNotifications() (release func()) { return func() {} }

func (s *session) WaitUntil(limit time.Duration) time.Time { return time.Now().Add(limit) }

func (s *session) MarkOpen(toolbox string) (first bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	first = !s.open[toolbox]
	s.open[toolbox] = true
	return first
}

func (s *session) Answer(answer Answer) {
	answer = answer.Shortened()
	switch {
	case answer.Error != nil:
		s.answers <- "error: " + answer.Error.Message
	case answer.Cancelled != nil:
		s.answers <- "cancelled: " + answer.Cancelled.Error()
	case answer.Text != nil:
		s.answers <- string(answer.Text)
	case !answer.Outcome.Error.IsAbsent():
		s.answers <- string(answer.Outcome.Error.Bytes())
	default:
		s.answers <- string(answer.Outcome.Result.Bytes())
	}
}

func (s *session) list(surface *Surface) string {
	surface.List(Request{Origin: Origin{Session: s, Canceller: new(Canceller), Answerer: s}})
	return <-s.answers
}

func (s *session) call(surface *Surface, name string) string {
	surface.Call(&Request{Origin: Origin{Name: name, Session: s, Canceller: new(Canceller), Answerer: s}})
	return <-s.answers
}

const (
	runTool  = `{"tools":[{"name":"run","inputSchema":{}}],"calls":{"run":[{"result":{"of":"it"}}]}}`
	runOther = `{"tools":[{"name":"run","inputSchema":{}}],"calls":{"run":[{"result":{"of":"other"}}]}}`
)

func TestDirectListNamesEachToolOnce(t *testing.T) {
	servers := fleetOf(t, fakes(t, fake{"t", "a", runTool}, fake{"t", "broken", ""}, fake{"u", "b", runOther}))
	surface, client := New(Options{Visible: servers, Mode: config.Direct}), newSession()
	want := `{"tools":[{"name":"run","inputSchema":{}},{"name":"b__run","inputSchema":{}}]}`
	if got := client.list(surface); got != want {
		t.Errorf("the list is %s", got)
	}
	for name, want := range map[string]string{
		"run": `{"of":"it"}`, "b__run": `{"of":"other"}`,
		"b__rum":       `error: Unknown tool: 'b__rum'. Did you mean 'b__run'? Not connected, and so not asked: server 'broken' (toolbox 't')`,
		"open_toolbox": `error: Unknown tool: 'open_toolbox'. The names are those of tools/list. Not connected, and so not asked: server 'broken' (toolbox 't')`,
	} {
		if got := client.call(surface, name); got != want {
			t.Errorf("%s is answered with %s", name, got)
		}
	}
	if !surface.Shows(client, "t") || !surface.Shows(client, "u") || surface.Shows(client, "v") || surface.Shows(newSession(), "t") {
		t.Error("the client would not be told of changes in what it listed, or of others")
	}
}

// Whoever asks, and whenever: the names of a run are the same.
func TestDirectNamesAreThoseOfAllSurfaces(t *testing.T) {
	servers := fleetOf(t, fakes(t, fake{"t", "a", runTool}, fake{"u", "b", runOther}))
	client := newSession()
	if got := client.call(New(Options{Visible: servers.View([]string{"u"}), Mode: config.Direct}), "run"); got != `{"of":"other"}` {
		t.Errorf("alone in view, the tool answers %s", got)
	}
	for range 2 {
		if got := client.call(New(Options{Visible: servers, Mode: config.Direct}), "run"); got != `{"of":"it"}` {
			t.Errorf("the first in the file answers %s", got)
		}
		if got := client.call(New(Options{Visible: servers, Mode: config.Direct}), "b__run"); got != `{"of":"other"}` {
			t.Errorf("the second in the file answers %s", got)
		}
	}
	if got := client.call(New(Options{Visible: servers.View([]string{"u"}), Mode: config.Direct}), "run"); got != `{"of":"other"}` {
		t.Errorf("alone in view, the tool answers %s later", got)
	}
	if got := client.call(New(Options{Visible: servers.View([]string{"v"}), Mode: config.Direct}), "run"); got != "error: Unknown tool: 'run'. The names are those of tools/list." {
		t.Errorf("out of view, the tool answers %s", got)
	}
}

func TestDirectNamesOutliveAReload(t *testing.T) {
	late := fake{"t", "b", runOther}
	servers := fleetOf(t, fakes(t, late))
	surface, client := New(Options{Visible: servers, Mode: config.Direct}), newSession()
	client.list(surface)
	before := string(surface.Listed(client))
	servers.Apply(fakes(t, fake{"t", "a", runTool}, late))
	if after := string(surface.Listed(client)); after == before {
		t.Error("a reload that adds a server cannot be seen")
	}
	if got := client.call(surface, "run"); got != `{"of":"other"}` {
		t.Errorf("after the reload, the tool answers %s", got)
	}
	if got := client.list(surface); got != `{"tools":[{"name":"a__run","inputSchema":{}},{"name":"run","inputSchema":{}}]}` {
		t.Errorf("after the reload, the list is %s", got)
	}
	servers.Apply(fakes(t, fake{"t", "a", runTool}))
	if got := client.call(surface, "run"); !strings.HasPrefix(got, "error: Unknown tool: 'run'. Did you mean 'a__run'?") {
		t.Errorf("the name of a tool that was removed is answered with %s", got)
	}
}

// The definition of a server changed, and its tool is gone.
func TestDirectCallOfAToolThatIsGone(t *testing.T) {
	servers := fleetOf(t, fakes(t, fake{"t", "a", runTool}))
	surface, client := New(Options{Visible: servers, Mode: config.Direct}), newSession()
	client.list(surface)
	servers.Apply(fakes(t, fake{"t", "a", `{"tools":[{"name":"ran","inputSchema":{}}]}`}))
	if got := client.call(surface, "run"); !strings.HasPrefix(got, "error: Unknown tool: 'run'.") {
		t.Errorf("it is answered with %s", got)
	}
}

func TestDirectRequestsCanBeCancelledWhileServersStart(t *testing.T) {
	servers := fleetOf(t, fakes(t, fake{"t", "a", `{"on":{"initialize":[{"wait":"forever"}]}}`}))
	surface := New(Options{Visible: servers, Mode: config.Direct})
	for name, start := range map[string]func(Request){"tools/list": surface.List, "tools/call": func(r Request) { surface.Call(&r) }} {
		client, canceller := newSession(), new(Canceller)
		start(Request{Origin: Origin{Name: "run", Session: client, Canceller: canceller, Answerer: client}})
		canceller.Cancel(errors.New("enough"))
		if got := <-client.answers; got != "cancelled: enough" {
			t.Errorf("%s is answered with %s", name, got)
		}
		if client.IsOpen("t") {
			t.Errorf("%s was cancelled, but counts as answered", name)
		}
	}
}

func TestDirectInstructions(t *testing.T) {
	servers := fleet.New(fleet.Options{Config: &config.Config{Toolboxes: []config.Toolbox{
		{Name: "dev", Description: "Development tools"}, {Name: "ops"}, {Name: "hidden"},
	}}})
	got := New(Options{Visible: servers.View([]string{"ops", "dev"}), Mode: config.Direct}).Instructions()
	if want := "Available Toolboxes:\n\ndev: Development tools\nops: No description provided"; got != want {
		t.Errorf("the instructions are\n%s", got)
	}
}

func TestProxyModeShowsNoTools(t *testing.T) {
	servers := fleet.New(fleet.Options{Config: &config.Config{Toolboxes: []config.Toolbox{{Name: "t"}}}})
	client := newSession()
	client.MarkOpen("t")
	for mode, want := range map[config.ToolMode]bool{"": false, config.Proxy: false, config.Dynamic: true, config.Direct: true} {
		if got := New(Options{Visible: servers, Mode: mode}).Shows(client, "t"); got != want {
			t.Errorf("in mode %q, tools of an open toolbox are shown: %t", mode, got)
		}
		if New(Options{Visible: servers.View(nil), Mode: mode}).Shows(client, "t") {
			t.Errorf("in mode %q, tools out of view are shown", mode)
		}
	}
}

func TestNameServers(t *testing.T) {
	var servers []fake
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g"} {
		servers = append(servers, fake{"t", name, ""})
	}
	d := New(Options{Visible: fleet.New(fleet.Options{Config: fakes(t, servers...)}), Mode: config.Direct}).directTools(nil)
	if got := fleet.NameServers(d.unseen); !strings.HasPrefix(got, "server 'a' (toolbox 't'), server 'b'") || !strings.HasSuffix(got, "server 'e' (toolbox 't') and 2 more") {
		t.Errorf("got %s", got)
	}
}
