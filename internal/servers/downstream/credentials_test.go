package downstream

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
)

// wallet holds the tokens t0, t1, …: a refused one is replaced by the next, up to the last.
type wallet struct {
	last int

	mu      sync.Mutex
	current int
}

func (c *wallet) token() string { return fmt.Sprintf("Bearer t%d", c.current) }

func (c *wallet) Authorize(_ context.Context, request *http.Request) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	request.Header.Set("Authorization", c.token())
	return nil
}

func (c *wallet) Accept(_ context.Context, request *http.Request, response *http.Response) (bool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case response.StatusCode != http.StatusUnauthorized:
		return false, nil
	case request.Header.Get("Authorization") != c.token():
		return true, nil // it was refreshed meanwhile
	case c.current >= c.last:
		return false, &LoginError{Reason: "the login has expired"}
	}
	c.current++
	return true, nil
}

// gate makes a server refuse requests without its token.
type gate struct {
	token     atomic.Value // a string; "": none is needed
	challenge string
	only      string // the method that needs a token; "": all
}

func (g *gate) guard(f *web) {
	inner := f.before
	f.before = func(w http.ResponseWriter, r *http.Request, body string) bool {
		token, _ := g.token.Load().(string)
		if token != "" && r.Header.Get("Authorization") != "Bearer "+token && strings.Contains(body, g.only) {
			w.Header().Set("WWW-Authenticate", g.challenge)
			jsonAnswer(w, http.StatusUnauthorized, `{"error":"invalid_token"}`)
			return true
		}
		return inner != nil && inner(w, r, body)
	}
}

// tokensOf returns the tokens that requests of a method were sent with, in order.
func (f *web) tokensOf(method string) (tokens []string) {
	for _, request := range f.seen(method) {
		_, token, _ := strings.Cut(request, "Bearer ")
		tokens = append(tokens, token)
	}
	return tokens
}

// TestRefusedRequestsAreSentAgain has a server that accepts another token for each kind of request.
func TestRefusedRequestsAreSentAgain(t *testing.T) {
	for name, sse := range map[string]bool{"Streamable HTTP": false, "HTTP+SSE": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newWeb(t)
				f.session = "s1"
				f.get = func(w http.ResponseWriter, r *http.Request, _ string) {
					events(w)
					<-r.Context().Done()
				}
				if sse {
					sseServer(f, "/messages?sessionId=1")
				}
				g := &gate{}
				g.guard(f)
				g.token.Store("t1")
				session := f.mustConnect(Options{Remote: &Remote{SSE: sse, Credentials: &wallet{last: 9}}})
				g.token.Store("t2")
				if got := result(t, session); got != `{"ok":true}` {
					t.Errorf("the call got %s", got)
				}
				g.token.Store("t3")
				session.Notify("notifications/x", nil)
				synctest.Wait()
				g.token.Store("t4")
				session.Close()
				want := map[string][]string{
					"POST initialize": {"t1"}, "POST tools/call": {"t1", "t2"}, "POST notifications/x": {"t2", "t3"},
					"GET": {"t1"}, "DELETE": {"t3", "t4"}, "POST server/discover": {"t0", "t1"},
				}
				if sse {
					want["GET"], want["DELETE"], want["POST server/discover"] = []string{"t0", "t1"}, nil, nil
				}
				for method, tokens := range want {
					if got := f.tokensOf(method); !slices.Equal(got, tokens) {
						t.Errorf("%s was sent with %v, want %v", method, got, tokens)
					}
				}
			})
		})
	}
}

// TestResendingIsBounded has credentials that would send a request again and again.
func TestResendingIsBounded(t *testing.T) {
	f := newWeb(t)
	g := &gate{only: "tools/call"}
	g.guard(f)
	g.token.Store("never")
	session := f.mustConnect(Options{Remote: &Remote{Credentials: &wallet{last: 1000}}})
	if got := result(t, session); !strings.HasPrefix(got, "the server answered with HTTP status 401 (Unauthorized)") {
		t.Errorf("got %s", got)
	}
	if sent := f.tokensOf("POST tools/call"); len(sent) != maxSends {
		t.Errorf("it was sent with %v", sent)
	}
}

