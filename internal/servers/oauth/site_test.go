package oauth

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/internal/base/webclient"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// site is an origin on this machine that has documents, and logs the paths that were asked for.
type site struct {
	*httptest.Server
	mu    sync.Mutex
	pages map[string]reply
	log   []string
}

// reply is an answer. In the body, SELF stands for the origin.
type reply struct {
	status int // 0: 200
	kind   string
	body   string
	header map[string]string
	answer http.HandlerFunc // instead of the rest
}

func newSite(t *testing.T, pages map[string]reply) *site {
	t.Helper()
	s := &site{pages: maps.Clone(pages)}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.log = append(s.log, r.Method+" "+r.URL.RequestURI())
	p, ok := s.pages[r.URL.Path]
	s.mu.Unlock()
	if p.answer != nil {
		p.answer(w, r)
		return
	}
	if !ok {
		http.NotFound(w, r)
		return
	}
	if p.kind == "" {
		p.kind = "application/json"
	}
	w.Header().Set("Content-Type", p.kind)
	for name, value := range p.header {
		w.Header().Set(name, strings.ReplaceAll(value, "SELF", s.URL))
	}
	if p.status != 0 {
		w.WriteHeader(p.status)
	}
	fmt.Fprint(w, strings.ReplaceAll(p.body, "SELF", s.URL))
}

func (s *site) set(path string, p reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pages == nil {
		s.pages = make(map[string]reply)
	}
	s.pages[path] = p
}

// asked returns the requests so far.
func (s *site) asked() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.log)
}

// The paths and documents of a server that follows the specification. The server is at SELF/mcp.
const (
	resourcePath = "/.well-known/oauth-protected-resource/mcp"
	resourceRoot = "/.well-known/oauth-protected-resource"
	serverRoot   = "/.well-known/oauth-authorization-server"
	openIDRoot   = "/.well-known/openid-configuration"
	goodResource = `{"resource":"SELF/mcp","authorization_servers":["SELF"]}`
)

// metadataOf returns good metadata of an issuer, with changes; nil removes a member.
func metadataOf(issuer string, changes map[string]any) reply {
	all := map[string]any{
		"issuer": issuer, "authorization_endpoint": "SELF/authorize", "token_endpoint": "SELF/token", "registration_endpoint": "SELF/register",
		"code_challenge_methods_supported": []string{"S256"}, "response_types_supported": []string{"code"},
	}
	for name, value := range changes {
		if all[name] = value; value == nil {
			delete(all, name)
		}
	}
	body, _ := json.Marshal(all)
	return reply{body: string(body)}
}

func newGuard(t *testing.T, server string) (*webclient.Guard, *url.URL) {
	t.Helper()
	address, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	guard, err := webclient.NewGuard(address, webclient.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return guard, address
}

// discover finds the login of the server at SELF/mcp. SELF in settings stands for the origin.
func discover(t *testing.T, s *site, settings *config.OAuth, from challenge, guess bool) (*target, error) {
	t.Helper()
	if settings != nil {
		for _, field := range []*string{&settings.Issuer, &settings.AuthorizationServer, &settings.Resource} {
			*field = strings.ReplaceAll(*field, "SELF", s.URL)
		}
	}
	from.resourceMetadata = strings.ReplaceAll(from.resourceMetadata, "SELF", s.URL)
	guard, address := newGuard(t, s.URL+"/mcp")
	found, err := newDiscoverer(guard, address, settings, nil).find(t.Context(), from, nil, guess)
	checkText(t, err)
	return found, err
}

// checkText checks that an error is a sentence that can be shown.
func checkText(t *testing.T, err error) {
	t.Helper()
	if err == nil {
		return
	}
	if text := err.Error(); strings.ContainsAny(text, "\x1b\x00\r") || strings.Contains(text, "SECRET") || len(text) > 4000 {
		t.Errorf("the error is not for people: %q", text)
	}
}

// kindOf names the kind of an error.
func kindOf(err error) string {
	if err == nil {
		return "none"
	}
	if isTemporary(err) {
		return "temporary"
	}
	if _, ok := errors.AsType[*NoLoginError](err); ok {
		return "no login"
	}
	return "problem"
}
