package oauth

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/access/credentials"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

const redirect = "http://127.0.0.1:41234/callback"

// registerAt gets a client from an authorization server at a site.
func registerAt(t *testing.T, s *site, settings *config.OAuth, change func(*target), known *credentials.Client, renew bool) (credentials.Client, error) {
	t.Helper()
	guard, _ := newGuard(t, s.URL+"/mcp")
	to := &target{server: &serverMetadata{Issuer: s.URL, RegistrationEndpoint: s.URL + "/register"}}
	if change != nil {
		change(to)
	}
	client, err := newRegistrar(guard, settings, "1.2.3", nil).client(t.Context(), to, redirect, known, renew)
	checkText(t, err)
	if err == nil && client.RedirectURI != redirect {
		t.Errorf("the client has the redirect URI %q", client.RedirectURI)
	}
	return client, err
}

func TestRegistrationSaysWhatTheClientIs(t *testing.T) {
	var got map[string]any
	s := newSite(t, map[string]reply{"/register": {answer: func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if r.Method != http.MethodPost || r.Header.Get("Content-Type") != "application/json" || json.Unmarshal(body, &got) != nil {
			t.Errorf("%s %s: %s", r.Method, r.Header.Get("Content-Type"), body)
		}
		if r.Header.Get("Authorization") != "" {
			t.Error("it has a token")
		}
		w.WriteHeader(http.StatusCreated)
		io.WriteString(w, `{"client_id":"abc","token_endpoint_auth_method":"none"}`)
	}}})
	client, err := registerAt(t, s, nil, nil, nil, false)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"client_name": "MCP Workbench", "redirect_uris": []any{redirect}, "grant_types": []any{"authorization_code", "refresh_token"},
		"response_types": []any{"code"}, "token_endpoint_auth_method": "none", "application_type": "native",
		"software_id": "mcp-workbench", "software_version": "1.2.3",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("sent\n%v, want\n%v", got, want)
	}
	if client.ID != "abc" || client.Method != "none" || client.Source != credentials.SourceDynamic || client.Registered.IsZero() {
		t.Errorf("%#v", client.ID)
	}
	if _, err := registerAt(t, s, &config.OAuth{ClientName: "Another"}, nil, nil, false); err != nil || got["client_name"] != "Another" {
		t.Errorf("%v, %v", got["client_name"], err)
	}
}

