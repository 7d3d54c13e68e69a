package oauthtest

import (
	"crypto/rand"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

func randomText() string { return rand.Text() }

// authorize is the page at which a person logs in.
func (a *authority) authorize(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	event := &Event{Kind: Authorize, Issuer: a.base(), Client: query.Get("client_id")}
	event.setForm(query)
	a.provider.handle(w, r, event, func(w http.ResponseWriter) int {
		options := a.provider.now()
		client := a.client(query.Get("client_id"))
		if client == nil {
			event.Error = "invalid_client"
			return refusePage(w, "This client is unknown.")
		}
		if !client.allows(query.Get("redirect_uri"), options.ExactRedirect) {
			event.Error = "invalid_redirect_uri"
			return refusePage(w, "This redirect URI is not registered.")
		}
		if problem := a.problem(query, options); problem != nil {
			event.Error = problem.code
			return a.redirect(w, query, url.Values{"error": {problem.code}, "error_description": {problem.description}})
		}
		switch options.Consent {
		case "deny":
			event.Error = "access_denied"
			return a.redirect(w, query, url.Values{"error": {"access_denied"}, "error_description": {"The person did not agree"}})
		case "form":
			return a.ask(w, query)
		}
		return a.agree(w, query)
	})
}

// problem is what is wrong with an authorization request.
func (a *authority) problem(query url.Values, options Options) *oauthError {
	switch {
	case query.Get("response_type") != "code":
		return refusal("unsupported_response_type", "response_type has to be code")
	case query.Get("code_challenge") == "" || query.Get("code_challenge_method") != "S256":
		return refusal("invalid_request", "a code_challenge with the method S256 is required")
	case query.Get("state") == "":
		return refusal("invalid_request", "state is missing")
	}
	return a.provider.resourceProblem(query, options)
}

// resourceProblem is what is wrong with the parameter "resource".
func (p *Provider) resourceProblem(form url.Values, options Options) *oauthError {
	sent := form["resource"]
	switch options.ResourceParameter {
	case "ignored":
		return nil
	case "refused":
		if len(sent) > 0 {
			return refusal("invalid_target", "the resource parameter is not supported here")
		}
		return nil
	}
	if options.ResourceMetadataAt == "nowhere" && len(sent) == 0 {
		return nil // as in the revision without resource metadata
	}
	if len(sent) != 1 || !slices.Contains([]string{p.resourceValue(options), p.URL()}, sent[0]) {
		return refusal("invalid_target", fmt.Sprintf("resource has to be %s", p.resourceValue(options)))
	}
	return nil
}

// ask shows a form for a person.
func (a *authority) ask(w http.ResponseWriter, query url.Values) int {
	a.provider.mu.Lock()
	name := a.provider.next("form")
	a.asked[name] = query
	a.provider.mu.Unlock()
	http.SetCookie(w, &http.Cookie{Name: "form", Value: name, Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode})
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(http.StatusOK)
	fmt.Fprintf(w, `<!doctype html><title>Log in</title><form method="post" action="%s/decide">
<input name="login" value="person"><input type="password" name="password" value="password">
<button type="submit" name="decision" value="agree">Agree</button></form>`, html.EscapeString(a.base()))
	return http.StatusOK
}

// decide takes the form.
func (a *authority) decide(w http.ResponseWriter, r *http.Request) {
	cookie, err := r.Cookie("form")
	if err != nil || r.Method != http.MethodPost {
		refusePage(w, "The form has to be posted with its cookie.")
		return
	}
	a.provider.mu.Lock()
	query := a.asked[cookie.Value]
	delete(a.asked, cookie.Value)
	a.provider.mu.Unlock()
	if query == nil {
		refusePage(w, "There is no such form.")
		return
	}
	a.agree(w, query)
}

// agree redirects with a code.
func (a *authority) agree(w http.ResponseWriter, query url.Values) int {
	p := a.provider
	issuer := a.base()
	p.mu.Lock()
	one := &code{
		grant: grant{
			login: &login{id: p.next("login")}, issuer: issuer, client: query.Get("client_id"),
			scopes:   slices.DeleteFunc(strings.Fields(query.Get("scope")), func(scope string) bool { return slices.Contains(p.options.NeverGranted, scope) }),
			resource: query.Get("resource"),
		},
		redirect: query.Get("redirect_uri"), challenge: query.Get("code_challenge"),
	}
	name := p.next("code")
	a.codes[name] = one
	p.mu.Unlock()
	return a.redirect(w, query, url.Values{"code": {name}})
}

func (a *authority) redirect(w http.ResponseWriter, query, answer url.Values) int {
	options := a.provider.now()
	answer.Set("state", query.Get("state"))
	if options.WrongState {
		answer.Set("state", "another")
	}
	switch options.Iss {
	case "", "unadvertised":
		answer.Set("iss", a.base())
	case "missing", "none":
	case "unexpected":
		answer.Set("iss", "https://unexpected.example")
	default:
		answer.Set("iss", options.Iss)
	}
	target, err := url.Parse(query.Get("redirect_uri"))
	if err != nil {
		return refusePage(w, "This redirect URI cannot be read.")
	}
	all := target.Query()
	for name, values := range answer {
		all[name] = values
	}
	target.RawQuery = all.Encode()
	w.Header().Set("Location", target.String())
	w.WriteHeader(http.StatusFound)
	return http.StatusFound
}

// refusePage tells a person why there is no redirect.
func refusePage(w http.ResponseWriter, text string) int {
	const status = http.StatusBadRequest
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	fmt.Fprintf(w, "<!doctype html><p>%s", html.EscapeString(text))
	return status
}
