package passthrough

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
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
	"github.com/mcp-workbench/mcp-workbench/test/mcptest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fake is a server over HTTP.
type fake struct {
	name         string // toolbox/server
	capabilities string // "": it refuses to start, and is not started
	stopped      bool   // it was started and has stopped; its capabilities and lists are cached
	// answers are raw results or error objects, by "method" or by "method params"; "status N" answers with that HTTP
	// status, and "hang" waits for the end of the request. Others are "Method not found".
	answers map[string]string
	// spec is a server of mcptest to use instead. Only its subscriptions to tasks are kept: their begin and their end.
	spec string

	bench   *bench
	session int             // its sessions so far
	ended   int             // sessions up to this one are no longer known
	ending  bool            // its next session has another revision, which ends it
	listed  map[string]bool // lists that the fleet has read in this session

	subscriptions map[string]string // of a server of mcptest: ids of tasks by the id of the request
}

// bench is a forwarder to fake servers.
type bench struct {
	*Forwarder
	fleet  *fleet.Fleet
	client *client
	log    *strings.Builder

	mu      sync.Mutex
	changed chan struct{} // closed at each change of sent
	fakes   map[origin]*fake
	sent    []string      // "server method params", in order, without the requests of the fleet itself
	asked   chan string   // gets the method of each request that hangs
	done    chan struct{} // closed at the end of the test
}

// client is a client's session.
type client struct {
	open    []string
	memory  *Memory
	profile *fleet.ClientProfile

	mu   sync.Mutex
	told []string // "method params" of notifications
}

func (c *client) Notify(method string, params []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.told = append(c.told, method+" "+string(params))
	return nil
}

func (c *client) TryNotify(method string, params []byte) { _ = c.Notify(method, params) }

func (c *client) IsOpen(toolbox string) bool    { return slices.Contains(c.open, toolbox) }
func (c *client) Ask(*downstream.Question)      {}
func (c *client) Profile() *fleet.ClientProfile { return c.profile }
func (c *client) Memory() *Memory               { return c.memory }
func (c *client) WaitUntil(limit time.Duration) time.Time {
	return time.Now().Add(limit)
}

