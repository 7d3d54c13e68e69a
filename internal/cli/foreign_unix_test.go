//go:build unix

package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/mcp-workbench/internal/servers/process"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/sandbox"
	"github.com/mcp-workbench/mcp-workbench/test/mcptest"
)

// programVariable makes the test binary the program. It is not a role, since the program starts
// itself again with arguments of its own.
const programVariable = "MCP_WORKBENCH_TEST_PROGRAM"

func TestMain(m *testing.M) {
	mcptest.PlayRole(nil)
	// Its guard and its built-in servers do not get the variable.
	if os.Getenv(programVariable) != "" || os.Args[0] == process.GuardName || os.Args[0] == sandbox.LauncherName || len(os.Args) > 1 && os.Args[1] == "builtin" {
		os.Exit(Main(os.Args))
	}
	os.Exit(m.Run())
}

// hostile is what others may put into every text: sequences of terminals in both forms, marks of direction, and what cannot
// be seen. The letters around it show that a text was written at all.
const hostile = "Zq\x1b[31m\x1b]0;title\x07\u009b2J\u0085\u202e\u2066\u200f\u200b\ufeff\U000e0041\x7f\x08qZ"

// visible is how it reads at least, where it is not escaped.
const visible = "Zq"

// hostileRun is one run of a command among hostile texts.
type hostileRun struct {
	args  []string
	shows bool   // it has to write some of the text
	input string // stdin
	mcp   bool   // stdout is for a client, and passes as it is
}

