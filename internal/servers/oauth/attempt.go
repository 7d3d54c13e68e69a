package oauth

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/access/credentials"
)

const (
	// loginTime is how long a person has for a login.
	loginTime = 10 * time.Minute
	// finishTime bounds the exchange of a code, and saving its tokens.
	finishTime = time.Minute
	maxPasted  = 64 << 10 // bytes of a pasted address; a longer text is refused
)

// Attempt is a login under way. Close it.
type Attempt struct {
	credentials *Credentials
	options     LoginOptions
	key         credentials.Key
	before      *credentials.Credential // what the store has; nil: nothing
	target      *target
	client      credentials.Client
	scopes      []string // to request
	isStepUp    bool     // the login goes on, with more scopes

	listener      net.Listener
	host          string // of the loopback address, with its port
	redirectURI   string
	authorizeURL  string
	pagePath      string
	state, cookie string // secrets that the answer has to have
	verifier      string // secret that the exchange has to have
	dpopKey       []byte // that the tokens are bound to; nil: none
	server        *http.Server
	cancel        context.CancelFunc
	running       sync.WaitGroup
	closing       sync.Once

	tracing   sync.Mutex // held while a step is reported
	mu        sync.Mutex
	reported  map[string]bool // what was wrong with answers that do not fit
	isOpened  bool            // the page was fetched
	isClaimed bool            // an answer was accepted, and no other one is

	ended   func(Server, error) // see Options; may be nil
	done    chan struct{}       // closed at the end, after which the following fields are valid
	outcome *Outcome
	err     error
}

// Outcome is a login that was made.
type Outcome struct {
	Issuer, Account string
	Scopes          []string
	Missing         []string  // scopes that were requested and not granted
	Expires         time.Time // of the access token; zero: unknown
	Refreshable     bool
}

// Page is the loopback address that a browser is given: it leads to the authorization server, and lets the browser be
// recognised when it comes back.
func (a *Attempt) Page() string { return "http://" + a.host + a.pagePath }

// AuthorizeURL is the address of the authorization server, for people who open it elsewhere and paste what they get.
func (a *Attempt) AuthorizeURL() string { return a.authorizeURL }