// newBench makes a bench whose client opened all toolboxes, except for "closed".
func newBench(t *testing.T, mode config.ToolMode, fakes ...*fake) *bench {
	t.Helper()
	cfg := &config.Config{MaxMessageSize: 4 * wire.DefaultLimit}
	b := &bench{
		fakes: make(map[origin]*fake), asked: make(chan string, 10), log: &strings.Builder{}, done: make(chan struct{}), changed: make(chan struct{}),
	}
	var open []string
	for _, f := range fakes {
		box, server, _ := strings.Cut(f.name, "/")
		last := len(cfg.Toolboxes) - 1
		if last < 0 || cfg.Toolboxes[last].Name != box {
			cfg.Toolboxes = append(cfg.Toolboxes, config.Toolbox{Name: box})
			last++
			if box != "closed" {
				open = append(open, box)
			}
		}
		f.bench, f.session, f.ended, f.subscriptions = b, 0, 0, make(map[string]string)
		cfg.Toolboxes[last].Servers = append(cfg.Toolboxes[last].Servers, config.Server{
			Name: server, URL: f.serve(t), Transport: "http", Timeouts: config.Timeouts{Connect: 20 * time.Second, Call: 20 * time.Second},
		})
		b.fakes[origin{box, server}] = f
	}
	b.fleet = fleet.New(fleet.Options{Config: cfg})
	t.Cleanup(func() {
		close(b.done)
		if err := b.fleet.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	b.Forwarder = New(Options{Visible: b.fleet, Mode: mode, Log: slog.New(slog.NewTextHandler(&locked{b: b}, nil))})
	b.client = b.newClient(t, "", NewSubscriptions())
	b.client.open = open
	for _, f := range fakes {
		if f.capabilities != "" {
			b.start(t, f)
		}
		if f.stopped {
			b.stop(f)
		}
	}
	return b
}

// serve starts a server, and returns its URL.
func (f *fake) serve(t *testing.T) string {
	t.Helper()
	if f.spec == "" {
		served := httptest.NewServer(f)
		t.Cleanup(served.Close)
		return served.URL
	}
	server, err := mcptest.Parse([]byte(f.spec))
	if err != nil {
		t.Fatal(err)
	}
	server.Log = f
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- server.ServeStreamable(listener) }()
	t.Cleanup(func() {
		listener.Close()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return fmt.Sprintf("http://%s/mcp", listener.Addr())
}

// Write takes what a server of mcptest logs.
func (f *fake) Write(line []byte) (int, error) {
	f.bench.mu.Lock()
	defer f.bench.mu.Unlock()
	if body, ok := strings.CutPrefix(string(line), "recv "); ok {
		var message struct {
			ID     json.RawMessage
			Params struct {
				Notifications struct{ TaskIDs json.RawMessage }
			}
		}
		_ = json.Unmarshal([]byte(body), &message)
		if ids := string(message.Params.Notifications.TaskIDs); ids != "" {
			f.subscriptions[string(message.ID)] = ids
			f.record("updates of tasks " + ids)
		}
	}
	if id, ok := strings.CutPrefix(strings.TrimSpace(string(line)), "gone "); ok && f.subscriptions[id] != "" {
		f.record("end of updates of tasks " + f.subscriptions[id])
	}
	return len(line), nil
}

// record keeps what was sent. Called with mu held.
func (f *fake) record(request string) {
	b := f.bench
	b.sent = append(b.sent, f.shortName()+" "+request)
	close(b.changed)
	b.changed = make(chan struct{})
}

// newClient makes a client of a person.
func (b *bench) newClient(t *testing.T, person string, subscriptions *Subscriptions) *client {
	profile := fleet.NewClientProfile(fleet.ProfileOptions{
		Person: person, Notice: func(*fleet.Server, wire.Message) {}, Ask: func(q *downstream.Question) { q.RefuseUnsupported() },
	})
	t.Cleanup(profile.Close)
	c := &client{memory: NewMemory(subscriptions), profile: profile}
	if b.client != nil {
		c.open = b.client.open
	}
	return c
}

// another returns one more client that opened the same toolboxes.
func (b *bench) another(t *testing.T, person string) *client {
	return b.newClient(t, person, b.client.memory.subscriptions)
}

// shareWithOthers has another person use all servers.
func (b *bench) shareWithOthers(t *testing.T) *client {
	other := b.another(t, "other")
	for o := range b.fakes {
		b.server(o.toolbox + "/" + o.server).For(other.profile)
	}
	return other
}

// start starts a server, again if it runs: with its capabilities and lists as they are now.
func (b *bench) start(t *testing.T, f *fake) {
	t.Helper()
	server := b.server(f.name)
	if server.SessionFor(b.client.profile) != nil {
		if err := server.Restart(t.Context()); err != nil {
			t.Fatal(err)
		}
		return
	}
	lease, err := server.LeaseFor(t.Context(), b.client.profile)
	if err != nil {
		t.Fatal(err)
	}
	lease.Release()
}

// stop ends the session with a server.
func (b *bench) stop(f *fake) {
	end := func(ending bool) {
		b.mu.Lock()
		defer b.mu.Unlock()
		f.ended, f.ending = f.session, ending
	}
	end(true)
	session := b.server(f.name).SessionFor(b.client.profile)
	session.Send("ping", nil) // it learns that its session is over
	<-session.Done()
	end(false)
}

// locked writes the log.
type locked struct{ b *bench }

func (l *locked) Write(line []byte) (int, error) {
	l.b.mu.Lock()
	defer l.b.mu.Unlock()
	return l.b.log.Write(line)
}

// ServeHTTP implements the Streamable HTTP transport of revision 2025-11-25.
func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	body, _ := io.ReadAll(r.Body)
	var message struct {
		ID, Params json.RawMessage
		Method     string
	}
	_ = json.Unmarshal(body, &message)
	answer, status := f.answer(message.Method, string(message.Params), r.Header.Get("Mcp-Session-Id"))
	if message.Method == "initialize" {
		w.Header().Set("Mcp-Session-Id", fmt.Sprint(f.session))
	}
	if answer == "hang" {
		f.bench.asked <- message.Method
		select {
		case <-r.Context().Done():
		case <-f.bench.done:
		}
		return
	}
	if code, ok := strings.CutPrefix(answer, "status "); ok {
		_, _ = fmt.Sscan(code, &status)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	if status != http.StatusOK {
		return
	}
	kind := "result"
	if strings.HasPrefix(answer, `{"code"`) {
		kind = "error"
	}
	fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"%s":%s}`, message.ID, kind, answer)
}

func (f *fake) answer(method, params, session string) (answer string, status int) {
	b := f.bench
	b.mu.Lock()
	defer b.mu.Unlock()
	var number int
	_, _ = fmt.Sscan(session, &number)
	switch {
	case method == "initialize" && f.capabilities == "":
		return "", http.StatusServiceUnavailable
	case method == "initialize":
		f.session++
		f.listed = make(map[string]bool)
		revision := "2025-11-25"
		if f.ending {
			revision = "2025-06-18"
		}
		return `{"protocolVersion":"` + revision + `","capabilities":` + f.capabilities + `,"serverInfo":{"name":"fake","version":"1"}}`, http.StatusOK
	case method == "server/discover":
		return `{"code":-32601,"message":"Method not found"}`, http.StatusOK
	case number <= f.ended:
		return "", http.StatusNotFound
	case method == "tools/list":
		return `{"tools":[]}`, http.StatusOK
	case method == "notifications/initialized":
		return "", http.StatusAccepted
	case !f.isOfFleet(method):
		f.record(strings.TrimSpace(method + " " + params))
	}
	if strings.HasPrefix(method, "notifications/") {
		return "", http.StatusAccepted
	}
	answer, ok := f.answers[method+" "+params]
	if !ok {
		answer, ok = f.answers[method]
	}
	if !ok {
		answer = `{"code":-32601,"message":"Method not found"}`
	}
	return answer, http.StatusOK
}

// isOfFleet reports whether a request is the one by which the fleet reads a list when a session begins.
func (f *fake) isOfFleet(method string) bool {
	for _, list := range catalog.ListKinds {
		if list.Method == method && list.IsDeclared(wire.Raw([]byte(f.capabilities))) && !f.listed[method] {
			f.listed[method] = true
			return true
		}
	}
	return false
}

func (f *fake) shortName() string {
	_, name, _ := strings.Cut(f.name, "/")
	return name
}

// takeSent returns what was sent to servers since the last time.
func (b *bench) takeSent() (sent []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	sent, b.sent = b.sent, nil
	return sent
}

// awaitSent waits until so many requests were sent to servers.
func (b *bench) awaitSent(t *testing.T, count int) {
	t.Helper()
	limit := time.After(20 * time.Second)
	for {
		b.mu.Lock()
		sent, changed := b.sent, b.changed
		b.mu.Unlock()
		if len(sent) >= count {
			return
		}
		select {
		case <-changed:
		case <-limit:
			t.Fatalf("sent only %q", sent)
		}
	}
}

// wantSent waits until as much was sent as is wanted, and compares.
func (b *bench) wantSent(t *testing.T, want ...string) {
	t.Helper()
	b.awaitSent(t, len(want))
	if sent := b.takeSent(); !slices.Equal(sent, want) {
		t.Errorf("sent %q, want %q", sent, want)
	}
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

// want asks and compares; what was sent to servers for it is compared too, unless sent is nil.
func (b *bench) want(t *testing.T, method, params, answer string, sent ...string) {
	t.Helper()
	b.takeSent()
	if got := b.ask(t, method, params); got != answer {
		t.Errorf("%s %s: got %s, want %s", method, params, got, answer)
	}
	if sent == nil {
		return
	}
	if got := b.takeSent(); !slices.Equal(got, sent) {
		t.Errorf("%s %s: sent %q, want %q", method, params, got, sent)
	}
}

func (b *bench) server(name string) *fleet.Server {
	box, server, _ := strings.Cut(name, "/")
	toolbox, _ := b.fleet.Toolbox(box)
	found, _ := toolbox.Server(server)
	return found
}

// refuser is a stage that refuses all requests, and counts them.
type refuser struct {
	failure *call.Failure
	count   int
}

func (r *refuser) Screen(*call.Call) *call.Failure {
	r.count++
	return r.failure
}

// refuseWith has requests fail before they are sent.
func (b *bench) refuseWith(failure *call.Failure) *refuser {
	r := &refuser{failure: failure}
	b.Router = call.NewRouter(call.Stages{Screen: []call.Screener{r}})
	return r
}

func notification(t *testing.T, line string) wire.Message {
	t.Helper()
	message, err := wire.Parse(wire.NewFrame([]byte(line)))
	if err != nil {
		t.Fatal(err)
	}
	return message
}
