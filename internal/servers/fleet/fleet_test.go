package fleet

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/base/secret"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/downstream"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/process"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/test/selfserver"
)

func TestMain(m *testing.M) { selfserver.Main(m) }

// rig is a fleet of fake servers in one toolbox, "T".
type rig struct {
	*Fleet
	box    *Toolbox
	folder string
}

// newRig makes a fleet; servers maps names to specs of fakes, which change may adjust.
func newRig(t *testing.T, servers map[string]string, change func(*config.Server), options Options) *rig {
	t.Helper()
	r := &rig{folder: t.TempDir()}
	box := config.Toolbox{Name: "T"}
	for name, spec := range servers {
		server := selfserver.New(t, r.folder, name, spec)
		if change != nil {
			change(&server)
		}
		box.Servers = append(box.Servers, server)
	}
	host := process.NewHost(process.HostOptions{})
	cfg := &config.Config{Toolboxes: []config.Toolbox{box}, MaxMessageSize: wire.DefaultLimit}
	if options.Config != nil {
		cfg.Secrets = options.Config.Secrets
	}
	options.Config = cfg
	options.Host = host
	if options.Environ == nil {
		options.Environ = os.Environ()
	}
	r.Fleet = New(options)
	r.box, _ = r.Toolbox("T")
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		if err := r.Stop(ctx); err != nil {
			t.Error("stop: ", err)
		}
		if err := host.Close(ctx); err != nil {
			t.Error("close: ", err)
		}
	})
	return r
}

// starts counts the processes of a fake that were started.
func (r *rig) starts(t *testing.T, name string) int {
	t.Helper()
	log, err := os.ReadFile(filepath.Join(r.folder, name+".log"))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return strings.Count("\n"+string(log), "\nstart ")
}

func (r *rig) server(t *testing.T, name string) *Server {
	t.Helper()
	server, ok := r.box.Server(name)
	if !ok {
		t.Fatalf("there is no server %s", name)
	}
	return server
}

// call calls a tool through a lease of its own.
func call(ctx context.Context, server *Server, name string) error {
	lease, err := server.Lease(ctx)
	if err != nil {
		return err
	}
	defer lease.Release()
	done := make(ending, 1)
	id, err := lease.Session.CallTool(downstream.ToolCall{Name: name}, done)
	if err != nil {
		return lease.Explain(err)
	}
	select {
	case err = <-done:
	case <-ctx.Done():
		lease.Session.Cancel(id, nil)
		return ctx.Err()
	}
	if err != nil {
		return lease.Explain(err)
	}
	return nil
}

// ending is a sink that keeps only how the call ended.
type ending chan error

func (ending) Caller() downstream.Caller { return nil }

func (e ending) Progress(wire.Message) {}

func (e ending) Done(_ wire.Message, err error) { e <- err }

// eventually waits for a condition that another goroutine or process brings about.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	limit := time.After(20 * time.Second)
	for !holds() {
		select {
		case <-tick.C:
		case <-limit:
			t.Fatalf("%s did not happen", what)
		}
	}
}

func TestNothingStartsBeforeItIsNeeded(t *testing.T) {
	r := newRig(t, map[string]string{"S": `{}`}, nil, Options{})
	if r.server(t, "S").Offered() != nil || r.starts(t, "S") != 0 {
		t.Error("the server was started")
	}
}

func TestAllWhoWaitShareOneStart(t *testing.T) {
	r := newRig(t, map[string]string{"S": `{"tools":[{"name":"a","inputSchema":{}}]}`}, nil, Options{})
	var group sync.WaitGroup
	for range 20 {
		group.Go(func() {
			for _, opened := range Connect(t.Context(), r.box.Servers, nil, nil) {
				if opened.Err != nil {
					t.Error(opened.Err)
					continue
				}
				if len(opened.Lease.Tools.Tools) != 1 {
					t.Errorf("tools are %v", opened.Lease.Tools.Names())
				}
				opened.Lease.Release()
			}
		})
	}
	group.Wait()
	if n := r.starts(t, "S"); n != 1 {
		t.Errorf("%d processes were started, want 1", n)
	}
}

