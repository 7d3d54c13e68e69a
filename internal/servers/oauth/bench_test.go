package oauth

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/mcp-workbench/mcp-workbench/internal/access/credentials"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/downstream"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/test/oauthtest"
)

// processRole is the variable that makes the test binary one of many workbenches.
const processRole = "OAUTH_TEST_PROCESS"

func TestMain(m *testing.M) {
	if role := os.Getenv(processRole); role != "" {
		os.Exit(runProcess(role))
	}
	goleak.VerifyTestMain(m)
}

// bench is a workbench in front of a provider.
type bench struct {
	t        *testing.T
	provider *oauthtest.Provider
	folder   string
	store    *credentials.Store
	settings *config.OAuth
	environ  []string
	manager  *Manager
	*Credentials

	log     *lockedBuffer
	mu      sync.Mutex
	secrets []string
}

type lockedBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func newBench(t *testing.T, options oauthtest.Options, settings *config.OAuth) *bench {
	t.Helper()
	b := &bench{t: t, provider: oauthtest.Start(t, options), folder: filepath.Join(t.TempDir(), "logins"), settings: settings, log: &lockedBuffer{}}
	b.restart()
	t.Cleanup(func() {
		http.DefaultTransport.(*http.Transport).CloseIdleConnections()
		b.checkLog()
	})
	return b
}

// restart is a new process on the same store.
func (b *bench) restart() {
	if b.manager != nil {
		b.manager.Close()
	}
	b.store = credentials.Open(b.folder, credentials.Options{})
	b.manager = New(Options{
		Store: b.store, Environ: b.environ, Log: slog.New(slog.NewTextHandler(b.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Secrets: func(values ...string) {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.secrets = append(b.secrets, values...)
		},
	})
	b.t.Cleanup(b.manager.Close)
	b.Credentials = b.another()
}

// another is the credentials of another process on the same store.
func (b *bench) another() *Credentials {
	return b.manager.For(Server{Toolbox: "dev", Name: "remote", URL: b.provider.URL(), Settings: b.settings, Version: "1.2.3"})
}

// checkLog fails if the log has a secret.
func (b *bench) checkLog() {
	b.log.mu.Lock()
	defer b.log.mu.Unlock()
	b.refuseSecrets("the log", b.log.text.String())
}

func (b *bench) refuseSecrets(where, text string) {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, value := range b.secrets {
		if value != "" && strings.Contains(text, value) {
			b.t.Errorf("%s has a secret: %s", where, text)
		}
	}
}

// call calls a tool as downstream does, and returns the status.
func call(ctx context.Context, c *Credentials, address, tool string) (int, error) {
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":{}}}`, tool)
	for sends := 1; ; sends++ {
		request, err := http.NewRequestWithContext(ctx, http.MethodPost, address, strings.NewReader(body))
		if err != nil {
			return 0, err
		}
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("Accept", "application/json, text/event-stream")
		if err := c.Authorize(ctx, request); err != nil {
			return 0, err
		}
		response, err := client.Do(request)
		if err != nil {
			return 0, err
		}
		_, _ = io.Copy(io.Discard, response.Body)
		response.Body.Close()
		again, err := c.Accept(ctx, request, response)
		if err != nil || !again || sends == 3 {
			return response.StatusCode, err
		}
	}
}

func (b *bench) call(tool string) (int, error) {
	return call(b.t.Context(), b.Credentials, b.provider.URL(), tool)
}

// mustCall calls a tool that the server lets in: whether it runs is not the matter of these tests.
func (b *bench) mustCall(tool string) {
	b.t.Helper()
	if status, err := b.call(tool); err != nil || status == http.StatusUnauthorized || status == http.StatusForbidden {
		b.t.Fatalf("the call got %d, %v", status, err)
	}
}

// refusedCall returns the LoginError of a call.
func (b *bench) refusedCall(tool string) *downstream.LoginError {
	b.t.Helper()
	_, err := b.call(tool)
	login, ok := errors.AsType[*downstream.LoginError](err)
	if !ok {
		b.t.Fatalf("the call got %v, want a login error", err)
	}
	b.refuseSecrets("the error", err.Error())
	return login
}

func (b *bench) begin(options LoginOptions) *Attempt {
	b.t.Helper()
	attempt, err := b.Begin(b.t.Context(), options)
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(attempt.Close)
	b.mu.Lock()
	b.secrets = append(b.secrets, attempt.verifier, attempt.state, attempt.cookie)
	b.mu.Unlock()
	return attempt
}

// logIn logs in with a browser.
func (b *bench) logIn(options LoginOptions) (*Outcome, error) {
	b.t.Helper()
	attempt := b.begin(options)
	defer attempt.Close()
	page, err := new(oauthtest.Person).Visit(attempt.Page())
	if err != nil {
		b.t.Fatal(err)
	}
	outcome, err := attempt.Wait(b.t.Context())
	if want := map[bool]string{true: "You are logged in", false: "The login failed"}[err == nil]; !strings.Contains(page.Body, want) {
		b.t.Errorf("the page says %s, want %s", page.Body, want)
	}
	if err != nil {
		b.refuseSecrets("the error", err.Error())
	}
	b.refuseSecrets("the page", page.Body)
	return outcome, err
}

func (b *bench) mustLogIn(options LoginOptions) *Outcome {
	b.t.Helper()
	outcome, err := b.logIn(options)
	if err != nil {
		b.t.Fatal(err)
	}
	return outcome
}

// kept is the login in the store.
func (b *bench) kept() *credentials.Credential {
	b.t.Helper()
	all, err := b.store.Find(b.canonical, b.settings0().Account)
	if err != nil || len(all) == 0 {
		b.t.Fatalf("the store has %d logins, %v", len(all), err)
	}
	return choose(all)
}

func (b *bench) settings0() config.OAuth { return b.Credentials.settings }

// edit changes the login in the store, as another process does.
func (b *bench) edit(change func(*credentials.Credential)) {
	b.t.Helper()
	err := b.change(b.t.Context(), b.kept().Key, func(kept *credentials.Credential) bool {
		change(kept)
		return true
	})
	if err != nil {
		b.t.Fatal(err)
	}
}