// hostileRuns are runs of all commands. Every command that is added needs its own, or a reason why it shows no text of others.
// $BOX, $GOOD, $BAD and $TOOL stand for names in the configuration.
var hostileRuns = map[string][]hostileRun{
	"":           {{args: nil, input: ""}, {args: []string{"--toolbox", hostile}, shows: true}, {args: []string{hostile}, shows: true}},
	"init":       {{args: []string{"--dry-run", "--from", "client.json"}, shows: true}, {args: []string{"--json", "--from", "client.json", "--output", "new.json"}}, {args: []string{"--from", hostile}, shows: true}},
	"doctor":     {{args: nil, shows: true}, {args: []string{"--json"}, shows: true}, {args: []string{hostile}, shows: true}},
	"connect":    {{args: nil}, {args: []string{"--json"}}, {args: []string{hostile}, shows: true}, {args: []string{"claude-code", "--file", hostile + ".json", "--name", hostile, "--yes"}, shows: true}},
	"disconnect": {{args: []string{"claude-code", "--file", hostile + ".json", "--name", hostile, "--yes"}, shows: true}, {args: []string{hostile}, shows: true}},
	"version":    {{args: nil}, {args: []string{"--json"}}, {args: []string{hostile}, shows: true}},
	"try":        {{args: nil, shows: true}, {args: []string{hostile + "x"}, shows: true}},
	"list":       {{args: nil, shows: true}, {args: []string{"--json"}, shows: true}},
	"add": {
		{args: []string{hostile, "--toolbox", "$BOX", "--dry-run", "--", "echo", hostile}, shows: true},
		{args: []string{"--toolbox", "$BOX", "--dry-run", "-"}, input: `{"mcpServers": {"a\u001b[31m\u202eZq": {"command": "x\u009b"}}}`, shows: true},
	},
	"enable":   {{args: []string{"$GOOD"}, shows: true}, {args: []string{hostile}, shows: true}},
	"disable":  {{args: []string{"--dry-run", "$GOOD"}, shows: true}, {args: []string{hostile}, shows: true}},
	"remove":   {{args: []string{"--dry-run", "$GOOD"}, shows: true}, {args: []string{hostile}, shows: true}},
	"describe": {{args: []string{"--dry-run", "$BOX", "x" + hostile}, shows: true}, {args: []string{hostile, "x"}, shows: true}, {args: []string{"$GOOD", "x"}, shows: true}},
	"rename": {
		{args: []string{"--dry-run", "$GOOD", "x" + hostile}, shows: true},
		{args: []string{"--dry-run", "$BOX", "x" + hostile}, shows: true},
		{args: []string{hostile, "x"}, shows: true},
		{args: []string{"$GOOD", "remote" + hostile}, shows: true},
	},
	"move":     {{args: []string{"--dry-run", "$GOOD", "x" + hostile}, shows: true}, {args: []string{hostile, "x"}, shows: true}, {args: []string{"$BOX", "x"}, shows: true}},
	"validate": {{args: nil, shows: true}, {args: []string{"broken.json"}, shows: true}, {args: []string{hostile}, shows: true}},
	"schema":   {{}},
	"trust": {
		{args: nil, shows: true},
		{args: []string{"--json"}, shows: true},
		{args: []string{"--yes"}, shows: true},
		{args: []string{"--list"}, shows: true},
		{args: []string{"--list", "--json"}, shows: true},
		{args: []string{"--revoke"}, shows: true},
		{args: []string{"--revoke", hostile}, shows: true},
	},
	"audit":        {{args: nil}, {args: []string{"--json"}}},
	"audit verify": {{args: nil}, {args: []string{hostile}}, {args: []string{"--public-key", hostile}}},
	"audit export": {{args: []string{"--format", "ocsf", hostile}, shows: true}, {args: []string{"--format", hostile}}},
	"lock":         {{args: nil, shows: true}, {args: []string{"--accept", hostile}, shows: true}},
	"policy":       {{args: nil}},
	"policy explain": {
		{args: []string{"--alone", "$TOOL"}, shows: true},
		{args: []string{"--alone", "--json", "$TOOL"}, shows: true},
		{args: []string{"--alone", hostile}, shows: true},
		{args: []string{"--alone", "$TOOL", hostile}, shows: true},
		{args: []string{"--alone", "--caller", "token:" + hostile, "$TOOL"}},
		{args: []string{"--caller", hostile, "$TOOL"}},
	},
	"policy test":    {{args: []string{"--alone", "cases.json"}, shows: true}, {args: []string{"--alone", "--json", "cases.json"}, shows: true}, {args: []string{hostile}, shows: true}},
	"policy suggest": {{args: []string{"--alone"}, shows: true}},
	"policy accept":  {{args: nil}, {args: []string{"--json"}}, {args: []string{hostile}, shows: true}, {args: []string{"--all"}}},
	"tools": {
		{args: []string{"--alone"}, shows: true}, {args: []string{"--alone", "--json"}, shows: true}, {args: []string{"--alone", hostile}, shows: true},
	},
	"show": {
		{args: []string{"--alone", "$TOOL"}, shows: true},
		{args: []string{"--alone", "$BOX"}, shows: true},
		{args: []string{"--alone", "--json", "$TOOL"}, shows: true},
		{args: []string{"--alone", hostile}, shows: true},
	},
	"find": {{args: []string{"--alone", "Zq"}, shows: true}, {args: []string{"--alone", "--json", "Zq"}, shows: true}},
	// The text of a result is data: it goes to a pipe as it is, and is cleaned on a terminal.
	"call": {
		{args: []string{"--alone", "--json", "$TOOL"}, shows: true},
		{args: []string{"--alone", "$TOOL", hostile}, shows: true},
		{args: []string{"--alone", hostile}, shows: true},
		{args: []string{"--alone", "$BAD/none"}, shows: true},
		{args: []string{"--alone", "$GOOD/fails" + hostile}, shows: true},
	},
	"login": {
		{args: []string{"$REMOTE"}, shows: true},
		{args: []string{hostile}, shows: true},
		{args: []string{"$GOOD"}, shows: true},
		{args: []string{"$REMOTE", "--account", hostile}},
	},
	"logout":      {{args: []string{"$REMOTE"}, shows: true}, {args: []string{hostile}, shows: true}, {args: []string{"http://" + hostile}}},
	"auth":        {{}},
	"auth status": {{args: nil, shows: true}, {args: []string{"--json"}, shows: true}},

	"tokens":        {{args: nil, shows: true}, {args: []string{hostile}, shows: true}},
	"metrics":       {{args: nil, shows: true}, {args: []string{"--openmetrics"}, shows: true}},
	"ps":            {{args: nil, shows: true}, {args: []string{"--json"}, shows: true}},
	"top":           {{args: nil}},
	"ui":            {{args: []string{"--no-open", "--assets", hostile}, shows: true}, {args: []string{hostile}, shows: true}},
	"changes":       {{args: nil}, {args: []string{"--json"}}, {args: []string{hostile}, shows: true}, {args: []string{"--accept", hostile}}},
	"approve":       {{args: []string{"--json"}}, {args: []string{hostile, hostile}}},
	"cancel":        {{args: nil}, {args: []string{"--json"}}, {args: []string{hostile}, shows: true}},
	"history":       {{args: nil, shows: true}, {args: []string{"--json"}, shows: true}, {args: []string{"--errors", "--pid", hostile}}},
	"logs":          {{args: []string{"$GOOD"}, shows: true}, {args: []string{"$GOOD", "--json"}, shows: true}, {args: []string{hostile + "x"}, shows: true}},
	"restart":       {{args: []string{"$GOOD"}, shows: true}, {args: []string{"$BAD"}, shows: true}, {args: []string{hostile + "x"}, shows: true}},
	"serve":         {{args: []string{"--no-auth", "--listen", hostile}, shows: true}, {args: []string{"--no-auth", "--listen", "127.0.0.1:0", "--toolbox", hostile}, shows: true}},
	"token":         {{}},
	"token add":     {{args: []string{"laptop", "--toolbox", "$BOX"}, shows: true}, {args: []string{hostile}}},
	"token list":    {{args: nil, shows: true}},
	"token remove":  {{args: []string{"laptop"}}, {args: []string{hostile}, shows: true}},
	"secret":        {{}},
	"secret set":    {{args: []string{hostile}}, {args: []string{"x", "--from-file", hostile}, shows: true}, {args: []string{"x"}, input: hostile}},
	"secret list":   {{args: nil}, {args: []string{"--json"}}},
	"secret remove": {{args: []string{hostile}}, {args: []string{"x"}}},
	"bridge":        {{args: []string{hostile}, shows: true}, {args: []string{"http://127.0.0.1:1/mcp", "--token-file", hostile}, shows: true}},
	"record":        {{args: []string{hostile + ".jsonl", "$GOOD"}, shows: true}, {args: []string{"other.jsonl", hostile}, shows: true}},
	"replay":        {{args: []string{hostile + ".jsonl"}, input: `{"jsonrpc":"2.0","id":7,"method":"Zq\u001b[31m\u202e"}` + "\n", mcp: true, shows: true}, {args: []string{hostile}, shows: true}},
	"builtin":       {{args: []string{hostile}, shows: true}},
	"uninstall":     {{args: []string{"--dry-run"}}, {args: []string{"--json", "--dry-run"}}, {args: []string{"--keep", hostile}}, {args: []string{hostile}, shows: true}},
	"explain":       {{args: []string{hostile}, shows: true}, {args: nil}},
	"completion":    {{args: []string{hostile}, shows: true}},
	"help":          {{args: []string{hostile}, shows: true}},

	"completion bash": {{}}, "completion zsh": {{}}, "completion fish": {{}}, "completion powershell": {{}},
	"daemon": {{args: []string{"--toolbox", hostile, "--project", hostile}}},
	"stop":   {{args: nil, shows: true}}, // at last
}

