//go:build unix

package team

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/test/mcptest"
	"github.com/mcp-workbench/mcp-workbench/test/oauthtest"
	"github.com/mcp-workbench/mcp-workbench/test/released"
)

// This file runs the workbench of a team.

// team is a workbench for people. Developers have the toolboxes "dev" and "team", operators have "ops" and "team".
type team struct {
	t      *testing.T
	folder string
	base   string // where it serves
	canary *canary
	remote *oauthtest.Provider // the server "mail", where each person has an account
	stderr *released.Output

	mu     sync.Mutex
	tokens map[string]bool // of people: nothing but the workbench may see one
}

// groups are those of people, as tokens have them.
var groups = map[string][]string{"alice": {"developers"}, "adam": {"developers"}, "bob": {"operators"}, "carol": {"visitors"}}

// toolboxesOf is the table of the configuration.
var toolboxesOf = map[string][]string{"developers": {"dev", "team"}, "operators": {"ops", "team"}}

// newTeam finds a place for a workbench, which run starts.
func newTeam(t *testing.T) *team {
	t.Helper()
	address, err := mcptest.FreeAddress()
	if err != nil {
		t.Fatal(err)
	}
	return &team{t: t, folder: t.TempDir(), base: "http://" + address, tokens: make(map[string]bool)}
}

// run starts the workbench with settings of http.oauth and further ones of http.
func (m *team) run(oauth, http map[string]any) {
	m.t.Helper()
	m.configure(oauth, http)
	cmd := m.command("serve", "--listen", strings.TrimPrefix(m.base, "http://"))
	m.t.Cleanup(m.noTokenTravelled) // when it has ended
	m.stderr = released.Start(m.t, cmd).Stderr
}

// configure writes the configuration.
func (m *team) configure(oauth, http map[string]any) {
	m.t.Helper()
	m.canary = startCanary(m.t)
	m.remote = oauthtest.Start(m.t, oauthtest.Options{})
	settings := map[string]any{
		"resource": m.base + "/mcp", "claim": "groups", "toolboxes": toolboxesOf, "clientId": "workbench", "clientSecret": "secret-of-the-page",
	}
	for name, value := range oauth {
		settings[name] = value
	}
	if http == nil {
		http = make(map[string]any)
	}
	http["oauth"] = settings
	counter := func(members map[string]any) map[string]any {
		entry := map[string]any{"command": mcptest.Self(), "args": mcptest.RoleArgs(counterRole)}
		for name, value := range members {
			entry[name] = value
		}
		return entry
	}
	m.write(map[string]any{"http": http, "autoOpen": true, "toolboxes": map[string]any{
		"dev": map[string]any{"description": "Builds", "mcpServers": map[string]any{"builds": counter(nil)}},
		"ops": map[string]any{"description": "Alerts", "mcpServers": map[string]any{"alerts": counter(nil)}},
		"team": map[string]any{"description": "For all", "mcpServers": map[string]any{
			"shared": counter(map[string]any{"instances": "shared"}),
			"own":    counter(nil),
			"canary": map[string]any{"url": m.canary.url + "/mcp"},
			"mail":   map[string]any{"url": m.remote.URL(), "oauth": map[string]any{"accounts": "per-person"}},
		}},
	}})
}

func (m *team) write(configuration any) {
	m.t.Helper()
	text, err := json.MarshalIndent(configuration, "", " ")
	if err == nil {
		err = os.WriteFile(m.configuration(), text, 0o600)
	}
	if err != nil {
		m.t.Fatal(err)
	}
}

func (m *team) configuration() string { return filepath.Join(m.folder, "workbench-config.json") }

// command is the workbench with arguments.
func (m *team) command(arguments ...string) *exec.Cmd {
	cmd := exec.Command(released.Binary(m.t), append(arguments, "--config", m.configuration())...)
	cmd.Dir = m.folder
	cmd.Env = append(os.Environ(), "HOME="+m.folder, "XDG_STATE_HOME="+m.folder, "XDG_CONFIG_HOME="+m.folder, "XDG_RUNTIME_DIR="+m.folder)
	return cmd
}

// knowToken notes a token that a client has.
func (m *team) knowToken(token string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(token) > 8 {
		m.tokens[token] = true
	}
	return token
}

// noTokenTravelled looks for the tokens of people wherever they may not be: at servers, in logs and in files.
func (m *team) noTokenTravelled() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.stderr == nil {
		return // it did not start
	}
	hashes := make(map[string]bool)
	seen := map[string]string{"a server": m.canary.recorded(), "the log": m.stderr.String()}
	if strings.Contains(seen["a server"], "Authorization") {
		m.t.Errorf("a server without a login was sent credentials: %s", seen["a server"])
	}
	err := filepath.WalkDir(m.folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil // the workbench ends
		}
		seen[path] = string(text)
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		m.t.Error(err)
	}
	for token := range m.tokens {
		hashes[oauthtest.Hash(token)] = true
		for place, text := range seen {
			if strings.Contains(text, token) {
				m.t.Errorf("a token of a person is in %s", place)
			}
		}
	}
	for _, event := range m.remote.Events() {
		if hashes[event.Access] {
			m.t.Errorf("a token of a person was sent to another server: %+v", event)
		}
	}
}

// request is one request to the workbench.
type request struct {
	method  string // POST
	path    string // /mcp
	session string
	token   string
	header  http.Header
	message string
	from    string // address of the client: 127.0.0.1
}

// reply is what the workbench answers.
type reply struct {
	status    int
	challenge string
	session   string
	header    http.Header
	body      string
}

const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"team","version":"1"}}}`

// send sends a request and reads the whole answer.
func (m *team) send(sent request) reply {
	m.t.Helper()
	if sent.method == "" {
		sent.method = http.MethodPost
	}
	if sent.path == "" {
		sent.path = "/mcp"
	}
	to, err := http.NewRequestWithContext(m.t.Context(), sent.method, m.base+sent.path, strings.NewReader(sent.message))
	if err != nil {
		m.t.Fatal(err)
	}
	to.Header = http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}
	if sent.token != "" {
		to.Header.Set("Authorization", "Bearer "+m.knowToken(sent.token))
	}
	if sent.session != "" {
		to.Header.Set("Mcp-Session-Id", sent.session)
	}
	for name, values := range sent.header {
		to.Header[name] = values
	}
	transport := &http.Transport{DisableKeepAlives: true}
	if sent.from != "" {
		transport.DialContext = (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(sent.from)}}).DialContext
	}
	response, err := (&http.Client{Transport: transport, Timeout: patience}).Do(to)
	if err != nil {
		m.t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		m.t.Fatal(err)
	}
	return reply{response.StatusCode, response.Header.Get("WWW-Authenticate"), response.Header.Get("Mcp-Session-Id"), response.Header, string(bytes.TrimSpace(body))}
}
