package oauth

import (
	"context"
	"errors"
	"net/url"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/access/credentials"
)

// This file is about logins whose answers come to a page that others serve: those of people who have accounts of their own.
// The workbench is one client of the authorization server for all of them, and each person's tokens are in their account.

const (
	// forgetTime bounds removing a registration that the authorization server refused.
	forgetTime = 10 * time.Second
	// useAge is how old the note may be that a registration is in use, before it is looked for in the logins of all people.
	useAge = 24 * time.Hour
)

func (a *Attempt) isHosted() bool { return a.options.RedirectURI != "" }

// State is the parameter 'state' that the answer of a hosted login has to have. It is a secret.
func (a *Attempt) State() string { return a.state }

// Deliver takes the answer that a browser brought, whose sender was recognised as the one who began the login. A text says
// why it is none to this attempt, which goes on then; "" means that the attempt ends with it: see Wait.
func (a *Attempt) Deliver(query url.Values) (unfit string) {
	if problem, ok := errors.AsType[*unfitError](a.accept(query)); ok {
		return problem.text
	}
	return ""
}

// await ends the attempt if no answer is delivered in time.
func (a *Attempt) await() {
	ctx, cancel := context.WithTimeout(context.Background(), loginTime)
	a.cancel = cancel
	a.running.Go(func() {
		defer cancel()
		a.awaitAnswer(ctx)
	})
}

// again says how to begin anew.
func (a *Attempt) again(when string) string {
	if a.isHosted() {
		return "Make the call again" + when + ", which brings another link."
	}
	return "Run the login again" + when + "."
}

// Explain returns what an error of a login says, and what to do next; "" if it does not say.
func Explain(err error) (message, hint string) { return split(err) }

// clientKey is where the registration is kept.
func (a *Attempt) clientKey() credentials.Key {
	key := a.key
	if a.isHosted() {
		key.Account = credentials.SharedAccount
	}
	return key
}

// registerShared gets the client id that all people log in with. Whoever needs it first registers it; others wait for that,
// in whatever process.
func (a *Attempt) registerShared(ctx context.Context) error {
	a.redirectURI = a.options.RedirectURI
	if err := a.getShared(ctx); err != nil {
		return err
	}
	a.forgetUnused(ctx) // each under a lock of its own
	return nil
}

// getShared gets the client id, under the lock of the registration.
func (a *Attempt) getShared(ctx context.Context) error {
	c := a.credentials
	lock, err := c.manager.options.Store.Lock(ctx, a.clientKey())
	if err != nil {
		return err
	}
	defer lock.Unlock()
	kept, err := lock.Load()
	if err != nil {
		return err
	}
	if kept == nil {
		kept = &credentials.Credential{Key: a.clientKey()}
	}
	var known *credentials.Client
	if kept.Client.ID != "" {
		known = &kept.Client
	}
	registrar := newRegistrar(c.guard, &c.settings, c.server.Version, a.options.Trace)
	registrar.hosted = true
	client, err := registrar.client(ctx, a.target, a.redirectURI, known, a.isSharedOld(kept))
	if err != nil {
		return err
	}
	a.client = client
	c.manager.hide(client.Secret)
	if kept.Client == withoutConfigured(client) {
		return nil
	}
	if client.Source != kept.Client.Source || client.ID != kept.Client.ID {
		kept.Issued = time.Time{}
	}
	kept.Client = withoutConfigured(client)
	return lock.Save(kept)
}

// isSharedOld reports whether the workbench has to be registered anew although it seems to be known: nobody has a login with
// the registration, and it is so old that the authorization server may have deleted it, which only a browser would see.
func (a *Attempt) isSharedOld(kept *credentials.Credential) bool {
	isOld := kept.Client.Source == credentials.SourceDynamic && time.Since(kept.Client.Registered) > registrationAge
	if !isOld || time.Since(kept.Issued) < useAge {
		return false
	}
	all, _ := a.credentials.manager.options.Store.All() // what cannot be read is no login that works
	for _, one := range all {
		if one.Server == kept.Server && one.Issuer == kept.Issuer && one.Client.ID == kept.Client.ID && rank(one) == rankAlive {
			return false
		}
	}
	return true
}

// noteUse notes that a login was made with the registration, so that it is not looked for in those of all people each time.
func (a *Attempt) noteUse(ctx context.Context) {
	if !a.isHosted() {
		return
	}
	err := a.credentials.change(ctx, a.clientKey(), func(kept *credentials.Credential) bool {
		if kept.Client.ID != a.client.ID || time.Since(kept.Issued) < useAge/2 {
			return false
		}
		kept.Issued = time.Now()
		return true
	})
	if err != nil {
		a.credentials.manager.options.Log.Warn("the use of a registration was not noted", "server", a.credentials.server.Name, "reason", err)
	}
}

// forgetShared removes the registration that a refused login of a person was made with, if it is still that of all: the next
// person would be sent to a page that says that the client is unknown.
func (c *Credentials) forgetShared(refused *credentials.Credential) {
	if !credentials.IsPersonal(refused.Account) {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), forgetTime)
	defer cancel()
	key := refused.Key
	key.Account = credentials.SharedAccount
	err := c.change(ctx, key, func(kept *credentials.Credential) bool {
		if kept.Client.ID != refused.Client.ID {
			return false
		}
		kept.Client, kept.Issued = credentials.Client{}, time.Time{}
		return true
	})
	if err != nil {
		c.manager.options.Log.Warn("a registration that is refused was not removed", "server", c.server.Name, "reason", err)
	}
}

// ForgetRegistrations removes the registrations that all people log in with, so that the next login registers anew.
func (c *Credentials) ForgetRegistrations(ctx context.Context) error {
	if c.problem != nil {
		return c.problem
	}
	all, err := c.manager.options.Store.Find(c.canonical, credentials.SharedAccount)
	if err != nil {
		return err
	}
	for _, one := range all {
		if err := c.forget(ctx, one.Key); err != nil {
			return err
		}
	}
	return nil
}

// People returns the accounts of people with a login to the server.
func (c *Credentials) People() ([]string, error) {
	if c.problem != nil {
		return nil, c.problem
	}
	return c.manager.options.Store.People(c.canonical)
}
