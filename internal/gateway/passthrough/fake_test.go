package passthrough

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/mcp-workbench/mcp-workbench/internal/gateway/call"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/catalog"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/downstream"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/fleet"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fake is a server behind a fake carrier.
type fake struct {
	name         string // toolbox/server
	capabilities string // "": it cannot be reached, and was never seen
	stopped      bool   // it does not run; what it said before is known
	// answers are raw results or error objects, by "method" or by "method params"; "fail"
	// is a failure, and "hang" waits for the cancellation. Others are "Method not found".
	answers map[string]string
}

// bench is a passage to fake servers, and their carrier.
type bench struct {
	*Passage
	fleet  *fleet.Fleet
	client *client
	log    *strings.Builder

	mu      sync.Mutex
	fakes   map[origin]*fake
	sent    []string // "server method params", in order
	level   string
	cause   error       // why the last question that hung was cancelled
	asked   chan string // gets the method of each question that hangs
	session map[*fleet.Server]any
	lists   map[string]*catalog.List // what servers listed, by the answer
	owners  map[string]*client       // of tasks, by "server id"; nil: all are one person's
}

// client is a client's session.
type client struct {
	open   []string
	memory *Memory
	told   []string // methods of notifications
}

func (c *client) Notify(method string, _ []byte) error {
	c.told = append(c.told, method)
	return nil
}

func (c *client) IsOpen(toolbox string) bool { return slices.Contains(c.open, toolbox) }
func (c *client) Ask(*downstream.Question)   {}
func (c *client) Party() *fleet.Party        { return nil }
func (c *client) Memory() *Memory            { return c.memory }
func (c *client) WaitUntil(limit time.Duration) time.Time {
	return time.Now().Add(limit)
}

// newBench makes a bench whose client opened all toolboxes.
func newBench(t *testing.T, mode config.ToolMode, fakes ...*fake) *bench {
	t.Helper()
	cfg := &config.Config{}
	b := &bench{
		fakes: make(map[origin]*fake), asked: make(chan string, 10), session: make(map[*fleet.Server]any), log: &strings.Builder{},
		lists:  make(map[string]*catalog.List),
		client: &client{memory: NewMemory(NewSubscriptions())},
	}
	for _, f := range fakes {
		box, server, _ := strings.Cut(f.name, "/")
		last := len(cfg.Toolboxes) - 1
		if last < 0 || cfg.Toolboxes[last].Name != box {
			cfg.Toolboxes = append(cfg.Toolboxes, config.Toolbox{Name: box})
			b.client.open = append(b.client.open, box)
			last++
		}
		cfg.Toolboxes[last].Servers = append(cfg.Toolboxes[last].Servers, config.Server{Name: server, Command: "none"})
		b.fakes[origin{box, server}] = f
	}
	b.fleet = fleet.New(fleet.Options{Config: cfg})
	b.Passage = New(Options{Visible: b.fleet, Mode: mode, Log: slog.New(slog.NewTextHandler(&locked{b: b}, nil))})
	b.carry = func(session Session) carrier {
		from, _ := session.(*client)
		return carrierFor{b, from}
	}
	for _, box := range b.fleet.Toolboxes() {
		for _, server := range box.Servers {
			b.session[server] = "session of " + server.Name()
		}
	}
	return b
}

// locked writes the log.
type locked struct{ b *bench }

func (l *locked) Write(line []byte) (int, error) {
	l.b.mu.Lock()
	defer l.b.mu.Unlock()
	return l.b.log.Write(line)
}

func (b *bench) look(server *fleet.Server) sight {
	f := b.fakes[originOf(server)]
	seen := sight{server: server, seen: f.capabilities != "", capabilities: wire.Raw([]byte(f.capabilities)), lists: make(catalog.Lists)}
	seen.running = seen.seen && !f.stopped
	for _, l := range catalog.ListKinds {
		answer := f.answers[l.Method]
		if !seen.seen || !l.IsDeclared(seen.capabilities) || !strings.HasPrefix(answer, "{") || strings.HasPrefix(answer, `{"code"`) {
			continue
		}
		key := f.name + answer
		if b.lists[key] == nil { // the same as long as nothing changes
			b.lists[key] = catalog.NewList("s", l, slices.Collect(wire.Raw([]byte(answer)).Member(l.Array).Elements()), "")
		}
		seen.lists[l] = b.lists[key]
	}
	return seen
}

