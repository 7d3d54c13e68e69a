package oauth

import (
	"encoding/json"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/internal/access/credentials"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/test/oauthtest"
)

// Without a person, the secret of the configuration is sent to one authorization server only, whatever the server names.
func TestSecretOfAMachineIsNotSentToAnotherAuthorizationServer(t *testing.T) {
	migrate := func(o *oauthtest.Options) { o.Migrated = true }
	t.Run("in the same process", func(t *testing.T) {
		b := machineBench(t, nil)
		b.mustCall("echo")
		b.provider.Change(migrate)
		wantBound(t, b)
	})
	t.Run("in another process", func(t *testing.T) {
		b := machineBench(t, nil)
		b.mustCall("echo")
		b.provider.Change(migrate)
		b.restart()
		wantBound(t, b)
	})
	t.Run("where the store cannot be written", func(t *testing.T) {
		b := machineBench(t, nil)
		if runtime.GOOS != "linux" {
			t.Skip("no folder is known here in which nobody can make one")
		}
		b.folder = "/proc/logins"
		b.restart()
		b.mustCall("echo")
		b.provider.Change(migrate)
		wantBound(t, b)
	})
	t.Run("unless the configuration says so", func(t *testing.T) {
		b := machineBench(t, nil)
		b.mustCall("echo")
		b.provider.Change(migrate)
		b.settings.Issuer = b.provider.OtherIssuer()
		b.restart()
		b.mustCall("echo")
	})
	t.Run("unless the client is another one", func(t *testing.T) {
		b := machineBench(t, func(o *oauthtest.Options) {
			o.Clients = append(o.Clients, oauthtest.Client{ID: "second", Secret: "hidden"})
		})
		b.mustCall("echo")
		b.provider.Change(migrate)
		b.settings.ClientID = "second"
		b.restart()
		b.mustCall("echo")
	})
	t.Run("and the one that it belongs to is preferred", func(t *testing.T) {
		b := machineBench(t, nil)
		b.mustCall("echo")
		b.provider.Change(func(o *oauthtest.Options) { o.AuthorizationServers = []string{"OTHER", "FIRST"} })
		b.provider.ExpireAccess()
		b.mustCall("echo")
	})
}

// wantBound checks that a call fails, and that the other authorization server got nothing but a request for its metadata.
func wantBound(t *testing.T, b *bench) {
	t.Helper()
	err := b.failedCall()
	for _, text := range []string{"instead of", "oauth.issuer", b.provider.OtherIssuer()} {
		if !strings.Contains(err.Error(), text) {
			t.Errorf("%q is missing in: %v", text, err)
		}
	}
	for _, event := range b.provider.Events() {
		if event.Issuer == b.provider.OtherIssuer() && event.Kind != oauthtest.Metadata {
			t.Errorf("the other authorization server got %s %s", event.Verb, event.Path)
		}
	}
}

// The login of a person is not damaged by a change of the configuration.
func TestMachineLeavesTheLoginOfAPersonAlone(t *testing.T) {
	b := newBench(t, oauthtest.Options{ClientOptions: oauthtest.ClientOptions{Clients: []oauthtest.Client{{ID: "machine", Secret: "hidden"}}}}, nil)
	b.mustLogIn(LoginOptions{})
	before := b.kept()
	b.settings = &config.OAuth{Grant: config.GrantClientCredentials, ClientID: "machine", ClientSecret: "hidden"}
	b.restart()
	b.mustCall("echo")
	if after := b.kept(); after.Access != before.Access || after.Client != before.Client {
		t.Errorf("the login is %v, was %v", after, before)
	}
	b.settings = nil
	b.restart()
	b.mustCall("echo")
}

// A later challenge without the address of the metadata does not make the workbench forget it.
func TestAddressOfTheMetadataIsRemembered(t *testing.T) {
	b := newBench(t, oauthtest.Options{ResourceOptions: oauthtest.ResourceOptions{ResourceMetadataAt: "custom", ChallengeScope: "a"}}, nil)
	b.refusedCall("echo")
	b.provider.Change(func(o *oauthtest.Options) { o.Challenge = `Bearer scope="b"` })
	b.refusedCall("echo")
	if a := b.begin(LoginOptions{}); !slices.Equal(a.scopes, []string{"b"}) {
		t.Errorf("requests %q", a.scopes)
	}
}

// Nor does a login, also if the server answers requests without a token.
func TestAddressOfTheMetadataIsRememberedBeyondALogin(t *testing.T) {
	b := newBench(t, oauthtest.Options{ResourceOptions: oauthtest.ResourceOptions{ResourceMetadataAt: "custom", TokenFor: []string{"tools/call"}}}, nil)
	b.refusedCall("echo")
	b.mustLogIn(LoginOptions{})
	b.mustCall("echo")
	b.mustLogIn(LoginOptions{Fresh: true})
}

