package connect

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/base/hidden"
	"github.com/mcp-workbench/mcp-workbench/internal/base/secret"
)

// This file takes the answer of the identity provider, which says who has opened a link.

const (
	// exchangeTime bounds the request for an ID token.
	exchangeTime = 20 * time.Second
	// maxTokens is the size of the answer with an ID token; a larger one is refused.
	maxTokens = 256 << 10
)

// takeIdentity takes the answer of the identity provider. The first one that was begun in the same browser is the one use of
// the link, whatever it says.
func (p *Pages) takeIdentity(w http.ResponseWriter, r *http.Request) {
	query, ok := answerOf(w, r)
	if !ok {
		return
	}
	state := query.Get("state")
	handle, _, _ := strings.Cut(state, ".")
	p.mu.Lock()
	l := p.byHandle[handle]
	p.mu.Unlock()
	if l == nil {
		show(w, http.StatusBadRequest, "This login is not known", "It has expired. "+anotherLink)
		return
	}
	cookie, ok := l.cookieOf(r)
	if !ok || !isEqual(state, l.state(cookie)) {
		show(w, http.StatusBadRequest, "This browser did not begin the login", "Open the link of the login in this browser.")
		return
	}
	if !l.claim() {
		l.showUsed(w)
		return
	}
	ctx, cancel := context.WithTimeout(p.life, finishTime) // the person has done their part
	defer cancel()
	who, err := l.identify(ctx, query, cookie)
	switch {
	case err != nil:
		l.end(err, "")
		l.showEnd(w)
	case who.Issuer != l.request.Person.Issuer || who.Subject != l.request.Person.Subject:
		l.end(errOther, who.Subject)
		http.SetCookie(w, l.httpCookie("", -time.Second))
		show(w, http.StatusForbidden, "This link is for somebody else", "You signed in as "+named(orElse(who.Name, who.Subject))+". The link works only for the person whose MCP client showed it. "+
			"Nothing was linked, and the link cannot be used any more.", "If it is yours, sign out at the identity provider first. "+anotherLink)
	default:
		l.leadToServer(ctx, w, cookie)
	}
}

func orElse(name, subject string) string {
	if named(name) != "" {
		return name
	}
	return subject
}

// leadToServer sends the person on to the authorization server of the server.
func (l *Link) leadToServer(ctx context.Context, w http.ResponseWriter, cookie string) {
	attempt, err := l.request.Begin(ctx, l.pages.base.String()+root+callbackName+"/"+placeOf(l.request.Address))
	if err == nil {
		if err = l.goOn(cookie, attempt); err != nil {
			attempt.Close()
		}
	}
	if err != nil {
		l.end(err, "")
		l.showEnd(w)
		return
	}
	redirect(w, attempt.AuthorizeURL())
}

// refusal is why the identity provider's answer did not say who it is, for people.
type refusal struct{ text string }

func (e *refusal) Error() string { return e.text }

func refused(format string, arguments ...any) error {
	return &refusal{fmt.Sprintf(format, arguments...)}
}

// identify returns who came back from the identity provider. Nothing of an answer from someone else is shown.
func (l *Link) identify(ctx context.Context, query url.Values, cookie string) (Person, error) {
	p := l.pages
	_, endpoint, sendsIssuer, err := p.options.Provider.Provider(ctx)
	if err != nil {
		return Person{}, unreachable(p, err)
	}
	issuer, hasIssuer := query["iss"]
	switch {
	case hasIssuer && issuer[0] != p.options.Settings.Issuer:
		return Person{}, refused("the answer came from somebody else than the identity provider: its parameter 'iss' differs; tell those who run the workbench")
	case !hasIssuer && sendsIssuer:
		return Person{}, refused("the answer does not say that it comes from the identity provider: its parameter 'iss' is missing; tell those who run the workbench")
	case query.Get("error") != "":
		return Person{}, refused("the identity provider did not sign you in: %s", words(query.Get("error"), query.Get("error_description")))
	}
	token, err := p.exchange(ctx, endpoint, query.Get("code"), l.verifier(cookie))
	if err != nil {
		return Person{}, err
	}
	who, subject, name, err := p.options.Provider.IDToken(ctx, token, l.nonce(cookie))
	if err != nil {
		p.options.Log.Warn("the ID token of a login was refused", "reason", err)
		return Person{}, refused("what the identity provider says of you cannot be verified; those who run the workbench find the reason in its log")
	}
	return Person{who, subject, name}, nil
}

