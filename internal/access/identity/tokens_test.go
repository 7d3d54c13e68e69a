package identity

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// Requests that come at once with one token share one verification.
func TestOneVerification(t *testing.T) {
	b := newBench(t, nil)
	token := b.token(nil)
	var all sync.WaitGroup
	var mu sync.Mutex
	seen := make(map[*verified]bool)
	for range 100 {
		all.Go(func() {
			found, refusal := b.known(t.Context(), token)
			if refusal != nil {
				t.Error(refusal)
			}
			mu.Lock()
			defer mu.Unlock()
			seen[found] = true
		})
	}
	all.Wait()
	if len(seen) != 1 {
		t.Errorf("the token was verified %d times", len(seen))
	}
}

func TestTokenEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newPiped(t, nil)
		token := b.token(changes{"exp": time.Now().Add(time.Minute).Unix()})
		person, err := b.Verify(t.Context(), token, "/mcp")
		if err != nil || !person.Expires.Equal(time.Now().Add(time.Minute)) {
			t.Fatal(person, err)
		}
		time.Sleep(time.Minute + clockSkew - time.Nanosecond)
		b.want(token, "")
		time.Sleep(time.Nanosecond)
		b.want(token, reasonExpired)
		if !b.Holds(person.Credential) {
			t.Error("a call that is in flight would end")
		}
		b.want(b.token(nil), "")
		time.Sleep(afterTime)
		if b.Holds(person.Credential) {
			t.Error("it holds forever")
		}
	})
}

func TestHoldsOfOthers(t *testing.T) {
	b := newBench(t, nil)
	person, err := b.Verify(t.Context(), b.token(nil), "/mcp")
	if err != nil {
		t.Fatal(err)
	}
	for _, credential := range []string{"", "x", strings.Repeat("x", 80), strings.Repeat("0", 80), person.Credential[1:], person.Credential + "0", person.Credential[:64]} {
		if b.Holds(credential) {
			t.Errorf("%q holds", credential)
		}
	}
}

func TestMemoryIsBounded(t *testing.T) {
	s := newTokens()
	at := func(i int) digest { return sha256.Sum256(fmt.Append(nil, i)) }
	for i := range maxKnown + 10 {
		s.remember(&verified{digest: at(i), claims: &claims{person: Person{ID: fmt.Sprint(i), Expires: time.Now().Add(time.Hour)}}})
		if s.of(at(0).credential(nil), time.Now()) == nil { // a stream uses it
			t.Fatal("a token in use was forgotten")
		}
	}
	if len(s.known) != maxKnown || s.order.Len() != maxKnown || len(s.byPerson) != maxKnown {
		t.Errorf("%d tokens are kept", len(s.known))
	}
	for i, want := range map[int]bool{0: true, 1: false, 10: false, 11: true, maxKnown + 9: true} {
		if got := s.known[at(i)] != nil; got != want {
			t.Errorf("token %d: %v, want %v", i, got, want)
		}
	}
	for i := range maxInactive + 10 {
		s.callInactive(at(i), inactive{until: time.Now()})
	}
	if len(s.inactive) != maxInactive {
		t.Errorf("%d inactive tokens are kept", len(s.inactive))
	}
}

// However many tokens somebody gets, those of others stay known, and with them what others do.
func TestTokensOfOnePersonAreBounded(t *testing.T) {
	s := newTokens()
	at := func(i int) digest { return sha256.Sum256(fmt.Append(nil, i)) }
	add := func(i int, person string) {
		s.remember(&verified{digest: at(i), claims: &claims{person: Person{ID: person, Expires: time.Now().Add(time.Hour)}}})
	}
	for i := range 10 {
		add(i, "alice")
	}
	for i := range maxKnown {
		add(100+i, "bob")
		if s.of(at(100).credential(nil), time.Now()) == nil {
			t.Fatal("a token of bob in use was forgotten")
		}
	}
	for i := range 10 {
		if s.known[at(i)] == nil {
			t.Error("a token of alice was forgotten for those of bob")
		}
	}
	if len(s.known) != 10+maxOwn || s.order.Len() != 10+maxOwn || s.byPerson["bob"].Len() != maxOwn {
		t.Errorf("%d tokens are kept", len(s.known))
	}
	for digest := range s.known {
		s.forget(digest)
	}
	if len(s.byPerson) != 0 || s.order.Len() != 0 {
		t.Errorf("%d people are kept", len(s.byPerson))
	}
}

// Whatever comes is refused, unless it is what the provider signed.
func FuzzToken(f *testing.F) {
	b := newBench(f, nil)
	good := b.token(nil)
	for _, seed := range []string{
		good, "", ".", "..", "...", "a.b.c", "opaque", "mcpw_x", strings.Replace(good, ".", "..", 1), good + "=", signText(rsaKey, `{"alg":"RS256"}`, `{}`),
		signText(nil, `{"alg":"none"}`, `{"iss":""}`), signText([]byte("x"), `{"alg":"HS256","crit":["exp"],"typ":"JWT"}`, `{"exp":1e400,"aud":[],"sub":1}`),
		encode([]byte(`{"alg":"RS256"}`)) + "." + encode([]byte(`{"exp":[{}],"nbf":"","iat":-0}`)) + ".AA",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, token string) {
		if len(token) < 200 && strings.Count(token, ".") != 2 {
			return // the provider would be asked
		}
		person, err := b.Verify(t.Context(), token, "/mcp")
		if (err == nil) != (token == good) {
			t.Errorf("%q: %+v, %v", token, person, err)
		}
	})
}

// FuzzClaims has claims in any form, whose signature is right.
func FuzzClaims(f *testing.F) {
	for _, seed := range []string{
		`{}`, `null`, `{"iss":"i","sub":"s","aud":"a","exp":9e9,"scope":"x"}`, `{"iss":"i","sub":"s","aud":["a",""],"exp":1e400}`,
		`{"scope":[["x"]],"a":{"b":{"c":"d e"}},"groups":[null]}`, `{"cnf":null,"token_type":1,"typ":[]}`,
	} {
		f.Add(seed, "a.b.c")
	}
	f.Fuzz(func(t *testing.T, text, claim string) {
		members, err := parseObject([]byte(text))
		if err != nil {
			return
		}
		members.values(claim)
		_ = members.checkUse()
		read, refusal := readClaims(members, "i", time.Now())
		if refusal == nil && (read.person.Subject == "" || len(read.audience) == 0 || !read.person.Expires.After(time.Now().Add(-clockSkew-time.Second)) || members.text("iss") != "i") {
			t.Errorf("%q is accepted", text)
		}
	})
}

func BenchmarkVerify(b *testing.B) {
	bench := newBench(b, nil)
	bench.idp.change(func(p *idp) { p.keys = append(p.keys, jwk("ec", ecKey, nil)) })
	tokens := map[string]string{"RS256": bench.token(nil), "ES256": sign(ecKey, header(changes{"alg": "ES256", "kid": "ec"}), bench.claims(nil))}
	for _, algorithm := range []string{"RS256", "ES256"} {
		token := tokens[algorithm]
		bench.want(token, "")
		b.Run(algorithm, func(b *testing.B) {
			for b.Loop() {
				if _, refusal := bench.verifyAccess(b.Context(), token); refusal != nil {
					b.Fatal(refusal)
				}
			}
		})
		b.Run(algorithm+" known", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := bench.Verify(b.Context(), token, "/mcp"); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
