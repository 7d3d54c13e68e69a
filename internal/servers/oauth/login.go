package oauth

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/access/credentials"
)

const (
	// registrationAge is how old a registration may be that has no live login: authorization servers delete unused ones,
	// which only the person at the browser would see.
	registrationAge = 24 * time.Hour
	// maxUnused is how many registrations without a login are kept of a server; the oldest are removed.
	maxUnused    = 8
	callbackPath = "/callback"
	callbackHost = "127.0.0.1"
)

// LoginOptions are the choices of a person who logs in.
type LoginOptions struct {
	// Fresh ignores the login and the registration that there are.
	Fresh bool
	// RedirectURI is where somebody else takes the answer, and gives it to Deliver, instead of a loopback address that is
	// listened at. The registration is one for all people then.
	RedirectURI string
	// Guess allows endpoints at the places of revision 2025-03-26 if the server names none: a person asked for the login.
	Guess bool
	// Trace receives each step as it happens, from any goroutine, one at a time. May be nil.
	Trace func(Step)
}

// Begin prepares a login: it finds the authorization server, registers the workbench there, and listens for the answer at
// a loopback address, unless another one is given. Nothing is opened.
func (c *Credentials) Begin(ctx context.Context, options LoginOptions) (*Attempt, error) {
	switch {
	case c.problem != nil:
		return nil, c.problem
	case c.settings.Off:
		return nil, errors.New(`"oauth": false turns the login to this server off`)
	case c.isMachine():
		return nil, fmt.Errorf("this server needs no login by a person: its tokens come from the grant '%s'", c.settings.Grant)
	}
	if err := c.manager.options.Store.CheckWritable(); err != nil { // before anything is sent that cannot be kept
		return nil, err
	}
	a := &Attempt{credentials: c, options: options, done: make(chan struct{})}
	if !a.isHosted() {
		a.ended = c.manager.options.Ended
	}
	if err := a.findServer(ctx); err != nil {
		return nil, err
	}
	register, wait := a.register, a.serve
	if a.isHosted() {
		register, wait = a.registerShared, a.await
	}
	if err := register(ctx); err != nil {
		a.closeListener()
		return nil, err
	}
	if err := a.compose(); err != nil {
		a.closeListener()
		return nil, err
	}
	wait()
	return a, nil
}

// findServer finds the authorization server, and what the store has of a login there.
func (a *Attempt) findServer(ctx context.Context) error {
	c := a.credentials
	all, err := c.manager.options.Store.Find(c.canonical, c.settings.Account)
	if err != nil && !a.options.Fresh {
		return err
	}
	bound := all
	if a.isHosted() { // what others have logged in to counts as well
		shared, err := c.manager.options.Store.Find(c.canonical, credentials.SharedAccount)
		if err != nil {
			return err
		}
		bound = slices.Concat(all, shared)
	}
	held := func(issuer string) bool { return findIssuer(bound, issuer) != nil }
	a.target, err = a.discover(ctx, held)
	if err != nil {
		return err
	}
	a.key = credentials.Key{Server: c.canonical, Issuer: a.target.server.Issuer, Account: c.settings.Account}
	a.before = findIssuer(all, a.key.Issuer)
	for _, one := range bound {
		if one.Issuer != a.key.Issuer && one.Client.Source == credentials.SourceConfigured && one.Client.ID == c.settings.ClientID && !a.options.Fresh && !held(a.key.Issuer) {
			last := "put its id into 'oauth.clientId', and log in with --fresh"
			if a.isHosted() {
				last = "and put its id into 'oauth.clientId'"
			}
			return fmt.Errorf("the server now names the authorization server %s instead of %s, where the client of 'oauth.clientId' is registered; if this is right, register a client there, %s",
				words(a.key.Issuer), words(one.Issuer), last)
		}
	}
	a.chooseScopes()
	return nil
}

func findIssuer(all []*credentials.Credential, issuer string) *credentials.Credential {
	for _, one := range all {
		if one.Issuer == issuer {
			return one
		}
	}
	return nil
}

// discover finds the authorization server from the server's last challenge, for which it asks if there is none yet.
func (a *Attempt) discover(ctx context.Context, held func(issuer string) bool) (*target, error) {
	c := a.credentials
	d := newDiscoverer(c.guard, c.address, &c.settings, a.options.Trace)
	asked := c.lastChallenge()
	if asked.scheme == "" {
		probed, _, err := d.probe(ctx)
		if err != nil && !isTemporary(err) { // the metadata may be had even if the server does not answer in time
			return nil, err
		}
		probed.resourceMetadata = cmp.Or(probed.resourceMetadata, asked.resourceMetadata)
		asked = probed
	}
	return d.find(ctx, asked, held, a.options.Guess)
}

