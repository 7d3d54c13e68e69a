package clients

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/test/mcptest"
	"github.com/mcp-workbench/mcp-workbench/test/processtable"
	"github.com/mcp-workbench/mcp-workbench/test/released"
)

// This file is the machine of a user: a home folder with the workbench and a client in it.

// bench has one client and one workbench, with three toolboxes below it. Only the first has
// what the model is asked for; the server of the last never gets past its start.
type bench struct {
	t       *testing.T
	home    string
	project string // where the client is started
	bin     string // where the workbench is, and what was recorded
	servers string // where the fake servers are, with their logs
	model   *model
	outside *outside

	revision atomic.Pointer[string] // that was spoken last over HTTP
}

// What the server of notes has.
const (
	note     = "note:///first"
	noted    = "Buy apples."
	prompted = "Summarize my notes, please."
)

const (
	calculator = `{"tools": [{"name":"add","description":"Adds two numbers","inputSchema":{"type":"object","properties":{"a":{"type":"number"},"b":{"type":"number"}},"required":["a","b"]},"annotations":{"readOnlyHint":true}}],
 "calls": {"add": [{"result": {"content":[{"type":"text","text":"` + sum + `"}]}}]}}`
	notes = `{"tools": [{"name":"note","description":"Keeps a note","inputSchema":{"type":"object"}}],
 "capabilities": {"tools":{},"prompts":{},"resources":{}},
 "on": {"prompts/list": [{"result": {"prompts":[{"name":"summarize","description":"Summarizes the notes"}]}}],
  "prompts/get": [{"result": {"messages":[{"role":"user","content":{"type":"text","text":"` + prompted + `"}}]}}],
  "resources/list": [{"result": {"resources":[{"uri":"` + note + `","name":"first note"}]}}],
  "resources/templates/list": [{"result": {"resourceTemplates":[]}}],
  "resources/read": [{"result": {"contents":[{"uri":"` + note + `","text":"` + noted + `"}]}}]}}`
	stuck = `{"on": {"initialize": [{"wait": "forever"}], "server/discover": [{"wait": "forever"}]}}`
)

// newBench makes the home folder. The settings are further keys of the configuration.
func newBench(t *testing.T, settings object) *bench {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{
		t: t, home: filepath.Join(dir, "home"), project: filepath.Join(dir, "project"), bin: filepath.Join(dir, "bin"),
		servers: filepath.Join(dir, "servers"), model: newModel(t), outside: newOutside(t),
	}
	for _, folder := range []string{b.home, b.project, b.bin, b.servers, filepath.Join(dir, "tmp"), filepath.Join(dir, "run")} {
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(b.nothingIsLeft)
	program, err := os.ReadFile(released.Binary(t))
	if err == nil {
		err = os.WriteFile(b.workbench(), program, 0o700)
	}
	if err != nil {
		t.Fatal(err)
	}
	configuration := object{"toolboxes": object{
		"math":  object{"description": "Calculates with numbers", "mcpServers": object{"calculator": b.server("calculator", calculator)}},
		"notes": object{"description": "Keeps notes", "mcpServers": object{"notes": b.server("notes", notes)}},
		// Whoever waits for this one waits longer than the test does.
		"stuck": object{"description": "Is of no use here", "timeouts": object{"connect": "30m"}, "mcpServers": object{"stuck": b.server("stuck", stuck)}},
	}}
	for key, value := range settings {
		configuration[key] = value
	}
	b.write(".config/mcp-workbench/workbench-config.json", configuration)
	return b
}

// server configures a fake that does as the spec says.
func (b *bench) server(name, spec string) object {
	b.t.Helper()
	file := filepath.Join(b.servers, name+".json")
	if err := os.WriteFile(file, []byte(spec), 0o600); err != nil {
		b.t.Fatal(err)
	}
	return object{"command": mcptest.Self(), "args": mcptest.RoleArgs(mcptest.FakeServer, file)}
}

// write puts a file into the home folder: text as it is, all else as JSON.
func (b *bench) write(name string, content any) {
	b.t.Helper()
	path := filepath.Join(b.home, name)
	text, ok := content.(string)
	if !ok {
		data, err := json.MarshalIndent(content, "", "  ")
		if err != nil {
			b.t.Fatal(err)
		}
		text = string(data)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		b.t.Fatal(err)
	}
}

// connect puts the workbench into the client's configuration as a user does it, and then the
// tap in the workbench's place.
func (b *bench) connect(client string) {
	b.t.Helper()
	if client != "" {
		b.run(nil, b.workbench(), "connect", client, "--yes")
	}
	if err := errors.Join(os.Rename(b.workbench(), filepath.Join(b.bin, realName)), os.Symlink(mcptest.Self(), b.workbench())); err != nil {
		b.t.Fatal(err)
	}
}

// undo takes the workbench out of the client's configuration again, which the client may have written
// anew in the meantime. The program is the workbench's, and the mark is a part of its entry.
func (b *bench) undo(client, program, mark string) {
	b.t.Helper()
	var listed struct {
		Clients []struct{ ID, File string }
	}
	if err := json.Unmarshal([]byte(b.run(nil, program, "connect", "--json")), &listed); err != nil {
		b.t.Fatal(err)
	}
	found := listed.Clients
	at := slices.IndexFunc(found, func(c struct{ ID, File string }) bool { return c.ID == client })
	if at < 0 {
		b.t.Fatalf("connect does not find %s any more", client)
	}
	contains := func(part string) bool {
		text, err := os.ReadFile(found[at].File)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			b.t.Fatal(err)
		}
		return bytes.Contains(text, []byte(part))
	}
	if !contains(mark) {
		b.t.Errorf("the client took the workbench out of %s", found[at].File)
	}
	if contains(tokenPrefix) {
		b.t.Errorf("a token is in %s", found[at].File)
	}
	if said := b.run(nil, program, "connect", client, "--undo", "--yes"); contains(mark) {
		b.t.Errorf("after --undo the workbench is still in %s:\n%s", found[at].File, said)
	}
}