// words returns a code of OAuth and its description, for people.
func words(code, description string) string {
	text := named(code)
	if description != "" {
		text += " (" + hidden.Line(description, 3*maxName) + ")"
	}
	return text
}

func unreachable(p *Pages, err error) error {
	p.options.Log.Warn("the identity provider cannot be reached for a login", "reason", err)
	return refused("the identity provider cannot be reached now; try again in a moment")
}

// idTokenAnswer is the part of the token endpoint's answer that is used. The access token in it is for nobody here.
type idTokenAnswer struct {
	IDToken     string `json:"id_token"`
	Error       string `json:"error"`
	Description string `json:"error_description"`
}

// exchange returns the ID token for a code. A client with a secret that may not send it in a header, as is usual, sends it in
// the form.
func (p *Pages) exchange(ctx context.Context, endpoint, code, verifier string) (string, error) {
	form := url.Values{
		"grant_type": {"authorization_code"}, "code": {code}, "redirect_uri": {p.providerRedirectURI()}, "code_verifier": {verifier},
	}
	settings := &p.options.Settings
	masker := secret.NewMasker([]string{code, verifier, settings.ClientSecret}) // some providers quote what they refuse
	answer, err := p.post(ctx, endpoint, form, settings.ClientSecret != "")
	if err == nil && answer.Error == "invalid_client" && settings.ClientSecret != "" {
		form.Set("client_secret", settings.ClientSecret)
		answer, err = p.post(ctx, endpoint, form, false)
	}
	switch {
	case err != nil:
		return "", unreachable(p, err)
	case answer.Error == "invalid_client" || answer.Error == "unauthorized_client":
		p.options.Log.Warn("the identity provider refuses the client of 'http.oauth.clientId'", "reason", masker.Mask(words(answer.Error, answer.Description)))
		return "", refused("the identity provider refuses the client of this workbench; those who run it have to check 'http.oauth.clientId' and 'http.oauth.clientSecret'")
	case answer.Error != "":
		return "", refused("the identity provider did not sign you in: %s", masker.Mask(words(answer.Error, answer.Description)))
	case answer.IDToken == "":
		return "", refused("the identity provider did not say who you are: its answer has no 'id_token'; those who run the workbench have to allow the scope 'openid' for its client")
	}
	return answer.IDToken, nil
}

// post sends a form to the token endpoint, once and nowhere else.
func (p *Pages) post(ctx context.Context, endpoint string, form url.Values, basic bool) (*idTokenAnswer, error) {
	ctx, cancel := context.WithTimeout(ctx, exchangeTime)
	defer cancel()
	settings := &p.options.Settings
	if !basic {
		form.Set("client_id", settings.ClientID)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, endpoint, strings.NewReader(form.Encode()))
	if err != nil {
		return nil, errors.New("the token endpoint is no address")
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.Header.Set("Accept", "application/json")
	if basic { // RFC 6749, section 2.3.1: both are encoded as in a form
		request.SetBasicAuth(url.QueryEscape(settings.ClientID), url.QueryEscape(settings.ClientSecret))
	}
	client := *p.options.Provider.Client()
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	response, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxTokens+1))
	if err != nil {
		return nil, err
	}
	answer := new(idTokenAnswer)
	if len(body) > maxTokens || json.Unmarshal(body, answer) != nil || response.StatusCode != http.StatusOK && answer.Error == "" {
		return nil, fmt.Errorf("the token endpoint answered with HTTP status %d, and not with tokens", response.StatusCode)
	}
	return answer, nil
}

func encode(bits []byte) string { return base64.RawURLEncoding.EncodeToString(bits) }
