package oauth

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/access/credentials"
	"github.com/mcp-workbench/mcp-workbench/internal/base/webclient"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/downstream"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// lookTime is how often the store is looked at for changes of other processes.
const lookTime = time.Second

// Credentials authorize the requests to one server with the login that the store has for it. They are safe for concurrent
// use, and hold no resources.
type Credentials struct {
	manager   *Manager
	server    Server
	settings  config.OAuth
	address   *url.URL
	canonical string           // the server in the keys of the store
	guard     *webclient.Guard // for what the server and its authorization server name
	problem   error            // why there can be no login; nil: none

	// renewer makes a new token in place of one that has expired or was refused. It is refreshStored, or a grant that needs
	// no person. It runs once at a time, and is bounded by ctx.
	renewer func(ctx context.Context, old *holding) (*credentials.Credential, error)

	machine machine      // of a grant that needs no person
	nonces  nonces       // of DPoP
	sending atomic.Int32 // how tokens are sent that are bound to a key: a constant send…

	begun    time.Time
	nextLook atomic.Int64 // when to look at the store again, in nanoseconds after begun
	held     atomic.Pointer[holding]

	mu         sync.Mutex // guards the following fields, and changes of held
	seen       credentials.Stamp
	challenge  *challenge         // the last one of the server
	metadataAt string             // where the server's metadata is, as it said last; "": it did not
	flight     *flight            // the refresh under way; nil: none
	upgrades   map[string]upgrade // logins for more scopes, by what was called
}

// holding is what is known of the login of a server. It is immutable, but for what becomes of its token.
type holding struct {
	credential *credentials.Credential // never modified; nil: there is no login
	values     []string                // of the header Authorization; nil: there is no token
	key        *dpopKey                // that the token is bound to; nil: none
	renewAt    time.Time               // zero: when the server refuses the token
	err        error                   // why the store cannot be read

	accepted    atomic.Bool  // the server accepted the token
	refused     atomic.Bool  // the server refused the token
	isAnswer    atomic.Bool  // the token is what came after the server had refused another one
	nextAttempt atomic.Int64 // when to try an early refresh again after a failure, in nanoseconds after Credentials.begun
}

// When a token is renewed before it expires.
const (
	earlyTime  = time.Minute      // before its expiry at most
	earlyShare = 10               // divisor of its lifetime, if that is less
	retryTime  = 10 * time.Second // pause after a failed refresh while the token is still valid
	hopeTime   = time.Minute      // after which a token that was never accepted is refreshed again
	// maxRefusals is how many tokens in a row are refreshed that the server refused at first sight, by all processes: each
	// would take the token of another one for its first.
	maxRefusals = 3
)

func newHolding(c *credentials.Credential) *holding {
	h := &holding{credential: c}
	if c == nil || c.Access == "" {
		return h
	}
	kind := c.Kind
	if kind == "" {
		kind = kindBearer
	}
	h.values = []string{kind + " " + c.Access}
	if kind == kindDPoP {
		h.key, h.err = parseDPoPKey(c.DPoPKey)
	}
	if c.Refresh != "" {
		h.planRenewal()
	}
	return h
}

// planRenewal makes the token be renewed before it expires.
func (h *holding) planRenewal() {
	c := h.credential
	if c.Expires.IsZero() {
		return
	}
	early := earlyTime
	if lifetime := c.Expires.Sub(c.Issued); lifetime > 0 {
		early = min(early, lifetime/earlyShare)
	}
	h.renewAt = c.Expires.Add(-early)
}

// hasLogin reports whether a person has logged in, or a grant has given a token.
func (h *holding) hasLogin() bool {
	return h.credential != nil && (h.credential.Access != "" || h.credential.Refresh != "")
}

// isDue reports whether the token has to be renewed before it is sent.
func (h *holding) isDue(now time.Time) bool {
	return h.values == nil || !h.renewAt.IsZero() && !now.Before(h.renewAt)
}

func (h *holding) isExpired(now time.Time) bool {
	return h.values == nil || !h.credential.Expires.IsZero() && !now.Before(h.credential.Expires)
}

// isHopeless reports whether another token would be refused as this one was: it came after another one was refused, was
// never accepted, and has not expired since; or it is the last of many.
func (h *holding) isHopeless(now time.Time) bool {
	isAnswer := h.isAnswer.Load() || h.credential != nil && h.credential.Refusals >= maxRefusals
	return isAnswer && !h.accepted.Load() && !h.isExpired(now) && now.Sub(h.credential.Issued) < hopeTime
}

// header returns the value of Authorization, or "".
func (h *holding) header() string {
	if h.values == nil {
		return ""
	}
	return h.values[0]
}

