package identity

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

func TestKeysThatCannotBeUsed(t *testing.T) {
	many := make([]string, maxKeys+1)
	for i := range many {
		many[i] = `{}`
	}
	for text, want := range map[string]string{
		`{"keys":[` + strings.Join(many, ",") + `]}`: "it has more than 100 keys",
		`{"keys":[]}`:                       "it has no key",
		`{}`:                                "it has no key",
		`[]`:                                "the JSON is a array, where an object is expected",
		`<html>canary`:                      "it is not valid JSON (at byte 1)",
		`{"keys":[1]}`:                      "it has no key that can be used: it is not valid",
		`{"keys":[{"kty":"oct","k":"eA"}]}`: "it has no key that can be used: it has a private or shared part",
		`{"keys":[{"kty":"RSA","n":"AQAB","e":"AQAB"}]}`:                  "it has no key that can be used: it is an RSA key with 17 bits; 2048 to 8192 are accepted",
		`{"keys":[{"kty":"EC","crv":"P-256","x":"AQAB","y":"AQAB"}]}`:     "it has no key that can be used: it is not valid, or of a kind that is not supported",
		`{"keys":[{"kty":"EC","crv":"secp256k1","x":"AQAB","y":"AQAB"}]}`: "it has no key that can be used: it is not valid, or of a kind that is not supported",
	} {
		if _, err := parseKeys([]byte(text), time.Now()); err == nil || err.Error() != want {
			t.Errorf("%.60s: error %v, want %q", text, err, want)
		}
	}
}

func TestPrivateKeyThatIsPublished(t *testing.T) {
	b := newBench(t, nil)
	b.idp.change(func(p *idp) { p.keys[0]["d"] = encode(rsaKey.D.Bytes()) })
	b.want(b.token(nil), reasonUnavailable)
}

// A token whose key is unknown has the keys fetched once a minute at most, and only such a token.
func TestUnknownKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newPiped(t, nil)
		b.want(b.token(nil), "")
		wantFetches := func(want int) {
			t.Helper()
			if got := b.idp.count(keysAt); got != want {
				t.Errorf("%d fetches, want %d", got, want)
			}
		}
		wantFetches(1)
		unknown := func() string { return sign(otherRSA, header(changes{"kid": "k2"}), b.claims(nil)) }
		for range 20 {
			b.want(unknown(), reasonKey)
			b.want(sign(otherRSA, header(nil), b.claims(nil)), reasonSignature)
		}
		wantFetches(2)
		b.idp.change(func(p *idp) { p.keys = append(p.keys, jwk("k2", otherRSA, nil)) }) // a rotation
		b.want(unknown(), reasonKey)
		time.Sleep(unknownPause)
		var all sync.WaitGroup
		for range 100 { // nobody is refused because another one waits
			token := unknown()
			all.Go(func() { b.want(token, "") })
		}
		all.Wait()
		wantFetches(3)
	})
}

// All who need the keys share one fetch, whether they wait for the first ones or for others.
func TestOneFetch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newPiped(t, nil)
		hold := make(chan struct{})
		b.idp.change(func(p *idp) { p.hold = hold })
		var all sync.WaitGroup
		for range 50 {
			token := b.token(nil)
			all.Go(func() { b.want(token, "") })
		}
		synctest.Wait()
		b.idp.change(func(p *idp) { p.hold = nil })
		close(hold)
		all.Wait()
		if keys, metadata := b.idp.count(keysAt), b.idp.count(metadataAt); keys != 1 || metadata != 1 {
			t.Errorf("%d fetches of keys, %d of metadata", keys, metadata)
		}
		old := b.provider.usable()
		b.want(sign(otherRSA, header(changes{"kid": "k2"}), b.claims(nil)), reasonKey)
		if fetched, err := b.provider.renewFor(t.Context(), old); !fetched || err != nil || b.idp.count(keysAt) != 2 {
			t.Error("who looked at the keys before they were fetched is not told: ", fetched, err)
		}
	})
}

func TestKeyThatIsReplacedUnderItsName(t *testing.T) {
	b := newBench(t, nil)
	b.want(b.token(nil), "")
	b.idp.change(func(p *idp) { p.keys = []map[string]any{jwk("k1", otherRSA, nil)} })
	b.want(sign(otherRSA, header(nil), b.claims(nil)), "")
	b.want(b.token(nil), reasonSignature)
}

// A key that the provider withdraws ends the tokens that it signed, also those that were verified before.
func TestWithdrawnKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newPiped(t, nil)
		token := b.token(changes{"exp": time.Now().Add(24 * time.Hour).Unix()})
		person, err := b.Verify(t.Context(), token, "/mcp")
		if err != nil {
			t.Fatal(err)
		}
		b.idp.change(func(p *idp) { p.keys = []map[string]any{jwk("k2", otherRSA, nil)} })
		time.Sleep(refreshTime)
		b.Holds(person.Credential) // a stream that does nothing else
		synctest.Wait()
		if b.Holds(person.Credential) {
			t.Error("the token of a withdrawn key holds")
		}
		b.want(token, reasonKey)
		b.want(sign(otherRSA, header(changes{"kid": "k2"}), b.claims(nil)), "")
	})
}

func TestProviderIsAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newPiped(t, nil)
		long := changes{"exp": time.Now().Add(48 * time.Hour).Unix()}
		before := b.token(long)
		b.want(before, "")
		b.idp.change(func(p *idp) { p.away = true })
		for range 60 { // an hour, with a token every minute
			time.Sleep(time.Minute)
			b.want(before, "")
			b.want(b.token(nil), "")
			if err := b.Ready(); err != nil {
				t.Fatal(err)
			}
		}
		if n := b.idp.count(metadataAt); n < 30 || n > 70 {
			t.Errorf("%d attempts in an hour", n)
		}
		b.want(sign(otherRSA, header(nil), b.claims(nil)), reasonSignature)
		b.want(sign(otherRSA, header(changes{"kid": "k2"}), b.claims(nil)), reasonUnavailable)
		b.want(b.token(changes{"exp": time.Now().Add(-time.Hour).Unix()}), reasonExpired)
		time.Sleep(staleTime - time.Hour)
		b.want(before, reasonUnavailable)
		if err := b.Ready(); err == nil || !strings.Contains(err.Error(), "https://idp.example") {
			t.Error("ready without keys: ", err)
		}
		b.idp.change(func(p *idp) { p.away = false })
		time.Sleep(retryPause)
		b.want(before, "")
		if err := b.Ready(); err != nil {
			t.Error(err)
		}
		if log := b.log.String(); strings.Count(log, "stay in use for a day") != 1 || strings.Count(log, "is back") != 1 {
			t.Error("the log does not say once that the provider was away and came back: ", log)
		}
	})
}

// Without a token, nothing but Run fetches the first keys; it does not give up, and ends with its context.
func TestProviderThatComesLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newPiped(t, nil)
		b.idp.change(func(p *idp) { p.away = true })
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { b.Run(ctx) })
		synctest.Wait()
		if err := b.Ready(); err == nil {
			t.Error("ready without keys")
		}
		b.want(b.token(nil), reasonUnavailable)
		time.Sleep(10 * time.Minute)
		if n := b.idp.count(metadataAt); n < 10 || n > 20 {
			t.Errorf("%d attempts in ten minutes", n)
		}
		b.idp.change(func(p *idp) { p.away = false })
		time.Sleep(longestPause)
		synctest.Wait()
		if err := b.Ready(); err != nil {
			t.Error(err)
		}
		cancel()
		running.Wait()
		b.want(b.token(nil), reasonUnavailable) // nothing begins after Run
		if log := b.log.String(); !strings.Contains(log, "level=WARN msg=\"the identity provider is back") || !strings.Contains(log, "none are known") || strings.Contains(log, "stay in use") {
			t.Error("the log does not say that the provider was away and came back: ", log)
		}
	})
}

func TestRunEndsWhileTheProviderHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newPiped(t, nil)
		hold := make(chan struct{})
		b.idp.change(func(p *idp) { p.hold = hold })
		ctx, cancel := context.WithCancel(t.Context())
		var running, waiting sync.WaitGroup
		running.Go(func() { b.Run(ctx) })
		waiting.Go(func() { b.want(b.token(nil), reasonUnavailable) })
		synctest.Wait()
		begin := time.Now()
		cancel()
		running.Wait()
		waiting.Wait()
		if took := time.Since(begin); took != 0 {
			t.Errorf("it took %v", took)
		}
		close(hold)
	})
}

// A client that goes away ends neither the wait of others nor the fetch.
func TestRequestThatEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newPiped(t, nil)
		hold := make(chan struct{})
		b.idp.change(func(p *idp) { p.hold = hold })
		ctx, cancel := context.WithCancel(t.Context())
		token := b.token(nil)
		var all sync.WaitGroup
		all.Go(func() {
			_, err := b.Verify(ctx, token, "/mcp")
			if err == nil || err.Error() != reasonLeft {
				t.Error("got ", err)
			}
		})
		synctest.Wait()
		all.Go(func() { b.want(token, "") })
		synctest.Wait()
		cancel()
		synctest.Wait()
		b.idp.change(func(p *idp) { p.hold = nil })
		close(hold)
		all.Wait()
	})
}

func TestRefreshInTheBackground(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newPiped(t, nil)
		token := b.token(changes{"exp": time.Now().Add(24 * time.Hour).Unix()})
		for range 60 {
			b.want(token, "")
			synctest.Wait()
			time.Sleep(time.Minute)
		}
		if n := b.idp.count(keysAt); n != 6 {
			t.Errorf("%d fetches in an hour, want 6", n)
		}
	})
}