// TestLoginErrorEndsTheHandshake: no other opening is tried, since the server would refuse it as well.
func TestLoginErrorEndsTheHandshake(t *testing.T) {
	for _, opening := range []Opening{ProbeFirst, InitializeFirst, InitializeOnly, ProbeOnly} {
		for _, modern := range []bool{false, true} {
			f := newWeb(t)
			g := &gate{challenge: "Bearer"}
			g.guard(f)
			g.token.Store("never")
			_, err := f.connect(Options{Opening: opening, Modern: modern, Remote: &Remote{Credentials: &wallet{}}})
			login, ok := errors.AsType[*LoginError](err)
			if !ok || login.Reason != "the login has expired" || login.Unchallenged {
				t.Errorf("opening %d: %v", opening, err)
			}
			if _, other := errors.AsType[*OpeningError](err); other || len(f.seen("")) != 1 {
				t.Errorf("opening %d: another one was tried: %v", opening, f.seen(""))
			}
		}
	}
}

// TestLoginErrorOfACall fails the call, and the session goes on.
func TestLoginErrorOfACall(t *testing.T) {
	f := newWeb(t)
	g := &gate{only: "tools/call"}
	g.guard(f)
	g.token.Store("t1")
	session := f.mustConnect(Options{Remote: &Remote{Credentials: &wallet{}}})
	if got := result(t, session); got != "the login has expired" {
		t.Errorf("got %s", got)
	}
	g.token.Store("t0")
	if got := result(t, session); got != `{"ok":true}` {
		t.Errorf("after the login: %s", got)
	}
}

func TestChallengeForSomethingElse(t *testing.T) {
	for challenge, want := range map[string]bool{
		"": true, `Basic realm="x"`: true, "Bearer": false, `bearer realm="x"`: false,
		`Basic realm="x", Bearer error="invalid_token"`: false, `DPoP algs="ES256"`: false,
	} {
		f := newWeb(t)
		g := &gate{challenge: challenge}
		g.guard(f)
		g.token.Store("never")
		_, err := f.connect(Options{Remote: &Remote{Credentials: &wallet{}}})
		if login, ok := errors.AsType[*LoginError](err); !ok || login.Unchallenged != want {
			t.Errorf("%q: %#v", challenge, err)
		}
	}
}

// blocked waits for a refresh that does not end.
type blocked struct{ wallet }

func (*blocked) Authorize(ctx context.Context, _ *http.Request) error {
	<-ctx.Done()
	return ctx.Err()
}

func TestRefreshEndsWithTheRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newWeb(t)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() {
			_, err := Connect(ctx, Options{Remote: &Remote{URL: webAddress, Credentials: &blocked{}, dial: f.dial}})
			done <- err
		}()
		synctest.Wait()
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	})
}

// TestDenialWithALogin does not advise to use headers.
func TestDenialWithALogin(t *testing.T) {
	for code, want := range map[int]string{
		http.StatusForbidden:    "the server answered with HTTP status 403 (Forbidden); the account that is logged in may not do this; it said: no",
		http.StatusUnauthorized: "the server answered with HTTP status 401 (Unauthorized); it does not accept the token of the login; it said: no",
	} {
		f := newWeb(t)
		f.call = always(code, "text/plain", "no")
		session := f.mustConnect(Options{Remote: &Remote{Credentials: &wallet{last: 1000}}})
		if got := result(t, session); got != want {
			t.Errorf("got %s", got)
		}
	}
}

// broke has no token, and no person can help.
type broke struct{ err error }

func (c *broke) Authorize(context.Context, *http.Request) error { return c.err }

func (c *broke) Accept(context.Context, *http.Request, *http.Response) (bool, error) {
	return false, nil
}

// TestMissingTokenEndsTheHandshake with the reason alone, whatever the opening.
func TestMissingTokenEndsTheHandshake(t *testing.T) {
	missing := errors.New("the authorization server gave no token")
	for _, opening := range []Opening{ProbeFirst, InitializeFirst, InitializeOnly, ProbeOnly} {
		f := newWeb(t)
		_, err := f.connect(Options{Opening: opening, Remote: &Remote{Credentials: &broke{missing}}})
		if !errors.Is(err, missing) || err.Error() != missing.Error() || len(f.seen("")) != 0 {
			t.Errorf("opening %d: %v, after %v", opening, err, f.seen(""))
		}
	}
}
