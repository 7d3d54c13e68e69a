// Package connect has people sign in to servers at which each person has an account of their own. It serves the pages for
// it, which work in any browser: a link for one person and one server leads to the identity provider of the team, and only if
// the same person comes back whose call it was, on to the authorization server of the server.
//
// It knows nothing of the protocol of that second login, and keeps no tokens: whoever asks for a link brings what begins it.
package connect

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/access/credentials"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

const (
	// linkTime is how long a link works until somebody has signed in at the identity provider. The login at the server has its
	// own time after that.
	linkTime = 10 * time.Minute
	// lateTime is how much time a link has to have left to be given out again.
	lateTime = 2 * time.Minute
	// maxLinks is how many links there are; a further one is refused until an older one is forgotten.
	maxLinks = 10_000
	// maxOwn is how many links one person has; a further one is refused until one was used or is late.
	maxOwn = 32
	// finishTime bounds what follows from an answer: the exchange of its code, and the preparation of the login at the server.
	finishTime = time.Minute
)

// Person is who a link is for, as the identity provider says.
type Person struct {
	Issuer, Subject string // together who it is
	Name            string // for people; may be ""
}

// Account returns the account under which the person's logins are kept.
func (p Person) Account() string { return credentials.PersonAccount(p.Issuer, p.Subject) }

// Attempt is the login of a person at the authorization server of a server.
type Attempt interface {
	// AuthorizeURL is the address to go to.
	AuthorizeURL() string
	// State is the parameter 'state' of the answer.
	State() string
	// Deliver takes an answer with that state. A text says why it is none, and the attempt goes on.
	Deliver(query url.Values) (unfit string)
	// Wait returns when the login was made, perhaps with a notice, or why it was not.
	Wait(ctx context.Context) (notice string, err error)
	// Close ends the attempt. It waits for what is under way, which is bounded.
	Close()
}

// Request is what a link is wanted for.
type Request struct {
	Person          Person
	Toolbox, Server string // for people
	Address         string // of the server
	// Begin prepares the login at the server's authorization server.
	Begin func(ctx context.Context, redirectURI string) (Attempt, error)
	// Made is called when the login was made. It must not block. May be nil.
	Made func()
}

// Provider is the identity provider of the team, where people sign in.
type Provider interface {
	// Provider returns its endpoints, and whether its answers name it.
	Provider(ctx context.Context) (authorizationEndpoint, tokenEndpoint string, sendsIssuer bool, err error)
	// IDToken checks an ID token for the client of the configuration.
	IDToken(ctx context.Context, token, nonce string) (issuer, subject, name string, err error)
	// Client sends requests to its endpoints.
	Client() *http.Client
}

// Event is the end of a link.
type Event struct {
	Person          Person // whose it was
	Toolbox, Server string
	Err             error  // why nothing was linked; nil: the login was made
	Other           string // the subject of somebody else who opened it; "" in other cases
}

// Options configure pages.
type Options struct {
	Settings config.HTTPOAuth
	Provider Provider
	Log      *slog.Logger // nil: none
	// Explain returns what an error of an Attempt says, and what to do; nil: as it is.
	Explain func(error) (message, hint string)
	// Ended is told how each link ended. It must not block. May be nil.
	Ended func(Event)
}

// Pages gives out links, and serves them. It is safe for concurrent use. A nil Pages has none, and serves nothing.
type Pages struct {
	options Options
	base    *url.URL // public address of the workbench, without a slash at its end
	life    context.Context
	stop    context.CancelFunc
	running sync.WaitGroup // logins at servers

	mu       sync.Mutex // guards all links as well
	isClosed bool
	byID     map[[sha256.Size]byte]*Link
	byHandle map[string]*Link
	byState  map[[sha256.Size]byte]*Link // those that are at a server
	byPerson map[string][]*Link          // by account, the oldest first
}

// New returns pages below the public address of the workbench. Close them.
func New(options Options) (*Pages, error) {
	base, err := url.Parse(baseOf(options.Settings.Resource))
	switch {
	case err != nil || base.Host == "" || base.Scheme != "https" && base.Scheme != "http":
		return nil, errors.New("'http.oauth.resource' is not the address of a workbench, so that there can be no page for logins")
	case options.Settings.ClientID == "":
		return nil, errors.New("'http.oauth.clientId' is missing: people sign in with that client at the identity provider before their accounts are linked")
	}
	if options.Log == nil {
		options.Log = slog.New(slog.DiscardHandler)
	}
	if options.Explain == nil {
		options.Explain = func(err error) (string, string) { return err.Error(), "" }
	}
	if options.Ended == nil {
		options.Ended = func(Event) {}
	}
	p := &Pages{
		options: options, base: base,
		byID: make(map[[sha256.Size]byte]*Link), byHandle: make(map[string]*Link), byState: make(map[[sha256.Size]byte]*Link), byPerson: make(map[string][]*Link),
	}
	p.life, p.stop = context.WithCancel(context.Background())
	return p, nil
}

// baseOf returns the public address of the workbench, given that of /mcp.
func baseOf(resource string) string {
	return strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(resource, "/"), "/mcp"), "/")
}

