package config

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestOAuth(t *testing.T) {
	home := t.TempDir()
	for _, test := range []struct {
		name, value string
		want        *OAuth
	}{
		{"absent", ``, nil},
		{"off", `, "oauth": false`, &OAuth{Off: true}},
		{"on", `, "oauth": true`, &OAuth{}},
		{"empty", `, "oauth": {}`, &OAuth{}},
		{"own client", `, "oauth": {"clientId": "a", "clientSecret": "${SECRET}", "callbackPort": 33418, "scopes": ["r", "w"], "authorizeParams": {"prompt": "consent", "a": "b"}}`, &OAuth{
			ClientID: "a", ClientSecret: "very-secret-value", CallbackPort: 33418, Scopes: []string{"r", "w"},
			AuthorizeParams: []Variable{{"prompt", "consent"}, {"a", "b"}},
		}},
		{"no scopes and no resource", `, "oauth": {"scopes": [], "resource": false}`, &OAuth{Scopes: []string{}, OmitResource: true}},
		{"another resource", `, "oauth": {"resource": "https://r.example", "issuer": "https://i.example", "authorizationServer": "https://as.example", "account": "work", "pkce": "assume", "clientName": "n", "clientMetadataUrl": "https://c.example/c.json"}`, &OAuth{
			Resource: "https://r.example", Issuer: "https://i.example", AuthorizationServer: "https://as.example", Account: "work", PKCE: "assume",
			ClientName: "n", ClientMetadataURL: "https://c.example/c.json",
		}},
		{"private key", `, "oauth": {"grant": "client_credentials", "clientId": "a", "tokenEndpointAuthMethod": "private_key_jwt", "privateKeyFile": "~/k.pem", "keyId": "1", "signingAlgorithm": "ES256"}`, &OAuth{
			Grant: GrantClientCredentials, ClientID: "a", TokenAuth: TokenAuthPrivateKey, PrivateKeyFile: filepath.Join(home, "k.pem"), KeyID: "1", SigningAlgorithm: "ES256",
		}},
		{"assertion", `, "oauth": {"grant": "jwt-bearer", "assertionFile": "token.jwt"}`, &OAuth{Grant: GrantJWTBearer, AssertionFile: filepath.Join(home, "conf", "token.jwt")}},
		{"enterprise", `, "oauth": {"grant": "id-jag", "clientId": "a", "identityProvider": {"issuer": "https://idp.example", "clientId": "b", "clientSecret": "another-secret", "idTokenFile": "id.jwt"}}`, &OAuth{
			Grant: GrantIDJAG, ClientID: "a",
			IdentityProvider: &IdentityProvider{Issuer: "https://idp.example", ClientID: "b", ClientSecret: "another-secret", IDTokenFile: filepath.Join(home, "conf", "id.jwt")},
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			cfg, err := Parse("f", []byte(server(`{"url": "https://example.com/mcp"`+test.value+`}`)), ParseOptions{
				Dir: filepath.Join(home, "conf"), Home: home, Lookup: func(string) (string, bool) { return "very-secret-value", true },
			})
			if err != nil {
				t.Fatal(err)
			}
			s := cfg.Toolboxes[0].Servers[0]
			if s.Fault != nil {
				t.Fatal(s.Fault)
			}
			if diff := cmp.Diff(test.want, s.OAuth); diff != "" {
				t.Error(diff)
			}
			if test.want == nil {
				return
			}
			secrets := []string{test.want.ClientSecret}
			if provider := test.want.IdentityProvider; provider != nil {
				secrets = append(secrets, provider.ClientSecret)
			}
			for _, secret := range secrets {
				if secret != "" && !slices.Contains(cfg.Secrets, secret) {
					t.Errorf("%q is not a secret", secret)
				}
			}
		})
	}
}