func (b *bench) reach(_ context.Context, server *fleet.Server) (wire.Payload, error) {
	f := b.fakes[originOf(server)]
	if f.capabilities == "" {
		return wire.Payload{}, errors.New("it does not start")
	}
	return wire.Raw([]byte(f.capabilities)), nil
}

func (b *bench) live(server *fleet.Server) any {
	if f := b.fakes[originOf(server)]; f.capabilities == "" || f.stopped {
		return nil
	}
	return b.session[server]
}

func (b *bench) setLogLevel(params []byte) { b.level = string(params) }

// carrierFor is the carrier of one client, of a person of its own if tasks have owners.
type carrierFor struct {
	*bench
	from *client
}

func (c carrierFor) madeTask(server *fleet.Server, id string) {
	if c.owners != nil {
		c.owners[server.Name()+" "+id] = c.from
	}
}

func (c carrierFor) servesOthers(*fleet.Server) bool { return c.owners != nil }

func (c carrierFor) hidesTask(server *fleet.Server, id string) bool {
	return c.owners != nil && c.owners[server.Name()+" "+id] != c.from
}

func (b *bench) forward(server *fleet.Server, f forwarding) {
	params := string(wire.AppendEdited(nil, f.params, f.edits...))
	b.mu.Lock()
	b.sent = append(b.sent, strings.TrimSpace(server.Name()+" "+f.method+" "+params))
	fake := b.fakes[originOf(server)]
	answer, ok := fake.answers[f.method+" "+params]
	if !ok {
		answer, ok = fake.answers[f.method]
	}
	b.mu.Unlock()
	switch {
	case !ok:
		answer = `{"code":-32601,"message":"Method not found"}`
	case answer == "fail":
		f.replier.Reply(call.Outcome{}, &call.Failure{Message: "it crashed", Hint: "Mend it."})
		return
	case answer == "hang":
		go func() {
			ctx, stop := f.canceller.Context()
			defer stop()
			b.asked <- f.method
			<-ctx.Done()
			b.mu.Lock()
			b.cause = context.Cause(ctx)
			b.mu.Unlock()
			f.replier.Reply(call.Outcome{}, context.Cause(ctx))
		}()
		return
	}
	if strings.HasPrefix(answer, `{"code"`) {
		f.replier.Reply(call.Outcome{Error: wire.Raw([]byte(answer))}, nil)
		return
	}
	f.replier.Reply(call.Outcome{Result: wire.Raw([]byte(answer))}, nil)
}

// begin sends a request of a client, or one for tasks that is made for it; the answer comes
// through the channel.
func (b *bench) begin(from *client, canceller *call.Canceller, method, params string) waiter {
	reply := make(waiter, 2)
	request := Request{Method: method, Params: wire.Raw([]byte(params)), Session: from, Canceller: canceller, Replier: reply}
	if topic, _, _ := downstream.TopicOf(method, request.Params); topic.IsTask {
		b.Subscribe(request)
	} else {
		b.Handle(request)
	}
	return reply
}

// ask returns the answer to a request of the client: the result, or the error object.
func (b *bench) ask(t *testing.T, method, params string) string {
	t.Helper()
	return b.askAs(t, b.client, method, params)
}

func (b *bench) askAs(t *testing.T, from *client, method, params string) string {
	t.Helper()
	a := <-b.begin(from, &call.Canceller{}, method, params)
	if a.err != nil {
		t.Fatal(a.err)
	}
	return string(a.outcome.Error.Bytes()) + string(a.outcome.Result.Bytes())
}

// want asks and compares; what was sent to servers since the last time is compared too,
// unless it is nil.
func (b *bench) want(t *testing.T, method, params, answer string, sent ...string) {
	t.Helper()
	b.sent = nil
	if got := b.ask(t, method, params); got != answer {
		t.Errorf("%s %s: got %s, want %s", method, params, got, answer)
	}
	if sent != nil && !slices.Equal(b.sent, sent) {
		t.Errorf("%s %s: sent %q, want %q", method, params, b.sent, sent)
	}
}

func (b *bench) server(name string) *fleet.Server {
	box, server, _ := strings.Cut(name, "/")
	toolbox, _ := b.fleet.Toolbox(box)
	found, _ := toolbox.Server(server)
	return found
}

func notification(t *testing.T, line string) wire.Message {
	t.Helper()
	message, err := wire.Parse(wire.NewFrame([]byte(line)))
	if err != nil {
		t.Fatal(err)
	}
	return message
}