// Wait returns when the login is made and saved, or has failed.
func (a *Attempt) Wait(ctx context.Context) (*Outcome, error) {
	select {
	case <-a.done:
		return a.outcome, a.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Close ends the attempt. A code that has arrived is still exchanged.
func (a *Attempt) Close() {
	a.closing.Do(func() {
		a.cancel()
		a.running.Wait()
	})
}

// finish ends the attempt with its result, once.
func (a *Attempt) finish(outcome *Outcome, err error) {
	a.outcome, a.err = outcome, err
	if a.ended != nil {
		a.ended(a.credentials.server, err)
	}
	close(a.done)
}

// claim makes an answer the one that counts.
func (a *Attempt) claim() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	isFirst := !a.isClaimed
	a.isClaimed = true
	return isFirst
}

// unfitError is an answer that is none to this attempt, which goes on.
type unfitError struct {
	text string
	next string // what a person who pasted it does next
}

func (e *unfitError) Error() string { return e.text }

// What to do after an answer that does not fit.
const (
	copyAll   = "copy the whole address, from http:// to its end, and paste it again"
	openAgain = "open the address that this login shows, and paste the one that the browser ends at then"
)

// accept checks an answer, and begins the exchange of its code. An *unfitError means that the attempt goes on; other
// errors end it.
func (a *Attempt) accept(query url.Values) error {
	for _, name := range []string{"state", "code", "iss", "error"} {
		if len(query[name]) > 1 {
			return &unfitError{"it has the parameter '" + name + "' more than once", copyAll}
		}
	}
	switch {
	case query.Get("state") == "":
		return &unfitError{"it has no parameter 'state'", copyAll}
	case !isEqual(query.Get("state"), a.state):
		return &unfitError{"it belongs to another login", openAgain}
	case query.Get("code") == "" && query.Get("error") == "":
		return &unfitError{"it has no parameter 'code'", copyAll}
	}
	if !a.claim() {
		return &unfitError{"the login was answered already", "wait for its result"}
	}
	// The person has done their part: what follows goes on if whoever waits gives up.
	ctx, cancel := context.WithTimeout(context.Background(), finishTime)
	if err := a.checkAnswer(ctx, query); err != nil {
		cancel()
		a.finish(nil, err)
		return err
	}
	a.trace(Step{Title: StepAnswer, Detail: "the authorization server sent a code; exchanging it for tokens"})
	a.running.Go(func() {
		defer cancel()
		a.finish(a.exchange(ctx, query.Get("code")))
	})
	return nil
}

// checkAnswer checks who sent an answer to this attempt, and whether it is a code. Nothing of an answer from someone else
// is shown.
func (a *Attempt) checkAnswer(ctx context.Context, query url.Values) error {
	const doNotGoOn = "Do not go on: somebody may try to get at your login. Tell the operator of the server, with this text."
	metadata := a.target.server
	issuer, hasIssuer := query["iss"]
	switch {
	case hasIssuer && issuer[0] != metadata.Issuer:
		return loginFailed(doNotGoOn, "the answer of the login came from another authorization server than %s: its parameter 'iss' differs", words(metadata.Issuer))
	case !hasIssuer && metadata.SendsIssuer:
		return loginFailed(doNotGoOn, "the answer of the login does not say that it comes from %s: its parameter 'iss' is missing, which the metadata promises", words(metadata.Issuer))
	}
	code := query.Get("error")
	if code == "" {
		return nil
	}
	refusal := &refusalError{code: words(code), description: words(query.Get("error_description"))}
	switch code {
	case "access_denied":
		return loginFailed("Sign in again, and agree. If a rule of your organisation refuses it, ask its administrator.", "the login was refused at the authorization server: %s", refusal.words())
	case "unauthorized_client", "invalid_client":
		return a.clientRefused(ctx, refusal)
	case "invalid_scope":
		hint := "Log in with --fresh, which requests only what the server names now, or set 'oauth.scopes'."
		if a.isHosted() {
			hint = "Ask those who run the workbench to set 'oauth.scopes' of the server, or to sign you out of it."
		}
		return loginFailed(hint, "the authorization server did not make the login: %s; requested were: %s",
			refusal.words(), words(strings.Join(a.scopes, " ")))
	}
	return loginFailed(a.advice(refusal), "the authorization server did not make the login: %s", refusal.words())
}

// advice says what to do about a refusal.
func (a *Attempt) advice(refusal *refusalError) string {
	switch {
	case refusal.code == "invalid_target" && a.target.resource != "":
		return fmt.Sprintf(`If this authorization server does not know the parameter 'resource', set "oauth": {"resource": false} for the server. Otherwise tell its operator that %s was requested.`, shown(a.target.resource))
	case refusal.isGrant():
		if a.isHosted() {
			return a.again("") + " A code can be used once, and soon."
		}
		return "Run the login again: a code can be used once, and soon. If you pasted the address, copy all of it."
	case refusal.code == "temporarily_unavailable" || refusal.code == "server_error":
		return a.again(" later") + " If it goes on, tell the operator of the authorization server, with this text."
	}
	return "This is the answer of the authorization server. Its operator can say why, and what to change."
}

func isEqual(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// HasEnded reports whether the login was made or has failed.
func (a *Attempt) HasEnded() bool {
	select {
	case <-a.done:
		return true
	default:
		return false
	}
}

// Paste takes the address that the browser ended at. An error says what is wrong with the text; the attempt goes on,
// unless the answer in it is one that ends it.
func (a *Attempt) Paste(text string) error {
	query, err := a.readPasted(text)
	if err != nil {
		return err
	}
	err = a.accept(query)
	if unfit, ok := errors.AsType[*unfitError](err); ok {
		return fmt.Errorf("this address cannot be used: %s; %s", unfit.text, unfit.next)
	}
	return err
}

// readPasted returns the query of a pasted address. Terminals break long lines, and people paste quotes and blanks.
func (a *Attempt) readPasted(text string) (url.Values, error) {
	if len(text) > maxPasted {
		return nil, errors.New("the text is too long for an address; paste only the address that the browser ended at")
	}
	text = strings.Trim(strings.Join(strings.Fields(text), ""), `"'<>`)
	raw := text
	if address, err := url.Parse(text); err == nil && address.Host != "" {
		authorize, _ := url.Parse(a.authorizeURL)
		if address.Host == authorize.Host && address.Path == authorize.Path {
			return nil, errors.New("this is the address to open in a browser; paste the one that the browser shows after the login, which begins with " + a.redirectURI)
		}
		raw = address.RawQuery
	} else {
		raw = strings.TrimPrefix(raw, "?")
	}
	query, err := url.ParseQuery(raw)
	if err != nil || !query.Has("state") && !query.Has("code") && !query.Has("error") {
		return nil, errors.New("this is not the address of an answer: it begins with " + a.redirectURI + " and has the parameters 'code' and 'state'; copy it from the address bar after the login")
	}
	return query, nil
}

func (a *Attempt) trace(step Step) {
	a.tracing.Lock()
	defer a.tracing.Unlock()
	if a.options.Trace != nil {
		a.options.Trace(step)
	}
}