// Where answers come, below the public address. That of the identity provider has a path of its own, and so has each server:
// an authorization server that gets the answer of another one by deceit cannot pass it off as its own (RFC 9700, section 4.4).
const (
	root         = "/connect/"
	callbackName = "callback"
)

// ProviderRedirectURI returns the redirect URI of the client at the identity provider, given the address of /mcp.
func ProviderRedirectURI(resource string) string { return baseOf(resource) + root + callbackName }

// RedirectURI returns the redirect URI of the client at the authorization server of a server, given the address of /mcp.
func RedirectURI(resource, server string) string {
	return ProviderRedirectURI(resource) + "/" + placeOf(server)
}

// placeOf returns the last part of the path that answers for a server come to.
func placeOf(server string) string {
	if canonical, err := credentials.CanonicalServer(server); err == nil {
		server = canonical
	}
	hash := sha256.Sum256([]byte(server))
	return hex.EncodeToString(hash[:8])
}

// What a link may end with.
var (
	errLate    = fmt.Errorf("nobody signed in within %d minutes", int(linkTime/time.Minute))
	errOther   = errors.New("its link was opened by somebody else, and nothing was linked: it works only for the person whose call it is")
	errStopped = errors.New("the workbench is stopping")
)

// Link is one address for one person and one server. It is used once.
type Link struct {
	pages   *Pages
	request Request
	id      [sha256.Size]byte // hash of the last part of the address
	address string
	handle  string // names it in the parameter 'state' at the identity provider
	key     []byte // of what only this link can have made
	until   time.Time
	timer   *time.Timer
	done    chan struct{} // closed at the end, after which err is valid

	// Guarded by the mu of pages:
	phase   phase
	cookie  string // of the browser in which the person signed in
	attempt Attempt
	notice  string
	err     error
}

// phase is how far a link is.
type phase int

const (
	waiting  phase = iota // for somebody to sign in at the identity provider
	checking              // who it is
	linking               // the person is at the server
	ended
)

// Address is what the person opens.
func (l *Link) Address() string { return l.address }

// Done is closed when the login was made, or the link is of no use any more.
func (l *Link) Done() <-chan struct{} { return l.done }

// Err returns why no login was made, once Done is closed; nil if one was.
func (l *Link) Err() error {
	select {
	case <-l.done:
		return l.err
	default:
		return nil
	}
}

// Link returns the link that a person has for a server, or a new one.
func (p *Pages) Link(request Request) (*Link, error) {
	if p == nil {
		return nil, errors.New("this workbench has no page for it; those who run it have to set 'http.oauth.clientId'")
	}
	if request.Person.Issuer == "" || request.Person.Subject == "" {
		return nil, errors.New("it is not known who makes the call")
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.isClosed {
		return nil, errStopped
	}
	account := request.Person.Account()
	if known := p.current(account, &request); known != nil {
		return known, nil
	}
	if !p.makeRoom(account) {
		return nil, fmt.Errorf("%d links to sign in to servers wait for you already; open one of them, or wait until they expire", maxOwn)
	}
	if len(p.byID) >= maxLinks {
		return nil, errors.New("too many people are about to sign in; try again in a few minutes")
	}
	l := newLink(p, request)
	p.byID[l.id], p.byHandle[l.handle] = l, l
	p.byPerson[account] = append(p.byPerson[account], l)
	l.timer = time.AfterFunc(linkTime, l.expire)
	return l, nil
}

func newLink(p *Pages, request Request) *Link {
	name, key := rand.Text(), make([]byte, sha256.Size)
	_, _ = rand.Read(key) // never fails
	return &Link{
		pages: p, request: request, id: sha256.Sum256([]byte(name)), address: p.base.String() + root + name, handle: rand.Text(), key: key,
		until: time.Now().Add(linkTime), done: make(chan struct{}),
	}
}

// current returns the link that a person can still use for the same server. Called with mu held.
func (p *Pages) current(account string, request *Request) *Link {
	for _, l := range p.byPerson[account] {
		isSame := l.request.Toolbox == request.Toolbox && l.request.Server == request.Server && l.request.Address == request.Address
		if isSame && l.phase != ended && (l.phase != waiting || time.Until(l.until) > lateTime) {
			return l
		}
	}
	return nil
}

// makeRoom forgets the oldest link of a person that has ended, if there are too many. Called with mu held.
func (p *Pages) makeRoom(account string) bool {
	own := p.byPerson[account]
	if len(own) < maxOwn {
		return true
	}
	for _, l := range own {
		if l.phase == ended {
			l.timer.Stop()
			p.forget(l)
			return true
		}
	}
	return false
}

// Close ends all links. What a login at a server has begun with its answer is waited for.
func (p *Pages) Close() {
	if p == nil {
		return
	}
	p.mu.Lock()
	p.isClosed = true
	var open []*Link
	for _, l := range p.byID {
		l.timer.Stop()
		if l.phase == waiting {
			open = append(open, l)
		}
	}
	p.mu.Unlock()
	for _, l := range open {
		l.end(errStopped, "")
	}
	p.stop()
	p.running.Wait()
}