// workbench is the path that the client has: the program's, and later the tap's.
func (b *bench) workbench() string { return filepath.Join(b.bin, tapName) }

// env is the whole environment of a client: nothing of who runs the tests is in it, and what
// is not on this machine is asked of a proxy that refuses it.
func (b *bench) env(more []string) []string {
	parent := filepath.Dir(b.home)
	path := filepath.Dir(node(b.t)) + string(os.PathListSeparator) + os.Getenv("PATH")
	return append([]string{
		b.mark(), "PATH=" + path, "TMPDIR=" + filepath.Join(parent, "tmp"), "XDG_RUNTIME_DIR=" + filepath.Join(parent, "run"),
		"LANG=C.UTF-8", "TERM=dumb", "NO_COLOR=1", "CI=1",
		"HTTP_PROXY=" + b.outside.address, "HTTPS_PROXY=" + b.outside.address, "NO_PROXY=127.0.0.1,localhost", "NODE_USE_ENV_PROXY=1",
		"http_proxy=" + b.outside.address, "https_proxy=" + b.outside.address, "no_proxy=127.0.0.1,localhost",
	}, more...)
}

// mark is an entry in the environment of all that a client starts.
func (b *bench) mark() string { return "HOME=" + b.home }

// run runs a program to its end, which has to be a good one, and returns what it printed.
func (b *bench) run(env []string, command ...string) string {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), clientTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = b.project, b.env(env), leftTime
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			err = errors.New("it did not end by itself")
		}
		b.t.Fatalf("%s: %v\n%s\n%s\n%s", strings.Join(command, " "), err, stdout.String(), stderr.String(), b.explain())
	}
	return stdout.String()
}

// explain says what happened around a client that failed.
func (b *bench) explain() string {
	var text strings.Builder
	for _, s := range sessions(b.t, b.bin) {
		text.WriteString("a session:\n")
		for _, m := range s {
			short := func(raw json.RawMessage) string { return string(raw[:min(len(raw), 300)]) }
			text.WriteString("  " + m.From + " " + string(m.ID) + " " + m.Method + " " + short(m.Params) + short(m.Result) + short(m.Error) + "\n")
		}
	}
	b.model.mu.Lock()
	defer b.model.mu.Unlock()
	for _, c := range b.model.asked {
		text.WriteString("the model was asked, with tools " + strings.Join(strings.Fields(strings.Trim(encodeTools(c.tools), "[]")), " ") + "\n")
		for _, result := range c.results {
			text.WriteString("  result " + result[:min(len(result), 300)] + "\n")
		}
	}
	text.WriteString("the model did not know: " + strings.Join(b.model.unknown, "\n") + "\n")
	text.WriteString("asked of others: " + strings.Join(b.outside.all(), " ") + "\n")
	return text.String()
}

func encodeTools(tools []tool) string {
	var names []string
	for _, t := range tools {
		names = append(names, t.String())
	}
	return strings.Join(names, " ")
}

// log returns the lines of a fake server; none if it was never started.
func (b *bench) log(server string) []string {
	b.t.Helper()
	data, err := os.ReadFile(filepath.Join(b.servers, server+".log"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		b.t.Fatal(err)
	}
	return strings.Split(string(data), "\n")
}

// starts counts how often a fake server was started.
func (b *bench) starts(server string) int {
	b.t.Helper()
	n := 0
	for _, line := range b.log(server) {
		if strings.HasPrefix(line, "start ") {
			n++
		}
	}
	return n
}

// nothingIsLeft waits until all that the client started has ended.
func (b *bench) nothingIsLeft() {
	_ = mcptest.Eventually(leftTime, func() error {
		if left := processtable.Marked(b.mark()); len(left) > 0 {
			return fmt.Errorf("%d processes are left", len(left))
		}
		return nil
	})
	for _, p := range processtable.Marked(b.mark()) {
		b.t.Errorf("a process is left: %v", p)
		p.Kill()
	}
}

// outside stands for all other machines. It refuses everything, and remembers who was asked for.
type outside struct {
	address string

	mu    sync.Mutex
	hosts []string
}

func newOutside(t *testing.T) *outside {
	t.Helper()
	o := &outside{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		o.mu.Lock()
		o.hosts = append(o.hosts, r.Host)
		o.mu.Unlock()
		http.Error(w, "there is nothing outside of this machine", http.StatusForbidden)
	}))
	t.Cleanup(server.Close)
	o.address = server.URL
	return o
}

// all returns the names of the machines, each once.
func (o *outside) all() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Compact(slices.Sorted(slices.Values(o.hosts)))
}
