//go:build unix

package idp

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/test/mcptest"
	"github.com/mcp-workbench/mcp-workbench/test/oauthtest"
	"github.com/mcp-workbench/mcp-workbench/test/released"
)

// home is a user of the workbench with one server, "remote" in the toolbox "work".
type home struct {
	t       *testing.T
	folder  string
	browser string // of $BROWSER
}

func newHome(t *testing.T, remote *server, oauth map[string]any) *home {
	t.Helper()
	entry := map[string]any{"url": remote.URL()}
	if oauth != nil {
		entry["oauth"] = oauth
	}
	text, err := json.Marshal(map[string]any{"toolboxes": map[string]any{"work": map[string]any{"mcpServers": map[string]any{"remote": entry}}}})
	if err != nil {
		t.Fatal(err)
	}
	h := &home{t: t, folder: t.TempDir(), browser: strings.Join(append([]string{mcptest.Self()}, mcptest.RoleArgs(browserRole)...), " ")}
	if err := os.WriteFile(filepath.Join(h.folder, "workbench-config.json"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	return h
}

// command is the workbench with arguments, as the user of this home.
func (h *home) command(arguments ...string) *exec.Cmd {
	cmd := exec.CommandContext(h.t.Context(), released.Binary(h.t), arguments...)
	cmd.Dir = h.folder
	cmd.Env = append(os.Environ(), "HOME="+h.folder, "XDG_STATE_HOME="+h.folder, "XDG_CONFIG_HOME="+h.folder,
		"XDG_RUNTIME_DIR="+h.folder, "WORKBENCH_CONFIG="+filepath.Join(h.folder, "workbench-config.json"), "BROWSER="+h.browser)
	return cmd
}

// run runs the workbench, and returns what it wrote.
func (h *home) run(arguments ...string) (stdout, stderr string, err error) {
	cmd := h.command(arguments...)
	var out, problem bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problem
	err = cmd.Run()
	return out.String(), problem.String(), err
}

// must is run for what has to succeed.
func (h *home) must(arguments ...string) string {
	h.t.Helper()
	stdout, stderr, err := h.run(arguments...)
	if err != nil {
		h.t.Fatalf("mcp-workbench %s: %v\n%s%s", strings.Join(arguments, " "), err, stdout, stderr)
	}
	return stdout + stderr
}

func (h *home) call() string {
	h.t.Helper()
	return h.must("call", "work/remote/echo", `{"text":"hello"}`)
}

func TestLoginCallLogout(t *testing.T) {
	idp := startIDP(t, map[string]any{})
	remote := idp.protect(t, oauthtest.Options{}, idp.introspect(t))
	h := newHome(t, remote, nil)
	if stdout, stderr, err := h.run("call", "work/remote/echo"); err == nil || !strings.Contains(stdout+stderr, "mcp-workbench login work/remote") {
		t.Errorf("a call before the login: %v\n%s%s", err, stdout, stderr)
	}
	h.must("login", "work/remote")
	if answer := h.call(); !strings.Contains(answer, "hello") {
		t.Errorf("the call answered %q", answer)
	}
	if n := idp.count("registration_create.success", ""); n != 1 {
		t.Errorf("%d registrations", n)
	}
	if status := h.must("auth", "status"); !strings.Contains(status, idp.issuer) {
		t.Errorf("auth status does not name the issuer: %s", status)
	}
	access := remote.Last(oauthtest.MCP).Access
	h.must("logout", "work/remote")
	if remote.Last(oauthtest.MCP).Access != access {
		t.Errorf("the logout called the server")
	}
	if idp.count("grant.revoked", "") == 0 {
		t.Errorf("the logout revoked nothing at the provider: %+v", idp.events)
	}
	if _, _, err := h.run("call", "work/remote/echo"); err == nil {
		t.Error("a call after the logout succeeded")
	}
}

func TestTokenOfTheRightAudience(t *testing.T) {
	idp := startIDP(t, map[string]any{"format": "jwt"})
	remote := idp.protect(t, oauthtest.Options{}, idp.signed(t))
	h := newHome(t, remote, nil)
	h.must("login", "work/remote")
	h.call()
	if got := remote.calls(); !slices.Equal(got, []int{200}) {
		t.Errorf("calls = %v: the audience of the token is not the server", got)
	}
}

func TestRefreshWithRotation(t *testing.T) {
	idp := startIDP(t, map[string]any{})
	remote := idp.protect(t, oauthtest.Options{}, idp.introspect(t))
	h := newHome(t, remote, nil)
	h.must("login", "work/remote")
	const calls = 3
	for range calls {
		remote.expire()
		if answer := h.call(); !strings.Contains(answer, "hello") {
			t.Errorf("the call answered %q", answer)
		}
	}
	// The first call is with a token that the server has not seen yet.
	if good, bad := idp.count("grant.success", "refresh_token"), idp.count("grant.error", "refresh_token"); good != calls-1 || bad != 0 {
		t.Errorf("%d refreshes, and %d failed: %+v", good, bad, idp.events)
	}
}

func TestReuseByAnotherEndsTheLoginInWords(t *testing.T) {
	idp := startIDP(t, map[string]any{})
	remote := idp.protect(t, oauthtest.Options{}, idp.introspect(t))
	h := newHome(t, remote, nil)
	h.must("login", "work/remote")
	h.call()
	stolen := h.copy()
	remote.expire()
	h.call() // refreshes
	if _, _, err := stolen.run("call", "work/remote/echo"); err == nil {
		t.Error("a refresh token was used twice, and the provider allowed it")
	}
	_, stderr, err := h.run("call", "work/remote/echo")
	if err == nil || !strings.Contains(stderr, "mcp-workbench login work/remote") {
		t.Errorf("a call after the reuse: %v\n%s", err, stderr)
	}
	h.must("login", "work/remote")
	h.call()
}

// copy is another home with the same files.
func (h *home) copy() *home {
	h.t.Helper()
	other := &home{t: h.t, folder: h.t.TempDir(), browser: h.browser}
	if err := os.CopyFS(filepath.Join(other.folder, "copy"), os.DirFS(h.folder)); err != nil {
		h.t.Fatal(err)
	}
	other.folder = filepath.Join(other.folder, "copy")
	if err := filepath.WalkDir(other.folder, func(path string, entry os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			return os.Chmod(path, 0o700)
		}
		return os.Chmod(path, 0o600)
	}); err != nil {
		h.t.Fatal(err)
	}
	return other
}

func TestDPoP(t *testing.T) {
	for name, nonces := range map[string]bool{"without nonces": false, "with nonces": true} {
		t.Run(name, func(t *testing.T) {
			idp := startIDP(t, map[string]any{"dpop": true, "nonces": nonces})
			remote := idp.protect(t, oauthtest.Options{TokenOptions: oauthtest.TokenOptions{Nonces: nonces}}, idp.introspect(t))
			h := newHome(t, remote, nil)
			h.must("login", "work/remote")
			h.call()
			remote.expire()
			h.call()
			if event := remote.Last(oauthtest.MCP); event.Auth != "DPoP" || event.Status != 200 {
				t.Errorf("the last request had the scheme %q and got %d", event.Auth, event.Status)
			}
			if n := idp.count("grant.success", "refresh_token"); n == 0 {
				t.Error("no refresh with a proof")
			}
		})
	}
}

func TestLoginInChromium(t *testing.T) {
	idp := startIDP(t, map[string]any{})
	chromium := needChromium(t)
	node, err := installed()
	if err != nil {
		t.Fatal(err)
	}
	remote := idp.protect(t, oauthtest.Options{}, idp.introspect(t))
	h := newHome(t, remote, nil)
	script, err := filepath.Abs("browse.mjs")
	if err != nil {
		t.Fatal(err)
	}
	seen := filepath.Join(h.folder, "seen")
	h.browser = strings.Join([]string{node, script, chromium, seen}, " ")
	h.must("login", "work/remote")
	h.call()
	// The page may be shown after the login has ended.
	if err := mcptest.Eventually(startTime, func() error {
		_, err := os.Stat(seen)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(seen); err != nil || !strings.Contains(string(text), "close") {
		t.Errorf("the last page says %q (%v)", text, err)
	}
}

// needChromium finds a browser. Without one the test is skipped, but on CI it fails.
func needChromium(t *testing.T) string {
	t.Helper()
	for _, name := range []string{os.Getenv("CHROMIUM"), "chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	if os.Getenv("CI") != "" {
		t.Fatal("a browser is needed on CI")
	}
	t.Skip("skipped, there is no browser; on Debian 'apt-get install chromium' brings one")
	return ""
}
