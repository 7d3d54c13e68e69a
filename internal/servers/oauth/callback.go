package oauth

import (
	"context"
	"errors"
	"html"
	"io"
	"log"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Limits of the server that waits for the answer of a login.
const (
	callbackTime = 5 * time.Second // to read a request
	partingTime  = 2 * time.Second // to send the last page after a login
	maxCallback  = 64 << 10        // bytes of a request's header
)

// serve answers at the loopback address until the attempt ends.
func (a *Attempt) serve() {
	ctx, cancel := context.WithTimeout(context.Background(), loginTime)
	a.cancel = cancel
	a.server = &http.Server{
		Handler: http.HandlerFunc(a.handle), ReadHeaderTimeout: callbackTime, ReadTimeout: callbackTime, MaxHeaderBytes: maxCallback,
		ErrorLog: log.New(io.Discard, "", 0),
	}
	a.server.SetKeepAlivesEnabled(false)
	a.running.Go(func() { _ = a.server.Serve(a.listener) })
	a.running.Go(func() {
		defer cancel()
		a.awaitAnswer(ctx)
		parting, stop := context.WithTimeout(context.Background(), partingTime)
		defer stop()
		if a.server.Shutdown(parting) != nil {
			_ = a.server.Close()
		}
	})
}

// awaitAnswer returns when the attempt has ended, which it does with ctx at the latest, unless an answer is there by then.
func (a *Attempt) awaitAnswer(ctx context.Context) {
	select {
	case <-ctx.Done():
		if a.claim() {
			a.finish(nil, a.whyEnded(ctx))
		}
		<-a.done
	case <-a.done:
	}
}

func (a *Attempt) whyEnded(ctx context.Context) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return loginFailed(a.again(""), "nobody finished the login within %d minutes", int(loginTime/time.Minute))
	}
	return errors.New("the login was given up")
}

func (a *Attempt) closeListener() {
	if a.listener != nil {
		_ = a.listener.Close()
	}
}

// handle answers a request to the loopback address. Any page on this machine may send one.
func (a *Attempt) handle(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("Content-Security-Policy", "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("Cache-Control", "no-store")
	switch {
	case r.Host != a.host: // a name of others may lead to this address
		page(w, http.StatusMisdirectedRequest, "Not found", "")
	case r.URL.Path != a.pagePath && r.URL.Path != callbackPath:
		page(w, http.StatusNotFound, "Not found", "")
	case r.Method != http.MethodGet:
		header.Set("Allow", http.MethodGet)
		page(w, http.StatusMethodNotAllowed, "Not allowed", "")
	case r.URL.Path == a.pagePath:
		a.handlePage(w, r)
	default:
		a.handleCallback(w, r)
	}
}

// cookieName differs between attempts, since a browser sends the cookies of all ports of this machine.
func (a *Attempt) cookieName() string {
	return "mcp_workbench_login_" + a.host[strings.LastIndexByte(a.host, ':')+1:]
}

func (a *Attempt) hasCookie(r *http.Request) bool {
	for _, cookie := range r.CookiesNamed(a.cookieName()) {
		if isEqual(cookie.Value, a.cookie) {
			return true
		}
	}
	return false
}

// handlePage leads the first browser that opens the page to the authorization server.
func (a *Attempt) handlePage(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	isFirst := !a.isOpened
	a.isOpened = true
	a.mu.Unlock()
	if !isFirst && !a.hasCookie(r) {
		page(w, http.StatusGone, "This address was opened already", "Begin the login again.")
		return
	}
	http.SetCookie(w, &http.Cookie{
		Name: a.cookieName(), Value: a.cookie, Path: callbackRoot, MaxAge: int(loginTime / time.Second), HttpOnly: true, SameSite: http.SameSiteLaxMode,
	})
	w.Header().Set("Location", a.authorizeURL)
	w.WriteHeader(http.StatusSeeOther)
}

// callbackRoot is the path of the cookie: the page and the answer need it.
const callbackRoot = "/"

// handleCallback takes the answer of the authorization server.
func (a *Attempt) handleCallback(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	if isEqual(query.Get("state"), a.state) && !a.hasCookie(r) {
		page(w, http.StatusBadRequest, "This browser did not begin the login",
			"If you opened the address of the login yourself, copy the address of this page and paste it where the login was begun.")
		return
	}
	if err := a.accept(query); err != nil {
		if unfit, ok := errors.AsType[*unfitError](err); ok {
			a.reportUnfit(unfit)
			page(w, http.StatusBadRequest, "This is not the answer of the login",
				"The address of this page cannot be used: "+unfit.text+". The login goes on: open its address again where it was begun, or begin it again.")
			return
		}
		a.report(w)
		return
	}
	select {
	case <-a.done:
		a.report(w)
	case <-r.Context().Done():
	}
}

// reportUnfit tells the person who waits that an answer came which is none to this login. Any page can send such answers:
// each kind is told once.
func (a *Attempt) reportUnfit(unfit *unfitError) {
	a.mu.Lock()
	isKnown := a.reported[unfit.text] || a.isClaimed
	if a.reported == nil {
		a.reported = make(map[string]bool)
	}
	a.reported[unfit.text] = true
	a.mu.Unlock()
	if !isKnown {
		a.trace(Step{
			Title: StepAnswer, Err: errors.New("a browser came back with an answer that cannot be used: " + unfit.text),
			Hint: "It was ignored, and the login goes on. If you have just signed in, open the address above once more. If this is shown again, tell the operator of the server that the parameter 'state' has to come back as it was sent.",
		})
	}
}

// report shows the end of the attempt.
func (a *Attempt) report(w http.ResponseWriter) {
	if a.err != nil {
		message, hint := split(a.err)
		page(w, http.StatusOK, "The login failed", strings.TrimSuffix(message+". "+hint, " "))
		return
	}
	page(w, http.StatusOK, "You are logged in", "MCP Workbench can use "+a.credentials.server.Name+" now. You can close this window.")
}

// page writes a page of two lines.
func page(w http.ResponseWriter, status int, title, text string) {
	body := "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>" + html.EscapeString(title) + "</title><h1>" +
		html.EscapeString(title) + "</h1><p>" + html.EscapeString(text) + "</p></html>\n"
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = io.WriteString(w, body)
}