func TestOAuthMistakes(t *testing.T) {
	const named = "Server 'S' in toolbox 'T': "
	for _, test := range []struct{ name, value, want string }{
		{"kind", `3`, named + "'oauth' must be true or false or an object (found a number)"},
		{"metadata document without TLS", `{"clientMetadataUrl": "http://x"}`, named + "'oauth.clientMetadataUrl' must start with https://"},
		{"several scopes in one", `{"scopes": ["a b"]}`, named + "'oauth.scopes[0]' holds a blank or a character that a scope cannot have; write each scope as one element"},
		{"port", `{"callbackPort": 70000}`, named + "'oauth.callbackPort' must be a port from 1 to 65535"},
		{"account", `{"account": "a b"}`, named + "'oauth.account' must be a name of at most 64 characters, without blanks and slashes"},
		{"own parameter", `{"authorizeParams": {"state": "x"}}`, named + "parameter 'state' is set by the workbench; it cannot be changed here"},
		{"grant", `{"grant": "password"}`, named + "unknown grant 'password'"},
		{"grant without client", `{"grant": "client_credentials", "privateKeyFile": "k"}`, named + `'oauth.clientId' must be set, because 'oauth.grant' is "client_credentials"`},
		{"grant without secret", `{"grant": "client_credentials", "clientId": "a"}`, named + `'oauth.clientSecret' must be set, because 'oauth.grant' is "client_credentials"`},
		{"grant without assertion", `{"grant": "jwt-bearer"}`, named + `'oauth.assertionFile' must be set, because 'oauth.grant' is "jwt-bearer"`},
		{"grant without provider", `{"grant": "id-jag", "clientId": "a"}`, named + `'oauth.identityProvider' must be set, because 'oauth.grant' is "id-jag"`},
		{"provider without address", `{"identityProvider": {"idTokenFile": "f"}}`, named + "'oauth.identityProvider' must have an 'issuer' or a 'tokenEndpoint'"},
		{"key", `{"clientId": "a", "tokenEndpointAuthMethod": "private_key_jwt"}`, named + `'oauth.privateKeyFile' must be set, because 'oauth.tokenEndpointAuthMethod' is "private_key_jwt"`},
		{"resource", `{"resource": true}`, named + "'oauth.resource' must be false or an address"},
		{"secret alone", `{"clientSecret": "a"}`, named + "'oauth.clientId' must be set, because 'oauth.clientSecret' belongs to a client"},
	} {
		t.Run(test.name, func(t *testing.T) {
			cfg, err := Parse("f", []byte(server(`{"url": "https://example.com/mcp", "oauth": `+test.value+`}`)), ParseOptions{Dir: t.TempDir()})
			if err != nil {
				t.Fatal(err)
			}
			fault := cfg.Toolboxes[0].Servers[0].Fault
			if fault == nil {
				t.Fatal("it was accepted")
			}
			if got := fault.Problems[0].Message; got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

func TestCredentials(t *testing.T) {
	dir := t.TempDir()
	for value, want := range map[string]Credentials{
		``:                                    {},
		`"credentials": {},`:                  {SystemdCredential: DefaultSystemdCredential},
		`"credentials": {"seal": "keyring"},`: {Seal: SealKeyring, SystemdCredential: DefaultSystemdCredential},
		`"credentials": {"seal": "file", "keyFile": "k"},`:                  {Seal: SealFile, KeyFile: filepath.Join(dir, "k"), SystemdCredential: DefaultSystemdCredential},
		`"credentials": {"seal": "systemd", "systemdCredential": "other"},`: {Seal: SealSystemd, SystemdCredential: "other"},
	} {
		cfg, err := Parse("f", []byte(`{`+value+`"toolboxes": {}}`), ParseOptions{Dir: dir})
		if err != nil {
			t.Errorf("%s: %v", value, err)
			continue
		}
		if cfg.Credentials != want {
			t.Errorf("%s: got %+v", value, cfg.Credentials)
		}
	}
	for _, value := range []string{`{"seal": "plain"}`, `{"seal": "file"}`, `{"sael": "keyring"}`, `true`} {
		if _, err := Parse("f", []byte(`{"credentials": `+value+`, "toolboxes": {}}`), ParseOptions{Dir: dir}); err == nil {
			t.Errorf("%s was accepted", value)
		}
	}
}

func TestSignsIn(t *testing.T) {
	for _, test := range []struct {
		name, server string
		want         bool
	}{
		{"remote", `"url": "https://x.test/mcp"`, true},
		{"other headers", `"url": "https://x.test/mcp", "headers": {"X-Team": "a"}`, true},
		{"own token", `"url": "https://x.test/mcp", "headers": {"authorization": "Bearer a"}`, false},
		{"own token and settings", `"url": "https://x.test/mcp", "headers": {"Authorization": "Bearer a"}, "oauth": {"clientId": "a"}`, true},
		{"off", `"url": "https://x.test/mcp", "oauth": false`, false},
		{"local", `"command": "x"`, false},
	} {
		cfg, err := Parse("test.json", []byte(`{"toolboxes": {"a": {"mcpServers": {"x": {`+test.server+`}}}}}`), ParseOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if got := cfg.Toolboxes[0].Servers[0].SignsIn(); got != test.want {
			t.Errorf("%s: got %v", test.name, got)
		}
	}
}
