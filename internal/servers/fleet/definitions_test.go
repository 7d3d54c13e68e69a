package fleet

import (
	"bytes"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/catalog"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// safeBuffer is a log that may be read while it is written.
type safeBuffer struct {
	mu     sync.Mutex
	buffer bytes.Buffer
}

func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.Write(p)
}

func (b *safeBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.String()
}

const changingSpec = `{"tools":[{"name":"a","inputSchema":{}},{"name":"hunter2hunter2","inputSchema":{}}],"calls":{
	"a":[{"change":[{"name":"a","title":"A","inputSchema":{}},{"name":"hunter2hunter2","title":"B","inputSchema":{}}]},{"result":{}}],
	"die":[{"exit":1}]}}`

// Warnings stay for the rest of the run: after a refresh, and after a crash, although
// the server is as it was at first then.
func TestChangedDefinitionsAreWarnedOf(t *testing.T) {
	changed := make(chan string, 10)
	var log safeBuffer
	r := newRig(t, map[string]string{"S": changingSpec}, nil, Options{
		ToolsChanged: func(toolbox string, _ Scope) { changed <- toolbox },
		Config:       &config.Config{Secrets: []string{"hunter2hunter2"}},
		Log:          slog.New(slog.NewTextHandler(&log, nil)),
		Baseline:     catalog.NewBaseline(t.TempDir(), nil),
	})
	server := r.server(t, "S")
	if err := call(t.Context(), server, "a"); err != nil {
		t.Fatal(err)
	}
	<-changed // came up
	<-changed
	want := []string{
		"Definition of tool 'a' in server 'S' changed",
		"Definition of tool 'hunter2hunter2' in server 'S' changed",
	}
	if got := server.Offered().Warnings; !slices.Equal(got, want) {
		t.Errorf("after the refresh, warnings are %q", got)
	}
	if text := log.String(); strings.Count(text, "definition of a tool changed") != 2 ||
		strings.Contains(text, "hunter2") || !strings.Contains(text, "before=") || !strings.Contains(text, "after=") {
		t.Errorf("the log has %s", text)
	}
	if err := call(t.Context(), server, "die"); err == nil {
		t.Fatal("the server lives on")
	}
	lease, err := server.Lease(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer lease.Release()
	if !slices.Equal(lease.Tools.Warnings, want) || r.starts(t, "S") != 2 {
		t.Errorf("after the crash, warnings are %q", lease.Tools.Warnings)
	}
}

func TestChangesAreAccepted(t *testing.T) {
	changed := make(chan string, 10)
	r := newRig(t, map[string]string{"S": changingSpec}, nil, Options{
		ToolsChanged: func(toolbox string, _ Scope) { changed <- toolbox }, Baseline: catalog.NewBaseline(t.TempDir(), nil),
	})
	server := r.server(t, "S")
	if err := call(t.Context(), server, "a"); err != nil {
		t.Fatal(err)
	}
	<-changed // came up
	<-changed
	before, all := r.Changes(), server.OpenChanges()
	if len(all) != 2 || server.CountChanges() != 2 {
		t.Fatalf("%d changes are counted, and %v listed", server.CountChanges(), all)
	}
	if err := server.AcceptChange(catalog.ChangeID{Tool: "a", Hash: all[1].After.Hash}); !errors.Is(err, catalog.ErrNotOffered) {
		t.Errorf("what another tool offers is accepted: %v", err)
	}
	if err := server.AcceptChange(catalog.ChangeID{Tool: "a", Hash: all[0].After.Hash}); err != nil {
		t.Fatal(err)
	}
	r.ReviewHints()
	if tool, _ := server.Offered().Find("a"); tool.Changed || server.CountChanges() != 1 || len(server.Offered().Warnings) != 1 || r.Changes() == before {
		t.Errorf("%d changes are left, warnings are %q", server.CountChanges(), server.Offered().Warnings)
	}
}

func TestDefinitionsAreRememberedWithoutABaseline(t *testing.T) {
	changed := make(chan string, 10)
	r := newRig(t, map[string]string{"S": changingSpec}, nil, Options{ToolsChanged: func(toolbox string, _ Scope) { changed <- toolbox }})
	if err := call(t.Context(), r.server(t, "S"), "a"); err != nil {
		t.Fatal(err)
	}
	<-changed // came up
	<-changed
	if got := r.server(t, "S").Offered().Warnings; len(got) != 2 {
		t.Errorf("warnings are %q", got)
	}
}

func TestDefinitionKey(t *testing.T) {
	base := config.Server{
		Name: "s", Command: "run", Args: []string{"a", "b"}, Dir: "/d", Transport: "stdio",
		Env: []config.Variable{{Name: "K", Value: "v"}, {Name: "L", Value: "w"}},
	}
	key := definitionKey("t", base)
	seen := map[catalog.Hash]string{key: "the first one"}
	if definitionKey("u", base) == key {
		t.Error("the toolbox makes no difference")
	}
	for name, change := range map[string]func(*config.Server){
		"name":                func(s *config.Server) { s.Name = "x" },
		"command":             func(s *config.Server) { s.Command = "x" },
		"builtin":             func(s *config.Server) { s.Builtin, s.Command = "run", "" },
		"url":                 func(s *config.Server) { s.URL, s.Command = "run", "" },
		"folder":              func(s *config.Server) { s.Dir = "/x" },
		"account":             func(s *config.Server) { s.OAuth = &config.OAuth{Account: "work"} },
		"transport":           func(s *config.Server) { s.Transport = "" },
		"an argument":         func(s *config.Server) { s.Args = []string{"a", "x"} },
		"arguments joined":    func(s *config.Server) { s.Args = []string{"ab"} },
		"order of arguments":  func(s *config.Server) { s.Args = []string{"b", "a"} },
		"a variable":          func(s *config.Server) { s.Env = s.Env[:1] },
		"a variable's name":   func(s *config.Server) { s.Env = []config.Variable{{Name: "K", Value: "v"}, {Name: "M", Value: "w"}} },
		"a variable's value":  func(s *config.Server) { s.Env = []config.Variable{{Name: "K", Value: "v"}, {Name: "L", Value: "x"}} },
		"values that swapped": func(s *config.Server) { s.Env = []config.Variable{{Name: "K", Value: "w"}, {Name: "L", Value: "v"}} },
	} {
		server := base
		change(&server)
		got := definitionKey("t", server)
		if other, ok := seen[got]; ok {
			t.Errorf("a server with another %s has the key of %s", name, other)
		}
		seen[got] = name
	}
	same := base
	same.Env = []config.Variable{base.Env[1], base.Env[0]}
	same.Filter, same.KeepDetached, same.Timeouts.Call = toolbox.NewFilter([]string{"a"}), true, 5
	same.Headers = []config.Variable{{Name: "Authorization", Value: "renewed"}}
	same.OAuth = &config.OAuth{ClientID: "c", CallbackPort: 1}
	if definitionKey("t", same) != key {
		t.Error("what does not make another server changes the key")
	}
}