func TestTheAnswerOfARegistrationDecides(t *testing.T) {
	expires := time.Now().Add(time.Hour).Unix()
	tests := []struct {
		name    string
		answer  string
		methods []string
		want    credentials.Client
		err     string
	}{
		{"public", `{"client_id":"a","token_endpoint_auth_method":"none"}`, nil, credentials.Client{ID: "a", Method: "none"}, ""},
		{"nothing is said", `{"client_id":"a"}`, nil, credentials.Client{ID: "a", Method: "none"}, ""},
		{"a secret, and how to send it", `{"client_id":"a","client_secret":"s","token_endpoint_auth_method":"client_secret_post"}`, nil, credentials.Client{ID: "a", Secret: "s", Method: "client_secret_post"}, ""},
		{"a secret, and nothing is said", `{"client_id":"a","client_secret":"s"}`, nil, credentials.Client{ID: "a", Secret: "s", Method: "client_secret_basic"}, ""},
		{"a secret, and the metadata says how", `{"client_id":"a","client_secret":"s"}`, []string{"client_secret_post", "none"}, credentials.Client{ID: "a", Secret: "s", Method: "client_secret_post"}, ""},
		{"a secret that the metadata has no use for", `{"client_id":"a","client_secret":"s"}`, []string{"none"}, credentials.Client{ID: "a", Secret: "s", Method: "none"}, ""},
		{"a secret, but the method none: it is kept", `{"client_id":"a","client_secret":"s","token_endpoint_auth_method":"none"}`, nil, credentials.Client{ID: "a", Secret: "s", Method: "none"}, ""},
		{"a method that needs a secret, but none", `{"client_id":"a","token_endpoint_auth_method":"client_secret_basic"}`, nil, credentials.Client{ID: "a", Method: "none"}, ""},
		{"a secret that lasts forever", `{"client_id":"a","client_secret":"s","client_secret_expires_at":0}`, nil, credentials.Client{ID: "a", Secret: "s", Method: "client_secret_basic"}, ""},
		{"an expiry in quotes", `{"client_id":"a","client_secret":"s","client_secret_expires_at":"0"}`, nil, credentials.Client{ID: "a", Secret: "s", Method: "client_secret_basic"}, ""},
		{"no id", `{"client_secret":"SECRET"}`, nil, credentials.Client{}, "client_id"},
		{"not JSON", `<html>SECRET`, nil, credentials.Client{}, "RFC 7591"},
		{"an id of a wrong type", `{"client_id":7}`, nil, credentials.Client{}, "client_id"},
		{"a method that was not asked for", `{"client_id":"a","token_endpoint_auth_method":"tls_client_auth"}`, nil, credentials.Client{}, "tls_client_auth"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := newSite(t, map[string]reply{"/register": {status: 201, body: test.answer}})
			client, err := registerAt(t, s, nil, func(to *target) { to.server.TokenEndpointAuthMethods = test.methods }, nil, false)
			if test.err != "" {
				if kindOf(err) != "problem" || !strings.Contains(err.Error(), test.err) {
					t.Errorf("got %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if client.ID != test.want.ID || client.Secret != test.want.Secret || client.Method != test.want.Method || !client.SecretExpires.IsZero() {
				t.Errorf("%s %s %s, want %s %s", client.ID, client.Secret, client.Method, test.want.ID, test.want.Method)
			}
		})
	}
	s := newSite(t, map[string]reply{"/register": {body: `{"client_id":"a","client_secret":"s","client_secret_expires_at":` + strconv.FormatInt(expires, 10) + `}`}})
	if client, err := registerAt(t, s, nil, nil, nil, false); err != nil || client.SecretExpires.Unix() != expires {
		t.Errorf("expires %v, %v", client.SecretExpires, err)
	}
}

func TestRegistrationsThatAreRefused(t *testing.T) {
	tests := []struct {
		name   string
		answer reply
		want   string
		texts  []string
	}{
		{
			"with a reason",
			reply{status: 400, body: `{"error":"invalid_redirect_uri","error_description":"Loopback is\u001b[31m not\n allowed"}`},
			"problem",
			[]string{"SELF/register", "HTTP status 400 (Bad Request): invalid_redirect_uri: Loopback is not allowed", "oauth.clientId", redirect, "'oauth.callbackPort' to 41234"},
		},
		{"with a code only", reply{status: 400, body: `{"error":"invalid_client_metadata"}`}, "problem", []string{"(Bad Request): invalid_client_metadata"}},
		{"with a description only", reply{status: 403, body: `{"error_description":"Not you"}`}, "problem", []string{"(Forbidden): Not you"}},
		{"with a page", reply{status: 403, kind: "text/html", body: "<html>SECRET"}, "problem", []string{"HTTP status 403 (Forbidden)", "oauth.clientId"}},
		{"with a long text", reply{status: 400, body: `{"error":"x","error_description":"` + strings.Repeat("y", 5000) + `"}`}, "problem", []string{"…"}},
		{"not there", reply{status: 404}, "problem", []string{"HTTP status 404"}},
		{"elsewhere", reply{status: 307, header: map[string]string{"Location": "SELF/other"}}, "problem", []string{"HTTP status 307"}},
		{"later", reply{status: 503}, "temporary", []string{"HTTP status 503"}},
		{"too often", reply{status: 429, body: `{"error":"slow_down"}`}, "temporary", []string{"HTTP status 429", "slow_down"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := newSite(t, map[string]reply{"/register": test.answer})
			_, err := registerAt(t, s, nil, nil, nil, false)
			if kindOf(err) != test.want {
				t.Fatalf("got %v", err)
			}
			for _, text := range test.texts {
				if text = strings.ReplaceAll(text, "SELF", s.URL); !strings.Contains(err.Error(), text) {
					t.Errorf("%q is missing in: %v", text, err)
				}
			}
			if strings.Contains(err.Error(), strings.Repeat("y", maxWords+1)) {
				t.Error("the text is not bounded")
			}
			if len(s.asked()) != 1 {
				t.Errorf("asked for %q", s.asked())
			}
		})
	}
	t.Run("gone", func(t *testing.T) {
		gone := httptest.NewServer(http.NotFoundHandler())
		gone.Close()
		if _, err := registerAt(t, &site{Server: gone}, nil, nil, nil, false); kindOf(err) != "temporary" {
			t.Error(err)
		}
	})
	t.Run("at a guessed address", func(t *testing.T) {
		if _, err := registerAt(t, newSite(t, nil), nil, func(to *target) { to.guessed = true }, nil, false); kindOf(err) != "no login" {
			t.Error(err)
		}
	})
}

// An authorization server that refuses public clients is asked in its own way, once.
func TestAuthorizationServerWithoutPublicClients(t *testing.T) {
	for _, test := range []struct {
		methods []string
		want    []string // what is asked for
	}{
		{[]string{"client_secret_post"}, []string{"none", "client_secret_post"}},
		{[]string{"client_secret_basic", "client_secret_post"}, []string{"none", "client_secret_basic"}},
		{[]string{"none", "client_secret_post"}, []string{"none"}},
		{nil, []string{"none"}},
	} {
		var asked []string
		s := newSite(t, map[string]reply{"/register": {answer: func(w http.ResponseWriter, r *http.Request) {
			var request registration
			_ = json.NewDecoder(r.Body).Decode(&request)
			asked = append(asked, request.TokenEndpointAuthMethod)
			if request.TokenEndpointAuthMethod == "none" {
				w.WriteHeader(http.StatusBadRequest)
				io.WriteString(w, `{"error":"invalid_client_metadata"}`)
				return
			}
			io.WriteString(w, `{"client_id":"a","client_secret":"s","token_endpoint_auth_method":"`+request.TokenEndpointAuthMethod+`"}`)
		}}})
		client, err := registerAt(t, s, nil, func(to *target) { to.server.TokenEndpointAuthMethods = test.methods }, nil, false)
		if !reflect.DeepEqual(asked, test.want) {
			t.Errorf("%q: asked for %q", test.methods, asked)
		}
		if last := asked[len(asked)-1]; last == "none" && err == nil || last != "none" && client.Method != last {
			t.Errorf("%q: %v, %v", test.methods, client.Method, err)
		}
	}
}

func TestWhereTheClientComesFrom(t *testing.T) {
	const document = "https://client.example.com/client.json"
	known := credentials.Client{ID: "known", Method: "none", RedirectURI: redirect, Source: credentials.SourceDynamic}
	tests := []struct {
		name      string
		settings  config.OAuth
		documents bool // are accepted
		register  bool // is possible
		known     *credentials.Client
		renew     bool
		want      string // the id; "": an error
		source    string
		method    string
		err       string
	}{
		{"the configured one before all", config.OAuth{ClientID: "own", ClientMetadataURL: document}, true, true, &known, false, "own", "configured", "none", ""},
		{"the configured one with a secret", config.OAuth{ClientID: "own", ClientSecret: "s"}, false, true, nil, false, "own", "configured", "client_secret_basic", ""},
		{"the configured one with a method", config.OAuth{ClientID: "own", ClientSecret: "s", TokenAuth: "client_secret_post"}, false, true, nil, false, "own", "configured", "client_secret_post", ""},
		{"the configured one with a key", config.OAuth{ClientID: "own", PrivateKeyFile: "/k"}, false, true, nil, false, "own", "configured", "private_key_jwt", ""},
		{"a document before a registration", config.OAuth{ClientMetadataURL: document}, true, true, &known, false, document, "document", "none", ""},
		{"a document only where it is accepted", config.OAuth{ClientMetadataURL: document}, false, true, nil, false, "new", "dynamic", "none", ""},
		{"no document", config.OAuth{}, true, true, nil, false, "new", "dynamic", "none", ""},
		{"registered earlier", config.OAuth{}, false, true, &known, false, "known", "dynamic", "none", ""},
		{"registered earlier, where it is not possible any more", config.OAuth{}, false, false, &known, false, "known", "dynamic", "none", ""},
		{"registered anew", config.OAuth{}, false, true, &known, true, "new", "dynamic", "none", ""},
		{
			"a redirect URI that was not registered is never used",
			config.OAuth{},
			false, true,
			&credentials.Client{ID: "known", RedirectURI: "http://127.0.0.1:1/callback", Source: credentials.SourceDynamic}, false, "new", "dynamic", "none", "",
		},
		{
			"the secret has expired",
			config.OAuth{},
			false, true,
			&credentials.Client{ID: "known", Secret: "s", RedirectURI: redirect, Source: credentials.SourceDynamic, SecretExpires: time.Now().Add(-time.Second)}, false, "new", "dynamic", "none", "",
		},
		{
			"the configured one is not configured any more",
			config.OAuth{},
			false, true,
			&credentials.Client{ID: "own", RedirectURI: redirect, Source: credentials.SourceConfigured}, false, "new", "dynamic", "none", "",
		},
		{"nothing is possible", config.OAuth{}, false, false, nil, false, "", "", "", "it has no dynamic client registration"},
		{"only a document, and there is none", config.OAuth{}, true, false, nil, false, "", "", "", "that you host"},
		{"only a document, which is not accepted", config.OAuth{ClientMetadataURL: document}, false, false, nil, false, "", "", "", "oauth.clientMetadataUrl"},
		{"a document without a path", config.OAuth{ClientMetadataURL: "https://client.example.com"}, true, true, nil, false, "", "", "", "a path"},
		{"a document with dots", config.OAuth{ClientMetadataURL: "https://client.example.com/a/../c"}, true, true, nil, false, "", "", "", ".."},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var registrations atomic.Int32
			s := newSite(t, map[string]reply{"/register": {answer: func(w http.ResponseWriter, _ *http.Request) {
				registrations.Add(1)
				io.WriteString(w, `{"client_id":"new"}`)
			}}})
			client, err := registerAt(t, s, &test.settings, func(to *target) {
				to.server.AcceptsClientDocument = test.documents
				if !test.register {
					to.server.RegistrationEndpoint = ""
				}
			}, test.known, test.renew)
			if (test.want == "") != (err != nil) || client.ID != test.want || client.Source != test.source || client.Method != test.method {
				t.Errorf("got %q %s %s, %v", client.ID, client.Source, client.Method, err)
			}
			if err != nil && !strings.Contains(err.Error(), test.err) {
				t.Errorf("%q is missing in: %v", test.err, err)
			}
			if want := test.want == "new"; (registrations.Load() == 1) != want {
				t.Errorf("%d registrations", registrations.Load())
			}
		})
	}
}

func TestErrorSaysHowToRegisterByHand(t *testing.T) {
	s := newSite(t, nil)
	none := func(to *target) { to.server.RegistrationEndpoint = "" }
	_, err := registerAt(t, s, nil, none, nil, false)
	for _, text := range []string{s.URL, redirect, "'oauth.clientId'", "'oauth.clientSecret'", "'oauth.callbackPort' to 41234"} {
		if !strings.Contains(err.Error(), text) {
			t.Errorf("%q is missing in: %v", text, err)
		}
	}
	if hint := newRegistrar(nil, nil, "", nil).ownClient("http://127.0.0.1:PORT/callback"); !strings.Contains(hint, "a free port that you choose") {
		t.Error(hint)
	}
	if _, err = registerAt(t, s, &config.OAuth{CallbackPort: 41234}, none, nil, false); strings.Contains(err.Error(), "callbackPort") {
		t.Errorf("it is set already: %v", err)
	}
}