// Whatever others wrote, no command writes anything that makes a terminal do something or hides text.
func TestEveryCommandCleansForeignText(t *testing.T) {
	paths := commandPaths(newRoot(), "")
	for _, path := range paths {
		if _, ok := hostileRuns[path]; !ok {
			t.Errorf("'%s' has no run among hostile texts: add one to hostileRuns", path)
		}
	}
	for path := range hostileRuns {
		if !slices.Contains(paths, path) {
			t.Errorf("hostileRuns has '%s', which is no command", path)
		}
	}
	place := newHostilePlace(t)
	place.startWorkbench(t)
	slices.SortStableFunc(paths, func(a, b string) int { return order(a) - order(b) })
	for _, path := range paths {
		for _, run := range hostileRuns[path] {
			place.try(t, path, run)
		}
	}
	// In a repository the file is not trusted, which commands tell, too.
	if err := os.Mkdir(filepath.Join(place.project, ".git"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"", "doctor", "list", "lock", "tokens", "tools", "trust", "try", "validate"} {
		place.try(t, path, hostileRun{shows: true})
	}
}

// order lets the commands about a running workbench come while it runs, and the end of it last.
func order(path string) int {
	if path == "stop" {
		return 1
	}
	return 0
}

func commandPaths(cmd *cobra.Command, path string) []string {
	paths := []string{path}
	for _, sub := range cmd.Commands() {
		paths = append(paths, commandPaths(sub, strings.TrimSpace(path+" "+sub.Name()))...)
	}
	return paths
}

// hostilePlace is a project in which every text is hostile.
type hostilePlace struct {
	home, project string
	names         *strings.Replacer
}

func newHostilePlace(t *testing.T) *hostilePlace {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := &hostilePlace{home: home, project: filepath.Join(home, "project"+hostile)}
	box, good, bad, remote := "box"+hostile, "good"+hostile, "bad"+hostile, "remote"+hostile
	p.names = strings.NewReplacer("$BOX", box, "$REMOTE", box+"/"+remote, "$GOOD", box+"/"+good, "$BAD", box+"/"+bad, "$TOOL", box+"/"+good+"/tool")
	server := func(spec string) map[string]any {
		return map[string]any{"command": mcptest.Self(), "args": mcptest.RoleArgs(mcptest.FakeServer, filepath.Join(p.project, spec)), hostile: 1}
	}
	p.write(t, "workbench-config.json", map[string]any{
		hostile: 1,
		"policy": map[string]any{"rules": []any{
			map[string]any{"tools": "*", "then": "allow", "because": hostile},
			map[string]any{
				"tools": []string{"*", hostile}, "callers": []string{"token:ci"}, "because": hostile,
				"require": map[string]any{"p" + hostile: map[string]any{"oneOf": []string{hostile}}},
			},
		}},
		"toolboxes": map[string]any{box: map[string]any{"description": hostile, "mcpServers": map[string]any{
			good: server("good.json"), bad: server("bad.json"), remote: map[string]any{"url": hostileSite(t)},
		}}},
	})
	p.write(t, "broken.json", map[string]any{"toolboxes": map[string]any{box: map[string]any{"mcpServers": map[string]any{"x" + hostile: map[string]any{"command": 5, "url": hostile}}}}})
	p.write(t, "cases.json", map[string]any{"cases": []any{
		map[string]any{"tool": box + "/" + good + "/tool", "verdict": "deny", "caller": "token:ci", "history": []any{map[string]any{"tool": box + "/" + good + "/tool"}}},
		map[string]any{"tool": box + "/" + good + "/tool", "verdict": "deny"},
	}})
	p.write(t, "client.json", map[string]any{"mcpServers": map[string]any{"of a client " + hostile: map[string]any{"command": hostile, "args": []string{hostile}}}})
	text := map[string]any{"content": []any{map[string]any{"type": "text", "text": hostile}}}
	tool := func(name string) map[string]any {
		return map[string]any{
			"name": name, "title": hostile, "description": hostile, "annotations": map[string]any{"readOnlyHint": true},
			"inputSchema": map[string]any{"type": "object", "properties": map[string]any{"p" + hostile: map[string]any{"type": "string", "description": hostile}}},
		}
	}
	p.write(t, "good.json", map[string]any{
		"instructions": hostile, "start": []any{map[string]any{"stderr": hostile}},
		"tools": []any{tool("tool"), tool("fails" + hostile), tool("other" + hostile)},
		"on": map[string]any{"initialize": []any{map[string]any{"result": map[string]any{
			"protocolVersion": "2025-11-25", "capabilities": map[string]any{"tools": map[string]any{}},
			"serverInfo": map[string]any{"name": "n" + hostile, "title": hostile, "version": "v" + hostile}, "instructions": hostile,
		}}}},
		"calls": map[string]any{
			"tool":            []any{map[string]any{"progress": map[string]any{"progress": 1, "message": hostile}}, map[string]any{"result": text}},
			"fails" + hostile: []any{map[string]any{"error": map[string]any{"code": -32000, "message": hostile}}},
		},
	})
	exit := 3
	p.write(t, "bad.json", map[string]any{"start": []any{map[string]any{"stderr": hostile}, map[string]any{"exit": exit}}})
	return p
}

// hostileSite runs a remote server that wants a login, and refuses it with hostile texts. It returns its address.
func hostileSite(t *testing.T) string {
	t.Helper()
	var site *httptest.Server
	site = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer := map[string]any{}
		status := http.StatusOK
		switch r.URL.Path {
		case "/.well-known/oauth-protected-resource/mcp":
			answer = map[string]any{"resource": site.URL + "/mcp", "authorization_servers": []string{site.URL}, "scopes_supported": []string{hostile}}
		case "/.well-known/oauth-authorization-server":
			answer = map[string]any{
				"issuer": site.URL, "authorization_endpoint": site.URL + "/authorize", "token_endpoint": site.URL + "/token",
				"registration_endpoint": site.URL + "/register", "code_challenge_methods_supported": []string{"S256"},
				"response_types_supported": []string{"code"}, "service_documentation": hostile,
			}
		case "/register":
			status = http.StatusBadRequest
			answer = map[string]any{"error": "invalid_client_metadata", "error_description": hostile}
		default:
			w.Header().Set("Www-Authenticate", `Bearer error="Zq", error_description="Zq`+"\u202e"+`"`)
			status = http.StatusUnauthorized
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(answer)
	}))
	t.Cleanup(site.Close)
	return site.URL + "/mcp"
}