func TestOneWhoGivesUpDoesNotEndTheStart(t *testing.T) {
	r := newRig(t, map[string]string{"S": `{"on":{"initialize":[{"wait":"file go"}]}}`}, nil, Options{})
	spec := fmt.Sprintf(`{"on":{"initialize":[{"wait":"file %s"}]}}`, filepath.Join(r.folder, "go"))
	if err := os.WriteFile(filepath.Join(r.folder, "S.json"), []byte(spec), 0o600); err != nil {
		t.Fatal(err)
	}
	server := r.server(t, "S")
	impatient, cancel := context.WithCancel(t.Context())
	gaveUp := make(chan error)
	go func() { gaveUp <- call(impatient, server, "x") }()
	eventually(t, "the start", func() bool { return r.starts(t, "S") == 1 })
	cancel()
	if err := <-gaveUp; err == nil {
		t.Error("the one who gave up got an answer")
	}
	if err := os.WriteFile(filepath.Join(r.folder, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := call(t.Context(), server, "x"); err != nil {
		t.Error(err)
	}
	if n := r.starts(t, "S"); n != 1 {
		t.Errorf("%d processes were started, want 1", n)
	}
}

func TestOneFailureIsNotTheOthers(t *testing.T) {
	r := newRig(t, map[string]string{"good": `{}`, "bad": `{"start":[{"stderr":"no database"},{"exit":3}]}`}, nil, Options{})
	for _, opened := range Connect(t.Context(), r.box.Servers, nil, nil) {
		switch opened.Server.Name() {
		case "good":
			if opened.Err != nil {
				t.Error(opened.Err)
			} else {
				opened.Lease.Release()
			}
		case "bad":
			if opened.Err == nil || !strings.Contains(opened.Err.Error(), "code 3") || !strings.Contains(opened.Err.Error(), "no database") {
				t.Errorf("the reason is %v, want the exit code and the last output", opened.Err)
			}
		}
	}
}

func TestCrashedServerIsStartedAtTheNextUse(t *testing.T) {
	r := newRig(t, map[string]string{"S": `{"calls":{"crash":[{"stderr":"boom"},{"exit":7}]}}`}, nil, Options{})
	server := r.server(t, "S")
	err := call(t.Context(), server, "crash")
	if err == nil || !strings.Contains(err.Error(), "code 7") || !strings.Contains(err.Error(), "boom") {
		t.Errorf("the call failed with %v, want the exit code and the last output", err)
	}
	eventually(t, "the end of the session", func() bool {
		server.mu.Lock()
		defer server.mu.Unlock()
		return server.running == nil
	})
	if err := call(t.Context(), server, "echo"); err != nil {
		t.Errorf("the next call failed: %v", err)
	}
	if n := r.starts(t, "S"); n != 2 {
		t.Errorf("%d processes were started, want 2", n)
	}
}

func TestFailingServerIsLeftAloneForAWhile(t *testing.T) {
	r := newRig(t, map[string]string{"S": `{"start":[{"exit":1}]}`}, nil, Options{})
	server := r.server(t, "S")
	first := call(t.Context(), server, "x")
	if first == nil || strings.Contains(first.Error(), "next try") {
		t.Fatalf("the first call failed with %v, want just the reason", first)
	}
	for range 50 {
		err := call(t.Context(), server, "x")
		if err == nil || !strings.HasPrefix(err.Error(), first.Error()) || !strings.Contains(err.Error(), "next try in") {
			t.Fatalf("a call during the backoff failed with %v, want the reason and the next try", err)
		}
		if r.starts(t, "S") > 1 {
			break // the machine was slow and the backoff is over
		}
	}
	server.mu.Lock()
	server.failure.until = time.Time{}
	server.mu.Unlock()
	if err := call(t.Context(), server, "x"); err == nil || strings.Contains(err.Error(), "next try") {
		t.Errorf("after the backoff the call failed with %v, want a new try", err)
	}
}

func TestDelay(t *testing.T) {
	for failures, want := range map[int]time.Duration{
		-1: firstDelay, 0: firstDelay, 1: 2 * firstDelay, 4: 16 * firstDelay, 5: lastDelay, 100: lastDelay,
	} {
		if got := delay(failures); got != want {
			t.Errorf("delay after %d failures is %s, want %s", failures, got, want)
		}
	}
}

func TestHangingStartIsCutOff(t *testing.T) {
	r := newRig(t, map[string]string{"S": `{"on":{"initialize":[{"wait":"forever"}]}}`},
		func(s *config.Server) { s.Timeouts.Connect = 300 * time.Millisecond }, Options{})
	err := call(t.Context(), r.server(t, "S"), "x")
	for _, want := range []string{"no answer to 'initialize'", "300ms", "timeouts.connect"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the reason is %v, want %q in it", err, want)
		}
	}
}

func TestStopEndsAStartThatHangs(t *testing.T) {
	r := newRig(t, map[string]string{"S": `{"ignoreEOF":true,"ignoreSIGTERM":true,"on":{"initialize":[{"wait":"forever"}]}}`}, nil, Options{})
	ended := make(chan error)
	go func() { ended <- call(context.Background(), r.server(t, "S"), "x") }()
	eventually(t, "the start", func() bool { return r.starts(t, "S") == 1 })
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Second)
	defer cancel()
	if err := r.Stop(ctx); err != nil {
		t.Error(err)
	}
	if err := <-ended; err == nil || !strings.Contains(err.Error(), "shutting down") {
		t.Errorf("who waited for the start got %v", err)
	}
	if err := call(t.Context(), r.server(t, "S"), "x"); err == nil || r.starts(t, "S") != 1 {
		t.Errorf("after Stop a call got %v", err)
	}
}