// Authorize adds the token of the login to a request, and refreshes it before, if it is about to expire. Without a login
// the request is sent as it is: the server may not need one. Where each person has an account, it is not sent.
func (c *Credentials) Authorize(ctx context.Context, request *http.Request) error {
	if !c.covers(request.URL) {
		return nil
	}
	h, err := c.ready(ctx)
	if err != nil || h.values == nil {
		return err
	}
	request.Header["Authorization"] = h.values
	if h.key != nil {
		return c.prove(request, h)
	}
	return nil
}

// ready returns the login with a token that can be sent, or without one if there is no login.
func (c *Credentials) ready(ctx context.Context) (*holding, error) {
	if c.problem != nil {
		return nil, c.problem
	}
	now := time.Now()
	h := c.look(now)
	switch {
	case h.err != nil:
		return nil, h.err
	case h.values != nil && !h.isDue(now) && h.credential.Dead == "":
		return h, nil
	case !h.hasLogin() && credentials.IsPersonal(c.settings.Account):
		return nil, &downstream.LoginError{Reason: reasonNobody}
	case !h.hasLogin():
		return h, nil
	case h.credential.Dead != "":
		if h = c.reload(); h.hasLogin() && h.credential.Dead != "" {
			return nil, &downstream.LoginError{Reason: h.credential.Dead}
		}
		return h, h.err
	case !h.isExpired(now) && int64(now.Sub(c.begun)) < h.nextAttempt.Load():
		return h, nil
	}
	renewed, err := c.renew(ctx, h)
	if err != nil && !h.isExpired(now) {
		h = c.held.Load() // the store may have been read again
		h.nextAttempt.Store(int64(now.Add(retryTime).Sub(c.begun)))
		return h, nil // the authorization server has time until the token expires
	}
	return renewed, err
}

// covers reports whether a request goes to the origin of the server, to which its tokens are bound.
func (c *Credentials) covers(target *url.URL) bool {
	return c.address == nil || c.address.Scheme == target.Scheme &&
		(c.address.Host == target.Host || strings.EqualFold(hostPort(c.address), hostPort(target)))
}

func hostPort(u *url.URL) string {
	switch {
	case u.Port() != "":
		return u.Hostname() + ":" + u.Port()
	case u.Scheme == "https":
		return u.Hostname() + ":443"
	default:
		return u.Hostname() + ":80"
	}
}

func (c *Credentials) isMachine() bool { return c.settings.Grant != "" }

// look returns the login, which it reads again if the store has changed. It looks at the store once a second at most.
func (c *Credentials) look(now time.Time) *holding {
	h := c.held.Load()
	if h != nil && c.isMachine() {
		return h
	}
	elapsed := int64(now.Sub(c.begun))
	next := c.nextLook.Load()
	isDue := elapsed >= next && c.nextLook.CompareAndSwap(next, elapsed+int64(lookTime))
	if h != nil && !isDue {
		return h
	}
	return c.reload()
}

// reload reads the login from the store if that has changed, by whatever process.
func (c *Credentials) reload() *holding {
	c.mu.Lock()
	defer c.mu.Unlock()
	h := c.held.Load()
	if c.isMachine() {
		if h == nil {
			h = newHolding(nil)
			c.held.Store(h)
		}
		return h
	}
	stamp := c.Stamp() // before the files: a change after it is noticed the next time
	if h != nil && h.err == nil && stamp == c.seen {
		return h
	}
	all, err := c.manager.options.Store.Find(c.canonical, c.settings.Account)
	best := choose(all)
	if err != nil && rank(best) < rankAlive { // what cannot be read may be the login
		h = &holding{err: err}
		c.held.Store(h)
		return h
	}
	c.seen = stamp
	return c.hold(best)
}

// choose returns the login that counts: the newest that works, else the newest that did, else what is left of one.
func choose(all []*credentials.Credential) *credentials.Credential {
	var best *credentials.Credential
	for _, c := range all {
		if rank(c) > rank(best) {
			best = c
		}
	}
	return best
}

const (
	rankUnused = 1
	rankAlive  = 3
)

func rank(c *credentials.Credential) int {
	switch {
	case c == nil:
		return 0
	case c.Access == "" && c.Refresh == "":
		return rankUnused
	case c.Dead != "":
		return 2
	}
	return rankAlive
}

// hold makes a credential the current one. c.mu is locked.
func (c *Credentials) hold(credential *credentials.Credential) *holding {
	h, before := newHolding(credential), c.held.Load()
	if c.isMachine() && h.values != nil {
		h.planRenewal()
	}
	if before != nil && before.values != nil && before.header() == h.header() {
		h.accepted.Store(before.accepted.Load())
		h.isAnswer.Store(before.isAnswer.Load())
		h.nextAttempt.Store(before.nextAttempt.Load())
	} else if credential != nil {
		c.manager.hide(credential.Access, credential.Refresh, credential.Client.Secret)
	}
	c.held.Store(h)
	return h
}

// Stamp changes with each change of the server's logins in the store, by whatever process.
func (c *Credentials) Stamp() credentials.Stamp {
	return c.manager.options.Store.Stamp(c.canonical, c.settings.Account)
}
