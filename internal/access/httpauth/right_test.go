package httpauth

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestTokensHaveRights(t *testing.T) {
	path := filepath.Join(t.TempDir(), FileName)
	s := mustOpen(t, path)
	for _, test := range []struct {
		name  string
		given []Right
		want  []Right
	}{
		{"plain", nil, []Right{Calls}},
		{"meter", []Right{Metrics}, []Right{Metrics}},
		{"all", []Right{Page, Calls, Metrics, Page}, []Right{Calls, Metrics, Page}},
	} {
		token, err := s.Create(Grant{Name: test.name, Rights: test.given})
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range []*Store{s, mustOpen(t, path)} {
			if got, ok := s.Verify(token); !ok || cmp.Diff(test.want, got.Rights) != "" {
				t.Errorf("%s is for %v", test.name, got.Rights)
			}
		}
	}
	if _, err := s.Create(Grant{Name: "x", Rights: []Right{"everything"}}); err == nil || !strings.Contains(err.Error(), "everything") {
		t.Errorf("an unknown right: %v", err)
	}
}

// A file that an earlier version wrote has tokens for calls; one with an unknown right is not used, since
// it would be read as another one.
func TestRightsInTheFile(t *testing.T) {
	const digest = "0000000000000000000000000000000000000000000000000000000000000000"
	for entry, want := range map[string]string{
		`{"name":"a","sha256":"` + digest + `","created":"2026-01-01T00:00:00Z"}`:                     "",
		`{"name":"a","sha256":"` + digest + `","for":["metrics"],"created":"2026-01-01T00:00:00Z"}`:   "",
		`{"name":"a","sha256":"` + digest + `","for":["calls","x"],"created":"2026-01-01T00:00:00Z"}`: "unknown right",
	} {
		path := filepath.Join(t.TempDir(), FileName)
		if err := os.WriteFile(path, []byte(`{"tokens":[`+entry+`]}`), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		_, err := Open(path)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v", entry, err)
		}
	}
}

func TestTokenOfTheSameNameIsAnother(t *testing.T) {
	s := mustOpen(t, filepath.Join(t.TempDir(), FileName))
	first, _ := s.Verify(mustCreate(t, s, "laptop"))
	if err := s.Remove("laptop"); err != nil {
		t.Fatal(err)
	}
	second, _ := s.Verify(mustCreate(t, s, "laptop"))
	if first.ID == "" || first.ID == second.ID {
		t.Errorf("the ids are %q and %q", first.ID, second.ID)
	}
}

func TestGateAsksForTheRight(t *testing.T) {
	s := mustOpen(t, filepath.Join(t.TempDir(), FileName))
	meter, err := s.Create(Grant{Name: "meter", Rights: []Right{Metrics}})
	if err != nil {
		t.Fatal(err)
	}
	caller := mustCreate(t, s, "caller")
	gate := NewGate(inside, GateOptions{Store: s, Needs: func(path string) Right {
		if path == "/metrics" {
			return Metrics
		}
		return Calls
	}})
	for _, test := range []struct {
		token, path string
		status      int
	}{
		{meter, "/metrics", http.StatusOK},
		{meter, "/mcp", http.StatusForbidden},
		{caller, "/mcp", http.StatusOK},
		{caller, "/metrics", http.StatusForbidden},
	} {
		answer := ask(gate, request(http.MethodGet, test.path, "Authorization: Bearer "+test.token))
		if answer.Code != test.status {
			t.Errorf("%s: status %d, want %d", test.path, answer.Code, test.status)
		}
		if test.status == http.StatusForbidden && !strings.Contains(answer.Body.String(), "token add NAME --for ") {
			t.Errorf("the refusal does not say what to do: %s", answer.Body)
		}
	}
}

// A request that is under way ends when its token does; those of others go on.
func TestRequestsEndWithTheirToken(t *testing.T) {
	for _, how := range []string{"removed", "expired"} {
		t.Run(how, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := mustOpen(t, filepath.Join(t.TempDir(), FileName))
				grant := Grant{Name: "ends"}
				if how == "expired" {
					grant.Lifetime = time.Minute
				}
				ends, err := s.Create(grant)
				if err != nil {
					t.Fatal(err)
				}
				stays := mustCreate(t, s, "stays")
				gate := NewGate(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }), GateOptions{Store: s})
				ctx, stop := context.WithCancel(t.Context())
				go gate.Watch(ctx)

				serve := func(token string) (ended chan error) {
					ended = make(chan error, 1)
					go func() {
						defer func() {
							err, _ := recover().(error)
							ended <- err
						}()
						gate.ServeHTTP(httptest.NewRecorder(), request(http.MethodGet, "/mcp", "Authorization: Bearer "+token).WithContext(
							context.WithValue(ctx, http.LocalAddrContextKey, tcp("127.0.0.1:7420"))))
					}()
					return ended
				}
				endsWith, other := serve(ends), serve(stays)
				synctest.Wait()
				if how == "removed" {
					if err := mustOpen(t, s.path).Remove("ends"); err != nil { // as another process does
						t.Fatal(err)
					}
					<-time.After(2 * reloadInterval) // of the bubble
				} else {
					<-time.After(time.Minute + reloadInterval) // of the bubble
				}
				synctest.Wait()
				select {
				case err := <-endsWith:
					if !errors.Is(err, http.ErrAbortHandler) {
						t.Errorf("it ended with %v", err)
					}
				default:
					t.Error("the request goes on without its token")
				}
				select {
				case <-other:
					t.Error("another token's request ended")
				default:
				}
				if _, ok := s.Verify(ends); ok {
					t.Error("the token is still known")
				}
				stop()
				<-other
				synctest.Wait()
			})
		})
	}
}
