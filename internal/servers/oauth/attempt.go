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

	mu        sync.Mutex
	isOpened  bool // the page was fetched
	isClaimed bool // an answer was accepted, and no other one is

	done    chan struct{} // closed at the end, after which the following fields are valid
	outcome *Outcome
	err     error
}

// Outcome is a login that was made.
type Outcome struct {
	Issuer, Account string
	Scopes          []string
	Expires         time.Time // of the access token; zero: unknown
	Refreshable     bool
}

// errLate means that nobody answered.
var errLate = fmt.Errorf("nobody finished the login within %d minutes", int(loginTime/time.Minute))

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
type unfitError struct{ text string }

func (e *unfitError) Error() string { return e.text }

// accept checks an answer, and begins the exchange of its code. An *unfitError means that the attempt goes on; other
// errors end it.
func (a *Attempt) accept(query url.Values) error {
	for _, name := range []string{"state", "code", "iss", "error"} {
		if len(query[name]) > 1 {
			return &unfitError{"it has the parameter '" + name + "' more than once"}
		}
	}
	switch {
	case query.Get("state") == "":
		return &unfitError{"it has no parameter 'state'"}
	case !isEqual(query.Get("state"), a.state):
		return &unfitError{"it belongs to another login"}
	case query.Get("code") == "" && query.Get("error") == "":
		return &unfitError{"it has no parameter 'code'"}
	}
	if !a.claim() {
		return &unfitError{"the login was answered already"}
	}
	// The person has done their part: what follows goes on if whoever waits gives up.
	ctx, cancel := context.WithTimeout(context.Background(), finishTime)
	if err := a.checkAnswer(ctx, query); err != nil {
		cancel()
		a.finish(nil, err)
		return err
	}
	a.trace(Step{Title: "answer", Detail: "the authorization server sent a code; exchanging it for tokens"})
	a.running.Go(func() {
		defer cancel()
		a.finish(a.exchange(ctx, query.Get("code")))
	})
	return nil
}

// checkAnswer checks who sent an answer to this attempt, and whether it is a code. Nothing of an answer from someone else
// is shown.
func (a *Attempt) checkAnswer(ctx context.Context, query url.Values) error {
	metadata := a.target.server
	issuer, hasIssuer := query["iss"]
	switch {
	case hasIssuer && issuer[0] != metadata.Issuer:
		return fmt.Errorf("the answer of the login came from another authorization server than %s: its parameter 'iss' differs", words(metadata.Issuer))
	case !hasIssuer && metadata.SendsIssuer:
		return fmt.Errorf("the answer of the login does not say that it comes from %s: its parameter 'iss' is missing, which the metadata promises", words(metadata.Issuer))
	}
	code := query.Get("error")
	if code == "" {
		return nil
	}
	refusal := &refusalError{code: words(code), description: words(query.Get("error_description"))}
	switch code {
	case "access_denied":
		return fmt.Errorf("the login was refused at the authorization server: %s", refusal.words())
	case "unauthorized_client", "invalid_client":
		return a.clientRefused(ctx, refusal)
	case "invalid_scope":
		return fmt.Errorf("the authorization server did not make the login: %s; requested were: %s; log in with --fresh, which requests only what the server names now, or set 'oauth.scopes'",
			refusal.words(), words(strings.Join(a.scopes, " ")))
	}
	return fmt.Errorf("the authorization server did not make the login: %s", refusal.words())
}

func isEqual(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// Paste takes the address that the browser ended at. An error says what is wrong with the text; the attempt goes on,
// unless the answer in it is one that ends it.
func (a *Attempt) Paste(text string) error {
	query, err := a.readPasted(text)
	if err != nil {
		return err
	}
	err = a.accept(query)
	if unfit, ok := errors.AsType[*unfitError](err); ok {
		return errors.New("this address cannot be used: " + unfit.text)
	}
	return err
}

// readPasted returns the query of a pasted address. Terminals break long lines, and people paste quotes and blanks.
func (a *Attempt) readPasted(text string) (url.Values, error) {
	if len(text) > maxPasted {
		return nil, errors.New("the text is too long for an address")
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
		return nil, errors.New("this is not the address of an answer: it begins with " + a.redirectURI + " and has the parameters 'code' and 'state'")
	}
	return query, nil
}

func (a *Attempt) trace(step Step) {
	if a.options.Trace != nil {
		a.options.Trace(step)
	}
}
