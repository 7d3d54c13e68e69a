package identity

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// answer makes the provider say something of a token.
func (b *bench) answer(token string, changed map[string]any) {
	all := b.claims(changes{"active": true, "token_type": "Bearer"})
	for name, value := range changed {
		if all[name] = value; value == nil {
			delete(all, name)
		}
	}
	b.idp.change(func(p *idp) { p.answers[token] = all })
}

func TestIntrospection(t *testing.T) {
	b := newBench(t, nil)
	now := time.Now()
	for name, test := range map[string]struct {
		changes map[string]any
		reason  string
	}{
		"good":                 {nil, ""},
		"no issuer":            {changes{"iss": nil}, ""},
		"no scope, all else":   {changes{"scope": nil, "token_type": nil}, nothing},
		"inactive":             {changes{"active": false}, reasonInactive},
		"active in words":      {changes{"active": "true"}, reasonInactive},
		"active a number":      {changes{"active": 1}, reasonInactive},
		"nothing about active": {changes{"active": nil}, reasonInactive},
		"other issuer":         {changes{"iss": "https://evil.example"}, reasonIssuer},
		"issuer a number":      {changes{"iss": 1}, reasonIssuer},
		"other audience":       {changes{"aud": "https://other.example"}, reasonAudience},
		"no audience":          {changes{"aud": nil}, reasonNoAudience},
		"expired":              {changes{"exp": now.Add(-2 * time.Minute).Unix()}, reasonExpired},
		"no expiry":            {changes{"exp": nil}, reasonNoExpiry},
		"not yet":              {changes{"nbf": now.Add(2 * time.Minute).Unix()}, reasonEarly},
		"no subject":           {changes{"sub": nil}, reasonSubject},
		"bound":                {changes{"cnf": changes{"jkt": "x"}}, reasonBound},
		"DPoP":                 {changes{"token_type": "DPoP"}, reasonBound},
		"refresh token":        {changes{"token_type": "refresh_token"}, reasonKind},
		"Hydra's refresh":      {changes{"token_use": "refresh_token"}, reasonKind},
		"Keycloak's refresh":   {changes{"typ": "Refresh"}, reasonKind},
		"ID token":             {changes{"nonce": "n"}, reasonKind},
	} {
		t.Run(name, func(*testing.T) {
			token := "opaque-" + strings.NewReplacer(" ", "-", "'", "", ",", "").Replace(name)
			b.answer(token, test.changes)
			b.want(token, test.reason)
		})
	}
	b.want("unheard-of", reasonInactive)
}

func TestWhatTheProviderIsNotAsked(t *testing.T) {
	b := newBench(t, nil)
	for _, token := range []string{"mcpw_" + strings.Repeat("x", 43), "", "=", "two words", "a\tb", "ä", `"`, strings.Repeat("x", maxToken+1), b.token(nil), "a.b.c"} {
		b.refusal(token, "/mcp")
	}
	if n := b.idp.count(introspectAt); n != 0 {
		t.Errorf("it was asked about %q", b.idp.questions)
	}
	c := newBench(t, func(s *config.HTTPOAuth) { s.Introspection = nil })
	c.want("opaque", reasonOpaque)
	c.want(c.token(nil), "")
}

