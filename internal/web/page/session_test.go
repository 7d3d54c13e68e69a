package page

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/access/httpauth"
	"github.com/mcp-workbench/mcp-workbench/internal/sharing/control"
)

func noWorkbenches(context.Context) ([]*control.Client, error) { return nil, nil }

func codeOf(t *testing.T, link string) string {
	t.Helper()
	_, code, ok := strings.Cut(link, "#once=")
	if !ok || !strings.HasPrefix(link, "http://127.0.0.1:1/ui/#") {
		t.Fatalf("the link is %s", link)
	}
	return code
}

// openWith returns the token for a code, or "".
func openWith(t *testing.T, p *Page, code string) string {
	t.Helper()
	w := request(p, http.MethodPost, "/ui/api/session", "", `{"code": "`+code+`"}`)
	var got struct{ Token, Error string }
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if (w.Code == http.StatusOK) != (got.Token != "") || (w.Code == http.StatusForbidden) != (got.Error != "") {
		t.Fatalf("%d: %s", w.Code, w.Body)
	}
	return got.Token
}

func isOpen(p *Page, token string) bool {
	return request(p, http.MethodGet, "/ui/api/hello", token, "").Code == http.StatusOK
}

// A link opens the page once: whoever finds it later, in a history say, has nothing.
func TestLinkWorksOnce(t *testing.T) {
	p := newTestPage(t, Options{Sessions: true, Version: "1.2.3", Mode: ModeUI})
	code := codeOf(t, p.Link("http://127.0.0.1:1"))
	for _, wrong := range []string{"", code[1:], code + "x", strings.ToUpper(code)} {
		if openWith(t, p, wrong) != "" {
			t.Errorf("%q opens the page", wrong)
		}
	}
	token := openWith(t, p, code)
	if token == "" || !isOpen(p, token) {
		t.Fatal("the link does not open the page")
	}
	if openWith(t, p, code) != "" {
		t.Error("the link opens the page a second time")
	}
	for _, wrong := range []string{"", code, token[1:], token + "x"} {
		if isOpen(p, wrong) {
			t.Errorf("%q is a session", wrong)
		}
	}
	if got := request(p, http.MethodGet, "/ui/api/hello", token, "").Body.String(); !strings.Contains(got, `"version":"1.2.3","mode":"ui"`) {
		t.Error(got)
	}
}

func TestLinkEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newTestPage(t, Options{Sessions: true})
		code, later := codeOf(t, p.Link("http://127.0.0.1:1")), codeOf(t, p.Link("http://127.0.0.1:1"))
		time.Sleep(codeTime - time.Second)
		if openWith(t, p, later) == "" {
			t.Error("it ends too soon")
		}
		time.Sleep(time.Second)
		if openWith(t, p, code) != "" {
			t.Error("it does not end")
		}
	})
}

func TestSessionEndsUnused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newTestPage(t, Options{Sessions: true})
		token := openWith(t, p, codeOf(t, p.Link("http://127.0.0.1:1")))
		for range 3 {
			time.Sleep(sessionIdle - time.Second)
			if !isOpen(p, token) {
				t.Fatal("a session that is used ends")
			}
		}
		time.Sleep(sessionIdle)
		if isOpen(p, token) {
			t.Error("a session that nobody uses does not end")
		}
	})
}

// Links and sessions are bounded. The oldest end, so that a new link always works.
func TestSessionsAreBounded(t *testing.T) {
	p := newTestPage(t, Options{Sessions: true})
	first := codeOf(t, p.Link("http://127.0.0.1:1"))
	var tokens []string
	for range 100 {
		tokens = append(tokens, openWith(t, p, codeOf(t, p.Link("http://127.0.0.1:1"))))
	}
	for range 100 {
		p.Link("http://127.0.0.1:1")
	}
	if openWith(t, p, first) != "" || len(p.sessions.codes) > maxCodes || len(p.sessions.open) > maxSessions {
		t.Errorf("%d links and %d sessions are kept", len(p.sessions.codes), len(p.sessions.open))
	}
	if isOpen(p, tokens[0]) || !isOpen(p, tokens[99]) {
		t.Error("it is not the oldest session that ends")
	}
}