func TestIdleServerIsStopped(t *testing.T) {
	r := newRig(t, map[string]string{"S": `{}`}, func(s *config.Server) { s.Timeouts.Idle = 50 * time.Millisecond }, Options{})
	server := r.server(t, "S")
	if err := call(t.Context(), server, "x"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the idle stop", func() bool {
		server.mu.Lock()
		defer server.mu.Unlock()
		return server.running == nil
	})
	if err := call(t.Context(), server, "x"); err != nil {
		t.Errorf("after the idle stop: %v", err)
	}
	if n := r.starts(t, "S"); n != 2 {
		t.Errorf("%d processes were started, want 2", n)
	}
}

func TestServerInUseIsNotIdle(t *testing.T) {
	r := newRig(t, map[string]string{"S": `{}`}, func(s *config.Server) { s.Timeouts.Idle = 20 * time.Millisecond }, Options{})
	server := r.server(t, "S")
	lease, err := server.Lease(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer lease.Release()
	timer := time.NewTimer(200 * time.Millisecond)
	defer timer.Stop()
	select {
	case <-lease.Session.Done():
		t.Error("the server was stopped while it was leased")
	case <-timer.C:
	}
}

func TestChangedToolsAreReadAgain(t *testing.T) {
	changed := make(chan string, 10)
	r := newRig(t, map[string]string{"S": `{"tools":[{"name":"a","inputSchema":{}}],"calls":{"a":[{"change":[{"name":"b","inputSchema":{}}]},{"result":{}}]}}`},
		nil, Options{ToolsChanged: func(toolbox string, _ Scope) { changed <- toolbox }})
	server := r.server(t, "S")
	if err := call(t.Context(), server, "a"); err != nil {
		t.Fatal(err)
	}
	for _, what := range []string{"came up", "changed"} {
		if toolbox := <-changed; toolbox != "T" {
			t.Errorf("the toolbox whose tools %s is %q", what, toolbox)
		}
	}
	if names := server.Offered().Names(); len(names) != 1 || names[0] != "b" {
		t.Errorf("the tools are %v, want b", names)
	}
}

func TestComingUpChangesToolsOnce(t *testing.T) {
	changed := make(chan string, 10)
	r := newRig(t, map[string]string{"S": `{"tools":[{"name":"a","inputSchema":{}}],"calls":{"a":[{"starts":1,"exit":1},{"result":{}}]}}`},
		nil, Options{ToolsChanged: func(toolbox string, _ Scope) { changed <- toolbox }})
	server := r.server(t, "S")
	if err := call(t.Context(), server, "a"); err == nil {
		t.Fatal("the server did not crash")
	}
	if err := call(t.Context(), server, "a"); err != nil {
		t.Fatal(err)
	}
	if n := len(changed); n != 1 {
		t.Errorf("a server that came back with the same tools changed them %d times, want just its first start", n)
	}
}

func TestManyNoticesAreFewReadings(t *testing.T) {
	notice, _ := json.Marshal(strings.Repeat(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`+"\n", 5000))
	r := newRig(t, map[string]string{"S": fmt.Sprintf(`{"tools":[],"calls":{"a":[{"send":%s},{"result":{}}]}}`, notice)}, nil, Options{})
	if err := call(t.Context(), r.server(t, "S"), "a"); err != nil {
		t.Fatal(err)
	}
	log, err := os.ReadFile(filepath.Join(r.folder, "S.log"))
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(log), `"tools/list"`); n > 50 {
		t.Errorf("the tools were read %d times", n)
	}
}

func TestSecretsAreMaskedInReasons(t *testing.T) {
	r := newRig(t, map[string]string{
		"dies": `{"start":[{"stderr":"token is hunter2hunter2"},{"exit":1}]}`,
		"says": `{"on":{"initialize":[{"error":{"code":-1,"message":"bad token hunter2hunter2"}}]}}`,
	}, nil, Options{Config: &config.Config{Secrets: []string{"hunter2hunter2"}}})
	for _, opened := range Connect(t.Context(), r.box.Servers, nil, nil) {
		if opened.Err == nil || strings.Contains(opened.Err.Error(), "hunter2") || !strings.Contains(opened.Err.Error(), secret.Mask) {
			t.Errorf("server %s: the reason is %v", opened.Server.Name(), opened.Err)
		}
	}
}

func TestURLServersAreRefused(t *testing.T) {
	r := newRig(t, map[string]string{"S": `{}`}, func(s *config.Server) { s.Command, s.URL = "", "https://example.com/mcp" }, Options{})
	if err := call(t.Context(), r.server(t, "S"), "x"); err == nil || !strings.Contains(err.Error(), "'url'") {
		t.Errorf("the reason is %v", err)
	}
}

func TestWithheldVariablesAreNamed(t *testing.T) {
	t.Setenv("FLEET_TEST_TOKEN", "x")
	r := newRig(t, map[string]string{"S": `{"start":[{"stderr":"error: FLEET_TEST_TOKEN is not set"},{"exit":1}]}`}, nil, Options{})
	if err := call(t.Context(), r.server(t, "S"), "x"); err == nil || !strings.Contains(err.Error(), "mentions FLEET_TEST_TOKEN") {
		t.Errorf("the reason is %v, want the name of the variable", err)
	}
}

func TestDisabledServersAreLeftOut(t *testing.T) {
	r := newRig(t, map[string]string{"S": `{}`}, func(s *config.Server) { s.Disabled = true }, Options{})
	if _, ok := r.box.Server("S"); ok || len(r.box.Servers) != 0 || len(r.box.Disabled()) != 1 {
		t.Error("the disabled server is offered")
	}
}