// chooseScopes adds to the scopes of the server those of earlier logins and of refused calls.
func (a *Attempt) chooseScopes() {
	a.scopes = a.target.scopes
	if a.before == nil || a.options.Fresh {
		return
	}
	earlier := a.before.Scopes
	if a.credentials.settings.Scopes != nil {
		earlier = nil // the configuration may name fewer than before
	}
	a.scopes = union(a.scopes, earlier, a.before.Wanted)
	a.isStepUp = a.isLive() && len(a.before.Wanted) > 0
}

// isLive reports whether the store has a login that works, as far as is known.
func (a *Attempt) isLive() bool {
	return rank(a.before) == rankAlive
}

// register listens for the answer, and gets the client id that goes with the address.
func (a *Attempt) register(ctx context.Context) error {
	c := a.credentials
	var known *credentials.Client
	if a.before != nil && a.before.Client.RedirectURI != "" {
		known = &a.before.Client
	}
	if err := a.listen(ctx, known); err != nil {
		return err
	}
	if known != nil && known.ID == "" {
		known = nil
	}
	client, err := newRegistrar(c.guard, &c.settings, c.server.Version, a.options.Trace).client(ctx, a.target, a.redirectURI, known, a.isRegistrationOld(known))
	if err != nil {
		return err
	}
	a.client = client
	if !c.isNamed(client) {
		c.manager.hide(client.Secret)
	}
	if err := a.replaceUnusable(ctx); err != nil {
		return err
	}
	if a.isLive() {
		return nil // the tokens belong to the registration that is kept with them
	}
	if err := a.keepClient(ctx, withoutConfigured(client)); err != nil {
		return err
	}
	a.forgetUnused(ctx)
	return nil
}

// replaceUnusable removes logins that cannot be read, which a fresh one is to replace.
func (a *Attempt) replaceUnusable(ctx context.Context) error {
	c := a.credentials
	if !a.options.Fresh {
		return nil
	}
	removed, err := c.manager.options.Store.RemoveUnusable(ctx, c.canonical, c.settings.Account)
	for _, path := range removed {
		if a.options.Trace != nil {
			a.options.Trace(Step{Title: "earlier login", Missing: true, Detail: "it could not be read, and was removed: " + path, Hint: notRevoked})
		}
	}
	return err
}

// notRevoked is about a login that could not be read.
const notRevoked = "Its tokens could not be revoked, and the authorization server may still accept them."

// withoutConfigured returns a client as it is stored: without a secret of the configuration.
func withoutConfigured(client credentials.Client) credentials.Client {
	if client.Source == credentials.SourceConfigured {
		client.Secret = ""
	}
	return client
}

// isRegistrationOld reports whether the workbench has to be registered anew although it seems to be known.
func (a *Attempt) isRegistrationOld(known *credentials.Client) bool {
	return a.options.Fresh || known != nil && !a.isLive() && time.Since(known.Registered) > registrationAge
}

// listen listens at the port of the registration, or at another one if that is taken.
func (a *Attempt) listen(ctx context.Context, known *credentials.Client) error {
	port := a.credentials.settings.CallbackPort
	if port == 0 && known != nil && !a.options.Fresh {
		if kept, err := url.Parse(known.RedirectURI); err == nil {
			port, _ = strconv.Atoi(kept.Port())
		}
	}
	listener, err := listenAt(ctx, port)
	if err != nil && a.credentials.settings.CallbackPort != 0 {
		return loginFailed("If another program uses the port, stop that one. Or set 'oauth.callbackPort' to another port, which the redirect URI that the service knows has to have too.",
			"cannot listen at port %d ('oauth.callbackPort') for the answer of the login: %v", port, err)
	}
	if err != nil {
		listener, err = listenAt(ctx, 0)
	}
	if err != nil {
		return fmt.Errorf("cannot listen at %s for the answer of the login: %w", callbackHost, err)
	}
	a.listener = listener
	a.host = listener.Addr().String()
	a.redirectURI = "http://" + a.host + callbackPath
	return nil
}

func listenAt(ctx context.Context, port int) (net.Listener, error) {
	return new(net.ListenConfig).Listen(ctx, "tcp4", net.JoinHostPort(callbackHost, strconv.Itoa(port)))
}