func (p *hostilePlace) write(t *testing.T, name string, value any) {
	t.Helper()
	data, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(p.project, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(p.project, name), data, 0o600); err != nil {
		t.Fatal(err)
	}
}

func (p *hostilePlace) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, os.Args[0], args...)
	cmd.Dir = p.project
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 30 * time.Second
	cmd.Env = []string{
		programVariable + "=1", "GORACE=atexit_sleep_ms=0", // else each exit takes a second
		"HOME=" + p.home, "PATH=" + os.Getenv("PATH"), "PWD=" + p.project,
		"XDG_RUNTIME_DIR=" + p.home, "XDG_STATE_HOME=" + filepath.Join(p.home, "state"), "XDG_CONFIG_HOME=" + filepath.Join(p.home, "config"),
	}
	return cmd
}

// startWorkbench runs one that a client has opened a toolbox of, until the end of the test.
func (p *hostilePlace) startWorkbench(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	cmd := p.command(ctx, "--log-level", "debug")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = stdin.Close()
		cancel()
		_ = cmd.Wait()
		checkClean(t, "the workbench's stderr", stderr.Bytes())
	})
	name, err := json.Marshal(p.names.Replace("$BOX"))
	if err != nil {
		t.Fatal(err)
	}
	box, server, _ := strings.Cut(p.names.Replace("$GOOD"), "/")
	call, err := json.Marshal(map[string]any{
		"tool": map[string]any{"toolbox": box, "server": server, "name": "none" + hostile}, "arguments": map[string]any{hostile: hostile},
	})
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintln(stdin, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c\u001b[31m\u202eZq","version":"\u009b1"}}}`)
	fmt.Fprintf(stdin, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"open_toolbox","arguments":{"toolbox":%s}}}`+"\n", name)
	lines := bufio.NewReader(stdout)
	for isAnswered := false; !isAnswered; {
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatalf("the workbench ended: %v: %s", err, stderr.String())
		}
		if strings.Contains(line, `"id":2`) {
			fmt.Fprintf(stdin, `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"use_tool","arguments":%s}}`+"\n", call)
		}
		isAnswered = strings.Contains(line, `"id":3`)
	}
	go func() { _, _ = io.Copy(io.Discard, lines) }() // until the workbench ends
}

// try runs a command, and looks at what it writes.
func (p *hostilePlace) try(t *testing.T, path string, run hostileRun) {
	t.Helper()
	args := strings.Fields(path)
	for _, arg := range run.args {
		args = append(args, p.names.Replace(arg))
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := p.command(ctx, args...)
	cmd.Stdin = strings.NewReader(run.input)
	var written bytes.Buffer
	cmd.Stdout, cmd.Stderr = &written, &written
	if run.mcp {
		cmd.Stdout = nil
	}
	_ = cmd.Run() // some end with an error, as they should
	output := written.Bytes()
	what := fmt.Sprintf("%s %q", path, run.args)
	if ctx.Err() != nil {
		t.Errorf("%s did not end", what)
	}
	checkClean(t, what, output)
	if run.shows && !bytes.Contains(output, []byte(visible)) {
		t.Errorf("%s shows nothing of the hostile text:\n%q", what, output)
	}
}

func checkClean(t *testing.T, what string, output []byte) {
	t.Helper()
	for line := range strings.Lines(string(output)) {
		if i := strings.IndexFunc(line, isHostile); i >= 0 || !utf8.ValidString(line) {
			t.Errorf("%s writes %q", what, line)
			return
		}
	}
}

func isHostile(r rune) bool {
	if strings.ContainsRune("\n\t\r", r) {
		return false
	}
	return r < ' ' || 0x7f <= r && r <= 0x9f || 0x200b <= r && r <= 0x200f || 0x202a <= r && r <= 0x202e ||
		0x2060 <= r && r <= 0x2069 || r == 0xfeff || 0xe0000 <= r && r <= 0xe007f || r == 0x061c
}
