package oauth

import (
	"cmp"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/internal/access/credentials"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/test/oauthtest"
)

// prepare does what comes before a person logs in: it asks for the challenge, discovers, and registers.
func prepare(t *testing.T, p *oauthtest.Provider, settings *config.OAuth) (*target, credentials.Client, error) {
	t.Helper()
	guard, address := newGuard(t, p.URL())
	d := newDiscoverer(guard, address, settings, nil)
	asked, _, err := d.probe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	found, err := d.find(t.Context(), asked, nil, true)
	checkText(t, err)
	if err != nil {
		return nil, credentials.Client{}, err
	}
	client, err := newRegistrar(guard, settings, "1", nil).client(t.Context(), found, redirect, nil, false)
	checkText(t, err)
	return found, client, err
}

// What servers do, and what comes of it. ISSUER, OTHER and SERVER in what is wanted stand for addresses.
func TestOddServers(t *testing.T) {
	type options = oauthtest.Options
	resource := func(r oauthtest.ResourceOptions) options { return options{ResourceOptions: r} }
	metadata := func(m oauthtest.MetadataOptions) options { return options{MetadataOptions: m} }
	client := func(c oauthtest.ClientOptions) options { return options{ClientOptions: c} }
	fault := func(kind string, f oauthtest.Fault) options {
		return options{Faults: map[string]oauthtest.Fault{kind: f}}
	}
	tests := []struct {
		name     string
		options  options
		settings config.OAuth
		resource string // that is sent; "": SERVER
		issuer   string // "": ISSUER
		scopes   []string
		method   string // "": none
		err      string // in the error
		kind     string // of the error
	}{
		{name: "it follows the rules"},
		{name: "the challenge is bare", options: resource(oauthtest.ResourceOptions{Challenge: "bare"})},
		{name: "there is no challenge", options: resource(oauthtest.ResourceOptions{Challenge: "none"})},
		{name: "the challenge is for a password", options: resource(oauthtest.ResourceOptions{Challenge: "basic"})},
		{name: "several challenges are in one header", options: resource(oauthtest.ResourceOptions{Challenge: "several", ResourceMetadataAt: "custom", ChallengeScope: "a b"}), scopes: []string{"a", "b"}},
		{name: "a parameter of the challenge is empty", options: resource(oauthtest.ResourceOptions{Challenge: `Bearer realm=, error="", scope="a"`}), scopes: []string{"a"}},
		{name: "only calls of tools need a token", options: resource(oauthtest.ResourceOptions{TokenFor: []string{"tools/call"}})},
		{name: "the advertised metadata is not there", options: resource(oauthtest.ResourceOptions{AdvertisedMetadata: "/gone"})},
		{name: "the advertised metadata is in a private network", options: resource(oauthtest.ResourceOptions{AdvertisedMetadata: "http://169.254.169.254/latest"}), err: "169.254.169.254", kind: "problem"},
		{name: "the metadata is at the root", options: resource(oauthtest.ResourceOptions{ResourceMetadataAt: "root", Challenge: "bare"})},
		{name: "the metadata is where only the challenge says", options: resource(oauthtest.ResourceOptions{ResourceMetadataAt: "custom"})},
		{name: "the resource is an array of one", options: resource(oauthtest.ResourceOptions{Resource: "array"})},
		{name: "the resource has a slash at its end", options: resource(oauthtest.ResourceOptions{Resource: "slash"}), resource: "SERVER/"},
		{name: "the resource is the origin", options: resource(oauthtest.ResourceOptions{Resource: "origin"}), resource: "ORIGIN"},
		{name: "the resource is another server", options: resource(oauthtest.ResourceOptions{Resource: "https://other.example.com/mcp"}), err: "https://other.example.com/mcp", kind: "problem"},
		{name: "the resource is absent", options: resource(oauthtest.ResourceOptions{Resource: "absent"}), err: "has no 'resource'", kind: "problem"},
		{name: "the server lists its scopes", options: resource(oauthtest.ResourceOptions{ResourceScopes: []string{"x", "y"}}), scopes: []string{"x", "y"}},
		{name: "it names the second authorization server", options: resource(oauthtest.ResourceOptions{Migrated: true}), issuer: "OTHER"},
		{name: "the first authorization server cannot be used", options: resource(oauthtest.ResourceOptions{AuthorizationServers: []string{"ftp://x", "OTHER"}}), issuer: "OTHER"},
		{name: "a page instead of the resource metadata", options: options{
			ResourceOptions: oauthtest.ResourceOptions{AdvertisedMetadata: "/page"}, Faults: map[string]oauthtest.Fault{oauthtest.ResourceMetadata: {Status: 200, Type: "text/html", Body: "<html>", Times: 1}},
		}},
		{name: "an endless page instead of the resource metadata", options: options{
			ResourceOptions: oauthtest.ResourceOptions{AdvertisedMetadata: "/page"}, Faults: map[string]oauthtest.Fault{oauthtest.ResourceMetadata: {Status: 200, Body: strings.Repeat("[", 1<<10), Endless: true, Times: 1}},
		}},
		{name: "the resource metadata cannot be had now", options: fault(oauthtest.ResourceMetadata, oauthtest.Fault{Status: 500, Times: 1}), err: "500", kind: "temporary"},
		{name: "the connection breaks off", options: fault(oauthtest.ResourceMetadata, oauthtest.Fault{Cut: true}), err: "cannot reach", kind: "temporary"},

		{name: "the issuer has a path", options: metadata(oauthtest.MetadataOptions{IssuerPath: "/tenant"})},
		{name: "the metadata is of OpenID Connect", options: metadata(oauthtest.MetadataOptions{MetadataAt: "openid"})},
		{name: "the metadata is of OpenID Connect, behind the path", options: metadata(oauthtest.MetadataOptions{MetadataAt: "openid", IssuerPath: "/tenant"})},
		{name: "the metadata is of OpenID Connect, before the path", options: metadata(oauthtest.MetadataOptions{MetadataAt: "openid inserted", IssuerPath: "/tenant"})},
		{name: "the authorization server has no metadata", options: metadata(oauthtest.MetadataOptions{MetadataAt: "nowhere"}), err: "has no metadata", kind: "problem"},
		{name: "the issuer has a slash at its end", options: metadata(oauthtest.MetadataOptions{Issuer: "slash"}), issuer: "ISSUER/"},
		{name: "the issuer is another", options: metadata(oauthtest.MetadataOptions{Issuer: "https://issuer.example.com"}), err: "oauth.issuer", kind: "problem"},
		{
			name: "the issuer is another, which is pinned", options: metadata(oauthtest.MetadataOptions{Issuer: "https://issuer.example.com"}),
			settings: config.OAuth{Issuer: "https://issuer.example.com"}, issuer: "https://issuer.example.com",
		},
		{name: "a pinned issuer is not what comes", settings: config.OAuth{Issuer: "https://issuer.example.com"}, err: "'oauth.issuer' says", kind: "problem"},
		{name: "a page instead of the first metadata", options: options{
			MetadataOptions: oauthtest.MetadataOptions{MetadataAt: "openid"}, Faults: map[string]oauthtest.Fault{oauthtest.Other: {Status: 200, Type: "text/html", Body: "<html>"}},
		}},
		{name: "a failure instead of the first metadata", options: options{
			MetadataOptions: oauthtest.MetadataOptions{MetadataAt: "openid"}, Faults: map[string]oauthtest.Fault{oauthtest.Other: {Status: 502}},
		}},
		{name: "PKCE is not mentioned", options: metadata(oauthtest.MetadataOptions{MetadataSet: map[string]json.RawMessage{"code_challenge_methods_supported": nil}}), err: "oauth.pkce", kind: "problem"},
		{
			name: "PKCE is not mentioned, and assumed", options: metadata(oauthtest.MetadataOptions{MetadataSet: map[string]json.RawMessage{"code_challenge_methods_supported": nil}}),
			settings: config.OAuth{PKCE: config.PKCEAssume},
		},
		{
			name:    "the authorization server offers refresh tokens by a scope",
			options: options{ResourceOptions: oauthtest.ResourceOptions{ChallengeScope: "a"}, MetadataOptions: oauthtest.MetadataOptions{Scopes: []string{"a", "offline_access"}}}, scopes: []string{"a", "offline_access"},
		},
		{name: "the login is at the server's origin, as in the first revision", options: options{
			ResourceOptions: oauthtest.ResourceOptions{ResourceMetadataAt: "nowhere"}, MetadataOptions: oauthtest.MetadataOptions{SameOrigin: true},
		}},
		{name: "the login is at the server's origin, and there is no metadata at all", options: options{
			ResourceOptions: oauthtest.ResourceOptions{ResourceMetadataAt: "nowhere"}, MetadataOptions: oauthtest.MetadataOptions{SameOrigin: true, MetadataAt: "nowhere"},
		}},
		{
			name: "there is nothing at all", options: options{ResourceOptions: oauthtest.ResourceOptions{ResourceMetadataAt: "nowhere"}},
			err: "2025-03-26", kind: "no login",
		},

		{name: "the client has to authenticate with a secret in the header", options: client(oauthtest.ClientOptions{RegisterMethod: "client_secret_basic"}), method: "client_secret_basic"},
		{name: "the client has to authenticate with a secret in the form", options: client(oauthtest.ClientOptions{RegisterMethod: "client_secret_post"}), method: "client_secret_post"},
		{name: "the registration says none, and gives a secret", options: client(oauthtest.ClientOptions{SaysNone: true})},
		{name: "clients cannot register", options: client(oauthtest.ClientOptions{NoRegistration: true}), err: "oauth.clientId", kind: "problem"},
		{
			name: "clients cannot register, and one is configured", options: client(oauthtest.ClientOptions{NoRegistration: true}),
			settings: config.OAuth{ClientID: "own", ClientSecret: "s"}, method: "client_secret_basic",
		},
		{name: "only known clients can register", options: client(oauthtest.ClientOptions{AllowedNames: []string{"Known"}}), err: "this client is not on the list", kind: "problem"},
		{name: "only known clients can register, by name", options: client(oauthtest.ClientOptions{AllowedNames: []string{"Known"}}), settings: config.OAuth{ClientName: "Known"}},
		{name: "the resource is not to be sent", settings: config.OAuth{OmitResource: true}, resource: "none"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p := oauthtest.Start(t, test.options)
			found, client, err := prepare(t, p, &test.settings)
			if kindOf(err) != cmp.Or(test.kind, "none") || err != nil && !strings.Contains(err.Error(), test.err) {
				t.Fatalf("got %v", err)
			}
			if err != nil {
				if n := p.Count(oauthtest.Authorize) + p.Count(oauthtest.Token); n != 0 {
					t.Errorf("%d requests of a login that cannot be", n)
				}
				return
			}
			first := p.Issuer()
			expand := strings.NewReplacer("SERVER", p.URL(), "ORIGIN", strings.TrimSuffix(p.URL(), "/mcp"), "ISSUER", first, "OTHER", p.OtherIssuer(), "none", "")
			if want := expand.Replace(cmp.Or(test.resource, "SERVER")); found.resource != want {
				t.Errorf("resource %q, want %q", found.resource, want)
			}
			if want := expand.Replace(cmp.Or(test.issuer, "ISSUER")); found.server.Issuer != want {
				t.Errorf("issuer %q, want %q", found.server.Issuer, want)
			}
			if !slices.Equal(found.scopes, test.scopes) {
				t.Errorf("scopes %q, want %q", found.scopes, test.scopes)
			}
			if want := cmp.Or(test.method, "none"); client.Method != want || client.ID == "" {
				t.Errorf("client %q with method %s, want %s", client.ID, client.Method, want)
			}
		})
	}
}

func TestMetadataIsKeptAsItIs(t *testing.T) {
	p := oauthtest.Start(t, oauthtest.Options{MetadataOptions: oauthtest.MetadataOptions{IssuerPath: "/tenant"}, ClientOptions: oauthtest.ClientOptions{ClientDocuments: true}})
	found, _, err := prepare(t, p, nil)
	if err != nil {
		t.Fatal(err)
	}
	kept, err := json.Marshal(found.server)
	if err != nil {
		t.Fatal(err)
	}
	var again serverMetadata
	if err := json.Unmarshal(kept, &again); err != nil || !reflect.DeepEqual(&again, found.server) {
		t.Errorf("%s: %v", kept, err)
	}
	if !again.SendsIssuer || !again.AcceptsClientDocument || again.RevocationEndpoint == "" {
		t.Errorf("%s", kept)
	}
}