// keepClient keeps a registration for the next login. It also shows, before a person is sent to a browser, that the store
// can be written.
func (a *Attempt) keepClient(ctx context.Context, client credentials.Client) error {
	return a.credentials.change(ctx, a.key, func(kept *credentials.Credential) bool {
		if rank(kept) == rankAlive {
			return false
		}
		isChanged := kept.Client != client
		kept.Client = client
		return isChanged
	})
}

// forgetUnused removes old registrations of the server that no login was made with: a server may name another
// authorization server each time.
func (a *Attempt) forgetUnused(ctx context.Context) {
	c := a.credentials
	all, _ := c.manager.options.Store.Find(c.canonical, a.clientKey().Account) // what cannot be read is left alone
	unused := slices.DeleteFunc(all, func(one *credentials.Credential) bool {
		return one.Key == a.clientKey() || rank(one) != rankUnused || one.Client.Source != credentials.SourceDynamic
	})
	for _, one := range unused[min(len(unused), maxUnused):] {
		if err := c.forget(ctx, one.Key); err != nil {
			c.manager.options.Log.Warn("an unused registration was not removed", "server", c.server.Name, "reason", err)
		}
	}
}

// forget removes what is left of a login, unless somebody has logged in meanwhile.
func (c *Credentials) forget(ctx context.Context, key credentials.Key) error {
	lock, err := c.manager.options.Store.Lock(ctx, key)
	if err != nil {
		return err
	}
	defer lock.Unlock()
	if kept, err := lock.Load(); err != nil || rank(kept) != rankUnused {
		return err
	}
	return lock.Delete()
}

// change changes a credential in the store, which may be new.
func (c *Credentials) change(ctx context.Context, key credentials.Key, edit func(*credentials.Credential) (isChanged bool)) error {
	lock, err := c.manager.options.Store.Lock(ctx, key)
	if err != nil {
		return err
	}
	defer lock.Unlock()
	kept, err := lock.Load()
	if err != nil {
		return err
	}
	if kept == nil {
		kept = &credentials.Credential{Key: key}
	}
	if !edit(kept) {
		return nil
	}
	return lock.Save(kept)
}

// builtinParams are parameters of the authorization request that an authorization server needs besides those of the
// specifications. An empty value leaves a parameter out.
var builtinParams = map[string][][2]string{
	"accounts.google.com":       {{"access_type", "offline"}, {"prompt", "consent"}},
	"login.microsoftonline.com": {{"prompt", ""}}, // consent would need an administrator
}

// compose makes the address of the authorization request, and the secrets that its answer is checked with.
func (a *Attempt) compose() error {
	endpoint, err := url.Parse(a.target.server.AuthorizationEndpoint)
	if err != nil || endpoint.Host == "" {
		return errors.New("the authorization server names no usable authorization_endpoint")
	}
	a.verifier, a.state, a.cookie, a.pagePath = random(), random(), random(), "/go/"+random()
	query := endpoint.Query()
	if strings.Contains(" "+strings.Join(a.scopes, " ")+" ", " offline_access ") {
		query.Set("prompt", "consent") // OpenID Connect Core, section 11: ignored without
	}
	for _, param := range builtinParams[strings.ToLower(endpoint.Hostname())] {
		setOrDelete(query, param[0], param[1])
	}
	for _, param := range a.credentials.settings.AuthorizeParams {
		setOrDelete(query, param.Name, param.Value)
	}
	challenge := sha256.Sum256([]byte(a.verifier))
	for name, value := range map[string]string{
		"response_type": "code", "client_id": a.client.ID, "redirect_uri": a.redirectURI, "state": a.state,
		"code_challenge": base64.RawURLEncoding.EncodeToString(challenge[:]), "code_challenge_method": "S256",
	} {
		query.Set(name, value)
	}
	if len(a.scopes) > 0 {
		query.Set("scope", strings.Join(a.scopes, " "))
	}
	if a.target.resource != "" {
		query.Set("resource", a.target.resource)
	}
	endpoint.RawQuery = query.Encode()
	a.authorizeURL = endpoint.String()
	return nil
}

func setOrDelete(query url.Values, name, value string) {
	if value == "" {
		query.Del(name)
		return
	}
	query.Set(name, value)
}

// random returns 256 bits that nobody can guess, for use in a URL.
func random() string {
	bits := make([]byte, 32)
	_, _ = rand.Read(bits) // never fails
	return base64.RawURLEncoding.EncodeToString(bits)
}