// A page of another site can send neither JSON nor a header with a token without asking first.
func TestSessionNeedsJSON(t *testing.T) {
	p := newTestPage(t, Options{Sessions: true})
	code := codeOf(t, p.Link("http://127.0.0.1:1"))
	for _, body := range []string{"", "{", `{"code": "` + strings.Repeat("x", 2*maxSmallBody) + `"}`} {
		if w := request(p, http.MethodPost, "/ui/api/session", "", body); w.Code != http.StatusBadRequest {
			t.Errorf("%.20s: %d", body, w.Code)
		}
	}
	if openWith(t, p, code) == "" {
		t.Error("the link does not open the page")
	}
}

// Where the system does not say whose the browser is, only a link that was in no list of processes opens the page.
func TestLinkOfAnUnknownUser(t *testing.T) {
	p := newTestPage(t, Options{Sessions: true})
	p.peers = func(_, _ netip.AddrPort) error { return errPeerUnknown }
	if openWith(t, p, codeOf(t, p.Link("http://127.0.0.1:1"))) == "" {
		t.Error("a link that was only printed does not open the page")
	}
	if openWith(t, p, codeOf(t, p.LinkToPass("http://127.0.0.1:1"))) != "" {
		t.Error("a link that a program got opens the page")
	}
}

// Whose a connection is does not depend on the client that a proxy names: every program of this machine can be such a proxy.
func TestUserBehindAProxy(t *testing.T) {
	p := newTestPage(t, Options{Sessions: true})
	p.peers = func(_, remote netip.AddrPort) error {
		if remote == netip.MustParseAddrPort("127.0.0.1:50000") {
			return &strangerError{1001, 1000}
		}
		return errPeerUnknown
	}
	handler := httpauth.NewProxies([]netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}).Wrap(p)
	r := httptest.NewRequest(http.MethodPost, "/ui/api/session", strings.NewReader(`{"code":"`+codeOf(t, p.Link("http://127.0.0.1:1"))+`"}`))
	r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 7420}))
	r.RemoteAddr = "127.0.0.1:50000"
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-Forwarded-For", "192.0.2.1")
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, r)
	if w.Code != http.StatusForbidden || !strings.Contains(w.Body.String(), "another user (1001)") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// A browser names the file that leads it to the page as another site.
func TestPageIsReachedFromAFile(t *testing.T) {
	for _, fromFile := range []bool{false, true} {
		p := newTestPage(t, Options{Sessions: true, FromFile: fromFile})
		handler := p.fromFile(httpauth.NewGate(p, httpauth.GateOptions{Log: p.options.Log}))
		for _, test := range []struct {
			path, mode, destination, origin string
			ok                              bool
		}{
			{"/ui/", "navigate", "document", "", fromFile},
			{"/ui/", "navigate", "iframe", "", false},
			{"/ui/", "no-cors", "script", "", false},
			{"/ui/", "navigate", "document", "https://example.com", false},
			{"/ui/assets/app.js", "navigate", "document", "", false},
			{"/ui/api/hello", "navigate", "document", "", false},
		} {
			r := httptest.NewRequest(http.MethodGet, test.path, nil)
			r.Host, r.RemoteAddr = "127.0.0.1", "127.0.0.1:2"
			r.Header.Set("Sec-Fetch-Site", "cross-site")
			r.Header.Set("Sec-Fetch-Mode", test.mode)
			r.Header.Set("Sec-Fetch-Dest", test.destination)
			if test.origin != "" {
				r.Header.Set("Origin", test.origin)
			}
			w := httptest.NewRecorder()
			handler.ServeHTTP(w, r.WithContext(context.WithValue(t.Context(), http.LocalAddrContextKey, &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1})))
			if (w.Code == http.StatusOK) != test.ok || w.Code != http.StatusOK && w.Code != http.StatusForbidden {
				t.Errorf("from a file: %t, %+v: %d", fromFile, test, w.Code)
			}
		}
	}
}
