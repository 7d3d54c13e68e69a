package connect

import (
	"context"
	"crypto/sha256"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// providerTime bounds finding the endpoints of the identity provider; then a page says that it cannot be reached.
const providerTime = 10 * time.Second

// IsPublic reports whether a path, as sent, is one of the pages, which need no token: who opens them signs in. Browsers come
// to them from other sites.
func (p *Pages) IsPublic(path string) bool {
	_, ok := p.below(path)
	return ok
}

// below returns the part of a path behind /connect/. A proxy may have removed the path of the public address, or not.
func (p *Pages) below(path string) (rest string, ok bool) {
	if p == nil {
		return "", false
	}
	if rest, ok = strings.CutPrefix(path, root); !ok {
		rest, ok = strings.CutPrefix(path, p.base.EscapedPath()+root)
	}
	return rest, ok && rest != ""
}

// Before returns a handler that serves the pages, and has next serve everything else.
func (p *Pages) Before(next http.Handler) http.Handler {
	if p == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if p.IsPublic(r.URL.EscapedPath()) {
			p.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// Guard returns a handler before the gate, which refuses what pages of other sites send: people come to these pages from other
// sites, their identity provider and authorization servers. Only visits of a whole page pass, and nothing that such a page could
// embed, fetch or post. The gate still checks the host.
func (p *Pages) Guard(gate http.Handler) http.Handler {
	if p == nil {
		return gate
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if p.IsPublic(r.URL.EscapedPath()) && isVisit(r) {
			visit := *r
			visit.Header = r.Header.Clone()
			visit.Header.Del("Sec-Fetch-Site")
			r = &visit
		}
		gate.ServeHTTP(w, r)
	})
}

// isVisit reports whether a browser sends a request because a person goes to the page.
func isVisit(r *http.Request) bool {
	return r.Method == http.MethodGet && len(r.Header["Origin"]) == 0 &&
		r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document"
}

// ServeHTTP serves the pages. Host and origin of the request were checked.
func (p *Pages) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	setHeaders(w.Header())
	rest, ok := p.below(r.URL.EscapedPath())
	place, isServer := strings.CutPrefix(rest, callbackName+"/")
	switch {
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		w.Header().Set("Allow", "GET, HEAD")
		show(w, http.StatusMethodNotAllowed, "Not allowed")
	case !ok:
		show(w, http.StatusNotFound, "Not found")
	case r.Method == http.MethodHead: // of programs that look at links
		w.WriteHeader(http.StatusOK)
	case rest == callbackName:
		p.takeIdentity(w, r)
	case isServer:
		p.takeAnswer(w, r, place)
	default:
		p.open(w, r, rest)
	}
}

// open leads whoever opens a link to the identity provider, and the one who has signed in there on to the server. Opening it
// alone uses nothing up.
func (p *Pages) open(w http.ResponseWriter, r *http.Request, name string) {
	p.mu.Lock()
	l := p.byID[sha256.Sum256([]byte(name))]
	p.mu.Unlock()
	if l == nil {
		show(w, http.StatusNotFound, "This link is not known", "It has expired, or was not copied whole. "+anotherLink)
		return
	}
	cookie, hasCookie := l.cookieOf(r)
	switch now, browser, attempt := l.phaseNow(); {
	case now == ended:
		l.showUsed(w)
	case now == checking, now == linking && (!hasCookie || !isEqual(cookie, browser)):
		show(w, http.StatusGone, "This link is in use", "Somebody has signed in with it. Go on in the browser in which that was.")
	case now == linking:
		redirect(w, attempt.AuthorizeURL())
	default:
		l.leadToProvider(w, r, cookie, hasCookie)
	}
}

// showUsed says that a link was used.
func (l *Link) showUsed(w http.ResponseWriter) {
	l.pages.mu.Lock()
	err := l.err
	l.pages.mu.Unlock()
	if errors.Is(err, errLate) {
		l.showEnd(w)
		return
	}
	show(w, http.StatusGone, "This link was used already", "It works once. If your client still asks you to sign in: "+strings.ToLower(anotherLink[:1])+anotherLink[1:])
}

// leadToProvider sends a browser to the identity provider. It can be recognised when it comes back.
func (l *Link) leadToProvider(w http.ResponseWriter, r *http.Request, cookie string, hasCookie bool) {
	p := l.pages
	ctx, cancel := context.WithTimeout(r.Context(), providerTime)
	defer cancel()
	endpoint, _, _, err := p.options.Provider.Provider(ctx)
	address, parseErr := url.Parse(endpoint)
	if err != nil || parseErr != nil || address.Host == "" {
		p.options.Log.Warn("nobody can sign in to servers: the identity provider says not where", "reason", err)
		show(w, http.StatusServiceUnavailable, "The identity provider cannot be reached", "The link stays valid. Open it again in a moment.")
		return
	}
	if !hasCookie {
		cookie = l.newCookie()
		http.SetCookie(w, l.httpCookie(cookie, l.left()))
	}
	challenge := sha256.Sum256([]byte(l.verifier(cookie)))
	query := address.Query()
	for name, value := range map[string]string{
		"response_type": "code", "client_id": p.options.Settings.ClientID, "redirect_uri": p.providerRedirectURI(), "scope": "openid",
		"state": l.state(cookie), "nonce": l.nonce(cookie), "code_challenge": encode(challenge[:]), "code_challenge_method": "S256",
	} {
		query.Set(name, value)
	}
	address.RawQuery = query.Encode()
	redirect(w, address.String())
}

func (p *Pages) providerRedirectURI() string { return p.base.String() + root + callbackName }

func redirect(w http.ResponseWriter, address string) {
	w.Header().Set("Location", address)
	w.WriteHeader(http.StatusSeeOther)
}

// isSecure reports whether browsers come by https.
func (l *Link) isSecure() bool { return l.pages.base.Scheme == "https" }

// cookieName differs between links, so that several can be open in one browser. By its prefix, a browser takes the cookie from
// this host only: a page of a sibling domain could otherwise set one for both that its owner got here, and have another person
// finish a login in the owner's name.
func (l *Link) cookieName() string {
	name := "mcp_workbench_connect_" + l.handle[:8]
	if l.isSecure() {
		return "__Host-" + name
	}
	return name
}

func (l *Link) httpCookie(value string, age time.Duration) *http.Cookie {
	path := l.pages.base.EscapedPath() + root
	if l.isSecure() {
		path = "/" // the prefix of the name wants it
	}
	return &http.Cookie{
		Name: l.cookieName(), Value: value, Path: path, MaxAge: int(age / time.Second), HttpOnly: true, Secure: l.isSecure(), SameSite: http.SameSiteLaxMode,
	}
}

// cookieOf returns the cookie that the link has given a browser.
func (l *Link) cookieOf(r *http.Request) (value string, ok bool) {
	for _, cookie := range r.CookiesNamed(l.cookieName()) {
		if l.isOwn(cookie.Value) {
			return cookie.Value, true
		}
	}
	return "", false
}

// takeAnswer takes the answer of the authorization server of a server.
func (p *Pages) takeAnswer(w http.ResponseWriter, r *http.Request, place string) {
	query, ok := answerOf(w, r)
	if !ok {
		return
	}
	p.mu.Lock()
	l := p.byState[sha256.Sum256([]byte(query.Get("state")))]
	p.mu.Unlock()
	if l == nil || placeOf(l.request.Address) != place {
		show(w, http.StatusBadRequest, "This login is not known", "It was finished already, has expired, or belongs to another address. "+anotherLink)
		return
	}
	cookie, ok := l.cookieOf(r)
	_, browser, attempt := l.phaseNow()
	if !ok || !isEqual(cookie, browser) {
		p.options.Log.Warn("the answer of a login came in another browser than the one it was begun in; it was ignored", "toolbox", l.request.Toolbox, "server", l.request.Server)
		show(w, http.StatusBadRequest, "This browser did not begin the login", "Nothing was linked. If somebody sent you here, tell those who run the workbench.")
		return
	}
	if unfit := attempt.Deliver(query); unfit != "" {
		show(w, http.StatusBadRequest, "This is not the answer of the login", sentence("The address of this page cannot be used: "+unfit), "The login goes on: open its link again.")
		return
	}
	select {
	case <-l.done:
		http.SetCookie(w, l.httpCookie("", -time.Second))
		l.showEnd(w)
	case <-r.Context().Done():
	}
}

// answerOf returns the parameters of an answer, or says what is wrong with them.
func answerOf(w http.ResponseWriter, r *http.Request) (url.Values, bool) {
	query, err := url.ParseQuery(r.URL.RawQuery)
	wrong := err != nil
	for _, name := range []string{"state", "code", "iss", "error"} {
		wrong = wrong || len(query[name]) > 1
	}
	if wrong || query.Get("state") == "" || query.Get("code") == "" && query.Get("error") == "" {
		show(w, http.StatusBadRequest, "This is not the answer of a login", "Open the link of the login again.")
		return nil, false
	}
	return query, true
}