func TestAnswersThatAreNone(t *testing.T) {
	b := newBench(t, nil)
	for name, handler := range map[string]http.HandlerFunc{
		"status 500": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) },
		"refused":    func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) },
		"a redirect": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
		},
		"a page":       func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>canary") },
		"a list":       func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "[]") },
		"null":         func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "null") },
		"a name twice": func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"active":false,"active":true}`) },
		"large": func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprintf(w, `{"active":true,"x":"%s"}`, strings.Repeat("x", maxAnswer))
		},
	} {
		b.idp.change(func(p *idp) { p.replace[introspectAt] = handler })
		refusal := b.refusal("opaque", "/mcp")
		if refusal == nil || refusal.Status != http.StatusServiceUnavailable || refusal.Code != "" || b.Challenge("/mcp", refusal) != "" {
			t.Errorf("%s: got %+v", name, refusal)
		}
	}
	if b.idp.count("/elsewhere") != 0 {
		t.Error("a redirect was followed with the token")
	}
}

// An answer counts for a minute, for all requests of that time.
func TestAnswersAreKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newPiped(t, nil)
		b.answer("opaque", nil)
		var all sync.WaitGroup
		for range 100 {
			all.Go(func() { b.want("opaque", "") })
			all.Go(func() { b.want("wrong", reasonInactive) })
		}
		all.Wait()
		wantQuestions := func(want int) {
			t.Helper()
			if got := b.idp.count(introspectAt); got != want {
				t.Errorf("%d questions, want %d", got, want)
			}
		}
		wantQuestions(2)
		time.Sleep(answerTime - time.Nanosecond)
		b.want("opaque", "")
		b.want("wrong", reasonInactive)
		wantQuestions(2)
		time.Sleep(time.Nanosecond)
		b.answer("wrong", nil) // such as one that was not valid yet
		b.want("opaque", "")
		b.want("wrong", "")
		wantQuestions(4)
	})
}

// A token that is revoked ends a stream that uses it, though nothing else does.
func TestRevocation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newPiped(t, nil)
		b.answer("opaque", nil)
		person, err := b.Verify(t.Context(), "opaque", "/mcp")
		if err != nil {
			t.Fatal(err)
		}
		watch := func(during time.Duration) (after time.Duration) { // as the gate does
			for ; after < during; after += time.Second {
				if !b.Holds(person.Credential) {
					return after
				}
				time.Sleep(time.Second)
			}
			return during
		}
		if after := watch(10 * time.Minute); after != 10*time.Minute {
			t.Errorf("it ended after %v", after)
		}
		if n := b.idp.count(introspectAt); n < 9 || n > 11 {
			t.Errorf("%d questions in ten minutes", n)
		}
		b.idp.change(func(p *idp) { p.away = true })
		if after := watch(10 * time.Minute); after != 10*time.Minute {
			t.Errorf("it ended after %v without an answer", after)
		}
		if n := b.idp.count(introspectAt); n > 150 {
			t.Errorf("%d questions in twenty minutes, half of them without the provider", n)
		}
		b.want("opaque", reasonUnavailable)
		b.idp.change(func(p *idp) { p.away = false })
		b.answer("opaque", changes{"active": false})
		if after := watch(10 * time.Minute); after > answerTime+2*time.Second {
			t.Errorf("it ended after %v", after)
		}
		for range 3 { // it is the client's last token, and not one that it made up
			if refusal := b.refusal("opaque", "/mcp"); refusal == nil || refusal.Reason != reasonInactive || refusal.IsGuess() {
				t.Errorf("got %+v", refusal)
			}
		}
		if refusal := b.refusal("another", "/mcp"); refusal == nil || !refusal.IsGuess() {
			t.Errorf("got %+v", refusal)
		}
	})
}

// Who has other groups than before is who the next answer says.
func TestAnswerThatChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newPiped(t, nil)
		b.answer("opaque", changes{"scope": "mcp:dev"})
		before, err := b.Verify(t.Context(), "opaque", "/mcp")
		if err != nil {
			t.Fatal(err)
		}
		b.answer("opaque", changes{"scope": "mcp:ops"})
		time.Sleep(answerTime)
		after, err := b.Verify(t.Context(), "opaque", "/mcp")
		if err != nil || len(after.Toolboxes) != 2 {
			t.Fatal(after, err)
		}
		if b.Holds(before.Credential) || !b.Holds(after.Credential) {
			t.Error("what the token allowed before still holds")
		}
	})
}

func TestQuestionsAtOnceAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newPiped(t, nil)
		hold := make(chan struct{})
		b.idp.change(func(p *idp) { p.hold = hold })
		b.questions.settings.Endpoint = b.idp.issuer + introspectAt
		var all sync.WaitGroup
		for i := range 3 * maxQuestions {
			all.Go(func() { b.want(fmt.Sprint("opaque", i), reasonUnavailable) })
		}
		synctest.Wait()
		if n := b.idp.count(introspectAt); n != maxQuestions {
			t.Errorf("%d questions at once, want %d", n, maxQuestions)
		}
		begin := time.Now()
		all.Wait()
		if took := time.Since(begin); took > verifyTime {
			t.Errorf("it took %v", took)
		}
		close(hold)
	})
}

// However many tokens strangers make up, they take a bounded amount of memory, and nobody is kept out who is in.
func TestStrangersKeepNobodyOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newPiped(t, nil)
		b.answer("opaque", nil)
		b.want("opaque", "")
		time.Sleep(answerTime)
		b.idp.change(func(p *idp) {
			answer := p.answers["opaque"]
			p.replace[introspectAt] = func(w http.ResponseWriter, r *http.Request) {
				if r.FormValue("token") != "opaque" { // the provider is slow to find that it is none
					<-r.Context().Done()
					return
				}
				_ = json.NewEncoder(w).Encode(answer)
			}
		})
		ctx, leave := context.WithCancel(t.Context())
		var strangers sync.WaitGroup
		for i := range 2 * maxNew {
			strangers.Go(func() { _, _ = b.Verify(ctx, fmt.Sprint("stranger", i), "/mcp") })
		}
		synctest.Wait()
		leave() // which ends no question that others may wait for
		strangers.Wait()
		if n := len(b.tokens.flights); n != maxNew {
			t.Errorf("%d tokens are being verified, want %d", n, maxNew)
		}
		begin := time.Now()
		b.want("opaque", "")
		if took := time.Since(begin); took > time.Second {
			t.Errorf("it took %v", took)
		}
	})
}

func TestReadyByIntrospectionAlone(t *testing.T) {
	b := newBench(t, nil)
	b.idp.change(func(p *idp) { p.replace[keysAt] = http.NotFound })
	b.answer("opaque", nil)
	b.want(b.token(nil), reasonUnavailable)
	if b.Ready() == nil {
		t.Error("ready, and nobody was verified")
	}
	b.want("opaque", "")
	if err := b.Ready(); err != nil {
		t.Error(err)
	}
}

func TestWrongSecret(t *testing.T) {
	b := newBench(t, func(s *config.HTTPOAuth) {
		s.Introspection = &config.Introspection{Endpoint: s.Issuer + introspectAt, ClientID: clientID, ClientSecret: "wrong"}
	})
	b.want("opaque", reasonUnavailable)
	if !strings.Contains(b.log.String(), "refuses the client of the introspection") {
		t.Error("the log does not say why: ", b.log)
	}
	if _, err := b.questions.question(t.Context(), "x"); err == nil {
		t.Error("no error")
	} else if known, ok := errors.AsType[*problemError](err); !ok || !strings.Contains(known.hint, "http.oauth.introspection") {
		t.Error("no hint: ", err)
	}
}