// The scopes of a refused call belong to the login that it was made with, and not to the next one after a logout.
func TestScopesOfARefusedCallEndWithTheLogin(t *testing.T) {
	b := newBench(t, oauthtest.Options{ResourceOptions: oauthtest.ResourceOptions{ChallengeScope: "a", ToolScopes: map[string]string{"echo": "write"}}}, nil)
	b.refusedCall("other")
	b.mustLogIn(LoginOptions{})
	b.refusedCall("echo")
	if a := b.begin(LoginOptions{}); !slices.Equal(a.scopes, []string{"a", "write"}) {
		t.Errorf("the login for the call requests %q", a.scopes)
	}
	if _, err := b.Logout(t.Context()); err != nil {
		t.Fatal(err)
	}
	if a := b.begin(LoginOptions{}); !slices.Equal(a.scopes, []string{"a"}) {
		t.Errorf("the first login requests %q", a.scopes)
	}
}

// A server that does not answer a request without a token can have a login all the same.
func TestLoginWithoutAnAnswerToTheProbe(t *testing.T) {
	site := newSite(t, map[string]reply{
		"/mcp":       {answer: func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }},
		resourcePath: {body: goodResource}, serverRoot: metadataOf("SELF", nil), "/register": {body: `{"client_id":"a"}`},
	})
	b := newBench(t, oauthtest.Options{}, nil)
	a, err := b.manager.For(Server{Name: "silent", URL: site.URL + "/mcp"}).Begin(t.Context(), LoginOptions{})
	if err != nil {
		t.Fatal(err)
	}
	a.Close()
}

// Nothing that a login sends goes to an address that the server chose, and that only this machine can reach.
func TestLoginOfAServerThatNamesPrivateAddresses(t *testing.T) {
	for name, change := range map[string]func(*oauthtest.Options){
		"resource_metadata":                             func(o *oauthtest.Options) { o.AdvertisedMetadata = "http://169.254.169.254/latest/meta-data" },
		"authorization_servers":                         func(o *oauthtest.Options) { o.AuthorizationServers = []string{"https://10.1.2.3"} },
		"token_endpoint":                                setMetadata("token_endpoint", `"https://192.168.0.1/token"`),
		"registration_endpoint":                         setMetadata("registration_endpoint", `"https://[fd00::1]/register"`),
		"authorization_endpoint, which a browser opens": setMetadata("authorization_endpoint", `"file:///etc/passwd"`),
		"revocation_endpoint":                           setMetadata("revocation_endpoint", `"http://example.com/revoke"`),
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, oauthtest.Options{}, nil)
			b.provider.Change(change)
			_, err := b.Begin(t.Context(), LoginOptions{Guess: true})
			if kindOf(err) != "problem" {
				t.Fatalf("got %v", err)
			}
			b.wantCount(oauthtest.Register, 0)
			b.wantCount(oauthtest.Authorize, 0)
			if all, err := b.store.Find(b.canonical, ""); err != nil || len(all) != 0 {
				t.Errorf("the store has %v, %v", all, err)
			}
		})
	}
}

func setMetadata(name, value string) func(*oauthtest.Options) {
	return func(o *oauthtest.Options) { o.MetadataSet = map[string]json.RawMessage{name: json.RawMessage(value)} }
}

// A refresh token is sent to the authorization server that gave it, even if the server names another one since.
func TestRefreshStaysWithItsAuthorizationServer(t *testing.T) {
	b := newBench(t, oauthtest.Options{}, nil)
	b.mustLogIn(LoginOptions{})
	b.provider.Change(func(o *oauthtest.Options) { o.Migrated = true })
	b.refusedCall("echo")
	for _, event := range b.provider.Events() {
		if event.Issuer == b.provider.OtherIssuer() {
			t.Errorf("the other authorization server got %s %s", event.Verb, event.Path)
		}
	}
	outcome := b.mustLogIn(LoginOptions{})
	if outcome.Issuer != b.provider.OtherIssuer() {
		t.Errorf("the login is at %s", outcome.Issuer)
	}
	if first, other := b.provider.Events(oauthtest.Register)[0].Client, b.kept().Client; other.ID == first || other.Source != credentials.SourceDynamic {
		t.Errorf("the client %v is that of the first authorization server", other)
	}
}

// A registration is sent once, to where the metadata says, and its answer is never shown.
func TestRegistrationFollowsNoRedirect(t *testing.T) {
	other := newSite(t, nil)
	b := newBench(t, oauthtest.Options{Faults: map[string]oauthtest.Fault{oauthtest.Register: {
		Status: http.StatusTemporaryRedirect, Header: map[string]string{"Location": other.URL + "/register"}, Body: `{"client_secret":"hidden"}`,
	}}}, nil)
	_, err := b.Begin(t.Context(), LoginOptions{})
	if kindOf(err) != "problem" || !strings.Contains(err.Error(), "HTTP status 307") || strings.Contains(err.Error(), "hidden") {
		t.Errorf("got %v", err)
	}
	if asked := other.asked(); len(asked) != 0 {
		t.Errorf("the other origin got %q", asked)
	}
}
