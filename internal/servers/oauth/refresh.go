package oauth

import (
	"context"
	"errors"
	"net"
	"net/url"
	"os"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/access/credentials"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/downstream"
)

const (
	// tokenTime bounds a request to a token endpoint.
	tokenTime = 20 * time.Second
	// renewTime bounds a whole refresh: waiting for that of another process, the request, and the disk.
	renewTime = time.Minute
	// lockTime is how long a refresh waits for that of another process, which is longer than a request takes.
	lockTime = 30 * time.Second
	// maxSaves is how often saving a refreshed login is tried: other programs may hold a file for a moment.
	maxSaves = 20
	// savePause is the pause before the next attempt.
	savePause = 250 * time.Millisecond
)

// flight is a refresh under way, which all requests wait for that need its token.
type flight struct {
	done   chan struct{} // closed at its end, after which the following fields are valid
	result *holding
	err    error
}

// renew returns a login with another token than the old one. Concurrent calls share one refresh, which goes on if the
// context of one of them ends.
func (c *Credentials) renew(ctx context.Context, old *holding) (*holding, error) {
	c.mu.Lock()
	if current := c.held.Load(); current.header() != old.header() && !current.isDue(time.Now()) {
		c.mu.Unlock()
		return current, nil
	}
	f := c.flight
	if f == nil {
		f = &flight{done: make(chan struct{})}
		// It is not part of the request: what observes that one's connections must not take those of the refresh for them.
		if !c.manager.run(func() { c.fly(context.Background(), f, old) }) {
			c.mu.Unlock()
			return nil, errors.New("the workbench is stopping")
		}
		c.flight = f
	}
	c.mu.Unlock()
	select {
	case <-f.done:
		return f.result, f.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (c *Credentials) fly(ctx context.Context, f *flight, old *holding) {
	ctx, cancel := context.WithTimeout(ctx, renewTime)
	defer cancel()
	credential, err := c.renewer(ctx, old)
	if _, login := errors.AsType[*downstream.LoginError](err); login {
		// Another process may have logged in meanwhile, at another authorization server.
		if h := c.reload(); h.values != nil && h.header() != old.header() && h.credential.Dead == "" {
			credential, err = h.credential, nil
		}
	}
	c.manager.options.Log.Debug("refreshed the login of a server", "server", c.server.Name, "error", err)
	c.mu.Lock()
	defer c.mu.Unlock()
	f.err = err
	if err == nil {
		f.result = c.hold(credential)
	}
	c.flight = nil
	close(f.done)
}

// refreshStored refreshes the login in the store. Processes do it one after the other, and use what another one got.
func (c *Credentials) refreshStored(ctx context.Context, old *holding) (*credentials.Credential, error) {
	waiting, cancel := context.WithTimeout(ctx, lockTime)
	defer cancel()
	lock, err := c.manager.options.Store.Lock(waiting, old.credential.Key)
	if err != nil {
		return nil, &TemporaryError{"The login could not be refreshed: " + err.Error(), err}
	}
	defer lock.Unlock()
	credential, err := lock.Load()
	switch {
	case err != nil:
		return nil, err
	case credential == nil || credential.Access == "" && credential.Refresh == "":
		return nil, &downstream.LoginError{Reason: reasonLoggedOut}
	case credential.Dead != "":
		return nil, &downstream.LoginError{Reason: credential.Dead}
	case credential.Access != old.credential.Access && !newHolding(credential).isDue(time.Now()):
		return credential, nil
	case credential.Refresh == "":
		return nil, &downstream.LoginError{Reason: reasonNoRefresh}
	}
	if _, _, err := c.parties(credential); err != nil {
		return nil, err // nothing follows from it for whoever is configured otherwise
	}
	interrupted := credential.Refreshing != nil
	credential.Refreshing = &credentials.Mark{Since: time.Now(), Process: os.Getpid()}
	if err := lock.Save(credential); err != nil { // before the request: what cannot be saved must not be replaced
		return nil, &TemporaryError{"The login was not refreshed, because the store cannot be written: " + err.Error(), err}
	}
	answer, err := c.refresh(ctx, credential)
	if err != nil {
		return nil, c.failed(lock, credential, interrupted, err)
	}
	answer.update(credential)
	switch {
	case old.accepted.Load():
		credential.Refusals = 0
	case old.refused.Load():
		credential.Refusals++
	}
	return credential, c.keep(ctx, lock, credential)
}

// keep saves what the authorization server gave. It tries for some time: without it on disk, the next refresh would use a
// token that is replaced.
func (c *Credentials) keep(ctx context.Context, lock *credentials.Lock, credential *credentials.Credential) error {
	var err error
	for range maxSaves {
		if err = lock.Save(credential); err == nil {
			return nil
		}
		if kept, loadErr := lock.Load(); loadErr == nil && kept != nil && kept.Access == credential.Access {
			return nil // only the last sync failed
		}
		c.manager.options.Log.Warn("a refreshed login could not be saved; trying again", "server", c.server.Name, "reason", err)
		select {
		case <-time.After(savePause):
		case <-ctx.Done():
		}
	}
	return &TemporaryError{"The login was refreshed, but could not be saved: " + err.Error(), err}
}

// refresh sends the refresh token.
func (c *Credentials) refresh(ctx context.Context, credential *credentials.Credential) (*tokenAnswer, error) {
	metadata, client, err := c.parties(credential)
	if err != nil {
		return nil, err
	}
	key, err := loadDPoPKey(credential.DPoPKey)
	if err != nil {
		return nil, err
	}
	form := url.Values{"grant_type": {"refresh_token"}, "refresh_token": {credential.Refresh}}
	if credential.Resource != "" {
		form.Set("resource", credential.Resource)
	}
	answer, err := c.requestToken(ctx, metadata, &client, key, form)
	credential.Client.Method = client.Method
	return answer, err
}

// failed records why a refresh failed, and returns what to tell.
func (c *Credentials) failed(lock *credentials.Lock, credential *credentials.Credential, interrupted bool, err error) error {
	refusal, isRefused := errors.AsType[*refusalError](err)
	switch {
	case !isRefused && mayHaveArrived(err):
		return err // the mark stays: the refresh token may have been replaced
	case !isRefused:
		credential.Refreshing = nil
	case refusal.isGrant():
		credential.Dead = "the login has expired: the authorization server refused the refresh token"
		if interrupted {
			credential.Dead = "the login was lost: a refresh was interrupted before its result was saved, and the authorization server has replaced the refresh token since"
		}
		err = &downstream.LoginError{Reason: credential.Dead}
	case refusal.isClient() && credential.Client.Source == credentials.SourceDynamic:
		credential.Dead = "the authorization server does not know this client any more, which was registered automatically"
		err = &downstream.LoginError{Reason: credential.Dead}
	case refusal.isClient():
		credential.Refreshing = nil
		err = refusal.aboutClient()
	default:
		credential.Refreshing = nil
		err = &downstream.LoginError{Reason: "the authorization server does not refresh the login: " + refusal.words()}
	}
	if refusal != nil && refusal.isClient() && credential.Dead != "" {
		c.forgetShared(credential)
		credential.Client = credentials.Client{RedirectURI: credential.Client.RedirectURI} // the next login registers anew
	}
	if credential.Dead != "" {
		credential.Refreshing = nil
	}
	if saveErr := lock.Save(credential); saveErr != nil {
		c.manager.options.Log.Warn("the end of a refresh could not be recorded", "server", c.server.Name, "reason", saveErr)
	}
	return err
}

// mayHaveArrived reports whether a request that got no answer may have been processed.
func mayHaveArrived(err error) bool {
	if !isUnreachable(err) {
		return false
	}
	if network, ok := errors.AsType[*net.OpError](err); ok && network.Op == "dial" {
		return false
	}
	_, unknownHost := errors.AsType[*net.DNSError](err)
	return !unknownHost
}
