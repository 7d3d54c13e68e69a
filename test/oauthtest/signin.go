package oauthtest

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"html"
	"maps"
	"net/http"
	"net/url"
	"time"
)

// SignIn is how people sign in at an Issuer, with OpenID Connect.
type SignIn struct {
	ClientID, ClientSecret, RedirectURI string

	// SendsIssuer has the answers name the issuer, as its metadata promises then.
	SendsIssuer bool
	// OnlyPost refuses a secret in the header.
	OnlyPost bool
	// Error is what everybody gets instead of a code.
	Error string
	// Change edits the ID token; a value of nil removes a claim.
	Change map[string]any
	// Answer edits the parameters of the redirect.
	Answer func(url.Values)
}

// Paths of an Issuer at which people sign in.
const (
	IssuerAuthorize = "/authorize"
	IssuerToken     = "/token"
	issuerDecide    = "/decide"
)

// SetSignIn has people sign in from now on, each by the name that they type into the field "login" of a form: it is their
// subject.
func (i *Issuer) SetSignIn(s SignIn) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.signIn = &s
	if i.codes == nil {
		i.codes = make(map[string]url.Values)
	}
}

// serveSignIn serves the paths of people who sign in.
func (i *Issuer) serveSignIn(w http.ResponseWriter, r *http.Request) bool {
	handlers := map[string]func(http.ResponseWriter, *http.Request, SignIn){IssuerAuthorize: i.showForm, issuerDecide: i.decide, IssuerToken: i.giveToken}
	i.mu.Lock()
	s, handler := i.signIn, handlers[r.URL.Path]
	if s != nil && handler != nil {
		i.counts[r.URL.Path]++
	}
	i.mu.Unlock()
	if s == nil || handler == nil {
		return false
	}
	handler(w, r, *s)
	return true
}

func (i *Issuer) showForm(w http.ResponseWriter, r *http.Request, s SignIn) {
	query := r.URL.Query()
	if query.Get("client_id") != s.ClientID || query.Get("redirect_uri") != s.RedirectURI || query.Get("response_type") != "code" || query.Get("scope") != "openid" ||
		query.Get("state") == "" || query.Get("nonce") == "" || query.Get("code_challenge") == "" || query.Get("code_challenge_method") != "S256" {
		http.Error(w, "the request is wrong: "+r.URL.RawQuery, http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	fmt.Fprintf(w, `<!doctype html><form method="post" action="%s?%s"><input name="login" value="nobody"></form>`, issuerDecide, html.EscapeString(r.URL.RawQuery))
}

func (i *Issuer) decide(w http.ResponseWriter, r *http.Request, s SignIn) {
	asked := r.URL.Query()
	answer := url.Values{"state": {asked.Get("state")}}
	if s.SendsIssuer {
		answer.Set("iss", i.URL())
	}
	if s.Error != "" {
		answer.Set("error", s.Error)
	} else {
		code := "code-" + randomText()
		asked.Set("login", r.PostFormValue("login"))
		i.mu.Lock()
		i.codes[code] = asked
		i.mu.Unlock()
		answer.Set("code", code)
	}
	if s.Answer != nil {
		s.Answer(answer)
	}
	http.Redirect(w, r, s.RedirectURI+"?"+answer.Encode(), http.StatusFound)
}

func (i *Issuer) giveToken(w http.ResponseWriter, r *http.Request, s SignIn) {
	refuse := func(status int, code string) { writeJSON(w, status, map[string]string{"error": code}) }
	id, secret, basic := r.BasicAuth()
	if !basic {
		id, secret = r.PostFormValue("client_id"), r.PostFormValue("client_secret")
	}
	if id != s.ClientID || secret != s.ClientSecret || basic && s.OnlyPost {
		refuse(http.StatusUnauthorized, "invalid_client")
		return
	}
	i.mu.Lock()
	asked := i.codes[r.PostFormValue("code")]
	delete(i.codes, r.PostFormValue("code"))
	i.mu.Unlock()
	challenge := sha256.Sum256([]byte(r.PostFormValue("code_verifier")))
	if asked == nil || asked.Get("code_challenge") != base64.RawURLEncoding.EncodeToString(challenge[:]) || r.PostFormValue("redirect_uri") != s.RedirectURI {
		refuse(http.StatusBadRequest, "invalid_grant")
		return
	}
	now := time.Now()
	claims := map[string]any{
		"sub": asked.Get("login"), "name": "The person " + asked.Get("login"), "aud": s.ClientID, "nonce": asked.Get("nonce"),
		"iat": now.Unix(), "exp": now.Add(time.Hour).Unix(),
	}
	maps.Copy(claims, s.Change)
	writeJSON(w, http.StatusOK, map[string]any{
		"access_token": "access-" + randomText(), "token_type": "Bearer", "id_token": i.Sign(map[string]any{"typ": "JWT"}, claims),
	})
}