func TestKeysThatAreTooMuch(t *testing.T) {
	for name, handler := range map[string]http.HandlerFunc{
		"large": func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprintf(w, `{"keys":[],"x":"%s"}`, strings.Repeat("x", maxDocument))
		},
		"endless": func(w http.ResponseWriter, _ *http.Request) {
			for {
				if _, err := w.Write(make([]byte, 1<<10)); err != nil {
					return
				}
			}
		},
		"elsewhere": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://127.0.0.2:1/keys", http.StatusFound)
		},
		"not found": http.NotFound,
		"empty":     func(http.ResponseWriter, *http.Request) {},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, nil)
			b.idp.change(func(p *idp) { p.replace[keysAt] = handler })
			b.want(b.token(nil), reasonUnavailable)
			if err := b.Ready(); err == nil || !strings.Contains(err.Error(), "the keys of "+b.idp.issuer) {
				t.Error("ready: ", err)
			}
		})
	}
	b := newBench(t, nil)
	b.idp.change(func(p *idp) {
		p.replace[keysAt] = func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprintf(w, `{"x":"%s","keys":[{"kid":"k1","kty":"RSA","e":"%s","n":"%s"}]}`, strings.Repeat("x", maxDocument/2), p.keys[0]["e"], p.keys[0]["n"])
		}
	})
	b.want(b.token(nil), "") // more than the guard's usual limit
}

func TestMetadata(t *testing.T) {
	serve := func(p *idp, path string) {
		p.replace[metadataAt] = http.NotFound
		p.replace[path] = func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprintf(w, `{"issuer":"%s","jwks_uri":"http://%s/keys"}`, p.issuer, strings.Split(p.issuer, "/")[2])
		}
	}
	for name, test := range map[string]struct {
		path   string // of the issuer
		change func(*idp)
		want   string // in the reason why nobody is verified
	}{
		"RFC 8414":        {"", func(*idp) {}, ""},
		"OpenID":          {"", func(p *idp) { serve(p, "/.well-known/openid-configuration") }, ""},
		"inserted":        {"/realms/t", func(p *idp) { serve(p, "/.well-known/oauth-authorization-server/realms/t") }, ""},
		"OpenID inserted": {"/realms/t", func(p *idp) { serve(p, "/.well-known/openid-configuration/realms/t") }, ""},
		"OpenID appended": {"/realms/t", func(p *idp) { serve(p, "/realms/t/.well-known/openid-configuration") }, ""},
		"a page first": {"", func(p *idp) {
			serve(p, "/.well-known/openid-configuration")
			p.replace[metadataAt] = func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>") }
		}, ""},
		"nowhere":        {"/realms/t", func(*idp) {}, "HTTP status 404 from "},
		"another issuer": {"", func(p *idp) { p.metadata = changes{"issuer": "https://evil.example"} }, "is that of 'https://evil.example', not of "},
		"with a slash":   {"", func(p *idp) { p.metadata = changes{"issuer": p.issuer + "/"} }, "not of "},
		"no keys":        {"", func(p *idp) { p.metadata = changes{"jwks_uri": nil} }, "has no 'jwks_uri'"},
		"keys elsewhere": {"", func(p *idp) { p.metadata = changes{"jwks_uri": "http://10.0.0.1/keys"} }, "was not contacted: only https addresses are used"},
		"keys in a private network": {
			"", func(p *idp) { p.metadata = changes{"jwks_uri": "https://10.0.0.1/keys"} },
			"the server itself does not have such an address; if that is right, set 'http.oauth.jwksUri'",
		},
		"down": {"", func(p *idp) {
			p.replace[metadataAt] = func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) }
		}, "HTTP status 502"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, nil)
			b.idp.change(func(p *idp) {
				p.issuer += test.path
				test.change(p)
			})
			b.work.end()
			b.start(nil, nil)
			t.Cleanup(b.work.end)
			if test.want == "" {
				b.want(b.token(nil), "")
				return
			}
			b.want(b.token(nil), reasonUnavailable)
			if err := b.Ready(); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

func TestAddressOfTheKeysInTheConfiguration(t *testing.T) {
	b := newBench(t, func(s *config.HTTPOAuth) { s.JWKSURI = s.Issuer + keysAt })
	b.want(b.token(nil), "")
	if n := b.idp.count(metadataAt); n != 0 {
		t.Error("the metadata was fetched")
	}
}

// What the metadata said before is used while it cannot be had.
func TestMetadataThatGoesAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newPiped(t, nil)
		b.want(b.token(nil), "")
		b.idp.change(func(p *idp) {
			p.metadata = changes{"issuer": "https://evil.example", "jwks_uri": "https://evil.example/keys"}
			p.keys = []map[string]any{jwk("k2", otherRSA, nil)}
		})
		b.want(sign(otherRSA, header(changes{"kid": "k2"}), b.claims(nil)), "")
	})
}
