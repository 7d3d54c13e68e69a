package oauth

import (
	"context"
	"net/http"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/access/credentials"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/test/oauthtest"
)

// TestOneFlightAtATime: a grant without a store is asked once for all requests that wait.
func TestOneFlightAtATime(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "logins")
	synctest.Test(t, func(t *testing.T) {
		manager := New(Options{Store: credentials.Open(folder, credentials.Options{})})
		c := manager.For(Server{URL: "https://mcp.example/mcp", Settings: &config.OAuth{Grant: config.GrantClientCredentials}})
		var asked atomic.Int32
		gate := make(chan struct{})
		c.renewer = func(context.Context, *holding) (*credentials.Credential, error) {
			asked.Add(1)
			<-gate
			return &credentials.Credential{Access: "token"}, nil
		}
		expired := newHolding(&credentials.Credential{Access: "old", Issued: time.Now().Add(-time.Hour), Expires: time.Now()})
		expired.planRenewal()
		c.held.Store(expired)
		var group sync.WaitGroup
		for range 10 {
			group.Go(func() {
				if got := authorization(t, c, "https://mcp.example/mcp"); got != "Bearer token" {
					t.Errorf("got %q", got)
				}
			})
		}
		synctest.Wait()
		close(gate)
		group.Wait()
		manager.Close()
		if n := asked.Load(); n != 1 {
			t.Errorf("%d tokens were asked for, want 1", n)
		}
		c.held.Store(expired)
		request, _ := http.NewRequest(http.MethodPost, "https://mcp.example/mcp", nil)
		if err := c.Authorize(t.Context(), request); err == nil {
			t.Error("a closed manager began a refresh")
		}
	})
}

// TestRefusalOfAnOldToken does not end the one that came since.
func TestRefusalOfAnOldToken(t *testing.T) {
	b := newBench(t, oauthtest.Options{}, nil)
	b.mustLogIn(LoginOptions{})
	old, _ := http.NewRequest(http.MethodPost, b.provider.URL(), nil)
	if err := b.Authorize(t.Context(), old); err != nil {
		t.Fatal(err)
	}
	b.provider.ExpireAccess()
	b.mustCall("echo")
	refused := &http.Response{StatusCode: http.StatusUnauthorized, Header: http.Header{"Www-Authenticate": {"Bearer"}}}
	if again, err := b.Accept(t.Context(), old, refused); !again || err != nil {
		t.Errorf("got %t, %v", again, err)
	}
	if n := b.provider.Count(oauthtest.Refresh); n != 1 {
		t.Errorf("%d refreshes, want 1", n)
	}
}
